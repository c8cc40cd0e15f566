"""The life of a CustomResourceDefinition: creation, updates, and its end."""

from __future__ import annotations

from typing import Any

from tests.conformance.definitions import (
    DEFINITIONS,
    condition_of,
    defined,
    definition,
    instance,
    path_of,
    until_condition,
    version,
)
from tests.conformance.kinds import show
from tests.conformance.listing import caught_up
from tests.conformance.registry import case
from tests.conformance.world import World


@case("create a definition", given="nothing", body="the least that is valid")
async def create_definition(w: World) -> None:
    body = definition(w)
    selected = {"fieldSelector": f"metadata.name={body['metadata']['name']}"}
    async with w.watch(DEFINITIONS, selected) as events, defined(w, body):
        await events.take(3, label="events")
    await w.eventually(path_of(body), status=404)


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
    established = await until_condition(w, path_of(body), "Established", "True")
    w.transcript.add_answer("established", established.status, established.headers, established.body)
    await w.delete(path_of(body))


@case("create a definition", given="a dry run", body="a valid definition")
async def create_definition_dry_run(w: World) -> None:
    body = definition(w)
    await w.create(DEFINITIONS, body, query={"dryRun": "All"}, label="create")
    await w.get(path_of(body), label="get")


@case("create a definition", given="a definition of that name", body="a valid definition")
async def create_definition_again(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        await w.create(DEFINITIONS, body, label="create again")


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
        found = await until_condition(w, path_of(body), "KubernetesAPIApprovalPolicyConformant", "False")
        condition = condition_of(found, "KubernetesAPIApprovalPolicyConformant")
        w.transcript.add("condition", condition=condition)


@case("delete a definition", given="an object of it with a finalizer")
async def delete_with_objects(w: World) -> None:
    body = definition(w)
    async with defined(w, body) as path:
        held = instance(w, "held")
        held["metadata"]["finalizers"] = ["example.dev/held"]
        await w.create(path, held)
        await w.create(path, instance(w, "free"))
        selected = {"fieldSelector": f"metadata.name={body['metadata']['name']}"}
        await caught_up(w, DEFINITIONS)
        async with w.watch(DEFINITIONS, selected) as events:
            await events.take(1)
            await w.delete(path_of(body))
            await events.take(2, label="events")
            await w.eventually(f"{path}/free", status=404)
            await w.marked(f"{path}/held")
            await w.get(path_of(body), label="the definition")
            await w.create(path, instance(w, "new"), label="create")
            await w.get(f"{path}/held", label="get what is held")
            await w.merge(f"{path}/held", {"metadata": {"labels": {"a": "b"}}}, label="patch")
            await w.delete(path_of(body), label="delete again")
            await w.json_patch(f"{path}/held", [{"op": "remove", "path": "/metadata/finalizers"}], label="let go")
            await w.eventually(path_of(body), status=404)
            await w.get(path_of(body), label="the definition at last")
    await w.eventually(path, status=404)


@case("delete a definition", given="no objects")
async def delete_definition(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        selected = {"fieldSelector": f"metadata.name={body['metadata']['name']}"}
        await caught_up(w, DEFINITIONS)
        async with w.watch(DEFINITIONS, selected) as events:
            await events.take(1)
            await w.delete(path_of(body), label="delete")
            await events.take(3, label="events")
    await w.get(path_of(body), label="get")


@case("watch objects", given="their definition is deleted")
async def watch_until_undefined(w: World) -> None:
    body = definition(w)
    async with defined(w, body) as path:
        await w.create(path, instance(w, "a"))
        async with w.watch(path) as events:
            await events.take(1)
            await w.delete(path_of(body))
            await events.rest(label="until the end")


@case("update a definition", given="established", body="what is fixed")
async def change_what_is_fixed(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        await w.merge(path_of(body), {"spec": {"scope": "Cluster"}}, label="scope")
        await w.merge(path_of(body), {"spec": {"group": "other.example.dev"}}, label="group")
        await w.merge(path_of(body), {"spec": {"names": {"plural": "others"}}}, label="plural")
        await w.merge(path_of(body), {"spec": {"names": {"kind": "Other"}}}, label="kind", query={"dryRun": "All"})
        await w.merge(path_of(body), {"spec": {"versions": []}}, label="versions")


@case("update a definition's status", given="established", body="a condition and other names")
async def write_definition_status(w: World) -> None:
    body = definition(w)
    async with defined(w, body):
        mine = {"type": "Mine", "status": "True", "reason": "Because", "message": "", "lastTransitionTime": None}
        found = (await w.get(path_of(body))).body
        found["status"]["conditions"].append({**mine, "lastTransitionTime": "2024-01-01T00:00:00Z"})
        found["spec"]["scope"] = "Cluster"
        show(w, "update", await w.put(f"{path_of(body)}/status", found))
        show(w, "get", await w.get(f"{path_of(body)}/status"))


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
