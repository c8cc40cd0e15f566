"""The life of a CustomResourceDefinition: names, versions, updates, and its end."""

from __future__ import annotations

from typing import Any

from tests.conformance.kinds import DEFINITIONS, defined, definition, show, version
from tests.conformance.listing import caught_up
from tests.conformance.registry import case
from tests.conformance.world import World


def _path(body: dict[str, Any]) -> str:
    return f"{DEFINITIONS}/{body['metadata']['name']}"


def _object(w: World, name: str, at: str = "v1", kind: str = "Gadget", **more: Any) -> dict[str, Any]:
    return {"apiVersion": f"{w.namespace}.example.dev/{at}", "kind": kind, "metadata": {"name": name}, **more}


def _condition(answer: Any, kind: str) -> dict[str, Any]:
    found = [each for each in answer["status"].get("conditions") or [] if each["type"] == kind]
    return {key: value for key, value in found[0].items() if key != "lastTransitionTime"} if found else {}


async def _until(w: World, path: str, kind: str, status: str) -> Any:
    """Reads a definition until a condition has a status."""
    for _ in range(200):
        found = await w.get(path)
        if _condition(found, kind).get("status") == status:
            return found
        await w.pause()
    raise AssertionError(f"{kind} never became {status}")


@case("create a definition", given="nothing", body="the least that is valid")
async def create_definition(w: World) -> None:
    body = definition(w)
    selected = {"fieldSelector": f"metadata.name={body['metadata']['name']}"}
    async with w.watch(DEFINITIONS, selected) as events, defined(w, body):
        await events.take(3, label="events")
    await w.eventually(_path(body), status=404)


@case("create a definition", given="nothing", body="all that it can say")
async def create_full_definition(w: World) -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
    column = {
        "name": "N",
        "type": "integer",
        "format": "int32",
        "description": "d",
        "priority": 1,
        "jsonPath": ".spec.n",
    }
    full = version("v1", schema, subresources={"status": {}, "scale": scale}, additionalPrinterColumns=[column])
    body = definition(w, versions=[full], singular="gadget", listKind="Gadgets", shortNames=["gd"], categories=["all"])
    await w.create(DEFINITIONS, body, label="create")
    established = await _until(w, _path(body), "Established", "True")
    w.transcript.add_answer("established", established.status, established.headers, established.body)
    await w.delete(_path(body))


@case("create a definition", given="a dry run", body="a valid definition")
async def create_definition_dry_run(w: World) -> None:
    body = definition(w)
    await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label="create")
    await w.get(_path(body), label="get")


@case("create a definition", given="a definition of that name", body="a valid definition")
async def create_definition_again(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        await w.create(DEFINITIONS, body, label="create again")


async def _conflicting(w: World, first: dict[str, Any], second: dict[str, Any]) -> None:
    async with defined(w, first):
        await w.create(DEFINITIONS, second)
        found = await _until(w, _path(second), "NamesAccepted", "False")
        w.transcript.add_answer("refused", found.status, found.headers, found.body)
        plural = second["spec"]["names"]["plural"]
        await w.get(f"/apis/{second['spec']['group']}/v1/namespaces/{{ns}}/{plural}", label="its objects")
        await w.delete(_path(second))


@case("create a definition", given="another of the group with that kind", body="the same kind")
async def kind_taken(w: World) -> None:
    await _conflicting(w, definition(w), definition(w, plural="others", singular="other"))


@case("create a definition", given="another of the group with that list kind", body="the same listKind")
async def list_kind_taken(w: World) -> None:
    second = definition(w, "Other", listKind="GadgetList")
    await _conflicting(w, definition(w), second)


@case("create a definition", given="another of the group with that singular", body="the same singular")
async def singular_taken(w: World) -> None:
    await _conflicting(w, definition(w), definition(w, "Other", singular="gadget"))


@case("create a definition", given="another of the group with those short names", body="the same short names")
async def short_names_taken(w: World) -> None:
    first = definition(w, shortNames=["ga", "gb", "gc"])
    await _conflicting(w, first, definition(w, "Other", shortNames=["gb", "free", "ga"]))


@case("create a definition", given="another of the group", body="a short name that is the other's plural")
async def short_name_is_plural(w: World) -> None:
    await _conflicting(w, definition(w), definition(w, "Other", shortNames=["gadgets"]))


@case("delete a definition", given="another that waits for its names")
async def names_set_free(w: World) -> None:
    first, second = definition(w), definition(w, plural="others", singular="other")
    async with defined(w, first):
        await w.create(DEFINITIONS, second)
        await _until(w, _path(second), "NamesAccepted", "False")
    found = await _until(w, _path(second), "Established", "True")
    w.transcript.add_answer("accepted", found.status, found.headers, found.body)
    await w.delete(_path(second))


@case("update a definition", given="established", body="names that are taken")
async def rename_to_taken(w: World) -> None:
    first, second = definition(w), definition(w, "Other")
    async with defined(w, first), defined(w, second):
        await w.merge(
            _path(second), {"spec": {"names": {"listKind": "GadgetList", "shortNames": ["o"]}}}, label="rename"
        )
        found = await _until(w, _path(second), "NamesAccepted", "False")
        w.transcript.add_answer("refused", found.status, found.headers, found.body)


@case("create a definition", given="nothing", body="a group of Kubernetes' own, without approval")
async def protected_group(w: World) -> None:
    body = definition(w)
    group = f"{w.namespace}.k8s.io"
    body["metadata"]["name"] = f"gadgets.{group}"
    body["spec"]["group"] = group
    await w.create(DEFINITIONS, body, label="without approval")
    for approval in ("https://github.com/kubernetes/kubernetes/pull/1", "unapproved, a test", "maybe", ""):
        body["metadata"]["annotations"] = {"api-approved.kubernetes.io": approval}
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=f"approval {approval!r}")


