"""delete and deletecollection: preconditions, propagation, grace, finalizers; what is answered and what stays."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import show
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
PATH = f"{WIDGETS}/a"
MAP = f"{CONFIG_MAPS}/a"
HOLD = "example.com/hold"
BOTH: Any = ("1.36", "1.20")


def _map(name: str = "a", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


def _held(name: str = "a") -> dict[str, Any]:
    body = widget(name)
    body["metadata"]["finalizers"] = [HOLD]
    return body


def _options(**more: Any) -> dict[str, Any]:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **more}


@case("delete", given="a custom resource", body="no options")
async def custom_resource(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    await w.delete(PATH, label="delete")
    await w.get(PATH, label="get")
    await w.delete(PATH, label="again")


@case("delete", given="a built-in object", body="no options", truth=BOTH)
async def built_in(w: World) -> None:
    await w.create(CONFIG_MAPS, _map(), label="create")
    await w.delete(MAP, label="delete")
    await w.delete(MAP, label="again")


@case("delete", given="an object with a finalizer", body="no options, twice")
async def with_finalizer(w: World) -> None:
    await w.create(WIDGETS, _held(), label="create")
    await w.delete(PATH, label="delete")
    await w.delete(PATH, label="again")
    await w.get(PATH, label="get")
    await w.merge(PATH, {"metadata": {"labels": {"a": "b"}}}, label="a label")
    await w.merge(PATH, {"metadata": {"finalizers": None}}, label="the finalizer goes")
    await w.get(PATH, label="gone")


@case("delete", given="a built-in object with a finalizer", body="no options")
async def built_in_with_finalizer(w: World) -> None:
    await w.create(CONFIG_MAPS, _map(finalizers=[HOLD]), label="create")
    await w.delete(MAP, label="delete")
    await w.delete(MAP, label="again")
    await w.merge(MAP, {"metadata": {"finalizers": None}}, label="the finalizer goes")
    await w.get(MAP, label="gone")


@case("delete", given="an object with a finalizer, watched", body="no options, then the finalizer removed")
async def watched(w: World) -> None:
    made = await w.create(WIDGETS, _held(), label="create")
    async with w.watch(WIDGETS, {"resourceVersion": made.version}) as watch:
        await w.delete(PATH)
        await w.delete(PATH)
        await w.merge(PATH, {"spec": {"size": 2}})
        await w.merge(PATH, {"metadata": {"finalizers": None}})
        await watch.take(3, label="events")


# Preconditions


@case("delete", given="an object", body="preconditions that do not hold", truth=BOTH)
async def preconditions_fail(w: World) -> None:
    made = await w.create(CONFIG_MAPS, _map())
    for label, preconditions in (
        ("uid", {"uid": "7ff1e6b0-0000-4000-8000-000000000001"}),
        ("version", {"resourceVersion": "1"}),
        ("one of them", {"uid": made.uid, "resourceVersion": "1"}),
    ):
        await w.delete(MAP, _options(preconditions=preconditions), label=label)
    await w.get(MAP, label="get")


@case("delete", given="an object", body="preconditions that hold", truth=BOTH)
async def preconditions_hold(w: World) -> None:
    made = await w.create(CONFIG_MAPS, _map(), label="create")
    await w.delete(MAP, _options(preconditions={"uid": made.uid, "resourceVersion": made.version}), label="delete")


@case("delete", given="a custom resource", body="preconditions that do not hold")
async def custom_preconditions_fail(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    await w.delete(PATH, _options(preconditions={"uid": "7ff1e6b0-0000-4000-8000-000000000001"}), label="uid")
    await w.delete(PATH, _options(preconditions={"resourceVersion": "1"}), label="version")


@case("delete", given="an object being deleted that changed", body="the old resource version")
async def preconditions_of_deleting(w: World) -> None:
    made = await w.create(WIDGETS, _held(), label="create")
    await w.delete(PATH, _options(preconditions={"resourceVersion": made.version}), label="delete")
    await w.delete(PATH, _options(preconditions={"resourceVersion": made.version}), label="again")


# Propagation


@case("delete", given="an object with a finalizer", body="propagationPolicy Background")
async def background(w: World) -> None:
    await w.create(WIDGETS, _held(), label="create")
    await w.delete(PATH, _options(propagationPolicy="Background"), label="delete")
    await w.get(PATH, label="get")


@case("delete", given="an object", body="propagationPolicy Foreground, in the body and in the query")
async def foreground(w: World) -> None:
    await w.create(WIDGETS, _held(), label="create")
    await w.delete(PATH, _options(propagationPolicy="Foreground"), label="in the body")
    await w.create(WIDGETS, _held("b"), label="create b")
    await w.delete(f"{WIDGETS}/b", query={"propagationPolicy": "Foreground"}, label="in the query")


@case("delete", given="an object", body="propagationPolicy Orphan, and orphanDependents")
async def orphan(w: World) -> None:
    for name, options in (
        ("a", {"propagationPolicy": "Orphan"}),
        ("b", {"orphanDependents": True}),
        ("c", {"orphanDependents": False}),
    ):
        await w.create(WIDGETS, _held(name), label=f"create {name}")
        await w.delete(f"{WIDGETS}/{name}", _options(**options), label=str(options))


@case("delete", given="an object with the finalizer of one policy", body="another policy", truth="1.36")
async def policy_over_finalizer(w: World) -> None:
    for name, finalizer, policy in (
        ("a", "orphan", "Foreground"),
        ("b", "foregroundDeletion", "Orphan"),
        ("c", "orphan", "Background"),
        ("d", "foregroundDeletion", "Background"),
    ):
        body = _held(name)
        body["metadata"]["finalizers"].append(finalizer)
        await w.create(WIDGETS, body)
        options = _options(propagationPolicy=policy, dryRun=["All"])  # else the garbage collector goes to work
        await w.delete(f"{WIDGETS}/{name}", options, label=f"{finalizer}, {policy}")


async def _owned(w: World) -> str:
    owner = await w.create(CONFIG_MAPS, _map("owner"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid, "blockOwnerDeletion": True}
    await w.create(CONFIG_MAPS, _map("owned", ownerReferences=[reference]))
    return owner.uid


@case("delete", given="an object with a dependent", body="propagationPolicy Background", truth=BOTH)
async def background_with_dependent(w: World) -> None:
    await _owned(w)
    await w.delete(f"{CONFIG_MAPS}/owner", _options(propagationPolicy="Background"), label="delete")
    await w.eventually(f"{CONFIG_MAPS}/owned", status=404)
    await w.get(f"{CONFIG_MAPS}/owned", label="the dependent")


@case("delete", given="an object with a dependent", body="propagationPolicy Foreground", truth=BOTH)
async def foreground_with_dependent(w: World) -> None:
    await _owned(w)
    await w.delete(f"{CONFIG_MAPS}/owner", _options(propagationPolicy="Foreground"))
    await w.eventually(f"{CONFIG_MAPS}/owner", status=404)
    await w.get(f"{CONFIG_MAPS}/owned", label="the dependent")
    await w.get(f"{CONFIG_MAPS}/owner", label="the owner")


@case("delete", given="an object with a dependent", body="propagationPolicy Orphan", truth=BOTH)
async def orphan_with_dependent(w: World) -> None:
    await _owned(w)
    await w.delete(f"{CONFIG_MAPS}/owner", _options(propagationPolicy="Orphan"))
    await w.eventually(f"{CONFIG_MAPS}/owner", status=404)
    found = await w.get(f"{CONFIG_MAPS}/owned")
    owners = found["metadata"].get("ownerReferences")
    w.transcript.add("the dependent", owners=owners, deleting="deletionTimestamp" in found["metadata"])


# Options


@case("delete", given="an object", body="options that are refused", truth="1.36")
async def bad_options(w: World) -> None:
    await w.create(CONFIG_MAPS, _map())
    for options in (
        {"propagationPolicy": "Sideways"},
        {"propagationPolicy": "Orphan", "orphanDependents": True},
        {"dryRun": ["Some"]},
        {"gracePeriodSeconds": "x"},
        {"propagationPolicy": 7},
    ):
        await w.delete(MAP, _options(**options), label=str(options))
    await w.delete(MAP, query={"propagationPolicy": "Sideways"}, label="in the query")
    await w.delete(MAP, query={"gracePeriodSeconds": "x"}, label="grace in the query")


@case("delete", given="an object", body="options of another kind, unknown fields, or no options at all")
async def odd_bodies(w: World) -> None:
    dry = {"dryRun": ["All"]}
    await w.create(WIDGETS, widget("a"), label="create")
    await w.delete(PATH, {**dry, "kind": "Gadget", "apiVersion": "v1"}, label="another kind")
    await w.delete(PATH, {**dry, "kind": "DeleteOptions", "apiVersion": "x/v1"}, label="another group")
    await w.delete(PATH, dry, label="neither kind nor version")
    await w.delete(PATH, _options(zork=1, **dry), label="an unknown field")
    await w.delete(PATH, "{x", label="broken JSON")
    await w.delete(PATH, "[]", label="a list")
    await w.delete(PATH, "{}", media_type="text/plain", label="another media type")
    await w.get(PATH, label="get")


@case("delete", given="an object", body="YAML options")
async def yaml_options(w: World) -> None:
    await w.create(WIDGETS, _held(), label="create")
    text = "kind: DeleteOptions\napiVersion: v1\npropagationPolicy: Foreground\n"
    await w.delete(PATH, text, media_type="application/yaml", label="delete")


@case("delete", given="an object", body="a grace period, for a kind that has none")
async def grace_without_meaning(w: World) -> None:
    await w.create(WIDGETS, _held(), label="create")
    await w.delete(PATH, _options(gracePeriodSeconds=30), label="delete")


@case("delete", given="an object", body="dryRun=All, in body and query")
async def dry_run(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    await w.delete(PATH, _options(dryRun=["All"]), label="in the body")
    await w.delete(PATH, query={"dryRun": "All"}, label="in the query")
    await w.create(WIDGETS, _held("b"), label="create b")
    await w.delete(f"{WIDGETS}/b", query={"dryRun": "All", "propagationPolicy": "Foreground"}, label="with finalizer")
    await w.get(f"{WIDGETS}/b", label="get b")
    await w.get(PATH, label="get")


@case("delete", given="a Pod on no node", body="a grace period", truth="1.20")
async def grace_of_unscheduled(w: World) -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    pod["spec"]["schedulerName"] = "nobody"  # type: ignore[index]
    await w.create(PODS, pod)
    await w.delete(f"{PODS}/a", _options(gracePeriodSeconds=30))
    await w.get(f"{PODS}/a", label="get")


# Collections


@case("deletecollection", given="several objects", body="a label selector")
async def collection(w: World) -> None:
    for name in "abc":
        body = widget(name)
        body["metadata"]["labels"] = {"l": "x" if name != "b" else "y"}
        await w.create(WIDGETS, body)
    await w.delete(WIDGETS, query={"labelSelector": "l=x"}, label="delete")
    left = await w.get(WIDGETS)
    w.transcript.add("left", names=[item["metadata"]["name"] for item in left["items"]])


@case("deletecollection", given="several built-in objects, one with a finalizer", body="no options")
async def collection_with_finalizer(w: World) -> None:
    await w.create(CONFIG_MAPS, _map("a", labels={"l": "x"}))
    await w.create(CONFIG_MAPS, _map("b", finalizers=[HOLD], labels={"l": "x"}))
    await w.delete(CONFIG_MAPS, query={"labelSelector": "l=x"}, label="delete")
    left = await w.get(CONFIG_MAPS, query={"labelSelector": "l=x"})
    deleting = {item["metadata"]["name"]: "deletionTimestamp" in item["metadata"] for item in left["items"]}
    w.transcript.add("left", deleting=deleting)


@case("deletecollection", given="several objects", body="a field selector, dryRun, a limit, bad selectors")
async def collection_options(w: World) -> None:
    for name in "abc":
        await w.create(WIDGETS, widget(name))

    async def left(label: str) -> None:
        found = await w.get(WIDGETS)
        w.transcript.add(label, names=[item["metadata"]["name"] for item in found["items"]])

    await w.delete(WIDGETS, query={"dryRun": "All"})
    await left("after the dry run")
    await w.delete(WIDGETS, query={"fieldSelector": "metadata.name=a"}, label="by name")
    await left("after that")
    await w.delete(WIDGETS, query={"fieldSelector": "spec.nothing=a"}, label="an unknown field")
    await w.delete(WIDGETS, _options(propagationPolicy="Sideways"), label="a bad policy")
    await w.delete(
        WIDGETS, query={"propagationPolicy": "Foreground", "fieldSelector": "metadata.name=none"}, label="none"
    )
    await left("in the end")


@case("deletecollection", given="objects", body="preconditions")
async def collection_preconditions(w: World) -> None:
    made = await w.create(WIDGETS, widget("a"), label="create")
    await w.create(WIDGETS, widget("b"))
    await w.delete(WIDGETS, _options(preconditions={"uid": made.uid}), label="delete")
    found = await w.get(WIDGETS)
    w.transcript.add("left", names=[item["metadata"]["name"] for item in found["items"]])


# Grace


def _pod(**metadata: Any) -> dict[str, Any]:
    spec = {
        "containers": [{"name": "c", "image": "i:1"}],
        "automountServiceAccountToken": False,
        "nodeName": "nowhere",
    }
    return {"metadata": {"name": "a", **metadata}, "spec": spec}


@case("delete", given="a Pod on a node", body="grace periods, each shorter than the one before", truth="1.20")
async def shorter_grace(w: World) -> None:
    younger = ["metadata.generation"]
    show(w, "create", await w.create(PODS, _pod(finalizers=[HOLD])), without=younger)
    show(w, "no options", await w.delete(f"{PODS}/a"), without=younger)
    show(w, "longer", await w.delete(f"{PODS}/a", _options(gracePeriodSeconds=60)), without=younger)
    show(w, "shorter", await w.delete(f"{PODS}/a", _options(gracePeriodSeconds=10)), without=younger)
    show(w, "none", await w.delete(f"{PODS}/a", query={"gracePeriodSeconds": "0"}), without=younger)


@case("delete", given="an object", body="options of the wrong type, of another kind, in body and query")
async def wrong_option_types(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    bodies: tuple[Any, ...] = (
        {"gracePeriodSeconds": "1"},
        {"orphanDependents": "true"},
        {"propagationPolicy": 7},
        {"dryRun": "All"},
        {"dryRun": [7]},
        {"preconditions": 7},
        {"preconditions": []},
        {"preconditions": {"uid": 7}},
        {"preconditions": {"resourceVersion": {}}},
        {"kind": "Zork"},
        {"kind": "Zork", "apiVersion": "v9"},
        [],
    )
    for body in bodies:
        await w.delete(f"{WIDGETS}/a", body, label=f"{body}")
    query = {"propagationPolicy": "Orphan", "gracePeriodSeconds": "x", "dryRun": "All"}
    await w.delete(f"{WIDGETS}/a", query=query, label="a query that is none")
    await w.delete(f"{WIDGETS}/a", {"dryRun": ["All"]}, query=query, label="a body, which counts alone")
    await w.get(f"{WIDGETS}/a", label="get")
