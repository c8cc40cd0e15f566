"""The three-way difference: an edit of a typed object as operations on the raw one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.patch import json_patch
from kubewright.patch.json_patch import difference
from kubewright.patch.shape import Shape

CONDITIONS = Shape(
    {
        "properties": {
            "conditions": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": {"type": "object"},
            }
        }
    }
)
PORTS = Shape(
    {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}}},
    }
)


def test_what_the_model_does_not_know_is_left_alone() -> None:
    raw: Any = {"spec": {"image": "a:1", "newField": {"x": 1}}, "extra": [1]}
    before: Any = {"spec": {"image": "a:1"}}
    after: Any = {"spec": {"image": "a:2"}}
    assert difference(raw, before, after) == [{"op": "replace", "path": "/spec/image", "value": "a:2"}]


def test_unknown_fields_of_list_items_survive_removal_edit_and_addition() -> None:
    raw: Any = {"containers": [{"name": "a", "image": "a:1", "new": 1}, {"name": "b", "image": "b:1", "new": 2}]}
    before: Any = {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}
    after: Any = {"containers": [{"name": "b", "image": "b:2"}, {"name": "c", "image": "c:1"}]}
    operations = difference(raw, before, after)
    assert operations == [
        {"op": "replace", "path": "/containers/1/image", "value": "b:2"},
        {"op": "remove", "path": "/containers/0"},
        {"op": "add", "path": "/containers/-", "value": {"name": "c", "image": "c:1"}},
    ]
    assert json_patch.apply(raw, operations) == {
        "containers": [{"name": "b", "image": "b:2", "new": 2}, {"name": "c", "image": "c:1"}]
    }


def test_unknown_fields_survive_a_change_of_order() -> None:
    raw: Any = [{"name": "a", "new": 1}, {"name": "b", "new": 2}]
    assert difference(raw, [{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}], path="/list") == [
        {"op": "replace", "path": "/list", "value": [{"name": "b", "new": 2}, {"name": "a", "new": 1}]}
    ]


def test_items_without_a_name_keep_their_unknown_fields_where_they_were_not_touched() -> None:
    raw: Any = [{"from": "x", "new": 1}, {"from": "y", "new": 2}]
    before: Any = [{"from": "x"}, {"from": "y"}]
    assert difference(raw, before, [{"from": "y"}], path="/rules") == [
        {"op": "replace", "path": "/rules", "value": [{"from": "y", "new": 2}]}
    ]
    assert difference(raw, before, [{"from": "x"}, {"from": "z"}], path="/rules") == [
        {"op": "replace", "path": "/rules/1/from", "value": "z"}
    ]


def test_a_list_map_is_matched_by_its_keys_and_their_defaults() -> None:
    raw: Any = [{"port": 80, "protocol": "TCP", "nodePort": 1}, {"port": 80, "protocol": "UDP", "nodePort": 2}]
    before: Any = [{"port": 80, "protocol": "TCP"}, {"port": 80, "protocol": "UDP"}]
    after: Any = [{"port": 80, "protocol": "UDP"}, {"port": 81}]
    assert difference(raw, before, after, shape=PORTS, path="/ports") == [
        {"op": "remove", "path": "/ports/0"},
        {"op": "add", "path": "/ports/-", "value": {"port": 81}},
    ]


def test_a_condition_is_edited_at_its_place_in_the_raw_list() -> None:
    raw: Any = {"conditions": [{"type": "A", "status": "True", "new": 1}, {"type": "B", "status": "True"}]}
    before: Any = {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "True"}]}
    after: Any = {"conditions": [{"type": "A", "status": "False"}, {"type": "B", "status": "True"}]}
    assert difference(raw, before, after, shape=CONDITIONS, path="/status") == [
        {"op": "replace", "path": "/status/conditions/0/status", "value": "False"}
    ]


def test_an_item_put_in_between_stays_there() -> None:
    raw: Any = {"conditions": [{"type": "A"}, {"type": "C"}]}
    after: Any = {"conditions": [{"type": "A"}, {"type": "B"}, {"type": "C"}]}
    assert difference(raw, raw, after, shape=CONDITIONS) == [
        {"op": "add", "path": "/conditions/1", "value": {"type": "B"}}
    ]


def test_a_member_of_a_set_is_removed_alone() -> None:
    shape = Shape({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}})
    assert difference(["a", "b", "c"], ["a", "b", "c"], ["a", "c"], shape=shape, path="/metadata/finalizers") == [
        {"op": "remove", "path": "/metadata/finalizers/1"}
    ]


def test_a_value_printed_differently_is_no_change() -> None:
    raw: Any = {"at": "2026-01-01T00:00:00.000000Z", "times": ["2026-01-01T00:00:00.000000Z", "x"], "n": 1}
    typed: Any = {"at": "2026-01-01T00:00:00Z", "times": ["2026-01-01T00:00:00Z", "x"], "n": 1}
    assert difference(raw, typed, typed) == []
    assert difference(raw, typed, {**typed, "n": 2}) == [{"op": "replace", "path": "/n", "value": 2}]


def test_a_default_of_the_model_is_written_where_the_raw_object_lacks_it() -> None:
    before: Any = {"readyReplicas": 0, "conditions": []}
    assert difference(None, before, before, path="/status") == [{"op": "add", "path": "/status", "value": before}]
    assert difference({"phase": "Pending"}, {"phase": "Pending", **before}, {"phase": "Pending", **before}) == [
        {"op": "add", "path": "/readyReplicas", "value": 0},
        {"op": "add", "path": "/conditions", "value": []},
    ]


def test_a_cleared_field_is_removed() -> None:
    raw: Any = {"note": "n", "size": 1}
    assert difference(raw, raw, {"size": 1}) == [{"op": "remove", "path": "/note"}]
    assert difference(raw, raw, None, path="/spec") == [{"op": "remove", "path": "/spec"}]
    assert difference({}, {"note": "n"}, {}) == [], "a default that only the model had is just gone"


def test_without_the_typed_form_before_nothing_is_removed() -> None:
    assert difference({"a": 1, "b": 2}, None, {"a": 3}) == [{"op": "replace", "path": "/a", "value": 3}]


def test_true_is_not_one() -> None:
    raw: dict[str, Any] = {"settings": {"x": True, "y": [1]}}
    assert difference(raw, raw, {"settings": {"x": 1, "y": [True]}}) == [
        {"op": "replace", "path": "/settings/x", "value": 1},
        {"op": "replace", "path": "/settings/y/0", "value": True},
    ]


def test_keys_are_escaped_in_pointers() -> None:
    operations = difference({"labels": {}}, {"labels": {}}, {"labels": {"app.kubernetes.io/name": "x", "a~b": "y"}})
    assert [operation["path"] for operation in operations] == ["/labels/app.kubernetes.io~1name", "/labels/a~0b"]


def test_neither_side_is_changed() -> None:
    raw: Any = {"list": [{"name": "a", "new": 1}, {"name": "b"}]}
    after: Any = {"list": [{"name": "b"}, {"name": "c"}, {"name": "a"}]}
    json_patch.apply(raw, difference(raw, raw, after))
    assert raw == {"list": [{"name": "a", "new": 1}, {"name": "b"}]}
    assert after == {"list": [{"name": "b"}, {"name": "c"}, {"name": "a"}]}


@pytest.mark.parametrize("shape", [Shape({}), CONDITIONS])
def test_equal_objects_differ_in_nothing(shape: Shape) -> None:
    obj: Any = {"conditions": [{"type": "A", "x": None}], "n": 1.5}
    assert difference(obj, obj, obj, shape=shape) == []


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "b/c", "~"])
ITEMS = st.dictionaries(st.sampled_from(["name", "type", "x"]), SCALARS, max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "conditions", "c/d"]), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b", "conditions", "c/d"]), VALUES | st.lists(ITEMS, max_size=4), max_size=4
)


def exactly(value: Any) -> Any:
    """A value that compares equal only to the same JSON: 1 is not True."""
    if isinstance(value, dict):
        return {key: exactly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return type(value).__name__, value


@given(raw=OBJECTS, after=OBJECTS)
def test_applying_the_difference_gives_the_edited_object(raw: dict[str, Any], after: dict[str, Any]) -> None:
    for shape in (Shape({}), CONDITIONS):
        patched = json_patch.apply(raw, difference(raw, raw, after, shape=shape))
        assert exactly(patched) == exactly(after)


NAMES = st.lists(st.sampled_from("abcde"), unique=True, max_size=5)
IMAGES = st.sampled_from(["i:1", "i:2"])


@given(names=NAMES, edited=NAMES, image=IMAGES, data=st.data())
def test_unknown_fields_survive_any_edit_of_named_items(
    names: list[str], edited: list[str], image: str, data: st.DataObject
) -> None:
    raw: Any = {"list": [{"name": name, "image": "i:1", "unknown": f"of {name}"} for name in names], "unknown": 1}
    before: Any = {"list": [{"name": name, "image": "i:1"} for name in names]}
    after: Any = {"list": [{"name": name, "image": data.draw(IMAGES)} for name in edited]}
    patched: Any = json_patch.apply(raw, difference(raw, before, after))
    assert patched["unknown"] == 1
    assert [{key: item[key] for key in ("name", "image")} for item in patched["list"]] == after["list"]
    for item in patched["list"]:
        assert item.get("unknown") == (f"of {item['name']}" if item["name"] in names else None)
