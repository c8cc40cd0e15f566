"""What the server fills into objects of built-in kinds. Fields that the older server does not know are left out."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import APPS, CONFIG_MAPS, CORE, DEPLOYMENTS, PODS, config_map, show
from tests.conformance.registry import case
from tests.conformance.world import World

_APART = (
    "metadata.generation",
    "spec.template.metadata.creationTimestamp",
    "spec.volumeClaimTemplates.metadata.creationTimestamp",
    "metadata.resourceVersion",
    "metadata.uid",
)
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_CONTAINER: dict[str, Any] = {"name": "main", "image": "nginx"}
_TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [_CONTAINER]}}
_SELECTOR = {"matchLabels": {"app": "a"}}


async def _create(w: World, path: str, *without: str, label: str = "create", **body: Any) -> None:
    made = {"metadata": {"name": "a", **body.pop("metadata", {})}, **body}
    show(w, label, await w.create(path, made, query={"dryRun": "All"}), without=[*_APART, *without])


@case("create a Pod", given="nothing", body="one container", truth="1.20")
async def pod(w: World) -> None:
    await _create(w, PODS, "spec.volumes", "spec.containers.volumeMounts", spec={"containers": [_CONTAINER]})


@case("create a Pod", given="nothing", body="ports, probes, environment, security and lifecycle", truth="1.20")
async def pod_of_many_parts(w: World) -> None:
    container = {
        "name": "main",
        "image": "nginx:1.2",
        "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP", "name": "x"}],
        "livenessProbe": {"httpGet": {"port": 80}},
        "readinessProbe": {"tcpSocket": {"port": "x"}, "periodSeconds": 3},
        "startupProbe": {"exec": {"command": ["true"]}},
        "env": [
            {"name": "A"},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        ],
        "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
        "lifecycle": {"preStop": {"httpGet": {"port": 80}}},
        "securityContext": {"privileged": False},
    }
    spec = {
        "initContainers": [{"name": "init", "image": "busybox:latest"}],
        "containers": [container, {"name": "second", "image": "a.example.dev/b@sha256:" + 64 * "0"}],
        "hostNetwork": True,
        "restartPolicy": "OnFailure",
        "securityContext": {"runAsUser": 1},
    }
    await _create(
        w,
        PODS,
        "spec.volumes",
        "spec.containers.volumeMounts",
        "spec.initContainers.volumeMounts",
        "spec.containers.env.valueFrom.resourceFieldRef.divisor",
        spec=spec,
    )


@case("create a Pod", given="nothing", body="volumes of many kinds", truth="1.20")
async def pod_volumes(w: World) -> None:
    volumes = [
        {"name": "none"},
        {"name": "secret", "secret": {"secretName": "s"}},
        {"name": "map", "configMap": {"name": "c"}},
        {"name": "host", "hostPath": {"path": "/x"}},
        {"name": "down", "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {
            "name": "projected",
            "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}, {"configMap": {"name": "c"}}]},
        },
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "scsi", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:a", "lun": 0}},
    ]
    body = {"containers": [_CONTAINER], "volumes": volumes, "automountServiceAccountToken": False}
    await _create(w, PODS, spec=body)


@case("create a Pod", given="nothing", body="resources of the three classes", truth="1.20")
async def quality_of_service(w: World) -> None:
    for label, resources in (
        ("none", {}),
        ("requests", {"requests": {"cpu": "1"}}),
        ("limits", {"limits": {"cpu": "1", "memory": "1Gi"}}),
        ("equal", {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}}),
        ("lower", {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}),
    ):
        body = {"metadata": {"name": "a"}, "spec": {"containers": [{**_CONTAINER, "resources": resources}]}}
        answer = await w.create(PODS, body, query={"dryRun": "All"})
        found = answer["spec"]["containers"][0]["resources"]
        w.transcript.add(label, resources=found, quality=answer["status"]["qosClass"])


@case("create a Pod", given="nothing", body="image names", truth="1.20")
async def pull_policies(w: World) -> None:
    digest = "sha256:" + 64 * "0"
    for image in ("nginx", "nginx:latest", "nginx:1", f"nginx@{digest}", f"nginx:latest@{digest}", "a:5000/nginx"):
        body = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": image}]}}
        answer = await w.create(PODS, body, query={"dryRun": "All"})
        w.transcript.add(image, policy=answer["spec"]["containers"][0]["imagePullPolicy"])


@case("create a Service", given="nothing", body="a port", truth="1.20")
async def service(w: World) -> None:
    newer = (
        "spec.clusterIP",
        "spec.clusterIPs",
        "spec.internalTrafficPolicy",
        "spec.ipFamilies",
        "spec.ipFamilyPolicy",
    )
    await _create(w, f"{CORE}/services", *newer, spec={"ports": [{"port": 80}]})
    await _create(
        w,
        f"{CORE}/services",
        *newer,
        "spec.ports.nodePort",
        label="of a node port",
        spec={
            "type": "NodePort",
            "ports": [{"port": 80, "targetPort": "http", "name": "x"}],
            "sessionAffinity": "ClientIP",
        },
    )


@case("create a Service", given="nothing", body="headless and of an external name", truth="1.20")
async def headless_service(w: World) -> None:
    newer = ("spec.clusterIPs", "spec.internalTrafficPolicy", "spec.ipFamilies", "spec.ipFamilyPolicy")
    await _create(w, f"{CORE}/services", *newer, label="headless", spec={"clusterIP": "None", "selector": {"a": "b"}})
    external = {"type": "ExternalName", "externalName": "example.dev"}
    await _create(w, f"{CORE}/services", *newer, label="external name", spec=external)


@case("create a ConfigMap, Secret and ServiceAccount", given="nothing", body="the least", truth="1.20")
async def plain_kinds(w: World) -> None:
    await _create(w, CONFIG_MAPS, label="ConfigMap", data={"a": "b"}, binaryData={"c": "aGVsbG8="})
    await _create(w, f"{CORE}/secrets", label="Secret", stringData={"a": "b"}, data={"a": "eA==", "c": "eA=="})
    await _create(w, f"{CORE}/serviceaccounts", label="ServiceAccount")


@case("create a Deployment", given="nothing", body="the least", truth="1.20")
async def deployment(w: World) -> None:
    await _create(w, DEPLOYMENTS, spec={"selector": _SELECTOR, "template": _TEMPLATE})
    recreate = {"selector": _SELECTOR, "template": _TEMPLATE, "strategy": {"type": "Recreate"}}
    await _create(w, DEPLOYMENTS, label="recreate", spec=recreate)


@case("create a ReplicaSet and a StatefulSet", given="nothing", body="the least", truth="1.20")
async def sets(w: World) -> None:
    spec = {"selector": _SELECTOR, "template": _TEMPLATE}
    await _create(w, f"{APPS}/replicasets", label="ReplicaSet", spec=spec)
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    newer = ("spec.persistentVolumeClaimRetentionPolicy", "status.availableReplicas")
    stateful = {**spec, "serviceName": "a", "volumeClaimTemplates": [claim]}
    await _create(w, f"{APPS}/statefulsets", *newer, label="StatefulSet", spec=stateful)


@case("create a Job", given="nothing", body="the least", truth="1.20")
async def job(w: World) -> None:
    template = {"spec": {"containers": [_CONTAINER], "restartPolicy": "Never"}}
    newer = (
        "spec.completionMode",
        "spec.suspend",
        "spec.podReplacementPolicy",
        "spec.manualSelector",
        "spec.selector.matchLabels",
        "spec.template.metadata.labels",
        "metadata.labels",
    )
    path = "/apis/batch/v1/namespaces/{ns}/jobs"
    await _create(w, path, *newer, spec={"template": template})
    await _create(w, path, *newer, label="of two", spec={"template": template, "parallelism": 2})


@case("create a PersistentVolumeClaim", given="nothing", body="the least", truth="1.20")
async def claim(w: World) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "x"}
    await _create(w, f"{CORE}/persistentvolumeclaims", spec=spec)


@case("create RBAC kinds", given="nothing", body="subjects and references without groups", truth="1.20")
async def rbac(w: World) -> None:
    at = f"{_RBAC}/namespaces/{{ns}}"
    await _create(w, f"{at}/roles", label="Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
    subjects = [
        {"kind": "User", "name": "u"},
        {"kind": "Group", "name": "g"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]
    reference = {"kind": "ClusterRole", "name": "view"}
    await _create(w, f"{at}/rolebindings", label="RoleBinding", subjects=subjects, roleRef=reference)
    await _create(w, f"{_RBAC}/clusterroles", label="ClusterRole", metadata={"name": w.unique("role")})


@case("create a Lease and an Event", given="nothing", body="the least", truth="1.20")
async def lease_and_event(w: World) -> None:
    await _create(w, "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", label="Lease")
    involved = {"kind": "Pod", "name": "x", "namespace": w.namespace}
    await _create(w, f"{CORE}/events", label="Event", involvedObject=involved, reason="R", message="m", type="Normal")


@case("update a Deployment", given="one with defaults", body="fields taken away", truth="1.20")
async def defaults_come_back(w: World) -> None:
    spec = {"selector": _SELECTOR, "template": _TEMPLATE, "paused": True, "replicas": 0}
    made = await w.create(DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": {**spec, "progressDeadlineSeconds": 5}})
    change = {"spec": {"replicas": None, "progressDeadlineSeconds": None, "strategy": None}}
    answer = await w.merge(f"{DEPLOYMENTS}/a", change, query={"dryRun": "All"})
    kept = ("replicas", "progressDeadlineSeconds", "strategy")
    w.transcript.add("patch", spec={key: answer["spec"].get(key) for key in kept})
    w.transcript.add("generation", moved=answer["metadata"]["generation"] - made["metadata"]["generation"])


@case("update a Secret", given="one with data", body="stringData", truth="1.20")
async def string_data(w: World) -> None:
    path = f"{CORE}/secrets"
    await w.create(path, {"metadata": {"name": "a"}, "data": {"x": "eA=="}})
    show(w, "patch", await w.merge(f"{path}/a", {"stringData": {"y": "z"}}), without=_APART)


@case("update a ConfigMap and a Secret", given="immutable ones", body="other data", truth="1.20")
async def immutable(w: World) -> None:
    await w.create(CONFIG_MAPS, {**config_map("a", x="y"), "immutable": True})
    changes: dict[str, dict[str, Any]] = {
        "data": {"data": {"x": "z"}},
        "immutable": {"immutable": False},
        "labels": {"metadata": {"labels": {"a": "b"}}},
        "binaryData": {"binaryData": {"b": "eA=="}},
    }
    for label, change in changes.items():
        show(w, label, await w.merge(f"{CONFIG_MAPS}/a", change, query={"dryRun": "All"}), without=_APART)
    await w.create(f"{CORE}/secrets", {"metadata": {"name": "a"}, "data": {"x": "eA=="}, "immutable": True})
    changes = {"secret data": {"data": {"x": "eQ=="}}, "secret type": {"type": "other"}}
    for label, change in changes.items():
        show(w, label, await w.merge(f"{CORE}/secrets/a", change, query={"dryRun": "All"}), without=_APART)
