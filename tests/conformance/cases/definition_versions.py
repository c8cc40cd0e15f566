"""The versions of a CustomResourceDefinition: served, stored, deprecated, and changes of their schemas."""

from __future__ import annotations

from tests.conformance.definitions import defined, definition, instance, path_of, version
from tests.conformance.kinds import show
from tests.conformance.registry import case
from tests.conformance.world import World

_OLD = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"old": {"type": "string"}}}}}
_NEW = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "old": {"type": "string"},
                "new": {"type": "string", "default": "filled in"},
            },
        }
    },
}


@case("read and write", given="two served versions of one schema, the first stored", body="objects of both versions")
async def two_versions(w: World) -> None:
    body = definition(w, versions=[version("v1", _OLD), version("v2", _OLD, storage=False)])
    async with defined(w, body) as path:
        other = path.replace("/v1/", "/v2/")
        await w.eventually(other, status=200)
        await w.create(path, instance(w, "a", spec={"old": "x"}), label="create as v1")
        await w.get(f"{other}/a", label="get as v2")
        await w.create(other, instance(w, "b", "v2", spec={"old": "x"}), label="create as v2")
        await w.get(f"{path}/b", label="get as v1")
        show(w, "patch as v2", await w.merge(f"{other}/a", {"spec": {"old": "z"}}))
        show(w, "get the patched as v1", await w.get(f"{path}/a"))
        await w.create(path, instance(w, "c", "v2"), label="create v2 at v1")
        show(w, "apply as v1", await w.apply(f"{path}/a", instance(w, "a", spec={"old": "applied"}), force=True))


@case("read and write", given="two served versions, the stored one with fewer fields", body="objects of both versions")
async def narrower_storage(w: World) -> None:
    body = definition(w, versions=[version("v1", _OLD), version("v2", _NEW, storage=False)])
    async with defined(w, body) as path:
        other = path.replace("/v1/", "/v2/")
        await w.eventually(other, status=200)
        await w.create(path, instance(w, "a", spec={"old": "x"}), label="create as v1")
        await w.get(f"{other}/a", label="get as v2")
        await w.create(other, instance(w, "b", "v2", spec={"old": "x", "new": "y"}), label="create as v2")
        await w.get(f"{path}/b", label="get as v1")
        await w.get(other, label="list as v2")
        show(w, "patch as v2", await w.merge(f"{other}/a", {"spec": {"old": "z", "new": "z"}}))


@case("read and write", given="two served versions, the stored one with more fields", body="objects of both versions")
async def wider_storage(w: World) -> None:
    body = definition(w, versions=[version("v1", _NEW), version("v2", _OLD, storage=False)])
    async with defined(w, body) as path:
        other = path.replace("/v1/", "/v2/")
        await w.eventually(other, status=200)
        await w.create(path, instance(w, "a", spec={"old": "x", "new": "y"}), label="create as v1")
        await w.get(f"{other}/a", label="get as v2")
        await w.create(other, instance(w, "b", "v2", spec={"old": "x"}), label="create as v2")
        await w.get(f"{path}/b", label="get as v1")
        show(w, "patch as v2", await w.merge(f"{other}/a", {"spec": {"old": "z"}}))
        show(w, "get the patched as v1", await w.get(f"{path}/a"))


@case("update a definition", given="two versions", body="the other one stored")
async def switch_storage(w: World) -> None:
    body = definition(w, versions=[version("v1"), version("v2", storage=False)])
    async with defined(w, body) as path:
        await w.create(path, instance(w, "a", spec={"n": 1}))
        switch = [
            {"op": "replace", "path": "/spec/versions/0/storage", "value": False},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": True},
        ]
        remove = [{"op": "remove", "path": "/spec/versions/0"}]
        show(w, "switch", await w.json_patch(path_of(body), switch))
        show(w, "remove v1", await w.json_patch(path_of(body), remove))
        for stored in (["v3"], [], ["v2"]):
            change = {"status": {"storedVersions": stored}}
            show(w, f"{stored} is stored", await w.merge(f"{path_of(body)}/status", change))
        show(w, "remove v1 again", await w.json_patch(path_of(body), remove))
        await w.eventually(path, status=404)
        await w.get(f"{path.replace('/v1/', '/v2/')}/a", label="get as v2")


@case("read", given="a version that is not served")
async def unserved_version(w: World) -> None:
    body = definition(w, versions=[version("v1"), version("v2", storage=False, served=False)])
    async with defined(w, body) as path:
        await w.get(path.replace("/v1/", "/v2/"), label="list")
        await w.get(path.replace("/v1/", "/v9/"), label="list of no version")
        show(w, "discovery", await w.get(path.partition("/namespaces")[0]), without=["resources.storageVersionHash"])


@case("read and write", given="a deprecated version")
async def deprecated_version(w: World) -> None:
    versions = [
        version("v1"),
        version("v1beta1", storage=False, deprecated=True),
        version("v1alpha1", storage=False, deprecated=True, deprecationWarning="use v1, really"),
    ]
    async with defined(w, definition(w, versions=versions)) as path:
        for old in ("v1beta1", "v1alpha1"):
            at = path.replace("/v1/", f"/{old}/")
            await w.eventually(at, status=200)
            await w.create(at, instance(w, old, old), label=f"create as {old}")
            await w.get(at, label=f"list as {old}")


@case("discover", given="three served versions")
async def discover_versions(w: World) -> None:
    versions = [version("v1beta1", storage=False), version("v2"), version("v1", storage=False)]
    body = definition(w, versions=versions, shortNames=["gd"], categories=["all"])
    async with defined(w, body) as path:
        await w.eventually(path.replace("/v1beta1/", "/v1/"), status=200)
        await w.eventually(path.replace("/v1beta1/", "/v2/"), status=200)
        await w.get(f"/apis/{body['spec']['group']}", label="the group")
        found = await w.get(f"/apis/{body['spec']['group']}/v2")
        show(w, "its version", found, without=["resources.storageVersionHash"])


@case("update a definition", given="objects of it", body="a schema with other fields and defaults")
async def change_schema(w: World) -> None:
    body = definition(w, versions=[version("v1", _OLD)])
    async with defined(w, body) as path:
        await w.create(path, instance(w, "a", spec={"old": "x"}))
        changed = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": _NEW}]
        show(w, "change", await w.json_patch(path_of(body), changed))
        await w.until(lambda: w.get(f"{path}/a"), lambda found: "new" in found["spec"])
        await w.get(f"{path}/a", label="get")
        show(w, "patch", await w.merge(f"{path}/a", {"spec": {"old": "y"}}))
