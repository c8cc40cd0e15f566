"""create: what is stored, and what is refused."""

from __future__ import annotations

from typing import Any

from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
SITES = f"/apis/{GROUP}/v1/sites"
FINALIZER = "example.com/hold"


def _with_metadata(obj: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], **more}}


@case("create", given="nothing", body="a valid object")
async def create_valid(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3), label="create")
    await w.get(f"{WIDGETS}/a", label="get")


@case("create", given="an object of that name", body="a valid object")
async def create_existing(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.create(WIDGETS, widget("a"), label="create again")


@case("create", given="nothing", body="a built-in object that does not say what it is", truth=("1.36", "1.20"))
async def create_built_in_without_kind(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, label="create")


@case("create", given="nothing", body="generateName")
async def create_generated_name(w: World) -> None:
    made = await w.create(WIDGETS, {**widget(""), "metadata": {"generateName": "gen-"}}, label="create")
    name = made["metadata"]["name"]
    w.transcript.name(name, "<generated>")
    w.transcript.add("name", ending=len(name) - len("gen-"))
    await w.get(f"{WIDGETS}/{name}", label="get")


@case("create", given="nothing", body="generateName of 80 letters, for a built-in kind", truth=("1.36", "1.20"))
async def create_long_generated_name(w: World) -> None:
    made = await w.create(CONFIG_MAPS, {"metadata": {"generateName": "g" * 80}}, label="create")
    name = made["metadata"]["name"]
    w.transcript.name(name, "<generated>")
    w.transcript.add("name", length=len(name))


@case("create", given="nothing", body="name and generateName")
async def create_name_and_prefix(w: World) -> None:
    await w.create(WIDGETS, _with_metadata(widget("a"), generateName="gen-"), label="create")


@case("create", given="nothing", body="neither name nor generateName")
async def create_nameless(w: World) -> None:
    await w.create(WIDGETS, {**widget(""), "metadata": {}}, label="create")
    await w.create(CONFIG_MAPS, {"metadata": {}}, label="create a config map")


@case("create", given="nothing", body="generateName that is no name")
async def create_bad_prefix(w: World) -> None:
    made = await w.create(WIDGETS, {**widget(""), "metadata": {"generateName": "No_Name-"}}, label="create")
    w.transcript.name(made["details"]["name"], "No_Name-<generated>")


@case("create", given="nothing", body="metadata that only the server sets")
async def create_server_metadata(w: World) -> None:
    given = _with_metadata(
        widget("a"),
        uid="abc",
        generation=7,
        creationTimestamp="2020-01-01T00:00:00Z",
        deletionTimestamp="2020-01-01T00:00:00Z",
        deletionGracePeriodSeconds=4,
        selfLink="/x",
    )
    await w.create(WIDGETS, given, label="create")


@case("create", given="nothing", body="managedFields")
async def create_managed_fields(w: World) -> None:
    entry = {
        "manager": "somebody",
        "operation": "Update",
        "apiVersion": f"{GROUP}/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:size": {}}},
    }
    await w.create(WIDGETS, _with_metadata(widget("a"), managedFields=[entry]), label="create")


@case("create", given="nothing", body="a resource version")
async def create_with_version(w: World) -> None:
    await w.create(WIDGETS, _with_metadata(widget("a"), resourceVersion="5"), label="create")
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "resourceVersion": "5"}}, label="create a config map")


@case("create", given="a status subresource", body="status")
async def create_with_status(w: World) -> None:
    await w.create(WIDGETS, {**widget("a"), "status": {"ready": 3}}, label="create")


@case("create", given="nothing", body="another namespace", truth=("1.36", "1.20"))
async def create_in_other_namespace(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "other"}}, label="create")


@case("create", given="nothing", body="a custom resource with another namespace")
async def create_custom_in_other_namespace(w: World) -> None:
    await w.create(WIDGETS, _with_metadata(widget("a"), namespace="other"), label="create")


@case("create", given="no such namespace", body="a valid object")
async def create_in_missing_namespace(w: World) -> None:
    path = WIDGETS.replace("{ns}", w.unique("nowhere"))
    await w.create(path, widget("a"), label="create")
    await w.create(path, widget("a"), query={"dryRun": "All"}, label="dry run")


@case("create", given="the path of all namespaces", body="a valid object")
async def create_in_all_namespaces(w: World) -> None:
    await w.create(f"/apis/{GROUP}/v1/widgets", widget("a"), label="create")
    await w.create("/api/v1/configmaps", {"metadata": {"name": "a"}}, label="create a config map")


@case("create", given="the path of an object", body="a valid object")
async def create_at_object(w: World) -> None:
    await w.create(f"{WIDGETS}/a", widget("a"), label="create")
    await w.create(f"{CONFIG_MAPS}/a", {"metadata": {"name": "a"}}, label="create a config map")


