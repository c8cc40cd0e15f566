"""Bodies and paths of built-in kinds that cases use, and answers taken down in part.

The server that knows the built-in kinds is an old one. What it says of fields that are younger than it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.conformance.world import Answer, World

__all__ = [
    "APPS",
    "CONFIG_MAPS",
    "CORE",
    "DEPLOYMENTS",
    "NAMESPACES",
    "PODS",
    "TABLE",
    "config_map",
    "deployment",
    "owned_by",
    "pod",
    "show",
    "show_table",
    "workload",
]

CORE = "/api/v1/namespaces/{ns}"
APPS = "/apis/apps/v1/namespaces/{ns}"
PODS = f"{CORE}/pods"
CONFIG_MAPS = f"{CORE}/configmaps"
DEPLOYMENTS = f"{APPS}/deployments"
NAMESPACES = "/api/v1/namespaces"
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}

_ALWAYS_APART = ("metadata.managedFields",)


def show(w: World, label: str, answer: Answer, *, without: Iterable[str] = ()) -> Answer:
    """Takes an answer down without its managed fields and what is at the paths ``without`` (``spec.clusterIP``)."""
    body = answer.body
    for path in (*_ALWAYS_APART, *without):
        body = _without(body, path.split("."))
    w.transcript.add_answer(label, answer.status, answer.headers, body)
    return answer


def _without(value: Any, path: list[str]) -> Any:
    head, *rest = path
    if isinstance(value, list):
        return [_without(item, path) for item in value]
    if not isinstance(value, dict) or head not in value:
        return value
    if not rest:
        return {key: item for key, item in value.items() if key != head}
    return {key: _without(item, rest) if key == head else item for key, item in value.items()}


async def show_table(w: World, label: str, path: str, *, columns: Iterable[str] = (), name: str = "") -> None:
    """Takes down the columns of a Table and its rows' cells, of those ``columns`` only if any are given; not ages."""
    query = {"fieldSelector": f"metadata.name={name}"} if name else None
    answer = await w.get(path, headers=TABLE, query=query)
    wanted = set(columns)
    declared = answer["columnDefinitions"]
    kept = [at for at, each in enumerate(declared) if not wanted or each["name"] in wanted]
    w.transcript.add(
        label,
        status=answer.status,
        columns=[{key: declared[at][key] for key in ("name", "type", "format", "priority")} for at in kept],
        rows=[
            ["<age>" if declared[at]["name"] == "Age" else row["cells"][at] for at in kept]
            for row in answer["rows"] or []
        ],
    )


def pod(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A Pod that no scheduler takes: the servers that it is compared with have no nodes."""
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    containers = [{"name": "main", "image": "nginx"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"schedulerName": "nobody", "containers": containers, **spec},
    }


def workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet without pods."""
    template = {"metadata": {"labels": {"app": name}}, "spec": pod(name)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }


def deployment(name: str, **spec: Any) -> dict[str, Any]:
    """A Deployment of no pods, which its controller leaves alone."""
    return workload("Deployment", name, **{"paused": True, **spec})


def config_map(name: str, owners: Iterable[dict[str, Any]] = (), **data: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if owners:
        metadata["ownerReferences"] = list(owners)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def owned_by(owner: Answer, **more: Any) -> dict[str, Any]:
    """A reference to an object as an owner."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner.uid,
        **more,
    }
