"""managedFields are cut out of an object's bytes, wherever they are, and nothing else is. With random objects."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright.api import Resource, Selector, resource, resource_info
from kubewright.cache import METADATA, WHOLE, Entry, EntryParser
from kubewright.cache.scope import labelled


@resource("v1")
class ConfigMap(Resource):
    data: dict[str, str] | None = None


PARSER = EntryParser(resource_info(ConfigMap))
OF_METADATA = EntryParser(resource_info(ConfigMap), METADATA)
PARTIAL = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
MANAGED = [{"manager": "op", "operation": "Apply", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {}}}]
NASTY = st.sampled_from(
    [
        {"managedFields": MANAGED},
        {"managedFields": []},
        '{"managedFields":[]}',
        '"managedFields":',
        [{"managedFields": MANAGED}, ","],
        "}{][,",
    ]
)
VALUES = st.one_of(NASTY, st.text(max_size=5), st.integers(), st.none())


@settings(deadline=None)
@given(
    before=st.dictionaries(st.sampled_from(["a", "annotations2", "b"]), VALUES),
    after=st.dictionaries(st.sampled_from(["x", "y"]), VALUES),
    above=st.dictionaries(st.sampled_from(["data2", "aaa"]), VALUES),
    below=st.dictionaries(st.sampled_from(["spec", "status", "managedFields"]), VALUES),
    managed=st.sampled_from([MANAGED, [], None, "absent"]),
    typed=st.booleans(),
    spaces=st.booleans(),
)
def test_all_but_managed_fields_is_kept(
    before: dict[str, Any],
    after: dict[str, Any],
    above: dict[str, Any],
    below: dict[str, Any],
    managed: Any,
    typed: bool,
    spaces: bool,
) -> None:
    held = {} if managed == "absent" else {"managedFields": managed}
    identity = {"name": "n", "resourceVersion": "1"}
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    rest = {**above, "metadata": {**before, **held, **identity, **after}, **below}
    raw = msgspec.json.encode({**head, **rest} if typed else rest)
    entry = PARSER.parse(msgspec.json.format(raw, indent=2) if spaces else raw)
    rest["metadata"] = {**before, **identity, **after}
    assert msgspec.json.decode(entry.raw) == {**head, **rest}
    assert entry.managers == (("op",) if managed == MANAGED else ())


@settings(deadline=None)
@given(
    before=st.dictionaries(st.sampled_from(["generateName", "annotations", "names"]), VALUES),
    after=st.dictionaries(st.sampled_from(["labels2", "y"]), VALUES),
    name=st.sampled_from(["n", "a.b-c", "system:x", 'n","namespace":"ns', "é\n\\"]),
    namespace=st.sampled_from(["ns", 'a"', "absent"]),
    other=st.sampled_from([{}, {"ownerReferences": [{"name": "n", "namespace": "ns", "uid": "u"}]}]),
    managed=st.sampled_from([MANAGED, [], None, "absent"]),
    first=st.sampled_from(["name", "namespace", "other"]),
    head=st.sampled_from([{}, PARTIAL, {"apiVersion": "v1", "kind": "ConfigMap"}]),
    spaces=st.booleans(),
)
def test_of_metadata_nothing_but_managed_fields_is_lost(
    before: dict[str, Any],
    after: dict[str, Any],
    name: str,
    namespace: str,
    other: dict[str, Any],
    managed: Any,
    first: str,
    head: dict[str, str],
    spaces: bool,
) -> None:
    named = {"name": name} if namespace == "absent" else {"name": name, "namespace": namespace}
    kept = {**before, **other, "resourceVersion": "1", **after}
    held = {} if managed == "absent" else {"managedFields": managed}
    order = {
        "name": {**named, **kept, **held},
        "namespace": {**dict(reversed(named.items())), **held, **kept},
        "other": {**kept, **named, **held},
    }
    raw = msgspec.json.encode({**head, "metadata": order[first], **({} if head is PARTIAL else {"data": {"a": "1"}})})
    entry = OF_METADATA.parse(msgspec.json.format(raw, indent=2) if spaces else raw)
    assert msgspec.json.decode(entry.raw) == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**named, **kept}}
    assert entry.key == (name, named.get("namespace", ""))[::-1]
    assert entry.managers == (("op",) if managed == MANAGED else ())


def test_the_time_of_a_manager_makes_no_difference_and_its_fields_do() -> None:
    def marks(time: str, field: str) -> object:
        managed = [{"manager": "op", "operation": "Apply", "time": time, "fieldsV1": {field: {}}}]
        metadata = {"name": "n", "resourceVersion": "1", "managedFields": managed}
        return PARSER.parse(msgspec.json.encode({"metadata": metadata})).marks

    assert marks("2026-01-01T00:00:00Z", "f:a") is marks("2027-01-01T00:00:00Z", "f:a")
    assert marks("2026-01-01T00:00:00Z", "f:a") != marks("2026-01-01T00:00:00Z", "f:b")


@settings(deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "finalizers": st.sampled_from([["a"], ["a", "b"], []]),
                "deletionTimestamp": st.just("2026-01-01T00:00:00Z"),
                "managedFields": st.lists(
                    st.fixed_dictionaries(
                        {"manager": st.sampled_from(["x", "y"]), "operation": st.sampled_from(["Apply", "Update"])},
                        optional={
                            "time": st.sampled_from(
                                ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "", 'a","manager":"x']
                            ),
                            "fieldsV1": st.sampled_from([{"f:a": {}}, {"f:b": {}}, {'k:{"time":"1"}': {}}]),
                        },
                    ),
                    max_size=3,
                ),
            },
        ),
        max_size=6,
    )
)
def test_what_was_seen_before_makes_no_difference_to_what_an_object_says(seen: list[dict[str, Any]]) -> None:
    info = resource_info(ConfigMap)
    for projection in (WHOLE, METADATA):
        parser = EntryParser(info, projection)
        for metadata in seen:
            raw = msgspec.json.encode({"metadata": {"name": "n", "resourceVersion": "1", **metadata}})
            assert parser.parse(raw).marks == EntryParser(info, projection).parse(raw).marks


def test_what_many_objects_have_in_common_exists_once() -> None:
    def made(name: str) -> Entry:
        owner = {"uid": "owner", "controller": True}
        metadata = {"name": name, "namespace": "ns", "resourceVersion": "1", "ownerReferences": [owner]}
        return PARSER.parse(msgspec.json.encode({"metadata": {**metadata, "finalizers": ["example.com/f"]}}))

    a, b = made("a"), made("b")
    assert a.namespace is b.namespace
    assert a.owners is b.owners
    assert a.controller is b.controller is a.owners[0]
    assert a.marks is b.marks


LABELS = st.dictionaries(st.sampled_from(["a", "b", "example.com/c"]), st.sampled_from(["", "x", "xx", "1-2_3.4"]))


@settings(deadline=None)
@given(
    labels=st.lists(LABELS, max_size=6),
    selector=st.sampled_from(
        ["a=x", "a=x,b=xx", "a=", "a!=x", "a in (x,xx)", "a", "!a", "example.com/c=1-2_3.4,a", "b notin (x)", "a=none"]
    ),
)
def test_labels_are_matched_by_bytes_as_they_are_by_reading_them(labels: list[dict[str, str]], selector: str) -> None:
    entries = [
        PARSER.parse(msgspec.json.encode({"metadata": {"name": str(n), "resourceVersion": "1", "labels": each}}))
        for n, each in enumerate(labels)
    ]
    parsed = Selector.parse(selector)
    assert labelled(entries, parsed) == [entry for entry in entries if parsed.matches(entry.labels)]


@pytest.mark.parametrize("name", ["labels", "annotations"])
def test_labels_and_annotations_are_read_when_asked_for(name: str) -> None:
    metadata = {"name": "n", "resourceVersion": "1", name: {"a": "1"}}
    assert dict(getattr(PARSER.parse(msgspec.json.encode({"metadata": metadata})), name)) == {"a": "1"}
