"""What happens to an object before it is validated."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.schema import MalformedMetadata, Structural

Recorded = Callable[[str], Any]

INTEGER = {"type": "integer"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "default": {},
            "properties": {
                "a": {**INTEGER, "default": 1},
                "b": {"type": "string", "nullable": True},
                "c": {"type": "array", "items": {"type": "object", "properties": {"a": {**INTEGER, "default": 2}}}},
                "d": {"type": "object", "additionalProperties": {"type": "string"}},
                "e": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        }
    },
}
names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
scalars = st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)
objects = st.dictionaries(st.sampled_from(["spec", "status", "metadata"]), values, max_size=3)


def test_defaults_and_pruning_are_those_of_a_real_server(recorded: Recorded) -> None:
    structural = Structural(recorded("flow_schema"))
    for obj, expected, unknown in recorded("flow"):
        assert structural.prune(structural.default(obj)) == (expected, unknown)


@given(objects)
def test_arguments_are_left_alone(obj: dict[str, Any]) -> None:
    structural, before = Structural(SCHEMA), copy.deepcopy(obj)
    structural.validate(structural.prune(structural.default(obj))[0])
    assert obj == before


@given(objects)
def test_doing_it_again_changes_nothing(obj: dict[str, Any]) -> None:
    structural = Structural(SCHEMA)
    once, _ = structural.prune(structural.default(obj))
    assert structural.default(once) is once
    assert structural.prune(once) == (once, [])


def test_a_default_is_a_new_value_each_time() -> None:
    structural = Structural(SCHEMA)
    first, second = structural.default({}), structural.default({})
    assert first["spec"] == second["spec"] == {"a": 1}
    first["spec"]["a"] = 7
    assert structural.default({}) == second


def test_metadata_of_the_object_itself_is_left_to_the_server() -> None:
    obj = {"apiVersion": "v1", "kind": "X", "metadata": {"nonsense": 1}, "extra": 1}
    assert Structural({"type": "object"}).prune(obj) == (
        {"apiVersion": "v1", "kind": "X", "metadata": {"nonsense": 1}},
        ["extra"],
    )


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        ({"kind": 5}, "spec.kind: Invalid value: 5: must be a string"),
        (
            {"metadata": "x"},
            'spec.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta',
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            (
                'spec.metadata: Invalid value: {"labels":{"a":1}}: '
                "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
            ),
        ),
    ],
)
def test_embedded_metadata_that_cannot_be_read_is_an_error(resource: dict[str, Any], message: str) -> None:
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    structural = Structural({"type": "object", "properties": {"spec": embedded}})
    with pytest.raises(MalformedMetadata) as caught:
        structural.prune({"spec": resource})
    assert str(caught.value) == message


def test_embedded_metadata_is_cleaned_and_its_unknown_fields_come_last() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"z": INTEGER}}
    structural = Structural({"type": "object", "properties": {"spec": embedded}})
    owner = {"apiVersion": "v1", "kind": "a", "name": "n", "uid": "u"}
    metadata = {"ownerReferences": [{"zz": 1, **owner}], "b": 1, "labels": {}, "creationTimestamp": None, "name": ""}
    assert structural.prune({"spec": {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "zzz": 1}}) == (
        {"spec": {"apiVersion": "v1", "kind": "Pod", "metadata": {"ownerReferences": [owner]}}},
        ["spec.zzz", "spec.metadata.b", "spec.metadata.ownerReferences[0].zz"],
    )
