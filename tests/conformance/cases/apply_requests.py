"""Server-side apply: what is refused, what an object is told by, and what was there before the first apply."""

from __future__ import annotations

import json
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


# Identity


@case("apply", given="nothing", body="a uid or a resource version")
async def identity_of_missing(w: World) -> None:
    for metadata in ({"uid": "7ff1e6b0-0000-4000-8000-000000000001"}, {"resourceVersion": "1"}):
        body = {**_partial(size=1), "metadata": {"name": "a", **metadata}}
        await w.apply(PATH, body, label=str(metadata))


@case("apply", given="an object", body="another uid, an old resource version, the present one")
async def identity(w: World) -> None:
    old = await w.apply(PATH, _partial(size=1), label="create")
    now = await w.merge(PATH, {"spec": {"label": "x"}}, label="change")
    for label, metadata in (
        ("another uid", {"uid": "7ff1e6b0-0000-4000-8000-000000000001"}),
        ("old version", {"resourceVersion": old.version}),
        ("present", {"resourceVersion": now.version, "uid": now.uid}),
    ):
        await w.apply(PATH, {**_partial(size=2), "metadata": {"name": "a", **metadata}}, label=label)


@case("apply", given="an object", body="another name, namespace, kind, version, or none")
async def misplaced(w: World) -> None:
    await w.apply(PATH, _partial(size=1))
    good = _partial(size=1)
    for label, body in (
        ("name", {**good, "metadata": {"name": "b"}}),
        ("namespace", {**good, "metadata": {"name": "a", "namespace": "other"}}),
        ("kind", {**good, "kind": "Gadget"}),
        ("version", {**good, "apiVersion": f"{GROUP}/v9"}),
        ("group", {**good, "apiVersion": "v1"}),
        ("no kind", {"apiVersion": f"{GROUP}/v1", "metadata": {"name": "a"}}),
        ("no version", {"kind": "Widget", "metadata": {"name": "a"}}),
    ):
        await w.apply(PATH, body, label=label)


@case("apply", given="no such namespace", body="a valid object")
async def missing_namespace(w: World) -> None:
    await w.apply(PATH.replace("{ns}", w.unique("nowhere")), _partial(size=1), label="apply")


@case("apply", given="an object", body="managedFields")
async def with_managed_fields(w: World) -> None:
    now = await w.apply(PATH, _partial(size=1))
    await w.apply(PATH, now.body, label="its own")
    await w.apply(PATH, {**_partial(size=1), "metadata": {"name": "a", "managedFields": []}}, label="empty")
    await w.apply(PATH, {**_partial(size=1), "metadata": {"name": "a", "managedFields": [{}]}}, label="reset")


@case("apply", given="an object", body="metadata that only the server sets")
async def server_metadata(w: World) -> None:
    await w.apply(PATH, _partial(size=1), label="create")
    for metadata in ({"generation": 9}, {"creationTimestamp": None}, {"creationTimestamp": "2020-01-01T00:00:00Z"}):
        body = {**_partial(size=1), "metadata": {"name": "a", **metadata}}
        await w.apply(PATH, body, label=str(metadata))


# Refusals


@case("apply", given="nothing", body="what does not fit the schema")
async def misfit(w: World) -> None:
    for spec in (
        {"size": "x"},
        {"size": 1.5},
        {"size": 1, "label": 7},
        {"size": 1, "paused": "yes"},
        {"size": 1, "tags": "x"},
        {"size": 1, "settings": ["x"]},
        {"size": 1, "zork": 1},
        {"size": 1, "parts": [{"name": "a", "zork": 1}]},
        {"size": 1, "port": True},
    ):
        await w.apply(PATH, _partial(**spec), label=json.dumps(spec))


