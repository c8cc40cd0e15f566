"""The columns that are shown of built-in kinds, and of custom resources."""

from __future__ import annotations

from typing import Any

from tests.conformance.definitions import defined, definition, version
from tests.conformance.kinds import (
    APPS,
    CONFIG_MAPS,
    CORE,
    DEPLOYMENTS,
    PODS,
    config_map,
    deployment,
    pod,
    show_table,
    workload,
)
from tests.conformance.registry import case
from tests.conformance.world import World


@case("list as a table", given="Pods in several states", truth="1.20")
async def pods(w: World) -> None:
    containers = [{"name": name, "image": f"{name}:1"} for name in ("first", "second")]
    await w.create(PODS, pod("running", containers=containers))
    waiting: dict[str, Any] = {"waiting": {"reason": "CrashLoopBackOff"}}
    statuses = [
        {
            "name": "first",
            "image": "first:1",
            "imageID": "",
            "ready": True,
            "restartCount": 2,
            "state": {"running": {}},
        },
        {"name": "second", "image": "second:1", "imageID": "", "ready": False, "restartCount": 3, "state": waiting},
    ]
    status = {"phase": "Running", "podIP": "10.1.2.3", "containerStatuses": statuses}
    await w.merge(f"{PODS}/running/status", {"status": status})
    await w.create(PODS, pod("waiting"))
    await w.create(PODS, pod("failed"))
    failed = {"phase": "Failed", "reason": "Evicted", "message": "no room"}
    await w.merge(f"{PODS}/failed/status", {"status": failed})
    await w.create(PODS, pod("done"))
    await w.merge(f"{PODS}/done/status", {"status": {"phase": "Succeeded"}})
    columns = ("Name", "Ready", "Status", "IP", "Node", "Nominated Node", "Readiness Gates", "Age")
    await show_table(w, "pods", PODS, columns=columns)


@case("list as a table", given="a Deployment, ReplicaSet, StatefulSet and DaemonSet", truth="1.20")
async def workloads(w: World) -> None:
    await w.create(DEPLOYMENTS, deployment("a"))
    await show_table(w, "Deployment", DEPLOYMENTS)
    await w.create(f"{APPS}/replicasets", workload("ReplicaSet", "a"))
    await show_table(w, "ReplicaSet", f"{APPS}/replicasets")
    await w.create(f"{APPS}/statefulsets", workload("StatefulSet", "a", serviceName="a"))
    await show_table(w, "StatefulSet", f"{APPS}/statefulsets")


@case("list as a table", given="Services of every type", truth="1.20")
async def services(w: World) -> None:
    path = f"{CORE}/services"
    port = {"name": "http", "port": 80}
    for name, spec in (
        ("headless", {"clusterIP": "None", "selector": {"a": "b", "c": "d"}}),
        ("external", {"type": "ExternalName", "externalName": "example.dev"}),
        ("ports", {"clusterIP": "None", "ports": [port, {"name": "udp", "port": 53, "protocol": "UDP"}]}),
    ):
        await w.create(path, {"metadata": {"name": name}, "spec": spec})
    await show_table(w, "Service", path)


@case("list as a table", given="a ConfigMap, Secret, ServiceAccount, Lease and claim", truth="1.20")
async def plain_kinds(w: World) -> None:
    await w.create(CONFIG_MAPS, config_map("a", x="1", y="2"))
    await show_table(w, "ConfigMap", CONFIG_MAPS, name="a")
    await w.create(f"{CORE}/secrets", {"metadata": {"name": "a"}, "type": "example.dev/x", "stringData": {"x": "1"}})
    await show_table(w, "Secret", f"{CORE}/secrets", name="a")
    lease = {"metadata": {"name": "a"}, "spec": {"holderIdentity": "me"}}
    leases = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
    await w.create(leases, lease)
    await show_table(w, "Lease", leases)
    claims = f"{CORE}/persistentvolumeclaims"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "x"}
    await w.create(claims, {"metadata": {"name": "a"}, "spec": spec})
    columns = ("Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "Age")
    await show_table(w, "PersistentVolumeClaim", claims, columns=columns)


@case("list as a table", given="a Role and a RoleBinding", truth="1.20")
async def rbac(w: World) -> None:
    at = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
    created = await w.create(f"{at}/roles", {"metadata": {"name": "a"}, "rules": []})
    assert created.status == 201
    subjects = [
        {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}
    await w.create(f"{at}/rolebindings", {"metadata": {"name": "a"}, "roleRef": reference, "subjects": subjects})
    await show_table(w, "RoleBinding", f"{at}/rolebindings")


@case("list as a table", given="a custom resource with columns of every type")
async def custom_columns(w: World) -> None:
    columns: list[dict[str, Any]] = [
        {"name": "Text", "type": "string", "jsonPath": ".spec.text"},
        {"name": "Number", "type": "number", "jsonPath": ".spec.number"},
        {"name": "Whole", "type": "integer", "jsonPath": ".spec.whole", "format": "int32"},
        {"name": "Flag", "type": "boolean", "jsonPath": ".spec.flag"},
        {"name": "When", "type": "date", "jsonPath": ".spec.when"},
        {"name": "Item", "type": "string", "jsonPath": ".spec.list[0]"},
        {"name": "All", "type": "string", "jsonPath": ".spec.list[*]"},
        {"name": "Chosen", "type": "string", "jsonPath": '.spec.parts[?(@.name=="b")].value'},
        {"name": "Object", "type": "string", "jsonPath": ".spec.object"},
        {"name": "Label", "type": "string", "jsonPath": r".metadata.labels.example\.dev/x"},
        {"name": "Wide", "type": "string", "jsonPath": ".spec.text", "priority": 1, "description": "more"},
    ]
    body = definition(w, versions=[version("v1", additionalPrinterColumns=columns)])
    async with defined(w, body) as path:
        group = body["spec"]["group"]
        specs: dict[str, dict[str, Any]] = {
            "full": {
                "text": "x",
                "number": 1.5,
                "whole": 3,
                "flag": True,
                "when": "2001-01-01T00:00:00Z",
                "list": ["a", "b"],
                "parts": [{"name": "a", "value": 1}, {"name": "b", "value": 2}],
                "object": {"a": 1},
            },
            "empty": {},
            "odd": {"text": 5, "number": "x", "whole": 2.5, "flag": "yes", "when": "never", "list": [], "parts": []},
            "zero": {"text": "", "number": 0, "whole": 0, "flag": False, "when": "", "list": [None]},
        }
        for name, spec in specs.items():
            metadata = {"name": name, "labels": {"example.dev/x": name}}
            await w.create(path, {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": metadata, "spec": spec})
        shown = [column["name"] for column in columns if column["name"] != "When"]
        await show_table(w, "gadgets", path, columns=["Name", *shown])


@case("list as a table", given="a custom resource without columns")
async def no_columns(w: World) -> None:
    body = definition(w)
    async with defined(w, body) as path:
        group = body["spec"]["group"]
        await w.create(path, {"apiVersion": f"{group}/v1", "kind": "Gadget", "metadata": {"name": "a"}})
        await show_table(w, "gadgets", path)
