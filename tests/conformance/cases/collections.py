"""Deleting a collection."""

from __future__ import annotations

from tests.conformance.listing import brief, labelled, widgets
from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World


@case("deletecollection", given="three objects")
async def delete_all(w: World) -> None:
    await widgets(w, "a", "b", "c")
    await w.delete(WIDGETS, label="delete")
    await w.get(WIDGETS, label="list")


@case("deletecollection", given="no objects")
async def delete_nothing(w: World) -> None:
    await w.delete(WIDGETS, label="delete")


@case("deletecollection", given="objects that match among others", body="labelSelector, fieldSelector")
async def delete_selected(w: World) -> None:
    for name, team in (("a", "x"), ("b", "y"), ("c", "x")):
        await w.create(WIDGETS, labelled(name, {"team": team}, colour="blue" if name == "b" else "red"))
    brief(w, "labels", await w.delete(WIDGETS, query={"labelSelector": "team=x", "fieldSelector": "metadata.name!=c"}))
    brief(w, "fields", await w.delete(WIDGETS, query={"fieldSelector": "spec.colour=blue"}))
    brief(w, "bad labels", await w.delete(WIDGETS, query={"labelSelector": "team in x"}))
    brief(w, "bad fields", await w.delete(WIDGETS, query={"fieldSelector": "spec.size=1"}))
    brief(w, "left", await w.get(WIDGETS))


@case("deletecollection", given="three objects", body="limit=1, then continue")
async def delete_page(w: World) -> None:
    await widgets(w, "a", "b", "c")
    first = brief(w, "limit=1", await w.delete(WIDGETS, query={"limit": "1"}))
    brief(w, "left", await w.get(WIDGETS))
    if rest := first["metadata"].get("continue"):
        brief(w, "continue", await w.delete(WIDGETS, query={"continue": rest}))
        brief(w, "left then", await w.get(WIDGETS))


@case("deletecollection", given="an object came after it", body="each kind of resourceVersion")
async def delete_at_version(w: World) -> None:
    old, *_ = await widgets(w, "a", "b")
    await w.get(f"{WIDGETS}/b", label="the other")
    exact = {"resourceVersion": old.version, "resourceVersionMatch": "Exact"}
    brief(w, "exact", await w.delete(WIDGETS, query=exact))
    brief(w, "left", await w.get(WIDGETS))
    brief(w, "nonsense", await w.delete(WIDGETS, query={"resourceVersion": "x"}))
    brief(w, "exactly zero", await w.delete(WIDGETS, query={"resourceVersion": "0", "resourceVersionMatch": "Exact"}))
    brief(w, "match alone", await w.delete(WIDGETS, query={"resourceVersionMatch": "Exact"}))
    brief(w, "zero", await w.delete(WIDGETS, query={"resourceVersion": "0"}))
    brief(w, "left then", await w.get(WIDGETS))


@case("deletecollection", given="three objects", body="dryRun=All")
async def delete_dry(w: World) -> None:
    await widgets(w, "a", "b")
    brief(w, "delete", await w.delete(WIDGETS, query={"dryRun": "All"}))
    brief(w, "left", await w.get(WIDGETS))


@case("deletecollection", given="objects with and without finalizers")
async def delete_held(w: World) -> None:
    held = widget("a")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    await w.create(WIDGETS, held)
    await w.create(WIDGETS, widget("b"))
    brief(w, "delete", await w.delete(WIDGETS))
    await w.get(WIDGETS, label="left")
    await w.merge(f"{WIDGETS}/a", {"metadata": {"finalizers": None}})


@case("deletecollection", given="two objects", body="preconditions, propagationPolicy, gracePeriodSeconds")
async def delete_with_options(w: World) -> None:
    old, *_ = await widgets(w, "a", "b")
    await w.get(WIDGETS, label="list")
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    brief(w, "other uid", await w.delete(WIDGETS, {**options, "preconditions": {"uid": "other"}}))
    brief(w, "left", await w.get(WIDGETS))
    brief(w, "version", await w.delete(WIDGETS, {**options, "preconditions": {"resourceVersion": old.version}}))
    brief(w, "left then", await w.get(WIDGETS))
    await widgets(w, "c")
    brief(w, "bad policy", await w.delete(WIDGETS, {**options, "propagationPolicy": "Later"}))
    brief(w, "orphan", await w.delete(WIDGETS, {**options, "propagationPolicy": "Orphan", "gracePeriodSeconds": 5}))


@case("deletecollection", given="two objects", body="as a Table")
async def delete_shown_as_table(w: World) -> None:
    await widgets(w, "a", "b")
    as_table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    deleted = await w.delete(WIDGETS, headers=as_table)
    kind = deleted["kind"]
    w.transcript.add("delete", status=deleted.status, kind=kind, rows=[row["cells"][0] for row in deleted["rows"]])


@case("deletecollection", given="objects in all namespaces")
async def delete_everywhere(w: World) -> None:
    await w.delete(f"/apis/{GROUP}/v1/widgets", query={"labelSelector": "none=such"}, label="delete")
