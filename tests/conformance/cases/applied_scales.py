"""Server-side apply on the scale of custom resources and of built-in kinds, and who owns the replicas afterwards."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import DEPLOYMENTS, deployment, show
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import World

SCALE = f"{WIDGETS}/a/scale"


def _scale(replicas: Any, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "a", **metadata},
        "spec": {"replicas": replicas},
    }


def _partial(**spec: Any) -> dict[str, Any]:
    body = widget("a")
    return {**body, "spec": spec}


@case("apply the scale", given="a custom resource of one manager", body="other replicas, by another")
async def replicas_of_another(w: World) -> None:
    await w.apply(f"{WIDGETS}/a", _partial(size=1), manager="owner")
    await w.apply(SCALE, _scale(5), manager="scaler", label="refused")
    await w.apply(SCALE, _scale(1), manager="scaler", label="the same")
    await w.get(f"{WIDGETS}/a", label="shared")
    await w.apply(SCALE, _scale(5), manager="scaler", force=True, label="forced")
    await w.get(f"{WIDGETS}/a", label="get")
    await w.get(SCALE, label="get the scale")
    await w.apply(f"{WIDGETS}/a", _partial(size=1), manager="owner", label="the owner is refused")
    await w.apply(f"{WIDGETS}/a", _partial(label="x"), manager="owner", label="the owner lets go")
    await w.get(f"{WIDGETS}/a", label="get again")


@case("apply the scale", given="a custom resource that was created", body="other replicas, twice, fewer fields")
async def replicas_of_creator(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.apply(SCALE, _scale(5), manager="scaler", label="refused")
    await w.apply(SCALE, _scale(5), manager="scaler", force=True, label="forced")
    await w.apply(SCALE, _scale(6), manager="scaler", label="again")
    await w.apply(SCALE, _scale(6), manager="scaler", label="the same")
    await w.get(f"{WIDGETS}/a", label="get")
    body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}}
    await w.apply(SCALE, body, manager="scaler", label="nothing")
    await w.get(f"{WIDGETS}/a", label="get again")


@case("apply the scale", given="a custom resource whose scale was applied", body="writes of other kinds")
async def scale_written_otherwise(w: World) -> None:
    await w.apply(f"{WIDGETS}/a", _partial(size=1), manager="owner")
    await w.apply(SCALE, _scale(5), manager="scaler", force=True)
    await w.merge(SCALE, {"spec": {"replicas": 6}}, label="patch the scale")
    await w.get(f"{WIDGETS}/a", label="get")
    await w.apply(SCALE, _scale(5), manager="scaler", label="apply the scale")
    await w.apply(SCALE, _scale(5), manager="scaler", force=True, label="forced")
    await w.put(SCALE, _scale(7), label="update the scale")
    await w.get(f"{WIDGETS}/a", label="get after the update")
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 8}}, label="patch the object")
    await w.apply(SCALE, _scale(8), manager="scaler", label="the same as the object has")
    await w.get(f"{WIDGETS}/a", label="get at last")


@case("apply the scale", given="a custom resource", body="what is refused")
async def refused(w: World) -> None:
    await w.apply(SCALE, _scale(1), label="of nothing")
    made = await w.create(WIDGETS, widget("a"))
    for label, body in (
        ("too many", _scale(101)),
        ("less than none", _scale(-1)),
        ("text", _scale("x")),
        ("a fraction", _scale(1.5)),
        ("null", _scale(None)),
        ("an unknown field", {**_scale(1), "spec": {"replicas": 1, "zork": 1}}),
        ("unknown at the top", {**_scale(1), "zork": 1}),
        ("another kind", {**_scale(1), "kind": "Widget"}),
        ("another group", {**_scale(1), "apiVersion": "extensions/v1beta1"}),
        ("the object", _partial(size=1)),
        ("no kind", {"apiVersion": "autoscaling/v1", "spec": {"replicas": 1}}),
        ("managedFields", _scale(1, managedFields=[{"manager": "x", "operation": "Apply"}])),
        ("another name", {**_scale(1), "metadata": {"name": "b"}}),
        ("another namespace", _scale(1, namespace="other")),
        ("another uid", _scale(1, uid="7ff1e6b0-0000-4000-8000-000000000001")),
        ("another version", _scale(1, resourceVersion="1")),
        ("text that is none", "[1]"),
    ):
        await w.apply(SCALE, body, manager="scaler", force=True, label=label)
    await w.apply(SCALE, _scale(1, resourceVersion=made.version), manager="scaler", label="this version")


@case("apply the scale", given="a custom resource", body="labels, a status, none at all, dryRun=All")
async def beside_the_replicas(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3))
    await w.apply(SCALE, _scale(3, labels={"a": "b"}), manager="labels", label="labels")
    await w.apply(SCALE, {**_scale(3), "status": {"replicas": 9, "selector": "a=b"}}, manager="status", label="status")
    await w.apply(SCALE, _scale(9), manager="dry", force=True, query={"dryRun": "All"}, label="dry run")
    await w.apply(SCALE, _scale(0), manager="zero", force=True, label="none at all")
    await w.get(f"{WIDGETS}/a", label="get")


@case("apply the scale", given="a custom resource of which its owner applied more", body="the same replicas")
async def shared_with_more(w: World) -> None:
    await w.apply(f"{WIDGETS}/a", _partial(size=1, label="x"), manager="owner")
    await w.apply(SCALE, _scale(1), manager="scaler", label="apply")
    await w.get(f"{WIDGETS}/a", label="get")
    await w.merge(f"{WIDGETS}/a", {"metadata": {"managedFields": [{}]}})
    await w.apply(SCALE, _scale(1), manager="scaler", label="without managedFields")
    await w.apply(SCALE, _scale(1, managedFields=[]), manager="scaler", label="applied without, and with some")
    await w.merge(SCALE, {"spec": {"replicas": 2}}, label="patch")
    await w.get(f"{WIDGETS}/a", label="get again")


@case("patch the scale", given="a custom resource that was created", body="the same replicas, others, labels")
async def patched_scale(w: World) -> None:
    await w.create(WIDGETS, widget("a"), query={"fieldManager": "creator"})
    await w.merge(SCALE, {"spec": {"replicas": 1}}, label="the same")
    await w.get(f"{WIDGETS}/a", label="get")
    await w.create(WIDGETS, widget("b"), query={"fieldManager": "creator"})
    scale = SCALE.replace("/a/", "/b/")
    await w.merge(scale, {"spec": {"replicas": 2}}, query={"fieldManager": "first"}, label="others")
    await w.merge(scale, {"metadata": {"labels": {"a": "b"}}}, query={"fieldManager": "second"}, label="labels")
    await w.get(f"{WIDGETS}/b", label="get b")
    await w.merge(scale, {"spec": {"replicas": 3}}, query={"fieldManager": "third"}, label="others again")
    await w.get(f"{WIDGETS}/b", label="get b again")


@case("apply the scale", given="a Deployment", body="replicas, and what is refused", truth="1.20")
async def scale_of_deployment(w: World) -> None:
    scale = f"{DEPLOYMENTS}/a/scale"
    apart = ["metadata.resourceVersion"]
    show(w, "of nothing", await w.apply(scale, _scale(0), manager="scaler"))
    owned = deployment("a")
    owned["spec"].pop("replicas", None)
    await w.apply(f"{DEPLOYMENTS}/a", owned, manager="owner")
    show(w, "apply", await w.apply(scale, _scale(0), manager="scaler", force=True), without=apart)
    for label, body in (
        ("less than none", _scale(-1)),
        ("another name", {**_scale(1), "metadata": {"name": "b"}}),
        ("another uid", _scale(1, uid="7ff1e6b0-0000-4000-8000-000000000001")),
        ("another version", _scale(1, resourceVersion="1")),
    ):
        show(w, label, await w.apply(scale, body, manager="scaler", force=True), without=apart)
    show(w, "get", await w.get(scale), without=apart)