@case("create a definition", given="nothing", body="an approved group of Kubernetes' own")
async def approved_group(w: World) -> None:
    body = definition(w)
    group = f"{w.namespace}.k8s.io"
    body["metadata"]["name"] = f"gadgets.{group}"
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    body["spec"]["group"] = group
    async with defined(w, body):
        found = await _until(w, _path(body), "KubernetesAPIApprovalPolicyConformant", "False")
        condition = _condition(found, "KubernetesAPIApprovalPolicyConformant")
        w.transcript.add("condition", condition=condition)


@case("delete a definition", given="an object of it with a finalizer")
async def delete_with_objects(w: World) -> None:
    body = definition(w)
    async with defined(w, body) as path:
        held = _object(w, "held")
        held["metadata"]["finalizers"] = ["example.dev/held"]
        await w.create(path, held)
        await w.create(path, _object(w, "free"))
        selected = {"fieldSelector": f"metadata.name={body['metadata']['name']}"}
        await caught_up(w, DEFINITIONS)
        async with w.watch(DEFINITIONS, selected) as events:
            await events.take(1)
            await w.delete(_path(body))
            await events.take(2, label="events")
            await w.eventually(f"{path}/free", status=404)
            await w.get(_path(body), label="the definition")
            await w.create(path, _object(w, "new"), label="create")
            await w.get(f"{path}/held", label="get what is held")
            await w.merge(f"{path}/held", {"metadata": {"labels": {"a": "b"}}}, label="patch")
            await w.delete(_path(body), label="delete again")
            await w.json_patch(f"{path}/held", [{"op": "remove", "path": "/metadata/finalizers"}], label="let go")
            for _ in range(100):
                if (await w.get(_path(body))).status == 404:
                    break
                await w.pause()
            await w.get(_path(body), label="the definition at last")
    await w.eventually(path, status=404)