@case("apply", given="nothing", body="what does not fit the schema in several places")
async def misfits(w: World) -> None:
    """A server goes through maps in no order."""
    broken = [{"name": "a", "count": "x"}, {"name": "a"}, {"count": 1}]
    body = _partial(size="x", label=7, paused="yes", settings=["x"], order=[1, "x"], tags=["a", "a", {}], parts=broken)
    for label, more in (
        ("spec", {}),
        ("metadata and status", {"metadata": {"name": "a", "labels": {"a": 1}}, "status": {"ready": "x", "phase": 1}}),
        ("maps that are none", {"metadata": {"name": "a", "annotations": "x"}, "spec": 7}),
    ):
        answer = await w.apply(PATH, {**body, **more})
        w.transcript.add(label, status=answer.status, lines=sorted(answer["message"].split("\n")))
    many = _config_map(a="x")
    answer = await w.apply(f"{CONFIG_MAPS}/a", {**many, "data": {"a": 1, "b": {}, "c": True, "d": "x"}})
    w.transcript.add("ConfigMap", status=answer.status, lines=sorted(answer["message"].split("\n")))


@case("apply", given="nothing, then an object", body="what fits the schema and not a built-in kind's struct")
async def unconvertible(w: World) -> None:
    secrets = "/api/v1/namespaces/{ns}/secrets/a"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    await w.apply(secrets, {**secret, "data": {"a": "no base64!"}}, label="new")
    await w.apply(secrets, {**secret, "data": {"a": "YQ=="}}, label="good")
    placed = {**secret, "metadata": {"name": "a", "namespace": w.namespace}}
    await w.apply(secrets, {**placed, "data": {"a": "no base64!"}}, label="present")


@case("apply", given="nothing, then an object", body="null, where a field may and may not be that")
async def nulls(w: World) -> None:
    specs: tuple[dict[str, Any], ...] = (
        {"label": None},
        {"tags": None},
        {"settings": {"a": None}},
        {"whole": None},
        {"parts": [{"name": "a", "options": None}]},
        {"colour": None},
        {"note": None},
        {"free": {"a": None}},
    )
    for spec in specs:
        await w.apply(PATH, _partial(size=1, **spec), query={"dryRun": "All"}, label=f"new: {spec}")
    await w.apply(PATH, _partial(size=1, tags=["a"], settings={"a": "b"}, label="x"))
    for spec in specs:
        await w.apply(PATH, _partial(size=1, **spec), query={"dryRun": "All"}, label=f"present: {spec}")


@case("apply", given="nothing", body="what fits the schema's types, but is invalid")
async def invalid(w: World) -> None:
    for spec in ({"size": 200}, {}, {"size": 1, "label": "UPPER"}):
        await w.apply(PATH, _partial(**spec), label=json.dumps(spec))


@case("apply", given="nothing", body="an unknown field, by fieldValidation")
async def unknown_field_validation(w: World) -> None:
    for validation in ("Strict", "Warn", "Ignore"):
        query = {"fieldValidation": validation}
        await w.apply(PATH, _partial(size=1, zork=1), query=query, label=validation)


@case("apply", given="nothing", body="a field twice, by fieldValidation")
async def duplicate_field_validation(w: World) -> None:
    text = f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata: {{name: a}}\nspec:\n  size: 1\n  size: 2\n"
    for validation in ("Strict", "Warn", "Ignore"):
        query = {"fieldValidation": validation, "dryRun": "All"}
        await w.apply(PATH, text, query=query, label=validation)


@case("apply", given="nothing", body="text that is no object")
async def unreadable(w: World) -> None:
    for text in ("[1]", "7", "null", "", "text"):
        await w.apply(PATH, text, label=text)


@case("apply", given="an object", body="no manager, a long one, an unprintable one, force without apply")
async def bad_options(w: World) -> None:
    await w.apply(PATH, _partial(size=1))
    await w.send("PATCH", PATH, _partial(size=1), media_type="application/apply-patch+yaml", label="none")
    await w.apply(PATH, _partial(size=1), manager="m" * 129, label="long")
    await w.apply(PATH, _partial(size=1), manager="a\tb", label="unprintable")
    await w.merge(PATH, {}, query={"force": "true"}, label="force")
    await w.apply(PATH, _partial(size=1), query={"force": "maybe"}, label="force maybe")


