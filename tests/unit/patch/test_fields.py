from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.patch.fields import NOTHING, FieldSet, FieldSetError, digest
from kubewright.patch.ownership import fitted
from kubewright.patch.shape import Shape

STRING: Any = {"type": "string"}
THING = Shape.of_resource(
    {
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "replicas": {"type": "integer"},
                    "ports": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["port", "protocol"],
                        "items": {
                            "type": "object",
                            "properties": {
                                "port": {"type": "integer"},
                                "protocol": {"type": "string", "default": "TCP"},
                                "opts": {"type": "object", "additionalProperties": STRING},
                            },
                        },
                    },
                    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": STRING},
                    "nums": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
                    "atom": {"type": "array", "items": {"type": "object", "properties": {"a": STRING}}},
                    "amap": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": STRING}},
                    "labels": {"type": "object", "additionalProperties": STRING},
                    "deep": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": STRING}}},
                    "nested": {
                        "type": "object",
                        "properties": {"a": STRING, "inner": {"type": "object", "properties": {"c": STRING}}},
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "any": {"x-kubernetes-preserve-unknown-fields": True},
                },
            }
        }
    }
)


def test_fields_of_a_value_are_those_a_server_gives_who_applies_it() -> None:
    spec: Any = {
        "replicas": 2,
        "ports": [{"port": 80}, {"port": 81, "protocol": "UDP", "opts": {"a": "b"}}],
        "set": ["a", "b<&>"],
        "nums": [3, 1],
        "atom": [{"a": "1"}],
        "amap": {"a": "1"},
        "labels": {"l": "1"},
        "deep": {"k": {"x": "1"}},
        "nested": {"a": "1", "inner": {"c": "1"}},
        "free": {"q": {"w": [1, {"r": 2}]}, "e": {}},
        "any": {"z": [1]},
    }
    recorded: Any = {
        "f:spec": {
            "f:amap": {},
            "f:any": {"f:z": {}},
            "f:atom": {},
            "f:deep": {"f:k": {".": {}, "f:x": {}}},
            "f:free": {"f:e": {}, "f:q": {".": {}, "f:w": {}}},
            "f:labels": {"f:l": {}},
            "f:nested": {"f:a": {}, "f:inner": {"f:c": {}}},
            "f:nums": {"v:1": {}, "v:3": {}},
            "f:ports": {
                'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}},
                'k:{"port":81,"protocol":"UDP"}': {".": {}, "f:opts": {"f:a": {}}, "f:port": {}, "f:protocol": {}},
            },
            "f:replicas": {},
            "f:set": {'v:"a"': {}, 'v:"b\\u003c\\u0026\\u003e"': {}},
        }
    }
    fields = FieldSet.of({"spec": spec}, THING)
    assert fields.to_fields_v1() == recorded
    assert fields == FieldSet.from_fields_v1(recorded)
    assert digest(fields) == digest(recorded)


def test_empty_maps_are_fields_and_empty_merging_lists_are_not() -> None:
    spec: Any = {
        "ports": [],
        "set": [],
        "atom": [],
        "amap": {},
        "labels": {},
        "deep": {"k": {}},
        "nested": {},
        "any": [],
    }
    assert FieldSet.of({"spec": spec}, THING).to_fields_v1() == {
        "f:spec": {
            "f:amap": {},
            "f:any": {},
            "f:atom": {},
            "f:deep": {"f:k": {}},
            "f:labels": {},
            "f:nested": {},
        }
    }
    assert FieldSet.of({"spec": {"ports": []}}, THING).is_empty()


def test_items_that_repeat_are_one_field() -> None:
    spec: Any = {"ports": [{"port": 80, "opts": {"a": "b"}}, {"port": 80, "protocol": "TCP"}, {"port": 81}]}
    assert FieldSet.of({"spec": spec}, THING).paths() == [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=81,protocol="TCP"]',
        '.spec.ports[port=81,protocol="TCP"].port',
    ]


def test_paths_read_as_in_the_servers_messages_and_stand_in_its_order() -> None:
    fields = FieldSet.from_fields_v1(
        {
            "f:status": {
                "f:conditions": {'k:{"type":"Ready"}': {".": {}, "f:status": {}}},
                "f:phase": {},
                "f:nums": {"v:10": {}, "v:9": {}, "v:true": {}, 'v:"a"': {}},
                "f:old": {"i:10": {}, "i:9": {}},
            },
            "f:spec": {".": {}, "f:replicas": {}},
            "f:metadata": {"f:labels": {"f:app.kubernetes.io/name": {}}},
        }
    )
    assert fields.paths() == [
        ".spec",
        ".metadata.labels.app.kubernetes.io/name",
        ".spec.replicas",
        ".status.phase",
        '.status.conditions[type="Ready"]',
        '.status.conditions[type="Ready"].status',
        ".status.nums[=9]",
        ".status.nums[=10]",
        '.status.nums[="a"]',
        ".status.nums[=true]",
        ".status.old[9]",
        ".status.old[10]",
    ]
    status: Any = fields.to_fields_v1()["f:status"]
    assert list(status) == ["f:conditions", "f:nums", "f:old", "f:phase"]


def test_elements_have_one_spelling() -> None:
    loose = FieldSet.from_fields_v1({'k:{ "protocol":"TCP", "port":80.0 }': {}, "v: 1": {}, 'k:{"b":"x<"}': {".": {}}})
    assert list(loose.to_fields_v1()) == ['k:{"b":"x\\u003c"}', 'k:{"port":80,"protocol":"TCP"}', "v:1"]