@case("delete a definition", given="no objects")
async def delete_definition(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        selected = {"fieldSelector": f"metadata.name={body['metadata']['name']}"}
        await caught_up(w, DEFINITIONS)
        async with w.watch(DEFINITIONS, selected) as events:
            await events.take(1)
            await w.delete(_path(body), label="delete")
            await events.take(3, label="events")
    await w.get(_path(body), label="get")


@case("watch objects", given="their definition is deleted")
async def watch_until_undefined(w: World) -> None:
    body = definition(w)
    async with defined(w, body) as path:
        await w.create(path, _object(w, "a"))
        async with w.watch(path) as events:
            await events.take(1)
            await w.delete(_path(body))
            await events.rest(label="until the end")


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
        await w.create(path, _object(w, "a", spec={"old": "x"}), label="create as v1")
        await w.get(f"{other}/a", label="get as v2")
        await w.create(other, _object(w, "b", "v2", spec={"old": "x"}), label="create as v2")
        await w.get(f"{path}/b", label="get as v1")
        show(w, "patch as v2", await w.merge(f"{other}/a", {"spec": {"old": "z"}}))
        show(w, "get the patched as v1", await w.get(f"{path}/a"))
        await w.create(path, _object(w, "c", "v2"), label="create v2 at v1")
        show(w, "apply as v1", await w.apply(f"{path}/a", _object(w, "a", spec={"old": "applied"}), force=True))


@case("read and write", given="two served versions, the stored one with fewer fields", body="objects of both versions")
async def narrower_storage(w: World) -> None:
    body = definition(w, versions=[version("v1", _OLD), version("v2", _NEW, storage=False)])
    async with defined(w, body) as path:
        other = path.replace("/v1/", "/v2/")
        await w.eventually(other, status=200)
        await w.create(path, _object(w, "a", spec={"old": "x"}), label="create as v1")
        await w.get(f"{other}/a", label="get as v2")
        await w.create(other, _object(w, "b", "v2", spec={"old": "x", "new": "y"}), label="create as v2")
        await w.get(f"{path}/b", label="get as v1")
        await w.get(other, label="list as v2")
        show(w, "patch as v2", await w.merge(f"{other}/a", {"spec": {"old": "z", "new": "z"}}))


@case("read and write", given="two served versions, the stored one with more fields", body="objects of both versions")
async def wider_storage(w: World) -> None:
    body = definition(w, versions=[version("v1", _NEW), version("v2", _OLD, storage=False)])
    async with defined(w, body) as path:
        other = path.replace("/v1/", "/v2/")
        await w.eventually(other, status=200)
        await w.create(path, _object(w, "a", spec={"old": "x", "new": "y"}), label="create as v1")
        await w.get(f"{other}/a", label="get as v2")
        await w.create(other, _object(w, "b", "v2", spec={"old": "x"}), label="create as v2")
        await w.get(f"{path}/b", label="get as v1")
        show(w, "patch as v2", await w.merge(f"{other}/a", {"spec": {"old": "z"}}))
        show(w, "get the patched as v1", await w.get(f"{path}/a"))


@case("update a definition", given="two versions", body="the other one stored")
async def switch_storage(w: World) -> None:
    body = definition(w, versions=[version("v1"), version("v2", storage=False)])
    async with defined(w, body) as path:
        await w.create(path, _object(w, "a", spec={"n": 1}))
        switch = [
            {"op": "replace", "path": "/spec/versions/0/storage", "value": False},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": True},
        ]
        remove = [{"op": "remove", "path": "/spec/versions/0"}]
        show(w, "switch", await w.json_patch(_path(body), switch))
        show(w, "remove v1", await w.json_patch(_path(body), remove))
        for stored in (["v3"], [], ["v2"]):
            change = {"status": {"storedVersions": stored}}
            show(w, f"{stored} is stored", await w.merge(f"{_path(body)}/status", change))
        show(w, "remove v1 again", await w.json_patch(_path(body), remove))
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
            await w.create(at, _object(w, old, old), label=f"create as {old}")
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


@case("update a definition", given="established", body="what is fixed")
async def change_what_is_fixed(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        await w.merge(_path(body), {"spec": {"scope": "Cluster"}}, label="scope")
        await w.merge(_path(body), {"spec": {"group": "other.example.dev"}}, label="group")
        await w.merge(_path(body), {"spec": {"names": {"plural": "others"}}}, label="plural")
        await w.merge(_path(body), {"spec": {"names": {"kind": "Other"}}}, label="kind", query={"dryRun": "All"})
        await w.merge(_path(body), {"spec": {"versions": []}}, label="versions")


@case("update a definition", given="objects of it", body="a schema with other fields and defaults")
async def change_schema(w: World) -> None:
    body = definition(w, versions=[version("v1", _OLD)])
    async with defined(w, body) as path:
        await w.create(path, _object(w, "a", spec={"old": "x"}))
        changed = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": _NEW}]
        show(w, "change", await w.json_patch(_path(body), changed))
        for _ in range(100):
            if "new" in (await w.get(f"{path}/a"))["spec"]:
                break
            await w.pause()
        await w.get(f"{path}/a", label="get")
        show(w, "patch", await w.merge(f"{path}/a", {"spec": {"old": "y"}}))


@case("update a definition's status", given="established", body="a condition and other names")
async def write_definition_status(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        mine = {"type": "Mine", "status": "True", "reason": "Because", "message": "", "lastTransitionTime": None}
        found = (await w.get(_path(body))).body
        found["status"]["conditions"].append({**mine, "lastTransitionTime": "2024-01-01T00:00:00Z"})
        found["spec"]["scope"] = "Cluster"
        show(w, "update", await w.put(f"{_path(body)}/status", found))
        show(w, "get", await w.get(f"{_path(body)}/status"))


@case("create a definition", given="nothing", body="a name that is not plural.group")
async def wrong_definition_name(w: World) -> None:
    body = definition(w)
    body["metadata"]["name"] = "gadgets"
    await w.create(DEFINITIONS, body, label="create")


@case("create a definition", given="nothing", body="parts missing")
async def missing_parts(w: World) -> None:
    for missing in ("group", "scope", "names", "versions"):
        body = definition(w)
        del body["spec"][missing]
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=f"no {missing}")
    for part in ("kind", "plural"):
        body = definition(w)
        del body["spec"]["names"][part]
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=f"no {part}")
    body = definition(w)
    del body["spec"]
    await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label="no spec")


