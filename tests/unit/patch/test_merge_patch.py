from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.patch import merge_patch
from kubewright.patch.errors import PatchError


@pytest.mark.parametrize(
    ("patch", "merged"),
    [
        ({"a": "z"}, {"a": "z", "c": {"d": 1, "e": 2}}),
        ({"a": None}, {"c": {"d": 1, "e": 2}}),
        ({"zz": None}, {"a": "b", "c": {"d": 1, "e": 2}}),
        ({"c": {"d": None, "f": 3}}, {"a": "b", "c": {"e": 2, "f": 3}}),
        ({"c": [1]}, {"a": "b", "c": [1]}),
        ({"a": {"x": {"y": None}}}, {"a": {"x": {}}, "c": {"d": 1, "e": 2}}),
        ({}, {"a": "b", "c": {"d": 1, "e": 2}}),
    ],
)
def test_objects_merge_null_removes_and_the_rest_replaces(patch: dict[str, Any], merged: dict[str, Any]) -> None:
    document: dict[str, Any] = {"a": "b", "c": {"d": 1, "e": 2}}
    assert merge_patch.apply(document, patch) == merged
    assert document == {"a": "b", "c": {"d": 1, "e": 2}}


def test_new_lists_lose_the_nulls_of_their_objects_as_the_server_has_it() -> None:
    document: dict[str, Any] = {"map": {"x": 1}, "list": [1]}
    items: list[Any] = [{"q": None}, None, [{"z": None}]]
    assert merge_patch.apply(document, {"map": items, "list": items, "new": items}) == {
        "map": items,
        "list": [{}, None, [{}]],
        "new": [{}, None, [{}]],
    }


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ([], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("x", "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"),
        (True, "error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}"),
        (None, "error decoding patch: unexpected end of JSON input"),
    ],
)
def test_a_patch_that_is_no_object_is_refused_in_the_servers_words(patch: Any, message: str) -> None:
    with pytest.raises(PatchError) as refused:
        merge_patch.apply({}, patch)
    assert (refused.value.status.code, refused.value.status.message) == (400, message)


VALUES = st.recursive(
    st.booleans() | st.integers(0, 2) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(before=OBJECTS, after=OBJECTS)
def test_applying_the_difference_gives_the_edited_object(before: dict[str, Any], after: dict[str, Any]) -> None:
    patch = merge_patch.difference(before, after)
    assert merge_patch.apply(before, patch) == after
    assert merge_patch.difference(after, after) == {}
