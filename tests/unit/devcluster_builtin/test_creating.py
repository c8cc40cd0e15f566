"""Creating objects: what a real server filled in, and what it refused."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from kubewright.devcluster.objects import Object

from .recorded import Around, recorded, served

ALLOCATED = {"clusterIP", "clusterIPs", "healthCheckNodePort", "nodePort"}


def created(sent: Object, *, uid: str = "u", stamps: Object | None = None) -> tuple[Object, list[list[str]]]:
    """An object as our server would store it, and what is wrong with it."""
    resource = served(sent)
    known, _ = resource.strategy.read(sent)
    obj = resource.strategy.default(known)
    metadata = {**obj.get("metadata", {}), "uid": uid, **(stamps or {})}
    if resource.info.namespaced:
        metadata["namespace"] = "default"
    obj = resource.strategy.prepare_create({**obj, "metadata": metadata}, Around())
    errors = resource.strategy.validate(obj, None, subresource="")
    return obj, [[error.reason, error.field, error.detail] for error in errors]


def comparable(value: Any) -> Any:
    """Without what differs from run to run, and without nulls, which newer servers leave out."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in ALLOCATED and item is not None}
    return [comparable(item) for item in value] if isinstance(value, list) else value


def newer(answered: Object) -> Object:
    """An answer of the recorded version with what servers have added since."""
    metadata, found = dict(answered["metadata"]), copy.deepcopy(answered)
    match answered["kind"]:
        case "CronJob" | "Job" | "Pod":
            metadata["generation"] = 1
        case "Namespace":
            metadata["labels"] = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": metadata["name"]}
        case "Service" if answered["spec"]["type"] != "ExternalName":
            by_hand = answered["spec"].get("clusterIP") == "None" and "selector" not in answered["spec"]
            since = {
                "internalTrafficPolicy": "Cluster",
                "ipFamilies": ["IPv4", "IPv6"] if by_hand else ["IPv4"],
                "ipFamilyPolicy": "RequireDualStack" if by_hand else "SingleStack",
            }
            found["spec"] = {**since, **answered["spec"]}
        case "StatefulSet":
            found["status"] = {"availableReplicas": 0, **answered["status"]}
            found["spec"]["persistentVolumeClaimRetentionPolicy"] = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    if answered["kind"] == "Service" and answered["spec"]["type"] == "LoadBalancer":
        found["spec"]["allocateLoadBalancerNodePorts"] = True
    if answered["kind"] == "Job":
        found["spec"].update(completionMode="NonIndexed", suspend=False, podReplacementPolicy="TerminatingOrFailed")
        found["spec"].setdefault("manualSelector", False)
    return {**found, "metadata": metadata}


def with_job_labels(job: Object) -> None:
    """Since 1.27 the labels of a Job's pods are under its domain too, and it selects by that."""
    pods, chosen = job["spec"]["template"]["metadata"].get("labels", {}), job["spec"]["selector"]["matchLabels"]
    if "controller-uid" in chosen:
        chosen["batch.kubernetes.io/controller-uid"] = chosen.pop("controller-uid")
        own = job["metadata"].get("labels") == pods
        pods.update({f"batch.kubernetes.io/{name}": pods[name] for name in ("controller-uid", "job-name")})
        if own:
            job["metadata"]["labels"] = pods


def expected(answered: Object) -> Object:
    found = newer(answered)
    if answered["kind"] == "Job":
        with_job_labels(found)
    if answered["kind"] == "Node":  # whose taints come of an admission plugin that the embedded cluster does without
        found["spec"] = {key: value for key, value in answered["spec"].items() if key != "taints"}
    return found


@pytest.mark.parametrize(
    "case", recorded("defaults"), ids=lambda case: f"{case['sent']['kind']}-{list(case['sent'].get('spec', {}))[:3]}"
)
def test_a_new_object_is_filled_in_as_a_real_server_does(case: Any) -> None:
    answered = case["answered"]
    uid = (answered["metadata"].get("labels") or {}).get("controller-uid", "u")
    stamps = {"creationTimestamp": answered["metadata"]["creationTimestamp"]}
    obj, errors = created(case["sent"], uid=uid, stamps=stamps)
    del obj["metadata"]["uid"]
    if "namespace" not in answered["metadata"]:
        obj["metadata"].pop("namespace", None)
    assert comparable(obj) == comparable(expected(answered))
    assert errors == []


def without_structs(detail: str) -> str:
    """A message without the dump of a Go struct, whose pointers nobody could repeat."""
    detail = re.sub(r"(core|policy|resource|runtime)\.\w+\{.*\}: ", "{}: ", detail)
    if '"controller-uid"' in detail:  # since 1.27 those under a domain are there as well
        detail = re.sub(r'"batch\.kubernetes\.io/[\w-]+":"[^"]*", ', "", detail)
    detail = detail.replace("batch.kubernetes.io/controller-uid", "controller-uid")
    return re.sub(r'"\w+": must be an integer', "{}: must be an integer", detail)


def about_the_object(cause: list[str]) -> bool:
    """The server's checks of metadata are the same for all kinds, and tested elsewhere."""
    field = cause[1]
    return not field.startswith("metadata.") or "taints" in field or "service-account" in field


@pytest.mark.parametrize("case", recorded("refused"), ids=lambda case: case["title"])
def test_an_object_is_refused_in_a_real_servers_words(case: Any) -> None:
    uid = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(case["causes"]))
    _, errors = created(case["object"], uid=uid[0] if uid else "u")
    ours = [[reason, field, without_structs(detail)] for reason, field, detail in errors]
    theirs = [[*cause[:2], without_structs(cause[2])] for cause in case["causes"] if about_the_object(cause)]
    if case["title"].startswith("configmap"):
        ours, theirs = sorted(ours), sorted(theirs)  # the real server goes through a map in random order
    assert ours == theirs


@pytest.mark.parametrize(
    ("kind", "name", "wrong"),
    [
        ("v1 Pod", "a.b-c", False),
        ("v1 Pod", "A", True),
        ("v1 Service", "1a", True),
        ("v1 Service", "a1", False),
        ("v1 Namespace", "a.b", True),
        ("rbac.authorization.k8s.io/v1 Role", "system:Any_Thing", False),
        ("rbac.authorization.k8s.io/v1 Role", "a/b", True),
        ("batch/v1 CronJob", "a" * 52, False),
        ("batch/v1 CronJob", "a" * 53, True),
    ],
)
def test_each_kind_has_its_rule_for_names(kind: str, name: str, wrong: bool) -> None:
    api_version, _, word = kind.partition(" ")
    strategy = served({"apiVersion": api_version, "kind": word}).strategy
    assert bool(strategy.name_errors(name, prefix=False)) is wrong


def test_a_secrets_plain_strings_end_up_among_its_data() -> None:
    secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "new"}}
    obj, _ = created({**secret, "data": {"a": "b2xk", "b": "Yg=="}})
    assert obj["data"] == {"a": "bmV3", "b": "Yg=="}
    assert "stringData" not in obj


def test_services_never_get_an_address_or_port_that_is_taken() -> None:
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "ports": [{"port": 80}]},
    }
    strategy = served(service).strategy
    first = strategy.prepare_create(strategy.default(service), Around())
    second = strategy.prepare_create(strategy.default(service), Around([first]))
    assert first["spec"]["clusterIP"] != second["spec"]["clusterIP"]
    assert first["spec"]["ports"][0]["nodePort"] != second["spec"]["ports"][0]["nodePort"]
    assert "clusterIP" not in service["spec"]
