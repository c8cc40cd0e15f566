"""Updating objects: what a real server stored, and what it refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubewright.devcluster.objects import Object

from .recorded import Around, recorded, served
from .test_creating import comparable, newer, without_structs

SERVER_SET = ("creationTimestamp", "resourceVersion", "uid")


def updated(case: Any) -> tuple[Object, list[list[str]]]:
    strategy = served(case["new"]).strategy
    known, _ = strategy.read(case["new"])
    subresource = case["subresource"]
    new = strategy.prepare_update(strategy.default(known), case["old"], subresource=subresource, around=Around())
    errors = strategy.validate(new, case["old"], subresource=subresource)
    return new, [[error.reason, error.field, without_structs(error.detail)] for error in errors]


@pytest.mark.parametrize(
    "case", [case for case in recorded("updates") if "accepted" in case], ids=lambda case: case["title"]
)
def test_an_update_keeps_and_changes_what_a_real_server_does(case: Any) -> None:
    before = json.dumps(case)
    new, errors = updated(case)
    assert errors == []
    wanted = newer(case["accepted"])
    if new["kind"] in {"Job", "Pod"}:  # the recorded server did not count their generations
        wanted["metadata"]["generation"] = new["metadata"].get("generation")
    for obj in (new, wanted):
        obj["metadata"] = {
            key: value for key, value in obj["metadata"].items() if key not in SERVER_SET and value is not None
        }
    assert comparable(new) == comparable(wanted)
    assert json.dumps(case) == before, "an argument was changed in place"


@pytest.mark.parametrize(
    "case", [case for case in recorded("updates") if "causes" in case], ids=lambda case: case["title"]
)
def test_an_update_is_refused_in_a_real_servers_words(case: Any) -> None:
    _, errors = updated(case)
    assert errors == [[*cause[:2], without_structs(cause[2])] for cause in case["causes"]]


def deployment(**metadata: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "generation": 4, **metadata},
        "spec": {"replicas": 1},
        "status": {},
    }


@pytest.mark.parametrize(
    ("new", "generation"),
    [
        (deployment(), 4),
        (deployment(labels={"a": "b"}), 4),
        (deployment(annotations={"a": "b"}), 5),
        ({**deployment(), "spec": {"replicas": 2}}, 5),
        ({**deployment(), "status": {"replicas": 2}}, 4),
        (deployment(generation=9), 4),
    ],
    ids=["nothing", "labels", "annotations", "spec", "status", "generation"],
)
def test_the_generation_counts_changes_of_what_is_wanted(new: Object, generation: int) -> None:
    strategy = served(new).strategy
    old = strategy.default(deployment())
    result = strategy.prepare_update(strategy.default(new), old, subresource="", around=Around())
    assert result["metadata"]["generation"] == generation


def test_a_pod_gets_time_to_stop_only_where_it_runs() -> None:
    strategy = served({"apiVersion": "v1", "kind": "Pod"}).strategy
    pod: Object = {"spec": {"terminationGracePeriodSeconds": 20}}
    placed = {"spec": {**pod["spec"], "nodeName": "n"}}
    assert strategy.deletion(pod, None).grace_seconds == 0
    assert strategy.deletion(placed, None).grace_seconds == 20
    assert strategy.deletion(placed, 5).grace_seconds == 5
    assert strategy.deletion({**placed, "status": {"phase": "Succeeded"}}, None).grace_seconds == 0


def test_a_namespace_is_held_until_it_has_been_finalized() -> None:
    strategy = served({"apiVersion": "v1", "kind": "Namespace"}).strategy
    namespace: Object = {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    deletion = strategy.deletion(namespace, None)
    assert deletion.held
    assert deletion.obj["status"]["phase"] == "Terminating"
    assert not strategy.deletion({"spec": {}}, None).held


@pytest.mark.parametrize(
    ("kind", "obj", "path", "text"),
    [
        ("Pod", {"status": {"phase": "Running"}}, "status.phase", "Running"),
        ("Pod", {}, "spec.nodeName", ""),
        ("Node", {}, "spec.unschedulable", "false"),
        ("Node", {"spec": {"unschedulable": True}}, "spec.unschedulable", "true"),
        ("Event", {"source": {"component": "c"}}, "source", "c"),
        ("Event", {"involvedObject": {"name": "p"}}, "involvedObject.name", "p"),
    ],
)
def test_field_selectors_see_the_text_of_a_field(kind: str, obj: Object, path: str, text: str) -> None:
    resource = served({"apiVersion": "v1", "kind": kind})
    assert path in resource.selectable_fields
    assert resource.strategy.selectable(obj, path) == text


def test_the_generation_of_a_pod_counts_its_spec_but_not_its_binding() -> None:
    strategy = served({"apiVersion": "v1", "kind": "Pod"}).strategy
    spec = {"containers": [{"name": "main", "image": "nginx"}]}
    written = strategy.default({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    made = strategy.prepare_create(written, Around())
    assert made["metadata"]["generation"] == 1
    pod = {**made, "metadata": {**made["metadata"], "generation": 3}}
    other = {**pod, "spec": {**pod["spec"], "activeDeadlineSeconds": 5}}
    bound = {**pod, "spec": {**pod["spec"], "nodeName": "n"}}
    for new, subresource, generation in ((pod, "", 3), (other, "", 4), (bound, "binding", 3), (other, "status", 3)):
        result = strategy.prepare_update(new, pod, subresource=subresource, around=Around())
        assert result["metadata"]["generation"] == generation, subresource
