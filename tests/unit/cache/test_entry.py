"""What is kept of an object."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubewright.api import DecodeError, Resource, ResourceInfo, resource, resource_info
from kubewright.cache import WHOLE, Entry, EntryParser, Projection
from kubewright.cache.index import Held, Index
from kubewright.patch.fields import digest


@resource("v1")
class ConfigMap(Resource):
    data: dict[str, str] | None = None


@resource("v1", scope="Cluster")
class Namespace(Resource):
    pass


INFO = resource_info(ConfigMap)
FIELDS: dict[str, Any] = {"f:data": {".": {}, "f:a": {}}}


def parse_entry(raw: bytes, info: ResourceInfo, projection: Projection = WHOLE) -> Entry:
    return EntryParser(info, projection).parse(raw)


def config_map(**metadata: object) -> bytes:
    whole = {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "7", **metadata}
    return msgspec.json.encode({"metadata": whole, "data": {"a": "managedFields"}})


def test_an_item_of_a_built_in_list_becomes_a_whole_object() -> None:
    entry = parse_entry(config_map(), INFO)
    assert entry.raw.startswith(b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{')
    assert (entry.key, entry.uid, entry.resource_version) == (("ns", "c"), "u", 7)


def test_of_managed_fields_only_names_and_digests_stay() -> None:
    managed = [
        {"manager": "op/a", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": FIELDS},
        {"manager": "op/a", "operation": "Apply", "subresource": "status", "fieldsV1": {"f:status": {}}},
        {"manager": "kubectl", "operation": "Update", "fieldsV1": FIELDS},
    ]
    entry = parse_entry(config_map(managedFields=managed), INFO)
    assert b"fieldsV1" not in entry.raw
    assert msgspec.json.decode(entry.raw)["data"] == {"a": "managedFields"}
    assert entry.managers == ("op/a", "kubectl")
    assert entry.owned_by("op/a") == digest(FIELDS)
    assert entry.owned_by("op/a", subresource="status") == digest({"f:status": {}})
    assert entry.owned_by("kubectl") is None


def test_a_deleted_object_has_ended_when_nothing_holds_it() -> None:
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert parse_entry(config_map(**gone), INFO).ended
    assert not parse_entry(config_map(**gone, finalizers=["x"]), INFO).ended
    assert not parse_entry(config_map(**gone, deletionGracePeriodSeconds=30), INFO).ended
    assert parse_entry(config_map(**gone, deletionGracePeriodSeconds=0), INFO).ended
    assert not parse_entry(config_map(), INFO).ended


def test_a_namespace_that_is_being_deleted_has_not_ended() -> None:
    raw = config_map(deletionTimestamp="2026-01-01T00:00:00Z")
    assert not parse_entry(raw, resource_info(Namespace)).ended


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"{}", b'{"metadata":{"name":"a"}}', b'{"metadata":{"name":"a","resourceVersion":"x"}}'],
)
def test_what_is_no_object_is_refused_with_its_beginning(raw: bytes) -> None:
    with pytest.raises(DecodeError, match="not a ConfigMap that can be cached"):
        parse_entry(raw, INFO)


def test_nulls_are_as_good_as_nothing() -> None:
    entry = parse_entry(config_map(labels=None, ownerReferences=None, finalizers=None, managedFields=None), INFO)
    assert (dict(entry.labels), entry.owners, entry.finalizers, entry.managers) == ({}, (), (), ())


UID = "0d1c7a52-5a4e-4a0e-9a63-000000000001"


@pytest.mark.parametrize("uid", ["", "u", UID, UID[:-1] + "é", UID[:-1] + "\\", UID[:-1] + '"'])
@pytest.mark.parametrize("projection", [WHOLE, Projection.of("data")])
def test_a_uid_is_what_the_object_says(uid: str, projection: Projection) -> None:
    owners = [{"uid": UID, "controller": True}]
    entry = parse_entry(config_map(uid=uid, ownerReferences=owners, annotations={"a": UID}), INFO, projection)
    assert (entry.uid, entry.owners, entry.controller) == (uid, (UID,), UID)


def test_an_owner_that_is_named_twice_is_one_owner() -> None:
    entry = parse_entry(
        config_map(ownerReferences=[{"uid": UID}, {"uid": UID, "controller": True}, {"uid": "u"}]), INFO
    )
    assert (entry.owners, entry.controller) == ((UID, "u"), UID)
    index = Index(Held(0))
    index.put(entry)
    assert index.entries(UID) == (entry,)
    index.drop(entry)
    assert not index.all()


@pytest.mark.parametrize(
    ("one", "another", "same"),
    [
        ({}, {}, True),
        ({}, {"labels": {}, "annotations": None}, True),
        ({"labels": {"a": "b", "c": "d"}}, {"labels": {"c": "d", "a": "b"}}, True),
        ({"labels": {"a": "b"}}, {"labels": {"a": "c"}}, False),
        ({"labels": {"a": "b"}}, {"annotations": {"a": "b"}}, False),
        ({"annotations": {"a": "b"}}, {"annotations": {"a": "b"}, "generation": 2}, True),
        ({"annotations": {"a": "b"}}, {"annotations": {"a": "b", "c": ""}}, False),
    ],
)
def test_labels_and_annotations_are_compared_by_what_they_say(
    one: dict[str, object], another: dict[str, object], same: bool
) -> None:
    first, second = parse_entry(config_map(**one), INFO), parse_entry(config_map(**another), INFO)
    assert first.is_labelled_as(second) is same
    assert second.is_labelled_as(first) is same


def test_labels_that_are_none_are_told_of_when_compared() -> None:
    odd, other = parse_entry(config_map(labels={"a": 1}), INFO), parse_entry(config_map(labels={"a": "b"}), INFO)
    with pytest.raises(DecodeError, match="ns/c"):
        odd.is_labelled_as(other)
