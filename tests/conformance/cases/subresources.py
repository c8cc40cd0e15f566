"""status and scale, of custom resources and of built-in kinds."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import APPS, CONFIG_MAPS, DEPLOYMENTS, PODS, config_map, deployment, pod, show, workload
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import World

_SITES = "/apis/conformance.kubewright.dev/v1/sites"


def _scale(name: str, replicas: Any, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": name, "namespace": "{ns}", **more},
        "spec": {"replicas": replicas},
    }


def _in(w: World, body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "namespace": w.namespace}}


@case("update the status", given="a custom resource", body="another spec, metadata and status")
async def status_of_custom(w: World) -> None:
    made = await w.create(WIDGETS, widget("a"))
    changed = made.body
    changed["spec"]["size"] = 9
    changed["metadata"]["labels"] = {"a": "b"}
    changed["metadata"]["annotations"] = {"a": "b"}
    changed["metadata"]["finalizers"] = ["example.dev/held"]
    changed["status"] = {"phase": "Ready", "unknown": 1}
    await w.put(f"{WIDGETS}/a/status", changed, label="update")
    await w.get(f"{WIDGETS}/a/status", label="get the status")
    await w.get(f"{WIDGETS}/a", label="get")


@case("update", given="a custom resource with a status", body="another status")
async def status_by_object(w: World) -> None:
    await w.create(WIDGETS, {**widget("a"), "status": {"phase": "Ignored"}}, label="create")
    await w.merge(f"{WIDGETS}/a/status", {"status": {"phase": "Ready"}}, label="patch the status")
    await w.merge(f"{WIDGETS}/a", {"status": {"phase": "Ignored"}}, label="patch the object")
    await w.merge(f"{WIDGETS}/a/status", {"status": {"phase": "Ready"}}, label="patch the status with the same")
    await w.merge(f"{WIDGETS}/a/status", {"status": None}, label="patch the status away")


@case("update the status", given="the object changed since it was read", body="the old resource version")
async def stale_status(w: World) -> None:
    made = await w.create(WIDGETS, widget("a"))
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
    await w.put(f"{WIDGETS}/a/status", {**made.body, "status": {"phase": "x"}}, label="update")
    await w.put(f"{WIDGETS}/b/status", {**made.body, "status": {"phase": "x"}}, label="update under another name")
    await w.put(f"{WIDGETS}/b/status", widget("b"), label="update what is not there")
    await w.merge(f"{WIDGETS}/b/status", {"status": {}}, label="patch what is not there")


@case("any but get, update and patch of the status", given="a custom resource")
async def wrong_status_verbs(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.send("POST", f"{WIDGETS}/a/status", widget("a"), label="create")
    await w.delete(f"{WIDGETS}/a/status", label="delete")
    await w.get(f"{WIDGETS}/a/nothing", label="an unknown subresource")


@case("get, update and patch the status", given="a custom resource without that subresource")
async def no_status(w: World) -> None:
    name = w.unique("site")
    body = {"apiVersion": "conformance.kubewright.dev/v1", "kind": "Site", "metadata": {"name": name}}
    await w.create(_SITES, body)
    await w.get(f"{_SITES}/{name}/status", label="get")
    await w.put(f"{_SITES}/{name}/status", body, label="update")
    await w.merge(f"{_SITES}/{name}/status", {}, label="patch")
    await w.get(f"{_SITES}/{name}/scale", label="get scale")
    await w.delete(f"{_SITES}/{name}")


@case("get the scale", given="a custom resource with and without what the paths name")
async def scale_of_custom(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3))
    await w.get(f"{WIDGETS}/a/scale", label="without a status")
    await w.merge(f"{WIDGETS}/a/status", {"status": {"ready": 2, "selector": "app=a"}})
    await w.get(f"{WIDGETS}/a/scale", label="with a status")
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 0}})
    await w.get(f"{WIDGETS}/a/scale", label="of none")
    await w.get(f"{WIDGETS}/b/scale", label="of nothing")


@case("update the scale", given="a custom resource", body="other replicas")
async def rescale_custom(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3))
    await w.put(f"{WIDGETS}/a/scale", _in(w, _scale("a", 5)), label="update")
    show(w, "get", await w.get(f"{WIDGETS}/a"))
    await w.put(f"{WIDGETS}/a/scale", _in(w, _scale("a", 5)), label="update to the same")
    await w.put(f"{WIDGETS}/a/scale", _in(w, _scale("a", 0)), label="update to none")
    await w.put(f"{WIDGETS}/a/scale", _in(w, _scale("a", 7, resourceVersion="1")), label="update of an old version")


@case("patch the scale", given="a custom resource", body="patches of several types")
async def patch_scale_custom(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3))
    await w.merge(f"{WIDGETS}/a/scale", {"spec": {"replicas": 4}}, label="merge patch")
    await w.json_patch(
        f"{WIDGETS}/a/scale", [{"op": "replace", "path": "/spec/replicas", "value": 5}], label="JSON patch"
    )
    await w.merge(f"{WIDGETS}/a/scale", {"spec": {"replicas": 5}}, label="merge patch of nothing")
    await w.merge(f"{WIDGETS}/a/scale", {"status": {"replicas": 5}}, label="merge patch of the status")
    await w.merge(f"{WIDGETS}/a/scale", {"spec": {"replicas": 6}}, query={"dryRun": "All"}, label="dry run")
    await w.get(f"{WIDGETS}/a/scale", label="get")


@case("update the scale", given="a custom resource", body="replicas that its schema refuses")
async def refused_scale_custom(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3))
    await w.put(f"{WIDGETS}/a/scale", _in(w, _scale("a", 101)), label="too many")
    await w.put(f"{WIDGETS}/a/scale", _in(w, _scale("a", -1)), label="less than none")
    await w.merge(f"{WIDGETS}/a/scale", {"spec": {"replicas": -1}}, label="patch to less than none")
    await w.put(f"{WIDGETS}/b/scale", _in(w, _scale("b", 1)), label="of nothing")


@case("get the scale", given="a Deployment, ReplicaSet and StatefulSet", truth="1.20")
async def scale_of_workloads(w: World) -> None:
    expressions = [
        {"key": "tier", "operator": "In", "values": ["b", "a"]},
        {"key": "app", "operator": "Exists"},
        {"key": "x", "operator": "DoesNotExist"},
        {"key": "y", "operator": "NotIn", "values": ["z"]},
    ]
    for kind, plural in (("Deployment", "deployments"), ("ReplicaSet", "replicasets"), ("StatefulSet", "statefulsets")):
        body = workload(kind, "a", **({"paused": True} if kind == "Deployment" else {}))
        body["spec"]["selector"] = {"matchLabels": {"app": "a", "tier": "a"}, "matchExpressions": expressions}
        body["spec"]["template"]["metadata"]["labels"] = {"app": "a", "tier": "a", "y": "a"}
        await w.create(f"{APPS}/{plural}", body)
        show(w, kind, await w.get(f"{APPS}/{plural}/a/scale"), without=["metadata.resourceVersion"])
    show(w, "of nothing", await w.get(f"{DEPLOYMENTS}/b/scale"))


@case("update the scale", given="a Deployment", body="other replicas", truth="1.20")
async def rescale_deployment(w: World) -> None:
    await w.create(DEPLOYMENTS, deployment("a"))
    apart = ["metadata.resourceVersion"]
    show(w, "update", await w.put(f"{DEPLOYMENTS}/a/scale", _in(w, _scale("a", 0))), without=apart)
    show(w, "less than none", await w.put(f"{DEPLOYMENTS}/a/scale", _in(w, _scale("a", -1))))
    show(w, "patch to less", await w.merge(f"{DEPLOYMENTS}/a/scale", {"spec": {"replicas": -1}}))
    show(w, "of an old version", await w.put(f"{DEPLOYMENTS}/a/scale", _in(w, _scale("a", 2, resourceVersion="1"))))
    show(w, "under another name", await w.put(f"{DEPLOYMENTS}/a/scale", _in(w, _scale("b", 2))))
    show(w, "of another uid", await w.put(f"{DEPLOYMENTS}/a/scale", _in(w, _scale("a", 2, uid="other"))))
    show(w, "of nothing", await w.put(f"{DEPLOYMENTS}/b/scale", _in(w, _scale("b", 2))))
    show(w, "patch nothing", await w.merge(f"{DEPLOYMENTS}/b/scale", {"spec": {"replicas": 2}}))
    show(w, "create", await w.send("POST", f"{DEPLOYMENTS}/a/scale", _in(w, _scale("a", 2))))
    show(w, "delete", await w.delete(f"{DEPLOYMENTS}/a/scale"))


@case("patch the scale", given="a StatefulSet", body="other replicas", truth="1.20")
async def patch_scale_stateful_set(w: World) -> None:
    path = f"{APPS}/statefulsets"
    made = await w.create(path, workload("StatefulSet", "a", serviceName="a"))
    apart = ["metadata.resourceVersion", "status"]
    show(w, "merge patch", await w.merge(f"{path}/a/scale", {"spec": {"replicas": 0}}), without=apart)
    found = await w.strategic(f"{path}/a/scale", {"spec": {"replicas": 0}})
    show(w, "strategic merge patch", found, without=apart)
    operation = [{"op": "test", "path": "/spec/replicas", "value": 3}]
    show(w, "JSON patch", await w.json_patch(f"{path}/a/scale", operation), without=apart)
    generation = (await w.get(f"{path}/a"))["metadata"]["generation"]
    w.transcript.add("generation", moved=generation - made["metadata"]["generation"])


@case("update the status", given="a Deployment", body="another spec, metadata and status", truth="1.20")
async def status_of_deployment(w: World) -> None:
    made = await w.create(DEPLOYMENTS, deployment("a"))
    status = {"replicas": 3, "readyReplicas": 2, "availableReplicas": 2, "unavailableReplicas": 1}
    apart = [
        "metadata.resourceVersion",
        "status.observedGeneration",
        "status.conditions",
        "metadata.annotations",
        "spec",
    ]
    answer = await w.merge(f"{DEPLOYMENTS}/a/status", {"spec": {"replicas": 9}, "status": status})
    show(w, "patch", answer, without=apart)
    w.transcript.add("spec", same=answer["spec"]["replicas"] == made["spec"]["replicas"])
    for wrong in ({"replicas": -1}, {"readyReplicas": 4}, {"availableReplicas": 3}, {"collisionCount": -1}):
        change = {"status": {**status, **wrong}}
        show(w, f"{wrong}", await w.merge(f"{DEPLOYMENTS}/a/status", change, query={"dryRun": "All"}))


@case("update the status", given="a Pod", body="a status, labels and a spec", truth="1.20")
async def status_of_pod(w: World) -> None:
    await w.create(PODS, pod("a"))
    condition = {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": "2024-01-01T00:00:00Z"}
    change = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"terminationGracePeriodSeconds": 1},
        "status": {"phase": "Running", "conditions": [condition], "podIP": "10.1.2.3"},
    }
    answer = await w.merge(f"{PODS}/a/status", change)
    apart = ["spec", "metadata.generation", "status.conditions.lastProbeTime"]
    show(w, "patch", answer, without=apart)
    w.transcript.add("spec", grace=answer["spec"]["terminationGracePeriodSeconds"])
    show(w, "get", await w.get(f"{PODS}/a/status"), without=apart)


@case("get, update and patch the status", given="a kind without a status", truth="1.20")
async def no_status_of_config_map(w: World) -> None:
    await w.create(CONFIG_MAPS, config_map("a"))
    for method in ("GET", "PUT", "PATCH", "POST", "DELETE"):
        body = config_map("a") if method in {"PUT", "POST"} else {} if method == "PATCH" else None
        media_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        await w.send(method, f"{CONFIG_MAPS}/a/status", body, media_type=media_type, label=method)
