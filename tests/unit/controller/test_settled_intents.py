"""Whether an apply would change anything, told from what the cache has."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from kubewright.api import ResourceInfo, convert
from kubewright.cache import Entry
from kubewright.cache.parsing import EntryParser
from kubewright.controller.learnt_shape import LearntShape
from kubewright.controller.writes import AppliedIntents, Intent, intent_of
from kubewright.kinds import core_v1
from kubewright.patch.apply import applied_fields
from kubewright.patch.fields import digest
from kubewright.patch.shape import Shape

INFO = ResourceInfo(group="", version="v1", kind="Service", plural="services", singular="service")
MANAGER = "op/ctl"

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {
                        "type": "object",
                        "properties": {
                            "port": {"type": "integer"},
                            "protocol": {"type": "string", "default": "TCP"},
                            "nested": {
                                "type": "array",
                                "x-kubernetes-list-type": "map",
                                "x-kubernetes-list-map-keys": ["name"],
                                "items": {"type": "object"},
                            },
                        },
                    },
                },
                "addresses": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "args": {"type": "array", "items": {"type": "string"}},
                "selector": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "additionalProperties": {"type": "string"},
                },
                "byName": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {}}}},
            },
        }
    },
}
SHAPE = Shape.of_resource(SCHEMA)

SPEC: dict[str, Any] = {
    "ports": [{"port": 80, "name": "a", "nested": [{"name": "x", "v": 1}]}, {"port": 53, "protocol": "UDP"}],
    "addresses": ["1.1.1.1", "2.2.2.2"],
    "args": ["-a", "-b"],
    "selector": {"app": "web"},
    "byName": {"one": {"a": 1}, "two": {"a": 2}},
    "type": "ClusterIP",
}


def body(spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "d"}, "spec": spec}


def intent(spec: dict[str, Any]) -> Intent:
    made = intent_of(convert({"metadata": {"name": "s", "namespace": "d"}}, core_v1.Service))
    whole = body(spec)
    return Intent(made.key, whole, digest({"x": msgspec.json.encode(whole, order="deterministic").decode()}), made.kind)


def fields(spec: dict[str, Any]) -> Any:
    return applied_fields(body(spec), SHAPE).to_fields_v1()


def whole(spec: dict[str, Any], *, owned: dict[str, Any] | None = None, version: int = 1, uid: str = "u") -> bytes:
    live = body(spec)
    managed = {"manager": MANAGER, "operation": "Apply", "fieldsV1": fields(spec if owned is None else owned)}
    live["metadata"] |= {"resourceVersion": str(version), "uid": uid, "managedFields": [managed]}
    return msgspec.json.encode(live)


def entry(raw: bytes) -> Entry:
    return EntryParser(INFO).parse(raw)


def edited(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(SPEC), **changes}


LIVE = edited(
    ports=[
        {"port": 80, "name": "a", "protocol": "TCP", "targetPort": 80, "nested": [{"name": "x", "v": 1}]},
        {"port": 53, "protocol": "UDP"},
        {"port": 99, "protocol": "TCP"},
    ],
    addresses=["1.1.1.1", "3.3.3.3", "2.2.2.2"],
    clusterIP="10.0.0.1",
)
"""With what the server and others added."""


def learnt() -> AppliedIntents:
    applied = AppliedIntents(MANAGER)
    applied.learn(intent(SPEC), whole(LIVE, owned=SPEC))
    return applied


def test_what_was_learnt_of_one_object_tells_which_fields_another_owns() -> None:
    shape = LearntShape()
    assert not shape.covers(body(SPEC))
    shape.learn(body(SPEC), fields(SPEC))
    other = {
        "ports": [{"port": 1}, {"port": 2, "protocol": "SCTP", "nested": [{"name": "q"}]}],
        "byName": {"six": {"a": 3}},
    }
    for spec in (SPEC, other, {"addresses": ["9.9.9.9"], "selector": {"a": "b", "c": "d"}, "args": []}):
        assert shape.covers(body(spec))
        assert shape.digest(body(spec)) == digest(applied_fields(body(spec), SHAPE))


def test_an_object_that_is_as_wanted_is_settled_without_having_been_applied() -> None:
    assert learnt().is_settled(intent(SPEC), entry(whole(LIVE, owned=SPEC)))


@pytest.mark.parametrize(
    "live",
    [
        pytest.param({**LIVE, "type": "NodePort"}, id="a value"),
        pytest.param({**LIVE, "args": ["-a"]}, id="an atomic list"),
        pytest.param({**LIVE, "args": ["-a", "-b", "-c"]}, id="more in an atomic list"),
        pytest.param({**LIVE, "selector": {"app": "web", "x": "y"}}, id="more in an atomic map"),
        pytest.param({**LIVE, "addresses": ["2.2.2.2", "1.1.1.1"]}, id="another order"),
        pytest.param({**LIVE, "addresses": ["1.1.1.1"]}, id="a member is missing"),
        pytest.param({**LIVE, "ports": LIVE["ports"][1:]}, id="an item is missing"),
        pytest.param({**LIVE, "ports": [{**LIVE["ports"][0], "name": "b"}, *LIVE["ports"][1:]]}, id="in an item"),
        pytest.param({key: value for key, value in LIVE.items() if key != "type"}, id="a field is missing"),
    ],
)
def test_other_values_are_not_settled_though_all_fields_are_owned(live: dict[str, Any]) -> None:
    assert not learnt().is_settled(intent(SPEC), entry(whole(live, owned=SPEC)))


@pytest.mark.parametrize(
    "owned",
    [
        pytest.param({**SPEC, "more": 1}, id="a field that is no longer wanted"),
        pytest.param({key: value for key, value in SPEC.items() if key != "type"}, id="somebody took a field"),
        pytest.param({**SPEC, "ports": [*SPEC["ports"], {"port": 99}]}, id="an item that is no longer wanted"),
        pytest.param({**SPEC, "addresses": ["1.1.1.1"]}, id="a member that is not ours yet"),
    ],
)
def test_other_owned_fields_are_not_settled_though_all_values_are_right(owned: dict[str, Any]) -> None:
    assert not learnt().is_settled(intent(SPEC), entry(whole(LIVE, owned=owned)))


def test_nothing_is_settled_before_anything_was_learnt_and_then_all_objects_of_the_kind_can_be() -> None:
    applied = AppliedIntents(MANAGER)
    found = entry(whole(LIVE, owned=SPEC))
    assert not applied.is_settled(intent(SPEC), found)
    assert applied.wants_to_learn(intent(SPEC), found)
    applied.learn(intent(SPEC), whole(LIVE, owned=SPEC))
    assert not applied.wants_to_learn(intent(edited(type="NodePort")), found)
    assert applied.is_settled(intent(SPEC), found)


ZEROS: dict[str, Any] = {"off": False, "none": 0, "text": "", "list": [], "map": {}}


def test_what_is_owned_and_not_there_was_left_out_by_the_server_as_it_does_with_zeros() -> None:
    wanted = intent(edited(**ZEROS))
    found = entry(whole(LIVE, owned=wanted.body["spec"]))
    assert learnt().is_settled(wanted, found)
    assert not learnt().is_settled(intent(edited(**ZEROS, on=True)), found)
    assert not learnt().is_settled(wanted, entry(whole(LIVE, owned=SPEC)))  # somebody else took them out
    there = {**LIVE, "off": True}
    assert not learnt().is_settled(wanted, entry(whole(there, owned=wanted.body["spec"])))


def test_the_servers_way_to_write_a_value_is_remembered_from_its_answer() -> None:
    applied = learnt()
    wanted = intent(edited(cpu="1000m"))
    before = entry(whole({**LIVE, "cpu": "1"}, owned=wanted.body["spec"], version=1))
    assert not applied.is_settled(wanted, before)
    answer = whole({**LIVE, "cpu": "1"}, owned=wanted.body["spec"], version=2)
    applied.record(wanted, entry(answer), answer, before=before)
    assert applied.is_settled(wanted, entry(answer))
    assert applied.is_settled(
        wanted, entry(whole({**LIVE, "cpu": "1", "new": 1}, owned=wanted.body["spec"], version=3))
    )


def test_a_value_that_comes_back_although_it_is_owned_is_not_fought_over() -> None:
    applied = learnt()
    wanted = intent(edited(cpu="1000m"))
    spec = wanted.body["spec"]
    for version in (1, 3, 5):
        before = entry(whole({**LIVE, "cpu": "1"}, owned=spec, version=version))
        if applied.is_settled(wanted, before):
            break
        answer = whole({**LIVE, "cpu": "1000m"}, owned=spec, version=version + 1)
        applied.record(wanted, entry(answer), answer, before=before)
    assert version == 3
    taken = {key: value for key, value in spec.items() if key != "cpu"}
    assert not applied.is_settled(wanted, entry(whole({**LIVE, "cpu": "1"}, owned=taken, version=9)))


VOLUMES = [{"name": "data", "size": "1Gi"}]
COMPLETED = [{"name": "data", "size": "1Gi", "mode": "Filesystem", "status": {"phase": "Pending"}}]


def knows_what_is_added() -> AppliedIntents:
    applied = learnt()
    wanted = intent(edited(volumes=VOLUMES))
    answer = whole({**LIVE, "volumes": COMPLETED}, owned=wanted.body["spec"])
    assert not applied.is_settled(wanted, entry(answer))
    applied.record(wanted, entry(answer), answer, before=entry(answer))
    return applied


def of_another(spec: dict[str, Any]) -> Intent:
    """The intent of an object that was not seen before."""
    return msgspec.structs.replace(intent(spec), key=("services", "d", "other"))


def test_what_the_server_added_to_a_list_of_one_object_it_added_to_the_same_of_all_others() -> None:
    wanted = of_another(edited(volumes=VOLUMES))
    found = entry(whole({**LIVE, "volumes": COMPLETED}, owned=wanted.body["spec"], uid="v"))
    assert not learnt().is_settled(wanted, found)
    assert knows_what_is_added().is_settled(wanted, found)


@pytest.mark.parametrize(
    ("volumes", "live"),
    [
        ([{"name": "data", "size": "2Gi"}], [{**COMPLETED[0], "size": "2Gi"}]),  # it may be another of those
        (VOLUMES, [{**COMPLETED[0], "mode": "Block"}]),
        (VOLUMES, [{**COMPLETED[0], "more": 1}]),
        (VOLUMES, [*COMPLETED, {"name": "logs"}]),
        (VOLUMES, [{**COMPLETED[0], "size": "2Gi"}]),
    ],
)
def test_what_the_server_was_not_seen_to_add_is_not_settled(volumes: list[Any], live: list[Any]) -> None:
    wanted = of_another(edited(volumes=volumes))
    found = entry(whole({**LIVE, "volumes": live}, owned=wanted.body["spec"], uid="v"))
    assert not knows_what_is_added().is_settled(wanted, found)


def test_an_intent_that_changes_is_not_settled_by_what_the_server_adds_elsewhere() -> None:
    applied = knows_what_is_added()
    explicit = of_another(edited(volumes=COMPLETED))
    answer = whole({**LIVE, "volumes": COMPLETED}, owned=explicit.body["spec"], uid="v")
    applied.record(explicit, entry(answer), answer, before=None)
    assert not applied.is_settled(of_another(edited(volumes=VOLUMES)), entry(answer))


def test_an_object_of_the_same_name_that_is_another_one_is_not_settled_by_memory() -> None:
    applied = learnt()
    wanted = intent(edited(cpu="1000m"))
    answer = whole({**LIVE, "cpu": "1"}, owned=wanted.body["spec"])
    applied.record(wanted, entry(answer), answer, before=None)
    assert applied.is_settled(wanted, entry(answer))
    assert not applied.is_settled(
        wanted, entry(whole({**LIVE, "cpu": "1"}, owned=wanted.body["spec"], uid="v", version=8))
    )