@case("apply", given="nothing", body="a valid object, dryRun=All")
async def dry_run(w: World) -> None:
    await w.apply(PATH, _partial(size=1), query={"dryRun": "All"}, label="create")
    await w.get(PATH, label="get")
    await w.apply(PATH, _partial(size=1), label="for real")
    await w.apply(PATH, _partial(size=2), query={"dryRun": "All"}, manager="bob", force=True, label="change")
    await w.get(PATH, label="get again")


# From kubectl's client-side apply, and from before


def _last_applied(**data: str) -> dict[str, Any]:
    body = _config_map(**data)
    text = json.dumps(_config_map(**data), separators=(",", ":")) + "\n"
    return {**body, "metadata": {"name": "a", "annotations": {LAST_APPLIED: text}}}


@case("apply", given="an object of kubectl's client-side apply", body="other values, by kubectl")
async def from_client_side(w: World) -> None:
    path = f"{CONFIG_MAPS}/a"
    query = {"fieldManager": "kubectl-client-side-apply"}
    await w.create(CONFIG_MAPS, _last_applied(k="v", l="w"), query=query, label="client-side")
    await w.apply(path, _config_map(k="x"), manager="other", label="another is refused")
    await w.apply(path, _config_map(k="x", l="w"), manager="kubectl", label="kubectl")
    await w.get(path, label="get")


@case("apply", given="an object of kubectl's client-side apply that somebody changed", body="other values, by kubectl")
async def from_client_side_changed(w: World) -> None:
    path = f"{CONFIG_MAPS}/a"
    query = {"fieldManager": "kubectl-client-side-apply"}
    await w.create(CONFIG_MAPS, _last_applied(k="v", l="w"), query=query)
    await w.merge(path, {"data": {"k": "changed"}}, query={"fieldManager": "other"})
    await w.apply(path, _config_map(k="x", l="y"), manager="kubectl", label="kubectl")


@case("JSON patch", given="an object of kubectl's client-side apply", body="its entry made one of apply")
async def migrated_entry(w: World) -> None:
    """What `csaupgrade` of client libraries and of kubectl sends."""
    path = f"{CONFIG_MAPS}/a"
    query = {"fieldManager": "kubectl-client-side-apply"}
    now = await w.create(CONFIG_MAPS, _last_applied(k="v", l="w"), query=query)
    entries = [{**entry, "manager": "kubectl", "operation": "Apply"} for entry in now["metadata"]["managedFields"]]
    operations = [
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": now.version},
    ]
    await w.json_patch(path, operations, label="patch")
    await w.apply(path, _config_map(k="v"), manager="kubectl", label="apply")


@case("apply", given="an object without managedFields", body="the same and other values")
async def before_first_apply(w: World) -> None:
    await w.create(WIDGETS, widget("a", label="x"))
    await w.merge(PATH, {"metadata": {"managedFields": [{}]}}, label="reset")
    await w.apply(PATH, _partial(size=1, label="y"), label="refused")
    await w.apply(PATH, _partial(size=1), label="the same")


@case("apply", given="an object being deleted", body="finalizers changed")
async def deleting(w: World) -> None:
    body = _partial(size=1)
    body["metadata"] = {"name": "a", "finalizers": ["example.com/a"]}
    await w.apply(PATH, body, manager="ann")
    await w.delete(PATH, label="delete")
    more = {**body, "metadata": {"name": "a", "finalizers": ["example.com/b"]}}
    await w.apply(PATH, more, manager="bob", label="one more")
    await w.apply(PATH, _partial(size=1), manager="ann", label="none")
    await w.get(PATH, label="get")