def test_elements_of_unknown_kinds_are_left_out() -> None:
    assert FieldSet.from_fields_v1({"z:new": {}, "f:a": {}}).paths() == [".a"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k:{": {}}, "fieldsV1: 'k:{'"),
        ({"f": {}}, "fieldsV1: 'f': key must be 2 characters long"),
        ({"spec": {}}, "fieldsV1: 'spec': missing colon"),
        ({"f:a": 1}, "fieldsV1: an object was expected, not 1"),
        ({"k:1": {}}, "fieldsV1: 'k:1': the keys of an item are an object"),
        ({"i:x": {}}, "fieldsV1: invalid literal"),
    ],
)
def test_fields_that_can_not_be_read_are_quoted(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldSetError) as wrong:
        FieldSet.from_fields_v1(fields)
    assert str(wrong.value).startswith(message)


def test_a_path_and_what_is_below_it_are_owned_apart() -> None:
    whole = FieldSet.from_fields_v1({"f:a": {".": {}, "f:b": {}}})
    parent = FieldSet.of_names("a")
    child = FieldSet.of_names("a.b")
    assert whole == parent | child
    assert whole - parent == child
    assert whole - child == parent
    assert whole & parent == parent
    assert child - parent == child
    assert whole.without(parent) == NOTHING
    assert whole.within(parent) == whole
    assert FieldSet.of_names("a", "c.d", "c.e").within(FieldSet.of_names("c.d")) == FieldSet.of_names("c.d")
    assert ("f:a", "f:b") in child
    assert ("f:a",) not in child


def test_sets_can_be_compared_hashed_and_printed() -> None:
    one, other = FieldSet.of_names("a", "b.c"), FieldSet.of_names("b.c", "a")
    assert one == other
    assert len({one, other, NOTHING}) == 2
    assert repr(one) == "FieldSet(.a, .b.c)"
    assert bool(one)
    assert not NOTHING
    assert one != "a"


def test_a_digest_has_16_bytes_and_no_order() -> None:
    assert digest({"f:a": {}, "f:b": {"f:c": {}}}) == digest({"f:b": {"f:c": {}}, "f:a": {}})
    assert digest({"f:a": {}}) != digest({"f:b": {}})
    assert len(digest(NOTHING)) == 16


ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'k:{"name":"y"}', "v:1", 'v:"1"', "i:0"])
PATHS = st.lists(st.lists(ELEMENTS, min_size=1, max_size=4), max_size=6)


def members(fields: FieldSet) -> set[str]:
    return set(fields.paths())


@given(PATHS)
def test_fields_v1_round_trips(paths: list[list[str]]) -> None:
    fields = FieldSet(paths)
    written = fields.to_fields_v1()
    again = FieldSet.from_fields_v1(written)
    assert again == fields
    assert again.to_fields_v1() == written
    assert digest(again) == digest(fields) == digest(written)
    assert len(fields.paths()) == len({tuple(path) for path in paths})
    assert all(path in fields for path in paths)


@given(PATHS, PATHS)
def test_sets_behave_like_sets_of_paths(these: list[list[str]], those: list[list[str]]) -> None:
    a, b = FieldSet(these), FieldSet(those)
    assert members(a | b) == members(a) | members(b)
    assert members(a & b) == members(a) & members(b)
    assert members(a - b) == members(a) - members(b)
    assert (a - b) | (a & b) == a
    assert a.without(b) == a.without(b).difference(b)
    assert members(a.without(b)) <= members(a - b)


VALUES = st.recursive(
    st.none() | st.integers(0, 2) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_fields_of_an_untyped_value_are_its_maps_and_what_is_in_them(value: dict[str, Any]) -> None:
    def paths(item: Any, prefix: str) -> set[str]:
        if not isinstance(item, dict):
            return set()
        found = set()
        for key, inner in item.items():
            found |= {f"{prefix}.{key}"} | paths(inner, f"{prefix}.{key}")
        return found

    fields = FieldSet.of(value)
    assert members(fields) == paths(value, "")
    assert FieldSet.from_fields_v1(fields.to_fields_v1()) == fields


def test_what_has_nothing_in_common_with_another_set_stays_as_it_is() -> None:
    fields = FieldSet.of_names("spec.replicas", "metadata.labels")
    assert fields.difference(FieldSet.of_names("status")) is fields
    assert fields.difference(FieldSet.of_names("spec.replicas")) == FieldSet.of_names("metadata.labels")


def test_a_set_is_read_once() -> None:
    written: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    first = FieldSet.from_fields_v1(written)
    assert FieldSet.from_fields_v1({"f:spec": {"f:replicas": {}}}) is first
    assert FieldSet.from_fields_v1({"f:spec": {"f:paused": {}}}) != first
    for _ in range(2):
        with pytest.raises(FieldSetError):
            FieldSet.from_fields_v1({"x": {}})


def test_whether_a_set_fits_is_known_of_one_shape() -> None:
    granular = Shape({"properties": {"a": {"type": "object", "additionalProperties": STRING}}})
    atomic = Shape(
        {"properties": {"a": {"type": "object", "additionalProperties": STRING, "x-kubernetes-map-type": "atomic"}}}
    )
    fields = FieldSet([["f:a", "f:b"]])
    for _ in range(2):
        assert fitted(fields, granular) is fields
        assert fitted(fields, atomic) == FieldSet([["f:a"]])
