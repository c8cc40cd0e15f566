"""Errors as text and as a Status."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.schema import invalid_status
from kubewright.schema.errors import duplicate, forbidden, invalid, not_supported, required, too_long, too_many
from kubewright.schema.go_text import json_text, number_text, quoted, value_text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (required("spec.a"), "spec.a: Required value"),
        (required("spec.a", "say why"), "spec.a: Required value: say why"),
        (invalid("", "", "broken"), '<nil>: Invalid value: "": broken'),
        (not_supported("a", "x", ["y", 'z"']), r'a: Unsupported value: "x": supported values: "y", "z\""'),
        (duplicate("a[1]", {"k": 1}), 'a[1]: Duplicate value: {"k":1}'),
        (forbidden("a", "no"), "a: Forbidden: no"),
        (too_long("a", 5), "a: Too long: may not be more than 5 bytes"),
        (too_many("a", 3, 1), "a: Too many: 3: must have at most 1 item"),
        (too_many("a", 3, 2), "a: Too many: 3: must have at most 2 items"),
    ],
)
def test_an_error_reads_as_the_server_s(error: object, text: str) -> None:
    assert str(error) == text


def test_one_error_is_the_message_and_several_are_a_list() -> None:
    first, second = required("a"), required("b")
    one = invalid_status([first], kind="Pod", group="", name="x")
    two = invalid_status([first, second, first], kind="Deployment", group="apps", name="x")
    assert one.message == 'Pod "x" is invalid: a: Required value'
    assert two.message == 'Deployment.apps "x" is invalid: [a: Required value, b: Required value]'
    assert two.details is not None
    assert [cause.field for cause in two.details.causes or []] == ["a", "b", "a"]
    assert (two.code, two.reason, two.status) == (422, "Invalid", "Failure")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (-2.0, "-2"),
        (1e20, "1e+20"),
        (1e6, "1e+06"),
        (123456.0, "123456"),
        (1234567.5, "1.2345675e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (10**19, "1e+19"),
        (2**62, "4611686018427387904"),
    ],
)
def test_numbers_are_printed_as_go_prints_them(value: float, text: str) -> None:
    assert number_text(value) == text


def test_json_inside_messages_is_go_s() -> None:
    assert json_text({"b": [1.5, None, True], "a": "<é>"}) == '{"a":"\\u003cé\\u003e","b":[1.5,null,true]}'
    assert json_text(1e21) == "1e+21"
    assert json_text(1e20) == "100000000000000000000"
    assert value_text(None) == "null"
    assert value_text(False) == "false"


def test_unprintable_characters_are_escaped() -> None:
    assert quoted('a"\\\n\x01\u200b\U000e0001é') == '"a\\"\\\\\\n\\x01\\u200b\\U000e0001é"'


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_printed_numbers_read_back_as_themselves(value: float) -> None:
    assert float(number_text(value)) == value
