"""What servers are known to fill into units is told from what an earlier apply had there."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubewright.controller.known_defaults import known_defaults, only_defaults_more
from kubewright.devcluster.builtin.defaults import fill_in

CLAIM: dict[str, Any] = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
FIELD: dict[str, Any] = {"fieldRef": {"fieldPath": "metadata.name"}}
RESOURCE: dict[str, Any] = {"resourceFieldRef": {"resource": "limits.cpu"}}
FILES = [{"path": "a", **FIELD}, {"path": "b", **RESOURCE}]
SOURCES = [{"downwardAPI": {"items": FILES}}, {"serviceAccountToken": {"path": "t"}}]
POD: dict[str, Any] = {
    "containers": [{"name": "a", "env": [{"valueFrom": FIELD}, {"valueFrom": RESOURCE}]}],
    "volumes": [{"downwardAPI": {"items": FILES}}, {"projected": {"sources": SOURCES}}],
}
PORTS = [{"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}]}]
RULES = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
SUBJECTS = [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]

UNITS: list[tuple[str, str, Any, list[Any]]] = [
    ("apps", "StatefulSet", {"spec": {"volumeClaimTemplates": [CLAIM]}}, ["spec", "volumeClaimTemplates"]),
    (
        "apps",
        "StatefulSet",
        {"spec": {"volumeClaimTemplates": [{**CLAIM, "status": {}}]}},
        ["spec", "volumeClaimTemplates"],
    ),
    *[
        ("apps", kind, {"spec": {"template": {"spec": POD}}}, ["spec", "template", "spec", *path])
        for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
        for path in (
            ["containers", 0, "env", 0, "valueFrom", "fieldRef"],
            ["containers", 0, "env", 1, "valueFrom", "resourceFieldRef"],
            ["volumes", 0, "downwardAPI", "items"],
            ["volumes", 1, "projected", "sources"],
        )
    ],
    ("batch", "Job", {"spec": {"podFailurePolicy": {"rules": RULES}}}, ["spec", "podFailurePolicy", "rules"]),
    ("networking.k8s.io", "NetworkPolicy", {"spec": {"ingress": PORTS}}, ["spec", "ingress"]),
    ("networking.k8s.io", "NetworkPolicy", {"spec": {"egress": PORTS}}, ["spec", "egress"]),
    ("rbac.authorization.k8s.io", "RoleBinding", {"subjects": SUBJECTS}, ["subjects"]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", {"subjects": SUBJECTS}, ["subjects"]),
    ("", "Endpoints", {"subsets": PORTS}, ["subsets"]),
    ("discovery.k8s.io", "EndpointSlice", {"ports": [{"port": 80}]}, ["ports"]),
    *[
        (
            "admissionregistration.k8s.io",
            kind,
            {"webhooks": [{"rules": [{"apiGroups": ["*"]}]}]},
            ["webhooks", 0, "rules"],
        )
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    ],
]


def plural(group: str, kind: str) -> str:
    name = kind.lower()
    name = f"{name[:-1]}ies" if name.endswith("y") else name if name.endswith("s") else f"{name}s"
    return f"{name}.{group}" if group else name


def at(obj: Any, path: list[Any]) -> Any:
    for step in path:
        obj = obj[step]
    return obj


@pytest.mark.parametrize(
    ("group", "kind", "wanted", "path"),
    UNITS,
    ids=[f"{kind}-{path[-1]}-{n}" for n, (_, kind, _, path) in enumerate(UNITS)],
)
def test_what_the_server_fills_into_a_unit_is_known(
    group: str, kind: str, wanted: dict[str, Any], path: list[Any]
) -> None:
    live = copy.deepcopy(wanted)
    fill_in(group, kind, live)
    (field,) = [step for step in path[-1:] if isinstance(step, str)]
    assert only_defaults_more(at(live, path), at(wanted, path), known_defaults(plural(group, kind))[field])


FULL: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "creationTimestamp": None},
    "spec": {**CLAIM["spec"], "volumeMode": "Filesystem"},
    "status": {"phase": "Pending"},
}
CLAIMS = known_defaults("statefulsets.apps")["volumeClaimTemplates"]


def test_a_null_is_nothing() -> None:
    assert only_defaults_more([FULL], [CLAIM], CLAIMS)


@pytest.mark.parametrize(
    "live",
    [
        pytest.param([{**FULL, "spec": {**FULL["spec"], "volumeMode": "Block"}}], id="another value than the default"),
        pytest.param([{**FULL, "spec": {**FULL["spec"], "storageClassName": "x"}}], id="a field that has no default"),
        pytest.param([{**FULL, "metadata": {"name": "data", "labels": {"a": "b"}}}], id="a map that has no default"),
        pytest.param([{**FULL, "metadata": {"name": "data", "volumeMode": "Filesystem"}}], id="a default elsewhere"),
        pytest.param([{**FULL, "metadata": {"name": "other"}}], id="another value"),
        pytest.param([{**FULL, "spec": {"volumeMode": "Filesystem"}}], id="a field is missing"),
        pytest.param([FULL, FULL], id="more items"),
        pytest.param([], id="fewer items"),
        pytest.param(None, id="nothing"),
    ],
)
def test_anything_else_is_a_difference(live: Any) -> None:
    assert not only_defaults_more(live, [CLAIM], CLAIMS)


def test_nothing_is_known_of_kinds_that_are_not_built_in() -> None:
    assert known_defaults("statefulsets.apps.example.com") == {}