@case("create", given="a definition", body="another kind")
async def create_other_kind(w: World) -> None:
    await w.create(WIDGETS, {**widget("a"), "kind": "Gadget"}, label="create")


@case("create", given="a definition", body="another version of the group")
async def create_other_version(w: World) -> None:
    await w.create(
        WIDGETS, {**widget("a"), "apiVersion": f"{GROUP}/v2"}, label="create", query={"fieldValidation": "Ignore"}
    )


@case("create", given="a definition", body="another group")
async def create_other_group(w: World) -> None:
    await w.create(WIDGETS, {**widget("a"), "apiVersion": "v1"}, label="create")


@case("create", given="a definition", body="an object without kind or apiVersion")
async def create_unidentified(w: World) -> None:
    await w.create(WIDGETS, {"metadata": {"name": "a"}}, label="neither")
    await w.create(WIDGETS, {"kind": "Widget", "metadata": {"name": "a"}}, label="no apiVersion")
    await w.create(WIDGETS, {"apiVersion": f"{GROUP}/v1", "metadata": {"name": "a"}}, label="no kind")


@case("create", given="a built-in kind", body="another kind, or what is none", truth="1.20")
async def create_built_in_other_kind(w: World) -> None:
    for version, kind in (("v1", "Secret"), ("apps/v1", "Deployment"), ("v1", "Zork"), ("v9", "ConfigMap")):
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}
        await w.create(CONFIG_MAPS, body, label=f"{version} {kind}")
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    await w.create("/apis/apps/v1/namespaces/{ns}/deployments", body, label="Secret as a Deployment")


@case("create", given="a definition", body="no body at all")
async def create_empty(w: World) -> None:
    await w.create(WIDGETS, b"", media_type="application/json", label="custom resource")
    await w.create(CONFIG_MAPS, b"", media_type="application/json", label="config map")


@case("create", given="a definition", body="broken JSON")
async def create_broken_json(w: World) -> None:
    for text in ('{"a":', "{x", '{"a" 1}', '{"a":1,}', "[]", "null", '"text"', "7"):
        await w.create(WIDGETS, text, label=text)


@case("create", given="a built-in kind", body="broken JSON")
async def create_built_in_broken_json(w: World) -> None:
    for text in ('{"a":', "{x", "[]", "null"):
        await w.create(CONFIG_MAPS, text, label=text)


@case("create", given="a definition", body="YAML")
async def create_yaml(w: World) -> None:
    text = f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 2\n  settings: {{a: 'y'}}\n"
    await w.create(WIDGETS, text, media_type="application/yaml", label="create")


@case("create", given="a definition", body="a media type that is no object's")
async def create_other_media_type(w: World) -> None:
    for media_type in ("text/plain", "application/xml", "application/merge-patch+json"):
        await w.create(WIDGETS, widget("a"), media_type=media_type, label=media_type)
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, media_type="text/plain", label="config map")


@case("create", given="a definition", body="a media type with parameters")
async def create_media_type_with_parameters(w: World) -> None:
    await w.create(WIDGETS, widget("a"), media_type="application/json; charset=utf-8", label="create")


@case("create", given="a definition", body="metadata of the wrong types")
async def create_wrong_metadata(w: World) -> None:
    for metadata in (
        {"name": 7},
        {"name": "a", "labels": {"a": 1}},
        {"name": "a", "labels": []},
        {"name": "a", "annotations": "x"},
        {"name": "a", "finalizers": "x"},
        {"name": "a", "generation": "x"},
        {"name": "a", "ownerReferences": {}},
        {"name": "a", "creationTimestamp": "yesterday"},
        "text",
    ):
        await w.create(WIDGETS, {**widget("a"), "metadata": metadata}, label=str(metadata))


@case("create", given="a definition", body="one owner twice")
async def create_owner_twice(w: World) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "7ff1e6b0-0000-4000-8000-000000000001"}
    body = _with_metadata(widget("a"), ownerReferences=[owner, owner, {**owner, "name": "p"}], finalizers=[FINALIZER])
    await w.create(WIDGETS, body, label="create", query={"dryRun": "All"})


@case("create", given="a cluster-scoped kind without subresources", body="status and a namespace")
async def create_cluster_scoped(w: World) -> None:
    name = w.unique("site")
    site = {"apiVersion": f"{GROUP}/v1", "kind": "Site", "metadata": {"name": name}, "spec": {"a": 1}}
    await w.create(SITES, {**_with_metadata(site, namespace="default"), "status": {"a": 1}}, label="create")
    await w.get(f"{SITES}/{name}/status", label="status")
    await w.merge(f"{SITES}/{name}", {"spec": {"a": 2}}, label="change")
    await w.merge(f"{SITES}/{name}", {"metadata": {"labels": {"a": "b"}}}, label="label")
    await w.delete(f"{SITES}/{name}", label="delete")
