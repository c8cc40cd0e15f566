"""JSON patch and merge patch."""

from __future__ import annotations

from typing import Any

from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
PATH = f"{WIDGETS}/a"
FINALIZER = "example.com/hold"


def _operation(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": name, "path": path, **more}


# JSON patch


@case("JSON patch", given="an object", body="add: a field, an item in, at the end of and after a list, a whole map")
async def json_add(w: World) -> None:
    await w.create(WIDGETS, widget("a", order=["x"]), label="create")
    operations = [
        _operation("add", "/spec/label", value="abc"),
        _operation("add", "/spec/order/0", value="first"),
        _operation("add", "/spec/order/-", value="last"),
        _operation("add", "/spec/order/3", value="after"),
        _operation("add", "/spec/settings", value={"a/b": "1", "c~d": "2"}),
        _operation("add", "/spec/settings/e~1f", value="3"),
        _operation("add", "/spec/settings/g~0h", value="4"),
        _operation("add", "/metadata/labels", value={"a": "b"}),
    ]
    await w.json_patch(PATH, operations, label="patch")


@case("JSON patch", given="an object", body="remove: fields, items, the last label")
async def json_remove(w: World) -> None:
    body = widget("a", order=["x", "y", "z"], label="abc", settings={"a": "1"})
    body["metadata"]["labels"] = {"a": "b"}
    await w.create(WIDGETS, body, label="create")
    operations = [
        _operation("remove", "/spec/order/1"),
        _operation("remove", "/spec/order/-1"),
        _operation("remove", "/spec/label"),
        _operation("remove", "/spec/settings/a"),
        _operation("remove", "/metadata/labels/a"),
    ]
    await w.json_patch(PATH, operations, label="patch")


@case("JSON patch", given="an object", body="replace, move, copy, test")
async def json_other_operations(w: World) -> None:
    await w.create(WIDGETS, widget("a", order=["x", "y"], label="abc", settings={"a": "1"}), label="create")
    operations = [
        _operation("test", "/spec/size", value=1),
        _operation("replace", "/spec/size", value=2),
        _operation("replace", "/spec/order/0", value="w"),
        _operation("move", "/spec/order/1", **{"from": "/spec/order/0"}),
        _operation("copy", "/spec/settings/b", **{"from": "/spec/settings/a"}),
        _operation("move", "/spec/note", **{"from": "/spec/label"}),
        _operation("test", "/spec/settings", value={"b": "1", "a": "1"}),
        _operation("test", "/spec/order", value=["y", "w"]),
        _operation("test", "/spec/missing", value=None),
    ]
    await w.json_patch(PATH, operations, label="patch")


@case("JSON patch", given="an object", body="operations that do not apply")
async def json_does_not_apply(w: World) -> None:
    await w.create(WIDGETS, widget("a", order=["x"]))
    for operation in (
        _operation("test", "/spec/size", value=2),
        _operation("test", "/spec/missing", value="x"),
        _operation("replace", "/spec/missing", value=1),
        _operation("replace", "/spec/missing/deeper", value=1),
        _operation("add", "/spec/missing/deeper", value=1),
        _operation("add", "/spec/order/5", value="x"),
        _operation("add", "/spec/order/x", value="x"),
        _operation("remove", "/spec/missing"),
        _operation("remove", "/spec/order/4"),
        _operation("move", "/spec/label", **{"from": "/spec/missing"}),
        _operation("copy", "/spec/label", **{"from": "/spec/missing"}),
        _operation("add", "/spec/size/x", value=1),
    ):
        await w.json_patch(PATH, [operation], label=str(operation))
    await w.get(PATH, label="get")


@case("JSON patch", given="an object", body="operations that can't be read")
async def json_unreadable(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    for operation in (
        {"op": "frob", "path": "/spec"},
        {"op": "add", "path": "/spec/size"},
        {"op": "replace", "path": "/spec/size"},
        {"op": "add", "value": 1},
        {"op": "move", "path": "/spec/size"},
        {"path": "/spec/size", "value": 1},
        {"op": 7, "path": "/spec/size"},
        {"op": "add", "path": ["spec"], "value": 1},
        "text",
    ):
        await w.json_patch(PATH, [operation], label=str(operation))


@case("JSON patch", given="an object", body="no list of operations")
async def json_no_list(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    for text in ('{"op":"add"}', "[{]", "", "null", "7", "[]"):
        await w.json_patch(PATH, text, label=text)


@case("JSON patch", given="an object", body="an old resource version, tested and set")
async def json_stale(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(PATH, {"spec": {"size": 2}}, label="somebody else")
    change = _operation("replace", "/spec/size", value=3)
    tested = _operation("test", "/metadata/resourceVersion", value=old.version)
    put = _operation("replace", "/metadata/resourceVersion", value=old.version)
    await w.json_patch(PATH, [tested, change], label="tested")
    await w.json_patch(PATH, [put, change], label="set")


@case("JSON patch", given="an object", body="nothing that changes it")
async def json_no_change(w: World) -> None:
    await w.create(WIDGETS, widget("a", label="abc"), label="create")
    await w.json_patch(PATH, [_operation("replace", "/spec/label", value="abc")], label="same value")
    there_and_back = [_operation("add", "/spec/paused", value=True), _operation("remove", "/spec/paused")]
    await w.json_patch(PATH, there_and_back, label="there and back")


@case("JSON patch", given="an object", body="the whole document replaced, emptied or made a list")
async def json_whole_document(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    await w.json_patch(PATH, [_operation("replace", "", value={**old.body, "spec": {"size": 7}})], label="replace")
    await w.json_patch(PATH, [_operation("remove", "/metadata/name")], label="no name")
    await w.json_patch(PATH, [_operation("remove", "/metadata")], label="no metadata")
    await w.json_patch(PATH, [_operation("remove", "/kind")], label="no kind")


@case("JSON patch", given="a built-in object", body="several operations", truth=("1.36", "1.20"))
async def json_built_in(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v", "l": "w"}}, label="create")
    operations = [
        _operation("replace", "/data/k", value="x"),
        _operation("remove", "/data/l"),
        _operation("add", "/data/m", value="y"),
    ]
    await w.json_patch(f"{CONFIG_MAPS}/a", operations, label="patch")


@case("JSON patch", given="a built-in object", body="a value of the wrong type")
async def json_built_in_wrong_type(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, label="create")
    await w.json_patch(f"{CONFIG_MAPS}/a", [_operation("replace", "/data/k", value=7)], label="a number")
    await w.json_patch(f"{CONFIG_MAPS}/a", [_operation("replace", "/data", value="x")], label="text")


# Merge patch


@case("merge patch", given="an object", body="fields added, changed, removed and replaced")
async def merge_fields(w: World) -> None:
    body = widget("a", label="abc", order=["x", "y"], settings={"a": "1", "b": "2"}, free={"deep": {"x": 1, "y": 2}})
    await w.create(WIDGETS, body, label="create")
    spec = {
        "size": 4,
        "label": None,
        "paused": False,
        "order": ["z"],
        "settings": {"a": None, "c": "3"},
        "free": {"deep": {"x": {"z": [None, {"n": None}]}, "y": None}},
    }
    await w.merge(PATH, {"metadata": {"annotations": {"k": "v"}}, "spec": spec}, label="patch")


@case("merge patch", given="an object", body="a list of a list map, replaced whole")
async def merge_list_map(w: World) -> None:
    await w.create(WIDGETS, widget("a", parts=[{"name": "p", "count": 1}, {"name": "q", "count": 2}]), label="create")
    await w.merge(PATH, {"spec": {"parts": [{"name": "q"}]}}, label="patch", query={"fieldManager": "other"})


@case("merge patch", given="an object", body="null for a field with a default, and for a nullable one")
async def merge_null(w: World) -> None:
    await w.create(WIDGETS, widget("a", colour="blue", note="x"), label="create")
    await w.merge(PATH, {"spec": {"colour": None, "note": None}}, label="patch")


@case("merge patch", given="an object", body="nothing that changes it")
async def merge_no_change(w: World) -> None:
    await w.create(WIDGETS, widget("a", label="abc"), label="create")
    await w.merge(PATH, {}, label="empty")
    await w.merge(PATH, {"spec": {"label": "abc", "nothing": None}}, label="same", query={"fieldManager": "other"})


@case("merge patch", given="the object changed", body="an old resource version")
async def merge_stale(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(PATH, {"spec": {"size": 2}}, label="somebody else")
    body = {"metadata": {"resourceVersion": old.version}, "spec": {"size": 3}}
    await w.merge(PATH, body, label="patch")
    await w.merge(PATH, {"metadata": {"resourceVersion": ""}, "spec": {"size": 4}}, label="an empty one")


@case("merge patch", given="an object", body="another name, namespace, uid, kind or version")
async def merge_identity(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    for body in (
        {"metadata": {"name": "b"}},
        {"metadata": {"namespace": "other"}},
        {"metadata": {"uid": "abc"}},
        {"kind": "Gadget"},
        {"apiVersion": f"{GROUP}/v9"},
        {"apiVersion": "v1"},
        {"kind": None},
    ):
        await w.merge(PATH, body, label=str(body), query={"fieldValidation": "Ignore"})


@case("merge patch", given="a built-in object", body="another name or uid", truth="1.20")
async def merge_built_in_identity(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    for body in ({"metadata": {"name": "b"}}, {"metadata": {"uid": "abc"}}):
        await w.merge(f"{CONFIG_MAPS}/a", body, label=str(body))


@case("merge patch", given="an object", body="metadata that only the server sets")
async def merge_server_metadata(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    for metadata in (
        {"generation": 50},
        {"creationTimestamp": None},
        {"creationTimestamp": "2020-01-01T00:00:00Z"},
        {"deletionTimestamp": "2020-01-01T00:00:00Z"},
        {"selfLink": "/x"},
        {"uid": None},
    ):
        await w.merge(PATH, {"metadata": metadata}, label=str(metadata))


@case("merge patch", given="an object", body="what the schema refuses")
async def merge_invalid(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    for body in (
        {"spec": {"size": 200}},
        {"spec": {"size": "x"}},
        {"spec": {"size": None}},
        {"spec": None},
        {"spec": "text"},
        {"spec": {"tags": ["a", "a"]}},
        {"spec": {"parts": [{"name": "a"}, {"name": "a"}]}},
        {"metadata": "text"},
        {"metadata": {"labels": {"a": 7}}},
    ):
        await w.merge(PATH, body, label=str(body))


@case("merge patch", given="an object", body="text that is no JSON object")
async def merge_unreadable(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    for text in ("{x", "[1]", "7", "null", '"text"', "", "{} {}"):
        await w.merge(PATH, text, label=text)


@case("merge patch", given="nothing", body="a valid patch")
async def merge_missing(w: World) -> None:
    await w.merge(PATH, {"spec": {"size": 2}}, label="custom resource")
    await w.merge(f"{CONFIG_MAPS}/a", {"data": {"k": "v"}}, label="config map")


@case("merge patch", given="a built-in object", body="fields added and removed", truth=("1.36", "1.20"))
async def merge_built_in(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v", "l": "w"}}, label="create")
    await w.merge(f"{CONFIG_MAPS}/a", {"data": {"k": None, "m": "x"}}, label="patch")
    await w.merge(f"{CONFIG_MAPS}/a", {"data": None, "binaryData": {"b": "AAA="}}, label="no data")


@case("merge patch", given="an object of several managers", body="fields of others removed")
async def merge_takes_away(w: World) -> None:
    await w.create(WIDGETS, widget("a", settings={"a": "1", "b": "2"}), query={"fieldManager": "ann"}, label="create")
    await w.merge(PATH, {"spec": {"settings": {"a": None}}}, query={"fieldManager": "bob"}, label="one")
    await w.merge(PATH, {"spec": {"settings": None}}, query={"fieldManager": "cid"}, label="all")


@case("merge patch", given="an object", body="managedFields removed, then a field changed")
async def merge_resets_managed_fields(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    await w.merge(PATH, {"metadata": {"managedFields": [{}]}}, label="reset")
    await w.merge(PATH, {"spec": {"size": 2}}, label="change")
    await w.merge(PATH, {"metadata": {"managedFields": None}}, label="null")
    await w.apply(PATH, widget("a", size=2), label="apply")


@case("merge patch", given="an object with more than ten updaters", body="a field of an eleventh")
async def merge_many_managers(w: World) -> None:
    settings = {f"k{number:02}": "v" for number in range(12)}
    await w.create(WIDGETS, widget("a"), query={"fieldManager": "m-0"})
    for number, key in enumerate(settings):
        query = {"fieldManager": f"m-{chr(ord('a') + number)}"}
        last = number >= 8
        await w.merge(PATH, {"spec": {"settings": {key: "v"}}}, query=query, label=key if last else None)


@case("patch", given="an object", body="media types that are no patch's")
async def patch_media_types(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    for media_type in ("application/json", "text/plain", "application/strategic-merge-patch+json"):
        await w.send("PATCH", PATH, {}, media_type=media_type, label=media_type)
    for media_type in ("application/json", "text/plain"):
        await w.send("PATCH", f"{CONFIG_MAPS}/a", {}, media_type=media_type, label=f"config map: {media_type}")


@case("patch", given="an object being deleted", body="the last finalizer removed")
async def patch_last_finalizer(w: World) -> None:
    body = widget("a")
    body["metadata"]["finalizers"] = [FINALIZER]
    await w.create(WIDGETS, body)
    await w.delete(PATH, label="delete")
    await w.merge(PATH, {"metadata": {"finalizers": [FINALIZER, "example.com/more"]}}, label="one more")
    await w.merge(PATH, {"metadata": {"finalizers": None}, "spec": {"size": 500}}, label="invalid")
    await w.merge(PATH, {"metadata": {"finalizers": None}}, query={"dryRun": "All"}, label="dry run")
    await w.json_patch(PATH, [_operation("remove", "/metadata/finalizers")], label="remove")
    await w.get(PATH, label="get")


@case("patch", given="a name of another path", body="a collection")
async def patch_collection(w: World) -> None:
    for method in ("PATCH", "PUT"):
        media_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        await w.send(method, WIDGETS, {}, media_type=media_type, label=f"{method} custom resources")
        await w.send(method, CONFIG_MAPS, {}, media_type=media_type, label=f"{method} config maps")
