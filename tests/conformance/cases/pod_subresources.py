"""What can be done to a Pod besides writing it: bind, evict, read its log, and the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.conformance.kinds import CORE, PODS, pod, show
from tests.conformance.registry import case
from tests.conformance.world import Answer, World

_BINDINGS = f"{CORE}/bindings"
_APART = ["metadata.resourceVersion", "metadata.generation", "spec.tolerations"]


def _binding(pod_name: str, **target: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod_name}, "target": target}


@asynccontextmanager
async def _node(w: World) -> AsyncIterator[str]:
    name = w.unique("node")
    await w.create("/api/v1/nodes", {"metadata": {"name": name}})
    yield name
    await w.delete(f"/api/v1/nodes/{name}")


async def _kept_short(w: World, *paths: str) -> None:
    """Without a kubelet a bound pod ends only when it is told to at once."""
    for path in paths:
        await w.delete(path, {"gracePeriodSeconds": 0})


@case("bind a Pod", given="one that waits", body="a node, by the Pod's own subresource", truth="1.20")
async def bind(w: World) -> None:
    async with _node(w) as node:
        await w.create(PODS, pod("a"))
        body = _binding("a", kind="Node", name=node)
        body["metadata"]["annotations"] = {"why": "because"}
        await w.create(f"{PODS}/a/binding", body, label="bind")
        found = await w.get(f"{PODS}/a")
        w.transcript.add("the pod", node=found["spec"]["nodeName"], annotations=found["metadata"]["annotations"])
        w.transcript.add("its conditions", conditions=found["status"]["conditions"])
        await w.create(f"{PODS}/a/binding", body, label="bind again")
        await _kept_short(w, f"{PODS}/a")


@case("bind a Pod", given="one that waits", body="a node, by a Binding", truth="1.20")
async def bind_by_name(w: World) -> None:
    async with _node(w) as node:
        await w.create(PODS, pod("a"))
        await w.create(_BINDINGS, _binding("a", kind="Node", name=node), label="bind")
        found = await w.get(f"{PODS}/a")
        w.transcript.add("the pod", node=found["spec"]["nodeName"])
        await w.get(_BINDINGS, label="list")
        await _kept_short(w, f"{PODS}/a")


@case("bind a Pod", given="one that waits", body="a target that is none", truth="1.20")
async def bind_wrongly(w: World) -> None:
    await w.create(PODS, pod("a"))
    await w.create(f"{PODS}/a/binding", _binding("a"), label="nothing")
    await w.create(f"{PODS}/a/binding", _binding("a", kind="Node"), label="no name")
    await w.create(f"{PODS}/a/binding", _binding("a", kind="Pod", name="x"), label="another kind")
    await w.create(f"{PODS}/a/binding", _binding("a", kind="Node", name="x"), query={"dryRun": "All"}, label="dry run")
    await w.create(f"{PODS}/b/binding", _binding("b", kind="Node", name="x"), label="no pod")
    await w.create(f"{PODS}/a/binding", _binding("b", kind="Node", name="x"), label="another pod's name")
    found = await w.get(f"{PODS}/a")
    w.transcript.add("the pod", node=found["spec"].get("nodeName"))


@case("bind a Pod", given="one that is being deleted", body="a node", truth="1.20")
async def bind_deleted(w: World) -> None:
    body = pod("a")
    body["metadata"]["finalizers"] = ["example.dev/held"]
    await w.create(PODS, body)
    await w.delete(f"{PODS}/a")
    await w.create(f"{PODS}/a/binding", _binding("a", kind="Node", name="x"), label="bind")
    await w.merge(f"{PODS}/a", {"metadata": {"finalizers": None}})


@case("evict a Pod", given="no budget", body="nothing but a name", truth="1.20")
async def evict(w: World) -> None:
    await w.create(PODS, pod("a"))
    body = {"metadata": {"name": "a"}}
    await w.create(f"{PODS}/a/eviction", body, query={"dryRun": "All"}, label="dry run")
    await w.create(f"{PODS}/a/eviction", {**body, "deleteOptions": {"dryRun": ["All"]}}, label="dry run in the body")
    await w.create(f"{PODS}/a/eviction", body, label="evict")
    await w.create(f"{PODS}/a/eviction", body, label="evict again")
    await w.create(f"{PODS}/b/eviction", {"metadata": {"name": "b"}}, label="no pod")


@case("evict a Pod", given="no budget", body="names and preconditions that differ", truth="1.20")
async def evict_another(w: World) -> None:
    await w.create(PODS, pod("a"))
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "b"}}, label="another name")
    wrong = {"metadata": {"name": "a"}, "deleteOptions": {"preconditions": {"uid": "other"}}}
    await w.create(f"{PODS}/a/eviction", wrong, label="another uid")
    await w.get(f"{PODS}/a/eviction", label="get")
    w.transcript.add("the pod", status=(await w.get(f"{PODS}/a")).status)


async def _budget(w: World, name: str = "budget", **spec: Any) -> str:
    """A budget for the pods ``app=a``, once it knows of them. It is of another version on the older server."""
    version = "policy/v1beta1" if w.real else "policy/v1"
    path = f"/apis/{version}/namespaces/{{ns}}/poddisruptionbudgets"
    body = {
        "apiVersion": version,
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, **spec},
    }
    await w.create(path, body)
    return f"{path}/{name}"


async def _counted(w: World, path: str, **counts: int) -> dict[str, Any]:
    def status(budget: Answer) -> dict[str, Any]:
        return budget.body.get("status") or {}

    return status(await w.until(lambda: w.get(path), lambda found: status(found).items() >= counts.items()))


async def _running(w: World, *names: str) -> None:
    for name in names:
        await w.create(PODS, pod(name, labels={"app": "a"}))
        now = "2024-01-01T00:00:00Z"
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": now}
        await w.merge(f"{PODS}/{name}/status", {"status": {"phase": "Running", "conditions": [condition]}})


def _status_shown(status: dict[str, Any]) -> dict[str, Any]:
    keys = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
    return {key: status.get(key) for key in keys}


@case("evict a Pod", given="a budget with one to spare", body="nothing but a name", truth="1.20")
async def evict_within_budget(w: World) -> None:
    await _running(w, "a", "b", "c")
    budget = await _budget(w, minAvailable=2)
    w.transcript.add("budget", **_status_shown(await _counted(w, budget, expectedPods=3, disruptionsAllowed=1)))
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, label="evict one")
    await w.eventually(f"{PODS}/a", status=404)
    await _counted(w, budget, expectedPods=2, disruptionsAllowed=0)
    await w.create(f"{PODS}/b/eviction", {"metadata": {"name": "b"}}, label="evict another")
    w.transcript.add("budget at last", **_status_shown(await _counted(w, budget)))


@case("evict a Pod", given="a budget that needs all", body="with and without dry run", truth="1.20")
async def evict_beyond_budget(w: World) -> None:
    await _running(w, "a", "b")
    budget = await _budget(w, minAvailable=2)
    await _counted(w, budget, expectedPods=2, currentHealthy=2)
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, label="evict")
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, query={"dryRun": "All"}, label="dry run")
    await w.delete(f"{PODS}/a", query={"dryRun": "All"})
    w.transcript.add("the pod", status=(await w.get(f"{PODS}/a")).status)


@case("evict a Pod", given="one that has not started, and a budget that needs all", truth="1.20")
async def evict_pending(w: World) -> None:
    await _running(w, "a")
    await w.create(PODS, pod("b", labels={"app": "a"}))
    budget = await _budget(w, minAvailable=2)
    await _counted(w, budget, expectedPods=2, currentHealthy=1)
    await w.create(f"{PODS}/b/eviction", {"metadata": {"name": "b"}}, label="evict")
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, label="evict what runs")


@case("evict a Pod", given="two budgets for it", truth="1.20")
async def evict_with_two_budgets(w: World) -> None:
    await _running(w, "a")
    for name in ("first", "second"):
        await _counted(w, await _budget(w, name, minAvailable=0), expectedPods=1)
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, label="evict")


@case("evict a Pod", given="a budget that has not been counted since it changed", truth="1.20")
async def evict_uncounted(w: World) -> None:
    await _running(w, "a")
    budget = await _budget(w, minAvailable=0)
    await _counted(w, budget, expectedPods=1)
    status = (await w.get(budget))["status"]
    w.transcript.add("budget", **_status_shown(status))
    await w.create(f"{PODS}/a/eviction", {"metadata": {"name": "a"}}, label="evict")


@case("read a log", given="a Pod that waits for a node", truth="1.20")
async def log_of_waiting(w: World) -> None:
    await w.create(PODS, pod("a"))
    await w.get(f"{PODS}/a/log", label="log")
    await w.get(f"{PODS}/b/log", label="of no pod")
    await w.send("POST", f"{PODS}/a/log", {}, label="create")


@case("read a log", given="a Pod with several containers", body="container names good and bad", truth="1.20")
async def log_of_several(w: World) -> None:
    containers = [{"name": name, "image": "nginx"} for name in ("first", "second")]
    await w.create(PODS, pod("a", containers=containers, initContainers=[{"name": "init", "image": "nginx"}]))
    await w.get(f"{PODS}/a/log", label="no name")
    await w.get(f"{PODS}/a/log", query={"container": "second"}, label="a name")
    await w.get(f"{PODS}/a/log", query={"container": "init"}, label="an init container's")
    await w.get(f"{PODS}/a/log", query={"container": "third"}, label="a wrong name")


@case("read a log", given="a Pod that waits for a node", body="options that are none", truth="1.20")
async def log_options(w: World) -> None:
    await w.create(PODS, pod("a"))
    for query in (
        {"tailLines": "-1"},
        {"tailLines": "x"},
        {"sinceSeconds": "0"},
        {"sinceSeconds": "-1"},
        {"limitBytes": "0"},
        {"sinceTime": "yesterday"},
        {"sinceTime": "2024-01-01T00:00:00Z", "sinceSeconds": "1"},
    ):
        await w.get(f"{PODS}/a/log", query=query, label="&".join(f"{key}={value}" for key, value in query.items()))


@case("exec, attach and forward", given="a Pod that waits for a node", truth="1.20")
async def connect(w: World) -> None:
    await w.create(PODS, pod("a"))
    await w.get(f"{PODS}/a/exec", query={"command": "ls"}, label="exec")
    await w.send("POST", f"{PODS}/a/attach", label="attach")
    await w.get(f"{PODS}/a/portforward", label="forward")
    await w.get(f"{PODS}/b/exec", query={"command": "ls"}, label="exec in no pod")
    await w.get(f"{PODS}/a/nothing", label="an unknown subresource")


@case("delete a Pod", given="bound to a node", body="grace periods", truth="1.20")
async def delete_bound(w: World) -> None:
    """The embedded cluster's pod collector removes pods of nodes that are not there; this one is."""
    async with _node(w) as node:
        await w.create(PODS, pod("a", nodeName=node, terminationGracePeriodSeconds=100))
        show(w, "delete", await w.delete(f"{PODS}/a"), without=[*_APART, "spec", "status"])
        longer = await w.delete(f"{PODS}/a", {"gracePeriodSeconds": 200})
        show(w, "with a longer period", longer, without=[*_APART, "spec", "status"])
        shorter = await w.delete(f"{PODS}/a", {"gracePeriodSeconds": 50})
        show(w, "with a shorter period", shorter, without=[*_APART, "spec", "status"])
        now = await w.delete(f"{PODS}/a", {"gracePeriodSeconds": 0})
        show(w, "at once", now, without=[*_APART, "spec", "status"])
        await w.get(f"{PODS}/a", label="get")
        show(w, "a negative period", await w.delete(f"{PODS}/a", {"gracePeriodSeconds": -1}))
