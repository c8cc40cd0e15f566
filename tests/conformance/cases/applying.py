"""Server-side apply: who owns what, and whom one would take it from."""

from __future__ import annotations

from typing import Any

from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
PATH = f"{WIDGETS}/a"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _partial(**spec: Any) -> dict[str, Any]:
    """A Widget of which only this is said."""
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec}


def _config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


# Creating and changing


@case("apply", given="nothing", body="a valid object")
async def apply_creates(w: World) -> None:
    await w.apply(PATH, widget("a", label="x"), label="create")
    await w.apply(PATH, widget("a", label="x"), label="again")
    await w.get(PATH, label="get")


@case("apply", given="an object of the same manager", body="another value, an added and a removed field")
async def apply_changes(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x", paused=True), label="create")
    await w.apply(PATH, _partial(size=2, label="x", ratio=0.5), label="change")


@case("apply", given="an object of the same manager", body="a field with a default no longer applied")
async def apply_removes_defaulted(w: World) -> None:
    await w.apply(PATH, _partial(size=1, colour="blue"), label="create")
    await w.apply(PATH, _partial(size=1), label="apply")


@case("apply", given="an object of the same manager", body="a required field no longer applied")
async def apply_removes_required(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x"), label="create")
    await w.apply(PATH, _partial(label="x"), label="apply")


@case("apply", given="nothing", body="no fields at all")
async def apply_nothing(w: World) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    await w.apply(f"{CONFIG_MAPS}/a", body, label="create")
    await w.apply(f"{CONFIG_MAPS}/a", {**body, "data": {"k": "v"}}, label="a field")
    await w.apply(f"{CONFIG_MAPS}/a", body, label="none again")


@case("apply", given="nothing", body="labels, annotations, finalizers, owner references")
async def apply_metadata(w: World) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "7ff1e6b0-0000-4000-8000-000000000001"}
    body = _partial(size=1)
    body["metadata"] |= {
        "labels": {"a": "b", "example.com/c": "d"},
        "annotations": {"e": "f"},
        "finalizers": ["example.com/hold"],
        "ownerReferences": [owner],
    }
    await w.apply(PATH, body, label="create", query={"dryRun": "All"})


@case("apply", given="nothing", body="YAML")
async def apply_yaml(w: World) -> None:
    text = f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 3 # big\n  order: [x, 'y']\n"
    await w.apply(PATH, text, label="create")


@case("apply", given="nothing", body="no name in the object")
async def apply_nameless(w: World) -> None:
    body = {**_partial(size=1), "metadata": {}}
    await w.apply(PATH, body, label="create")
    await w.apply(PATH, _partial(size=1), label="with a name")
    await w.apply(PATH, {**_partial(size=1), "metadata": {"labels": {"a": "b"}}}, label="again")


# Conflicts


@case("apply", given="an object that somebody else applied", body="another value, without and with force")
async def conflict(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x"), manager="ann")
    await w.apply(PATH, _partial(size=2), manager="bob", label="refused")
    await w.apply(PATH, _partial(size=2), manager="bob", force=True, label="forced")
    await w.apply(PATH, _partial(size=1, label="x"), manager="ann", label="the first again")


@case("apply", given="an object that somebody else applied", body="the same value: shared")
async def shared(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x"), manager="ann", label="ann")
    await w.apply(PATH, _partial(size=1), manager="bob", label="bob")
    await w.apply(PATH, _partial(size=1), manager="ann", label="ann without label")
    await w.apply(PATH, _partial(size=4), manager="bob", label="bob changes")


@case("apply", given="an object that somebody else applied", body="nothing that was shared any more")
async def shared_left(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x"), manager="ann", label="ann")
    await w.apply(PATH, _partial(size=1, label="x"), manager="bob", label="bob")
    await w.apply(PATH, _partial(size=1), manager="bob", label="bob leaves it")
    await w.apply(PATH, _partial(size=1), manager="cid", label="cid")


@case("apply", given="an object of several managers", body="values of all of them, changed")
async def conflict_with_several(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x", settings={"k": "v"}), manager="ann")
    await w.apply(PATH, _partial(ratio=1.5, paused=True), manager="bob")
    await w.merge(PATH, {"spec": {"note": "n"}, "metadata": {"labels": {"l": "m"}}}, query={"fieldManager": "cid"})
    await w.merge(f"{PATH}/status", {"status": {"ready": 1}}, query={"fieldManager": "dan"})
    body = _partial(size=2, label="y", ratio=2.5, paused=False, note="o", settings={"k": "w"})
    body["metadata"]["labels"] = {"l": "n"}
    await w.apply(PATH, body, manager="eve", label="refused")
    await w.apply(PATH, body, manager="eve", force=True, label="forced")


@case("apply", given="an object that was created and updated", body="another value")
async def conflict_with_updater(w: World) -> None:
    await w.create(WIDGETS, widget("a", label="x"), query={"fieldManager": "ann"})
    await w.apply(PATH, _partial(size=2), manager="bob", label="refused")
    await w.apply(PATH, _partial(size=1), manager="bob", label="the same value")
    await w.merge(PATH, {"spec": {"size": 3}}, query={"fieldManager": "ann"}, label="the updater takes it")
    await w.apply(PATH, _partial(size=1), manager="bob", label="refused again")


@case("apply", given="an object that the same program updated", body="another value")
async def conflict_with_oneself(w: World) -> None:
    await w.create(WIDGETS, widget("a", label="x"), query={"fieldManager": "ann"})
    await w.apply(PATH, _partial(size=2), manager="ann", label="refused")
    await w.apply(PATH, _partial(size=2), manager="ann", force=True, label="forced")


@case("update", given="an object that somebody applied", body="the applied value changed, and removed")
async def update_of_applied(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x", paused=True), manager="ann", label="apply")
    await w.merge(PATH, {"spec": {"size": 5, "label": None}}, query={"fieldManager": "bob"}, label="patch")
    await w.apply(PATH, _partial(size=5, paused=True), manager="ann", label="apply again")


# Lists and maps


@case("apply", given="a list map of two managers", body="items added, changed and left out")
async def list_map(w: World) -> None:
    first = [{"name": "p", "count": 1}, {"name": "q", "count": 2, "options": {"x": "1"}}]
    await w.apply(PATH, _partial(size=1, parts=first), manager="ann", label="ann")
    await w.apply(
        PATH, _partial(parts=[{"name": "r"}, {"name": "q", "options": {"y": "2"}}]), manager="bob", label="bob"
    )
    await w.apply(PATH, _partial(parts=[{"name": "q", "count": 9}]), manager="bob", label="refused")
    await w.apply(PATH, _partial(size=1, parts=[{"name": "p", "count": 1}]), manager="ann", label="ann leaves q")
    await w.apply(PATH, _partial(parts=[{"name": "r"}]), manager="bob", label="bob leaves q")


@case("apply", given="a list map", body="items in another order")
async def list_map_order(w: World) -> None:
    await w.apply(PATH, _partial(size=1, parts=[{"name": each} for each in "abc"]), manager="ann", label="ann")
    await w.apply(PATH, _partial(parts=[{"name": each} for each in "cdb"]), manager="bob", label="bob")


@case("apply", given="a list map", body="an item without its key, and one twice")
async def list_map_broken(w: World) -> None:
    await w.apply(PATH, _partial(size=1, parts=[{"count": 1}]), label="no key")
    await w.apply(PATH, _partial(size=1, parts=[{"name": "p"}, {"name": "p"}]), label="twice")
    await w.apply(PATH, _partial(size=1, tags=["x", "x"]), label="a set")


@case("apply", given="a set of two managers", body="items added and left out")
async def sets(w: World) -> None:
    await w.apply(PATH, _partial(size=1, tags=["x", "y"]), manager="ann", label="ann")
    await w.apply(PATH, _partial(tags=["z", "y"]), manager="bob", label="bob")
    await w.apply(PATH, _partial(size=1, tags=["x"]), manager="ann", label="ann leaves y")
    await w.apply(PATH, _partial(tags=[]), manager="bob", label="bob leaves all")


@case("apply", given="an atomic list of another manager", body="the list with an item more")
async def atomic_list(w: World) -> None:
    await w.apply(PATH, _partial(size=1, order=["x"]), manager="ann", label="ann")
    await w.apply(PATH, _partial(order=["x", "y"]), manager="bob", label="refused")
    await w.apply(PATH, _partial(order=["x", "y"]), manager="bob", force=True, label="forced")
    await w.apply(PATH, _partial(order=[]), manager="bob", label="empty")


@case("apply", given="a granular map of two managers", body="keys added, changed and left out")
async def granular_map(w: World) -> None:
    await w.apply(PATH, _partial(size=1, settings={"a": "1", "b": "2"}), manager="ann", label="ann")
    await w.apply(PATH, _partial(settings={"b": "2", "c": "3"}), manager="bob", label="bob")
    await w.apply(PATH, _partial(settings={"a": "9"}), manager="bob", label="refused")
    await w.apply(PATH, _partial(size=1, settings={"b": "2"}), manager="ann", label="ann leaves a")
    await w.apply(PATH, _partial(size=1), manager="ann", label="ann leaves all")


@case("apply", given="an atomic map of another manager", body="one of its fields")
async def atomic_map(w: World) -> None:
    await w.apply(PATH, _partial(size=1, whole={"a": "1"}), manager="ann", label="ann")
    await w.apply(PATH, _partial(whole={"b": "2"}), manager="bob", label="refused")
    await w.apply(PATH, _partial(whole={"b": "2"}), manager="bob", force=True, label="forced")


@case("apply", given="a map without a schema", body="nested maps and lists")
async def unknown_fields(w: World) -> None:
    await w.apply(PATH, _partial(size=1, free={"m": {"x": 1, "y": [1, {"z": 2}]}}), manager="ann", label="ann")
    await w.apply(PATH, _partial(free={"m": {"w": None, "v": "2"}, "l": [3]}), manager="bob", label="bob")
    await w.apply(PATH, _partial(size=1, free={"m": {"x": 1}}), manager="ann", label="ann leaves y")


@case("apply", given="an object", body="null, and an empty map and list")
async def empty_values(w: World) -> None:
    body = _partial(size=1, note=None, settings={}, tags=[], order=[], parts=[])
    await w.apply(PATH, body, label="create")
    await w.apply(PATH, _partial(size=1), label="none")


@case("apply", given="a built-in object", body="keys of data, by two managers", truth=("1.36", "1.20"))
async def built_in(w: World) -> None:
    await w.apply(f"{CONFIG_MAPS}/a", _config_map(k="v", l="w"), manager="ann", label="ann")
    await w.apply(f"{CONFIG_MAPS}/a", _config_map(m="x"), manager="bob", label="bob")
    await w.apply(f"{CONFIG_MAPS}/a", _config_map(k="v"), manager="ann", label="ann leaves l")


@case("apply", given="a built-in object", body="another value of two managers' keys")
async def built_in_conflict(w: World) -> None:
    await w.apply(f"{CONFIG_MAPS}/a", _config_map(k="v", l="w"), manager="ann")
    await w.merge(f"{CONFIG_MAPS}/a", {"data": {"m": "x"}}, query={"fieldManager": "bob"})
    await w.apply(f"{CONFIG_MAPS}/a", _config_map(k="1", l="2", m="3"), manager="cid", label="refused")


@case("apply", given="a built-in object", body="a field that the kind does not have, and one of the wrong type")
async def built_in_misfit(w: World) -> None:
    await w.apply(f"{CONFIG_MAPS}/a", {**_config_map(k="v"), "zork": 1}, label="unknown")
    await w.apply(f"{CONFIG_MAPS}/a", {**_config_map(), "data": {"k": 7}}, label="wrong type")
    await w.apply(f"{CONFIG_MAPS}/a", {**_config_map(), "data": ["k"]}, label="a list")


@case("apply", given="a Service with two ports", body="ports, whose key has a default")
async def key_with_default(w: World) -> None:
    path = "/api/v1/namespaces/{ns}/services/a"
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    ports = [{"port": 80, "name": "http"}, {"port": 53, "name": "dns", "protocol": "UDP"}]
    wrong = [{"port": 80, "name": "x"}, {"port": 80, "name": "y", "protocol": "TCP"}]
    await w.apply(path, {**body, "spec": {"ports": [*ports, *wrong]}}, label="twice the same key")


# Subresources


@case("apply status", given="an object", body="status beside a spec")
async def status(w: World) -> None:
    await w.apply(PATH, _partial(size=1), manager="ann", label="main")
    body = {**_partial(size=9), "status": {"ready": 1, "conditions": [{"type": "A", "status": "True"}]}}
    await w.apply(f"{PATH}/status", body, manager="ann", label="status")
    conditions = [{"type": "B", "status": "True"}]
    await w.apply(f"{PATH}/status", {**_partial(), "status": {"conditions": conditions}}, manager="bob", label="bob")
    conditions = [{"type": "A", "status": "False"}]
    await w.apply(
        f"{PATH}/status", {**_partial(), "status": {"conditions": conditions}}, manager="bob", label="refused"
    )
    await w.apply(f"{PATH}/status", {**_partial(), "status": {"ready": 1}}, manager="ann", label="ann leaves A")


@case("apply status", given="nothing", body="status")
async def status_missing(w: World) -> None:
    await w.apply(f"{PATH}/status", {**_partial(), "status": {"ready": 1}}, label="apply")


@case("apply", given="an object with a status", body="status, at the object")
async def status_at_main(w: World) -> None:
    await w.apply(PATH, {**_partial(size=1), "status": {"ready": 4}}, manager="ann", label="create")
    await w.merge(f"{PATH}/status", {"status": {"ready": 1}}, query={"fieldManager": "bob"}, label="status")
    await w.apply(PATH, {**_partial(size=1), "status": {"ready": 4}}, manager="ann", label="again")


@case("apply", given="one manager at two subresources", body="both removed")
async def subresource_entries(w: World) -> None:
    await w.apply(PATH, _partial(size=1, label="x"), manager="ann")
    await w.apply(f"{PATH}/status", {**_partial(), "status": {"ready": 1}}, manager="ann", label="status")
    await w.merge(f"{PATH}/status", {"status": {"phase": "p"}}, query={"fieldManager": "ann"}, label="patch status")
    await w.merge(PATH, {"spec": {"paused": True}}, query={"fieldManager": "ann"}, label="patch")
    await w.apply(f"{PATH}/status", {**_partial(), "status": {}}, manager="ann", label="leave status")
    await w.apply(PATH, _partial(size=1), manager="ann", label="leave label")