@case("create a definition", given="nothing", body="names that are none")
async def wrong_names(w: World) -> None:
    wrong: list[dict[str, Any]] = [
        {"kind": "gadget_"},
        {"kind": "9adget"},
        {"plural": "Gadgets"},
        {"singular": "Gad get"},
        {"shortNames": ["G G", "g", "x." * 40]},
        {"categories": ["C C"]},
        {"listKind": "Gadget"},
        {"listKind": "gadget.list"},
    ]
    for names in wrong:
        body = definition(w, **{"kind": "Gadget", **names})
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=f"{names}"[:40])
    for group in ("Ex_.dev", "dev", "a..dev"):
        body = definition(w)
        body["spec"]["group"], body["metadata"]["name"] = group, f"gadgets.{group}"
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=f"group {group}")
    body = definition(w)
    body["spec"]["scope"] = "Galaxy"
    await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label="scope")


@case("create a definition", given="nothing", body="versions that don't add up")
async def wrong_versions(w: World) -> None:
    for label, versions in (
        ("none stored", [version(storage=False)]),
        ("two stored", [version("v1"), version("v2")]),
        ("one twice", [version("v1"), version("v1", storage=False)]),
        ("a wrong name", [version("V_1")]),
        ("no schema", [{"name": "v1", "served": True, "storage": True}]),
        ("an empty schema", [version("v1", {})]),
        ("a schema that is no object", [version("v1", {"type": "string"})]),
        ("a warning of what is not deprecated", [version("v1", deprecationWarning="w")]),
        ("an empty warning", [version("v1", deprecated=True, deprecationWarning="")]),
        ("no served", [{"name": "v1", "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]),
    ):
        body = definition(w, versions=versions)
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=label)


@case("create a definition", given="nothing", body="conversion and preserveUnknownFields that are refused")
async def wrong_conversion(w: World) -> None:
    for label, more in (
        ("unknown strategy", {"conversion": {"strategy": "Magic"}}),
        ("webhook without one", {"conversion": {"strategy": "Webhook"}}),
        ("None with a webhook", {"conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}}),
        ("empty conversion", {"conversion": {}}),
        ("preserve", {"preserveUnknownFields": True}),
        ("unknown field", {"zork": 1}),
    ):
        body = definition(w)
        body["spec"].update(more)
        await w.create(DEFINITIONS, body, query={"dryRun": "All", "fieldValidation": "Strict"}, label=label)


@case("create a definition", given="nothing", body="subresources, columns and selectable fields that are refused")
async def wrong_parts(w: World) -> None:
    column = {"name": "x", "type": "string", "jsonPath": ".spec.x"}
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    for label, more in (
        ("scale without paths", {"subresources": {"scale": {}}}),
        ("scale outside spec", {"subresources": {"scale": {**scale, "specReplicasPath": ".status.n"}}}),
        ("scale outside status", {"subresources": {"scale": {**scale, "statusReplicasPath": ".spec.n"}}}),
        ("scale without a dot", {"subresources": {"scale": {**scale, "specReplicasPath": "spec.n"}}}),
        ("scale with an index", {"subresources": {"scale": {**scale, "labelSelectorPath": ".status.s[0]"}}}),
        ("selector elsewhere", {"subresources": {"scale": {**scale, "labelSelectorPath": ".metadata.s"}}}),
        ("column of nothing", {"additionalPrinterColumns": [{"name": "", "type": "", "jsonPath": ""}]}),
        ("column of a wrong type", {"additionalPrinterColumns": [{**column, "type": "text", "format": "f"}]}),
        ("column of a wrong path", {"additionalPrinterColumns": [{**column, "jsonPath": "spec.x"}]}),
        ("column of half a path", {"additionalPrinterColumns": [{**column, "jsonPath": ".spec["}]}),
        ("an unknown field selected", {"selectableFields": [{"jsonPath": ".spec.nothing"}]}),
        ("metadata selected", {"selectableFields": [{"jsonPath": ".metadata.name"}]}),
        ("a list selected", {"selectableFields": [{"jsonPath": ".spec.list"}]}),
        ("one selected twice", {"selectableFields": [{"jsonPath": ".spec.s"}, {"jsonPath": ".spec.s"}]}),
        ("nothing selected", {"selectableFields": [{"jsonPath": ""}]}),
        ("too many selected", {"selectableFields": [{"jsonPath": f".spec.s{n}"} for n in range(9)]}),
    ):
        fields: dict[str, Any] = {f"s{n}": {"type": "string"} for n in range(9)}
        fields |= {"s": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}}
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
        body = definition(w, versions=[version("v1", schema, **more)])
        await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label=label)
