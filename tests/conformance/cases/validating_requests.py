"""What is asked of a write besides the object: dryRun, fieldValidation, field managers, names, labels, sizes."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
PATH = f"{WIDGETS}/a"
DRY = {"dryRun": "All"}
VALIDATIONS = ("Strict", "Warn", "Ignore")


def _named(name: str, **metadata: Any) -> dict[str, Any]:
    return {**widget(name), "metadata": {"name": name, **metadata}}


# dryRun


@case("create", given="nothing", body="dryRun=All")
async def dry_create(w: World) -> None:
    await w.create(WIDGETS, widget("a"), query=DRY, label="create")
    await w.get(PATH, label="get")
    await w.create(WIDGETS, widget("a", size=500), query=DRY, label="invalid")
    await w.create(WIDGETS, widget("a"))
    await w.create(WIDGETS, widget("a"), query=DRY, label="existing")


@case("create", given="a built-in kind", body="dryRun=All", truth=("1.36", "1.20"))
async def dry_create_built_in(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, query=DRY, label="create")
    await w.get(f"{CONFIG_MAPS}/a", label="get")


@case("update", given="an object", body="dryRun=All")
async def dry_update(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"), label="create")
    await w.put(PATH, {**old.body, "spec": {"size": 2}}, query=DRY, label="update")
    await w.get(PATH, label="get")
    await w.put(f"{PATH}/status", {**old.body, "status": {"ready": 2}}, query=DRY, label="status")
    await w.put(f"{WIDGETS}/b", widget("b"), query=DRY, label="missing")


@case("patch", given="an object", body="dryRun=All")
async def dry_patch(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    await w.merge(PATH, {"spec": {"size": 2}}, query=DRY, label="merge")
    await w.json_patch(PATH, [{"op": "replace", "path": "/spec/size", "value": 3}], query=DRY, label="JSON")
    await w.merge(PATH, {"spec": {"size": 1}}, query=DRY, label="no change")
    await w.merge(f"{PATH}/status", {"status": {"ready": 3}}, query=DRY, label="status")
    await w.get(PATH, label="get")


@case("every verb", given="an object", body="dryRun that is not All")
async def dry_run_values(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    some = {"dryRun": "Some"}
    await w.create(WIDGETS, widget("b"), query=some, label="create")
    await w.put(PATH, widget("a"), query=some, label="update")
    await w.merge(PATH, {}, query=some, label="patch")
    await w.apply(PATH, widget("a"), query=some, label="apply")
    await w.delete(PATH, query=some, label="delete")
    await w.delete(WIDGETS, query=some, label="deletecollection")
    await w.create(WIDGETS, widget("b"), query={"dryRun": ""}, label="empty")


# fieldValidation


@case("create", given="a custom resource", body="unknown fields, by fieldValidation")
async def unknown_fields(w: World) -> None:
    body = {**widget("a", zork=1, parts=[{"name": "p", "zork": 1}], settings={"any": "x"}), "zork": {"a": 1}}
    body["metadata"] = {"name": "a", "zork": 1}
    for validation in VALIDATIONS:
        await w.create(WIDGETS, body, query={**DRY, "fieldValidation": validation}, label=validation)
    await w.create(WIDGETS, body, label="the default")


@case("create", given="a built-in kind", body="unknown fields, by fieldValidation")
async def unknown_fields_built_in(w: World) -> None:
    body = {"metadata": {"name": "a", "zork": 1}, "data": {"k": "v"}, "zork": 1, "Data": {"k": "w"}}
    for validation in VALIDATIONS:
        await w.create(CONFIG_MAPS, body, query={**DRY, "fieldValidation": validation}, label=validation)


@case("create", given="a built-in kind", body="unknown fields deep inside, by fieldValidation")
async def unknown_fields_deep(w: World) -> None:
    path = "/apis/apps/v1/namespaces/{ns}/deployments"
    container = {"name": "c", "image": "i:1", "zork": 1, "env": [{"name": "A", "valu": "x"}]}
    body = {
        "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"containers": [container], "nope": 1}}},
    }
    await w.create(path, body, query={**DRY, "fieldValidation": "Strict"}, label="Strict")


@case("create", given="a custom resource", body="a field twice in JSON, by fieldValidation")
async def duplicate_fields(w: World) -> None:
    text = (
        f'{{"apiVersion":"{GROUP}/v1","kind":"Widget","metadata":{{"name":"a","name":"b","labels":{{"x":"1","x":"2"}}}},'
        '"spec":{"size":1,"size":2,"parts":[{"name":"p"},{"name":"q","count":1,"count":2}]},"spec":{"size":3}}'
    )
    for validation in VALIDATIONS:
        await w.create(WIDGETS, text, query={**DRY, "fieldValidation": validation}, label=validation)


@case("create", given="a built-in kind", body="a field twice in JSON, by fieldValidation")
async def duplicate_fields_built_in(w: World) -> None:
    text = '{"metadata":{"name":"a","name":"b"},"data":{"k":"v","k":"w"},"data":{"l":"x"}}'
    for validation in VALIDATIONS:
        await w.create(CONFIG_MAPS, text, query={**DRY, "fieldValidation": validation}, label=validation)


@case("create", given="a custom resource", body="a field twice in YAML, by fieldValidation")
async def duplicate_fields_yaml(w: World) -> None:
    text = (
        f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata:\n  name: a\n  name: b\nspec:\n  size: 1\n  zork: 1\n"
        "  settings:\n    k: v\n    k: w\n  size: 2\n"
    )
    for validation in VALIDATIONS:
        query = {**DRY, "fieldValidation": validation}
        await w.create(WIDGETS, text, media_type="application/yaml", query=query, label=validation)


@case("create", given="a built-in kind", body="a field twice and an unknown one in YAML, by fieldValidation")
async def duplicate_fields_yaml_built_in(w: World) -> None:
    text = "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\ndata:\n  k: v\n  k: w\nzork: 1\n"
    for validation in VALIDATIONS:
        query = {**DRY, "fieldValidation": validation}
        await w.create(CONFIG_MAPS, text, media_type="application/yaml", query=query, label=validation)


@case("update", given="a custom resource", body="unknown and duplicate fields, by fieldValidation")
async def update_validation(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    text = json.dumps({**old.body, "spec": {"size": 2, "zork": 1}}).replace('"zork"', '"size": 3, "zork"')
    for validation in VALIDATIONS:
        await w.put(PATH, text, query={**DRY, "fieldValidation": validation}, label=validation)


@case("patch", given="a custom resource", body="unknown fields, by fieldValidation")
async def patch_validation(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    operations = [{"op": "add", "path": "/spec/zork", "value": 1}]
    for validation in VALIDATIONS:
        query = {**DRY, "fieldValidation": validation}
        await w.merge(PATH, {"spec": {"zork": 1}, "zork": 1}, query=query, label=f"merge {validation}")
        await w.json_patch(PATH, operations, query=query, label=f"JSON {validation}")


@case("patch", given="a custom resource", body="a field twice, by fieldValidation")
async def patch_duplicates(w: World) -> None:
    await w.create(WIDGETS, widget("a"), label="create")
    merge, operation = '{"spec":{"size":2,"size":3}}', '[{"op":"add","op":"replace","path":"/spec/size","value":4}]'
    for validation in VALIDATIONS:
        query = {**DRY, "fieldValidation": validation}
        await w.merge(PATH, merge, query=query, label=f"merge {validation}")
        await w.json_patch(PATH, operation, query=query, label=f"JSON {validation}")
    await w.json_patch(PATH, '[{"op":"replace","path":"/spec/size","value":4,"zork":1}]', query=DRY, label="unknown")


@case("patch", given="a built-in object", body="unknown fields and fields twice, by fieldValidation")
async def patch_validation_built_in(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, label="create")
    path = f"{CONFIG_MAPS}/a"
    for validation in VALIDATIONS:
        query = {**DRY, "fieldValidation": validation}
        await w.merge(path, '{"zork":1,"data":{"l":"1","l":"2"}}', query=query, label=f"merge {validation}")
        await w.strategic(path, '{"zork":1,"data":{"l":"1","l":"2"}}', query=query, label=f"strategic {validation}")


@case("every write", given="an object", body="fieldValidation that is none of the three")
async def validation_values(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    query = {"fieldValidation": "Loose"}
    await w.create(WIDGETS, widget("b"), query=query, label="create")
    await w.put(PATH, widget("a"), query=query, label="update")
    await w.merge(PATH, {}, query=query, label="patch")
    await w.apply(PATH, widget("a"), query=query, label="apply")


# Broken YAML

_BROKEN = (
    "a: [1",
    "kind: Widget\nspec: [1,\nb: 2\n",
    "kind: Widget\nspec: {a: 1\n",
    "kind: Widget\n a: b\n",
    "kind: Widget\nmetadata:\n  name: a\n name: b\n",
    "kind: Widget\nspec:\n\tsize: 1\n",
    "kind: a: b\n",
    "kind: 'Widget\n",
    'kind: "\\q"\n',
    "kind\nspec: 1\n",
    "- a\nb: 1\n",
    "a: *nothing\n",
    "kind: @x\n",
    "kind: x\n--- \n[\n",
)


@case("create", given="a custom resource", body="broken YAML")
async def broken_yaml(w: World) -> None:
    for text in _BROKEN:
        await w.create(WIDGETS, text, media_type="application/yaml", label=text)


@case("apply", given="a custom resource", body="broken YAML")
async def broken_yaml_applied(w: World) -> None:
    for text in _BROKEN:
        await w.apply(PATH, text, label=text)


# Field managers


@case("every write", given="an object", body="field managers that are refused")
async def manager_values(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    for manager in ("m" * 129, "a\nb", "é" * 65):
        query = {"fieldManager": manager}
        await w.create(WIDGETS, widget("b"), query=query, label=f"create by {len(manager)}")
        await w.merge(PATH, {}, query=query, label=f"patch by {len(manager)}")


@case("create", given="nothing", body="the program as field manager")
async def manager_of_program(w: World) -> None:
    for agent in ("kubectl/v1.36.0 (linux/amd64) kubernetes/abc", "some agent/2 x", "", "a" * 200):
        await w.create(WIDGETS, widget("a"), query=DRY, headers={"user-agent": agent}, label=agent)


# Names, labels, annotations


@case("create", given="nothing", body="names that are none")
async def names(w: World) -> None:
    for name in ("Upper", "under_score", "-a", "a-", "a..b", "a/b", "a b", "n" * 254, "ä"):
        await w.create(WIDGETS, widget(name), query=DRY, label=name)


@case("create", given="nothing", body="names at the limits")
async def odd_names(w: World) -> None:
    for name in ("0", "a.b-c.d", "n" * 253):
        await w.create(WIDGETS, widget(name), query=DRY, label=name)


@case("create", given="nothing", body="label keys and values that are none")
async def label_texts(w: World) -> None:
    long = "l" * 64
    for key, value in (
        ("a b", "x"),
        ("", "x"),
        ("a/b/c", "x"),
        ("/a", "x"),
        ("Upper.Case/a", "x"),
        ("example.com/", "x"),
        (long, "x"),
        ("p" * 254 + "/a", "x"),
        ("a", "no spaces"),
        ("a", "-x"),
        ("a", long),
        ("a", "ü"),
    ):
        await w.create(WIDGETS, _named("a", labels={key: value}), query=DRY, label=f"{key}={value}")


@case("create", given="nothing", body="annotation keys that are none")
async def annotation_keys(w: World) -> None:
    for key in ("a b", "", "a/b/c", "Upper.Case/A", "k" * 64):
        await w.create(WIDGETS, _named("a", annotations={key: "any text\n"}), query=DRY, label=key)


@case("create", given="nothing", body="finalizers that are none, or without a domain")
async def finalizer_names(w: World) -> None:
    for finalizer in ("no spaces", "", "a/b/c", "plain", "orphan", "example.com/ok"):
        await w.create(WIDGETS, _named("a", finalizers=[finalizer]), query=DRY, label=finalizer)


@case("create", given="nothing", body="owner references that are none")
async def owner_references(w: World) -> None:
    good = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "7ff1e6b0-0000-4000-8000-000000000001"}
    for owner in (
        {**good, "uid": ""},
        {**good, "kind": ""},
        {**good, "name": ""},
        {**good, "apiVersion": ""},
        {**good, "apiVersion": "a/b/c"},
        {**good, "kind": "Event"},
        {**good, "zork": 1},
    ):
        await w.create(WIDGETS, _named("a", ownerReferences=[owner]), query=DRY, label=json.dumps(owner))
    controllers = [
        {**good, "controller": True},
        {**good, "controller": True, "uid": good["uid"][:-1] + "2", "name": "p"},
    ]
    await w.create(WIDGETS, _named("a", ownerReferences=controllers), query=DRY, label="two controllers")


@case("update", given="an object", body="labels, finalizers and owners that are none")
async def update_metadata(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    owner = {"apiVersion": "v1", "kind": "A", "name": "x", "uid": ""}
    for metadata in (
        {"labels": {"a": "no spaces"}},
        {"finalizers": ["no spaces"]},
        {"ownerReferences": [owner]},
        {"uid": "abc", "labels": {"a": "no spaces"}},
        {"annotations": {"a b": "x"}},
        {"finalizers": ["plain"]},
    ):
        await w.merge(PATH, {"metadata": metadata}, query=DRY, label=str(metadata))


@case("update", given="a built-in object", body="labels and owners that are none", truth="1.20")
async def update_built_in_metadata(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    templates = "/api/v1/namespaces/{ns}/podtemplates"
    template = {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    await w.create(templates, {"metadata": {"name": "a"}, "template": template})
    for path in (f"{CONFIG_MAPS}/a", f"{templates}/a"):
        for metadata in ({"labels": {"a": "-x"}}, {"uid": "abc", "labels": {"a": "-x"}}, {"finalizers": ["plain"]}):
            await w.merge(path, {"metadata": metadata}, query=DRY, label=f"{path}: {metadata}")


@case("create", given="a built-in kind", body="a finalizer without a domain", truth="1.20")
async def built_in_finalizers(w: World) -> None:
    for finalizer in ("plain", "orphan", "example.com/ok"):
        body = {"metadata": {"name": "a", "finalizers": [finalizer]}}
        await w.create(CONFIG_MAPS, body, query=DRY, label=finalizer)


# Sizes


@case("create", given="nothing", body="more than 3 MiB")
async def too_large(w: World) -> None:
    text = json.dumps(widget("a", free={"x": "x" * (3 * 1024 * 1024)}))
    await w.create(WIDGETS, text, label="create")
    await w.create(CONFIG_MAPS, text, label="a config map")


@case("update and patch", given="an object", body="more than 3 MiB")
async def too_large_update(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    text = json.dumps(widget("a", free={"x": "x" * (3 * 1024 * 1024)}))
    await w.put(PATH, text, label="update")
    await w.merge(PATH, text, label="patch")
    await w.apply(PATH, text, label="apply")
    await w.delete(PATH, text, label="delete")


@case("create", given="nothing", body="more than the store takes: 1.5 MiB")
async def too_large_for_store(w: World) -> None:
    await w.create(WIDGETS, widget("a", free={"x": "x" * (1600 * 1024)}), label="create")
    await w.create(WIDGETS, widget("a"))
    await w.merge(PATH, {"spec": {"free": {"x": "x" * (1600 * 1024)}}}, label="patch")


@case("create", given="nothing", body="annotations of more than 256 KiB")
async def annotations_too_large(w: World) -> None:
    half = "x" * 128 * 1024
    body = _named("a", annotations={"a": half, "b": half})
    await w.create(WIDGETS, body, label="create")
    await w.create(WIDGETS, widget("a"))
    await w.merge(PATH, {"metadata": {"annotations": {"a": half, "b": half}}}, label="patch")


@case("JSON patch", given="an object", body="more than 10,000 operations")
async def too_many_operations(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    operation = {"op": "test", "path": "/spec/size", "value": 1}
    await w.json_patch(PATH, [operation] * 10_001, label="patch")
    await w.json_patch(PATH, [operation] * 100, query=DRY, label="a hundred")
