"""What the server refuses of built-in kinds."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import APPS, CONFIG_MAPS, CORE, DEPLOYMENTS, PODS, deployment, pod, show, workload
from tests.conformance.registry import case
from tests.conformance.world import World

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_CONTAINER: dict[str, Any] = {"name": "main", "image": "nginx"}


async def _refused(w: World, path: str, *bodies: tuple[str, dict[str, Any]]) -> None:
    """Each as a dry run: why it is refused."""
    for label, body in bodies:
        made = {**body, "metadata": {"name": "a", **body.get("metadata", {})}}
        answer = await w.create(path, made, query={"dryRun": "All"})
        w.transcript.add(label, status=answer.status, refused=answer.body if answer.status != 201 else None)


async def _unchanged(w: World, path: str, *changes: tuple[str, dict[str, Any]]) -> None:
    for label, change in changes:
        answer = await w.merge(path, change, query={"dryRun": "All"})
        w.transcript.add(label, status=answer.status, refused=answer.body if answer.status != 200 else None)


def _of(**container: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{**_CONTAINER, **container}]}}


@case("create a Pod", given="nothing", body="containers that are none", truth="1.20")
async def containers(w: World) -> None:
    await _refused(
        w,
        PODS,
        ("none", {"spec": {"containers": []}}),
        ("no spec", {}),
        ("no name", {"spec": {"containers": [{"image": "nginx"}]}}),
        ("no image", {"spec": {"containers": [{"name": "main"}]}}),
        ("a wrong name", _of(name="A_b")),
        ("a name twice", {"spec": {"containers": [_CONTAINER, _CONTAINER]}}),
        ("an init container's name", {"spec": {"initContainers": [_CONTAINER], "containers": [_CONTAINER]}}),
        ("a wrong pull policy", _of(imagePullPolicy="Sometimes")),
        ("an image with spaces", _of(image=" nginx")),
    )


@case("create a Pod", given="nothing", body="ports that are none", truth="1.20")
async def ports(w: World) -> None:
    await _refused(
        w,
        PODS,
        ("none", _of(ports=[{"containerPort": 0}])),
        ("too high", _of(ports=[{"containerPort": 65536}])),
        ("a wrong protocol", _of(ports=[{"containerPort": 1, "protocol": "ICMP"}])),
        ("a wrong name", _of(ports=[{"containerPort": 1, "name": "too-long-a-port-name"}])),
        ("a name twice", _of(ports=[{"containerPort": 1, "name": "x"}, {"containerPort": 2, "name": "x"}])),
        ("a host port twice", _of(ports=[{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}])),
    )


@case("create a Pod", given="nothing", body="environment and volumes that don't fit", truth="1.20")
async def environment_and_volumes(w: World) -> None:
    def mounted(*mounts: dict[str, Any], volumes: list[dict[str, Any]]) -> dict[str, Any]:
        return {"spec": {"containers": [{**_CONTAINER, "volumeMounts": list(mounts)}], "volumes": volumes}}

    await _refused(
        w,
        PODS,
        ("no variable name", _of(env=[{"value": "x"}])),
        (
            "value and source",
            _of(env=[{"name": "A", "value": "x", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
        ),
        ("no source", _of(env=[{"name": "A", "valueFrom": {}}])),
        ("a wrong field", _of(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nothing"}}}])),
        ("no volume", mounted({"name": "x", "mountPath": "/x"}, volumes=[])),
        ("no path", mounted({"name": "x", "mountPath": ""}, volumes=[{"name": "x", "emptyDir": {}}])),
        (
            "a path twice",
            mounted(
                {"name": "x", "mountPath": "/x"},
                {"name": "x", "mountPath": "/x"},
                volumes=[{"name": "x", "emptyDir": {}}],
            ),
        ),
        ("two sources", mounted(volumes=[{"name": "x", "emptyDir": {}, "hostPath": {"path": "/x"}}])),
        ("a volume twice", mounted(volumes=[{"name": "x", "emptyDir": {}}, {"name": "x", "emptyDir": {}}])),
        ("no secret name", mounted(volumes=[{"name": "x", "secret": {}}])),
    )


@case("create a Pod", given="nothing", body="resources that are none", truth="1.20")
async def resources(w: World) -> None:
    def of(**resources: Any) -> dict[str, Any]:
        return _of(resources=resources)

    await _refused(
        w,
        PODS,
        ("more than the limit", of(limits={"cpu": "1"}, requests={"cpu": "2"})),
        ("less than nothing", of(limits={"cpu": "-1"})),
        ("of another kind", of(limits={"gpu": "1"})),
        ("unequal devices", of(limits={"example.dev/gpu": "2"}, requests={"example.dev/gpu": "1"})),
    )


@case("create a Pod", given="nothing", body="probes and policies that are none", truth="1.20")
async def probes(w: World) -> None:
    def pod_of(**spec: Any) -> dict[str, Any]:
        return {"spec": {"containers": [_CONTAINER], **spec}}

    await _refused(
        w,
        PODS,
        ("no handler", _of(livenessProbe={})),
        ("two handlers", _of(livenessProbe={"exec": {"command": ["x"]}, "tcpSocket": {"port": 1}})),
        ("a liveness that must succeed twice", _of(livenessProbe={"tcpSocket": {"port": 1}, "successThreshold": 2})),
        ("negative periods", _of(readinessProbe={"tcpSocket": {"port": 1}, "periodSeconds": -1})),
        ("a wrong restart policy", pod_of(restartPolicy="Sometimes")),
        ("a wrong DNS policy", pod_of(dnsPolicy="Local")),
        ("a wrong host name", pod_of(hostname="A.b")),
        ("a negative grace period", pod_of(terminationGracePeriodSeconds=-1)),
        ("no time to live", pod_of(activeDeadlineSeconds=0)),
        ("a wrong node selector", pod_of(nodeSelector={"a b": "c"})),
        ("a wrong toleration", pod_of(tolerations=[{"operator": "Exists", "key": "a", "value": "b"}])),
    )


@case("update a Pod", given="one that waits", body="what may and may not change", truth="1.20")
async def pod_update(w: World) -> None:
    await w.create(PODS, pod("a"))
    path = f"{PODS}/a"
    operations: list[tuple[str, list[dict[str, Any]]]] = [
        ("image", [{"op": "replace", "path": "/spec/containers/0/image", "value": "other"}]),
        ("an empty image", [{"op": "replace", "path": "/spec/containers/0/image", "value": ""}]),
        ("a container more", [{"op": "add", "path": "/spec/containers/-", "value": {"name": "b", "image": "b"}}]),
        ("deadline", [{"op": "add", "path": "/spec/activeDeadlineSeconds", "value": 5}]),
        ("toleration", [{"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists", "key": "x"}}]),
        ("labels", [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]),
    ]
    for label, operation in operations:
        answer = await w.json_patch(path, operation, query={"dryRun": "All"})
        message = answer.body.get("message", "").partition("\n")[0] if answer.status != 200 else ""
        w.transcript.add(label, status=answer.status, message=message)


@case("create a Service", given="nothing", body="ports, types and addresses that are none", truth="1.20")
async def service(w: World) -> None:
    port = {"port": 80}
    await _refused(
        w,
        f"{CORE}/services",
        ("no ports", {"spec": {}}),
        ("no port number", {"spec": {"ports": [{}]}}),
        ("too high", {"spec": {"ports": [{"port": 70000}]}}),
        ("two without names", {"spec": {"ports": [port, {"port": 81}]}}),
        ("a name twice", {"spec": {"ports": [{**port, "name": "x"}, {"port": 81, "name": "x"}]}}),
        ("a port twice", {"spec": {"ports": [{**port, "name": "x"}, {**port, "name": "y"}]}}),
        ("a wrong protocol", {"spec": {"ports": [{**port, "protocol": "ICMP"}]}}),
        ("a wrong type", {"spec": {"ports": [port], "type": "Local"}}),
        ("no external name", {"spec": {"type": "ExternalName"}}),
        ("a headless node port", {"spec": {"ports": [port], "type": "NodePort", "clusterIP": "None"}}),
        ("a wrong selector", {"spec": {"ports": [port], "selector": {"a b": "c"}}}),
        ("a wrong affinity", {"spec": {"ports": [port], "sessionAffinity": "Cookie"}}),
        ("a wrong name", {"metadata": {"name": "1a"}, "spec": {"ports": [port]}}),
    )


@case("update a Service", given="one with an address", body="another address and none", truth="1.20")
async def service_update(w: World) -> None:
    path = f"{CORE}/services"
    await w.create(path, {"metadata": {"name": "a"}, "spec": {"clusterIP": "None", "selector": {"a": "b"}}})
    await _unchanged(
        w,
        f"{path}/a",
        ("no selector", {"spec": {"selector": None}}),
        ("ports", {"spec": {"ports": [{"port": 1}]}}),
        ("an external name", {"spec": {"type": "ExternalName", "externalName": "example.dev"}}),
    )


@case("create a ConfigMap and a Secret", given="nothing", body="keys and data that are none", truth="1.20")
async def maps(w: World) -> None:
    await _refused(
        w,
        CONFIG_MAPS,
        ("a wrong key", {"data": {"a b": "c"}}),
        ("a dot", {"data": {".": "c"}}),
        ("a key twice", {"data": {"a": "c"}, "binaryData": {"a": "eA=="}}),
    )
    await _refused(
        w,
        f"{CORE}/secrets",
        ("a wrong secret key", {"data": {"a/b": "eA=="}}),
        ("no docker config", {"type": "kubernetes.io/dockerconfigjson", "data": {}}),
        ("a wrong docker config", {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "x"}}),
        ("no user", {"type": "kubernetes.io/basic-auth"}),
        ("no key", {"type": "kubernetes.io/ssh-auth"}),
        ("no certificate", {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}}),
    )


@case("create a Deployment", given="nothing", body="selectors and strategies that don't fit", truth="1.20")
async def deployments(w: World) -> None:
    good = deployment("a")["spec"]
    await _refused(
        w,
        DEPLOYMENTS,
        ("nothing", {"spec": {}}),
        ("no selector", {"spec": {**good, "selector": None}}),
        ("an empty selector", {"spec": {**good, "selector": {}}}),
        ("another selector", {"spec": {**good, "selector": {"matchLabels": {"x": "y"}}}}),
        ("fewer than none", {"spec": {**good, "replicas": -1}}),
        ("a wrong strategy", {"spec": {**good, "strategy": {"type": "Slowly"}}}),
        (
            "recreate with numbers",
            {"spec": {**good, "strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}},
        ),
        ("none at once", {"spec": {**good, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}}),
        ("too many percent", {"spec": {**good, "strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}}}),
        ("a wrong percentage", {"spec": {**good, "strategy": {"rollingUpdate": {"maxSurge": "some"}}}}),
        ("a deadline too near", {"spec": {**good, "progressDeadlineSeconds": 5, "minReadySeconds": 5}}),
        ("a pod that never restarts", {"spec": {**good, "template": _never(good["template"])}}),
    )


def _never(template: dict[str, Any]) -> dict[str, Any]:
    return {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}


@case("update workloads", given="one of each", body="what is fixed", truth="1.20")
async def workload_updates(w: World) -> None:
    await w.create(DEPLOYMENTS, deployment("a"))
    selector = {"spec": {"selector": {"matchLabels": {"app": "a", "x": "y"}}}}
    await _unchanged(w, f"{DEPLOYMENTS}/a", ("a Deployment's selector", selector))
    await w.create(f"{APPS}/replicasets", workload("ReplicaSet", "a"))
    await _unchanged(w, f"{APPS}/replicasets/a", ("a ReplicaSet's selector", selector))
    await w.create(f"{APPS}/statefulsets", workload("StatefulSet", "a", serviceName="a"))
    for field, value in (("podManagementPolicy", "Parallel"), ("revisionHistoryLimit", 3)):
        answer = await w.merge(f"{APPS}/statefulsets/a", {"spec": {field: value}}, query={"dryRun": "All"})
        causes = [(cause["field"], cause["reason"]) for cause in answer["details"]["causes"]]
        w.transcript.add(f"a StatefulSet's {field}", status=answer.status, causes=causes)


@case("create a StatefulSet", given="nothing", body="policies and claims that are none", truth="1.20")
async def stateful_sets(w: World) -> None:
    good = workload("StatefulSet", "a", serviceName="a")["spec"]
    await _refused(
        w,
        f"{APPS}/statefulsets",
        ("nothing", {"spec": {}}),
        ("another selector", {"spec": {**good, "selector": {"matchLabels": {"x": "y"}}}}),
        ("a wrong pod policy", {"spec": {**good, "podManagementPolicy": "Chaos"}}),
        ("a wrong strategy", {"spec": {**good, "updateStrategy": {"type": "Slowly"}}}),
        ("a negative partition", {"spec": {**good, "updateStrategy": {"rollingUpdate": {"partition": -1}}}}),
        ("fewer than none", {"spec": {**good, "replicas": -1}}),
    )


@case("create a Job", given="nothing", body="numbers and pods that don't fit", truth="1.20")
async def jobs(w: World) -> None:
    path = "/apis/batch/v1/namespaces/{ns}/jobs"
    template = {"spec": {"containers": [_CONTAINER], "restartPolicy": "Never"}}
    await _refused(
        w,
        path,
        ("no restart policy", {"spec": {"template": {"spec": {"containers": [_CONTAINER]}}}}),
        (
            "negative numbers",
            {"spec": {"template": template, "parallelism": -1, "completions": -1, "backoffLimit": -1}},
        ),
        (
            "negative seconds",
            {"spec": {"template": template, "activeDeadlineSeconds": -1}},
        ),
    )
    await w.create(path, {"metadata": {"name": "a"}, "spec": {"template": template, "parallelism": 0}})
    answer = await w.merge(f"{path}/a", {"spec": {"completions": 3}}, query={"dryRun": "All"})
    show(w, "other completions", answer)


@case("create a PersistentVolumeClaim", given="nothing", body="sizes and modes that are none", truth="1.20")
async def claims(w: World) -> None:
    path = f"{CORE}/persistentvolumeclaims"
    size = {"requests": {"storage": "1Gi"}}
    await _refused(
        w,
        path,
        ("nothing", {"spec": {}}),
        ("no size", {"spec": {"accessModes": ["ReadWriteOnce"]}}),
        ("a wrong mode", {"spec": {"accessModes": ["Sometimes"], "resources": size}}),
        ("no bytes", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}}}),
        ("a wrong class", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": size, "storageClassName": "A b"}}),
        ("a wrong volume mode", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": size, "volumeMode": "Tape"}}),
    )


@case("create RBAC kinds", given="nothing", body="rules, subjects and references that are none", truth="1.20")
async def rbac(w: World) -> None:
    at = f"{_RBAC}/namespaces/{{ns}}"
    await _refused(
        w,
        f"{at}/roles",
        ("no verbs", {"rules": [{"apiGroups": [""], "resources": ["pods"]}]}),
        ("no groups", {"rules": [{"resources": ["pods"], "verbs": ["get"]}]}),
        ("no resources", {"rules": [{"apiGroups": [""], "verbs": ["get"]}]}),
        ("a path", {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}),
        ("a name of two segments", {"metadata": {"name": "a/b"}}),
    )
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    await _refused(
        w,
        f"{at}/rolebindings",
        ("no reference", {}),
        ("of another group", {"roleRef": {**reference, "apiGroup": "apps"}}),
        ("to another kind", {"roleRef": {**reference, "kind": "Pod"}}),
        ("to no name", {"roleRef": {**reference, "name": ""}}),
        ("a subject of no kind", {"roleRef": reference, "subjects": [{"name": "x"}]}),
        ("an account of no namespace", {"roleRef": reference, "subjects": [{"kind": "ServiceAccount", "name": "x"}]}),
        (
            "an account's wrong name",
            {"roleRef": reference, "subjects": [{"kind": "ServiceAccount", "name": "A", "namespace": "n"}]},
        ),
        (
            "a user of another group",
            {"roleRef": reference, "subjects": [{"kind": "User", "name": "x", "apiGroup": "apps"}]},
        ),
    )


@case("update a RoleBinding", given="one", body="another role", truth="1.20")
async def role_of_binding(w: World) -> None:
    path = f"{_RBAC}/namespaces/{{ns}}/rolebindings"
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    await w.create(path, {"metadata": {"name": "a"}, "roleRef": reference})
    await _unchanged(w, f"{path}/a", ("roleRef", {"roleRef": {**reference, "name": "edit"}}))


@case("create a Lease and an Event", given="nothing", body="seconds and namespaces that don't fit", truth="1.20")
async def leases_and_events(w: World) -> None:
    await _refused(
        w,
        "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
        ("no seconds", {"spec": {"leaseDurationSeconds": 0}}),
        ("negative transitions", {"spec": {"leaseTransitions": -1}}),
    )
    involved = {"kind": "Pod", "name": "x", "namespace": "other"}
    await _refused(w, f"{CORE}/events", ("of another namespace", {"involvedObject": involved}))


@case("create", given="a built-in kind", body="names, labels and annotations that are none", truth="1.20")
async def metadata(w: World) -> None:
    for label, more in (
        ("a wrong name", {"name": "A b"}),
        ("no name", {"name": ""}),
        ("a wrong label key", {"labels": {"a b": "c"}}),
        ("a wrong label", {"labels": {"a": "b c"}}),
        ("a wrong annotation key", {"annotations": {"a b": "c"}}),
        ("a wrong finalizer", {"finalizers": ["not a finalizer"]}),
    ):
        await _refused(w, CONFIG_MAPS, (label, {"metadata": more}))
