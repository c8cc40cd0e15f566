"""Namespaces: made, finalized, emptied."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import NAMESPACES, config_map, show
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import Answer, World

_NEWER = ["metadata.labels"]
"""A label that the older server does not set."""
_WRITTEN = [*_NEWER, "metadata.resourceVersion"]


def _conditions(namespace: Answer) -> dict[str, Any]:
    return {each["type"]: each for each in namespace["status"].get("conditions", [])}


def _waits_for_finalizers(namespace: Answer) -> bool:
    return bool(_conditions(namespace).get("NamespaceFinalizersRemaining", {}).get("status") == "True")


def _body(name: str, **metadata: object) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}}


@case("create a namespace", given="nothing", body="valid", truth="1.20")
async def create_namespace(w: World) -> None:
    name = w.unique("space")
    show(w, "create", await w.create(NAMESPACES, _body(name)), without=_NEWER)
    show(w, "create again", await w.create(NAMESPACES, _body(name)))
    show(w, "a finalizer", await w.merge(f"{NAMESPACES}/{name}", {"spec": {"finalizers": ["x"]}}), without=_WRITTEN)
    show(w, "a status", await w.merge(f"{NAMESPACES}/{name}", {"status": {"phase": "Gone"}}), without=_WRITTEN)
    show(w, "a wrong phase", await w.merge(f"{NAMESPACES}/{name}/status", {"status": {"phase": "Gone"}}))
    await w.delete(f"{NAMESPACES}/{name}")


@case("create a namespace", given="nothing", body="names that are none", truth="1.20")
async def wrong_names(w: World) -> None:
    for name in ("a.b", "A", "a_b", ""):
        show(w, f"{name!r}", await w.create(NAMESPACES, _body(name)))


@case("create in a namespace", given="one that does not exist", truth=("1.20", "1.36"))
async def create_in_none(w: World) -> None:
    path = f"{NAMESPACES}/{w.unique('nowhere')}/configmaps"
    await w.create(path, config_map("a"), label="create")
    await w.get(path, label="list")
    await w.get(f"{path}/a", label="get")
    await w.delete(f"{path}/a", label="delete")


@case("delete a namespace", given="the cluster's own", truth=("1.20", "1.36"))
async def immortal(w: World) -> None:
    for name in ("default", "kube-system", "kube-public"):
        await w.delete(f"{NAMESPACES}/{name}", query={"dryRun": "All"}, label=name)


@case("delete a namespace", given="objects in it, one with a finalizer", truth="1.20")
async def terminating(w: World) -> None:
    name = w.unique("space")
    maps = f"{NAMESPACES}/{name}/configmaps"
    await w.create(NAMESPACES, _body(name))
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.dev/held"]
    await w.create(maps, held)
    await w.create(maps, config_map("free"))
    answer = await w.delete(f"{NAMESPACES}/{name}")
    show(w, "delete", answer, without=_NEWER)
    show(
        w,
        "delete again",
        await w.delete(f"{NAMESPACES}/{name}"),
        without=[*_NEWER, "status.conditions", "metadata.resourceVersion"],
    )
    show(w, "create in it", await w.create(maps, config_map("new")))
    await w.eventually(f"{maps}/free", status=404)
    await w.marked(f"{maps}/held")
    show(w, "what is held", await w.get(f"{maps}/held"))
    show(w, "change what is held", await w.merge(f"{maps}/held", {"data": {"a": "b"}}))
    found = await w.until(lambda: w.get(f"{NAMESPACES}/{name}"), _waits_for_finalizers)
    conditions = _conditions(found)
    wanted = ("NamespaceDeletionContentFailure", "NamespaceContentRemaining", "NamespaceFinalizersRemaining")
    w.transcript.add("conditions", conditions=[conditions[kind] for kind in wanted])
    await w.merge(f"{maps}/held", {"metadata": {"finalizers": None}})
    await w.eventually(f"{NAMESPACES}/{name}", status=404)
    show(w, "at last", await w.get(f"{NAMESPACES}/{name}"))


@case("delete a namespace", given="nothing of the caller's in it", body="watched", truth="1.20")
async def empty_namespace(w: World) -> None:
    name = w.unique("space")
    made = await w.create(NAMESPACES, _body(name))
    async with w.watch(
        NAMESPACES, {"fieldSelector": f"metadata.name={name}", "resourceVersion": made.version}
    ) as events:
        await w.delete(f"{NAMESPACES}/{name}")
        seen: list[str] = []
        while not seen or seen[-1] != "DELETED":
            event = (await events.take(1))[0]
            phase = event["object"]["status"]["phase"]
            seen.append(event["type"] if event["type"] == "DELETED" else phase)
        w.transcript.add("events", first=seen[0], last=seen[-1], phases=sorted(set(seen[:-1])))


@case("finalize a namespace", given="one that is being deleted and one that is not", body="no finalizers", truth="1.20")
async def finalize(w: World) -> None:
    name = w.unique("space")
    made = await w.create(NAMESPACES, _body(name))
    extra = {**made.body, "spec": {"finalizers": ["kubernetes", "example.dev/mine"]}}
    show(w, "add one", await w.put(f"{NAMESPACES}/{name}/finalize", extra), without=_NEWER)
    wrong = {**made.body, "metadata": {"name": name}, "spec": {"finalizers": ["mine"]}}
    show(w, "a wrong one", await w.put(f"{NAMESPACES}/{name}/finalize", wrong))
    show(w, "an old version", await w.put(f"{NAMESPACES}/{name}/finalize", extra))
    show(w, "get", await w.get(f"{NAMESPACES}/{name}/finalize"))
    await w.delete(f"{NAMESPACES}/{name}")
    found = await w.eventually(f"{NAMESPACES}/{name}", spec={"finalizers": ["example.dev/mine"]})
    w.transcript.add("finalizers left", finalizers=found["spec"]["finalizers"])
    last = {**made.body, "metadata": {"name": name}, "spec": {"finalizers": []}}
    answer = await w.put(f"{NAMESPACES}/{name}/finalize", last)
    show(w, "take it away", answer, without=[*_NEWER, "status.conditions", "metadata.resourceVersion"])
    show(w, "at last", await w.get(f"{NAMESPACES}/{name}"))


@case("finalize a namespace", given="nothing", body="other verbs", truth="1.20")
async def finalize_wrongly(w: World) -> None:
    await w.put(f"{NAMESPACES}/{w.unique('none')}/finalize", _body(w.unique("none")), label="no such namespace")
    await w.merge(f"{NAMESPACES}/{{ns}}/finalize", {"spec": {}}, label="patch")
    await w.delete(f"{NAMESPACES}/{{ns}}/finalize", label="delete")


@case("delete a namespace", given="custom resources in it", truth="1.20")
async def custom_resources_go(w: World) -> None:
    name = w.unique("space")
    await w.create(NAMESPACES, _body(name))
    path = WIDGETS.replace("{ns}", name)
    held = widget("a")
    held["metadata"]["finalizers"] = ["example.dev/held"]
    await w.create(path, held)
    await w.delete(f"{NAMESPACES}/{name}")
    await w.until(lambda: w.create(path, widget("b"), query={"dryRun": "All"}), lambda answer: answer.status == 403)
    await w.create(path, widget("b"), label="create")
    await w.merge(f"{path}/a", {"metadata": {"finalizers": None}})
    await w.eventually(f"{NAMESPACES}/{name}", status=404)
    await w.get(f"{path}/a", label="get")
    await w.create(path, widget("c"), label="create at last")
