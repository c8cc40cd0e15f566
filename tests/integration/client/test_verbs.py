"""The typed verbs on a server: what is written arrives, and what the class does not know stays."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from kubewright.api import (
    BadRequest,
    Conflict,
    Invalid,
    Model,
    NotFound,
    ObjectMeta,
    Resource,
    Unstructured,
    convert,
    field,
    resource,
    resource_info,
)
from kubewright.cache import Informer
from kubewright.client import Client, JsonPatch, MergePatch, StrategicMergePatch, UnknownKind
from kubewright.kinds import autoscaling_v1, core_v1
from tests.integration.client.gadgets import CRD, GADGETS

NS = "default"


@pytest.fixture
async def gadgets(client: Client) -> Client:
    """A server that has Gadgets."""
    await client.rest.create(CRD, msgspec.json.encode(GADGETS))
    return client


class Item(Model):
    name: str
    size: int | None = None


class GadgetSpec(Model):
    replicas: int | None = None
    enabled: bool | None = None
    tags: list[str] | None = None
    items: list[Item] | None = None


class GadgetStatus(Model):
    replicas: int | None = None
    items: list[Item] | None = None


@resource("verbs.example.com/v1")
class Gadget(Resource):
    spec: GadgetSpec = field(default_factory=GadgetSpec)
    status: GadgetStatus = field(default_factory=GadgetStatus)


def gadget(name: str = "a", **spec: Any) -> Gadget:
    return Gadget(metadata=ObjectMeta(name=name, namespace=NS), spec=GadgetSpec(**spec))


def _items() -> list[dict[str, Any]]:
    return [{"name": "x", "size": 1, "hidden": "of x"}, {"name": "y", "size": 2, "hidden": "of y"}]


async def raw(client: Client, name: str = "a") -> dict[str, Any]:
    answer = await client.rest.get(resource_info(Gadget), name, namespace=NS)
    return dict(msgspec.json.decode(answer))


async def with_unknown_fields(client: Client) -> None:
    """Somebody whose model knows more made the object."""
    kind = await client.unstructured("verbs.example.com/v1", "Gadget")
    spec = {"replicas": 3, "items": _items(), "hidden": {"deep": [1, {"z": None}]}}
    await client.create(kind(metadata=ObjectMeta(name="a", namespace=NS), content={"spec": spec}))
    await client.edit(
        kind,
        "a",
        lambda obj: obj.content.update(status={"replicas": 3, "items": _items(), "hidden": "h"}),
        namespace=NS,
        subresource="status",
    )


def still_there(found: dict[str, Any]) -> None:
    for part in (found["spec"], found["status"]):
        hidden = {item["name"]: item.get("hidden") for item in part["items"]}
        assert hidden == {"x": "of x", "y": "of y"} | {name: None for name in hidden if name not in "xy"}
    assert found["spec"]["hidden"] == {"deep": [1, {"z": None}]}
    assert found["status"]["hidden"] == "h"


async def test_unknown_fields_survive_an_edit(gadgets: Client) -> None:
    await with_unknown_fields(gadgets)

    def change(obj: Gadget) -> None:
        assert obj.spec.items is not None
        obj.spec.items[1].size = 7
        obj.spec.items.append(Item(name="z"))
        obj.spec.replicas = 4

    await gadgets.edit(Gadget, "a", change, namespace=NS)
    found = await raw(gadgets)
    still_there(found)
    assert [item.get("size") for item in found["spec"]["items"]] == [1, 7, None]


async def test_unknown_fields_survive_an_edit_of_the_status(gadgets: Client) -> None:
    await with_unknown_fields(gadgets)

    def change(obj: Gadget) -> None:
        assert obj.status.items is not None
        obj.status.items.reverse()
        obj.status.items[0].size = 0

    await gadgets.edit(Gadget, "a", change, namespace=NS, subresource="status")
    found = await raw(gadgets)
    still_there(found)
    assert [(item["name"], item["size"]) for item in found["status"]["items"]] == [("y", 0), ("x", 1)]


async def test_unknown_fields_survive_patches(gadgets: Client) -> None:
    await with_unknown_fields(gadgets)
    await gadgets.patch(Gadget, "a", JsonPatch().replace("/spec/items/0/size", 5), namespace=NS)
    await gadgets.patch(Gadget, "a", MergePatch().set("/spec/enabled", value=False), namespace=NS)
    status = JsonPatch().add("/status/items/-", Item(name="z", size=0))
    await gadgets.patch(Gadget, "a", status, namespace=NS, subresource="status")
    found = await raw(gadgets)
    still_there(found)
    assert (found["spec"]["items"][0]["size"], found["spec"]["enabled"]) == (5, False)
    assert found["status"]["items"][2] == {"name": "z", "size": 0}


async def test_unknown_fields_survive_scaling(gadgets: Client) -> None:
    await with_unknown_fields(gadgets)
    scale = await gadgets.scale(Gadget, "a", 0, namespace=NS)
    assert (scale.spec.replicas, scale.status.replicas) == (0, 3)
    found = await raw(gadgets)
    still_there(found)
    assert found["spec"]["replicas"] == 0


async def test_unknown_fields_survive_the_apply_of_a_part(gadgets: Client) -> None:
    await with_unknown_fields(gadgets)
    await gadgets.apply(gadget(replicas=9), force=True)
    status = Gadget(metadata=ObjectMeta(name="a", namespace=NS), status=GadgetStatus(replicas=8))
    await gadgets.apply(status, force=True, subresource="status")
    found = await raw(gadgets)
    still_there(found)
    assert (found["spec"]["replicas"], found["status"]["replicas"]) == (9, 8)


async def test_zero_false_and_empty_reach_the_server_where_it_has_other_defaults(gadgets: Client) -> None:
    await gadgets.create(gadget(replicas=0, enabled=False, tags=[]))
    await gadgets.apply(gadget("b", replicas=0, enabled=False, tags=[]))
    await gadgets.create(gadget("c"))
    assert (await raw(gadgets, "c"))["spec"] == {"replicas": 1, "enabled": True, "note": "none", "tags": ["a"]}

    def change(obj: Gadget) -> None:
        obj.spec.replicas, obj.spec.enabled, obj.spec.tags = 0, False, []

    await gadgets.edit(Gadget, "c", change, namespace=NS)
    for name in "abc":
        spec = (await raw(gadgets, name))["spec"]
        assert (spec["replicas"], spec["enabled"], spec["tags"]) == (0, False, [])


async def test_null_is_sent_where_it_is_meant(gadgets: Client) -> None:
    kind = await gadgets.unstructured("verbs.example.com/v1", "Gadget")
    made = kind(metadata=ObjectMeta(name="a", namespace=NS), content={"spec": {"note": None, "tags": ["b"]}})
    assert (await gadgets.create(made))["spec", "note"] is None, "a null where the schema takes one is kept"
    await gadgets.patch(kind, "a", JsonPatch().replace("/spec/note", "n"), namespace=NS)
    await gadgets.patch(kind, "a", JsonPatch().replace("/spec/note", None), namespace=NS)
    assert (await gadgets.get(kind, "a", namespace=NS))["spec", "note"] is None
    await gadgets.patch(kind, "a", MergePatch().remove("/spec/tags"), namespace=NS)
    assert (await gadgets.get(kind, "a", namespace=NS))["spec", "tags"] == ["a"], "removed, so defaulted again"

    def note(obj: Unstructured) -> None:
        obj["spec", "note"] = "again" if obj["spec", "note"] is None else None

    assert (await gadgets.edit(kind, "a", note, namespace=NS))["spec", "note"] == "again"
    assert (await gadgets.edit(kind, "a", note, namespace=NS))["spec", "note"] is None


async def test_a_cleared_field_is_removed(gadgets: Client) -> None:
    await gadgets.create(gadget(items=[Item(name="x")]))

    def clear(obj: Gadget) -> None:
        obj.spec.items = None

    await gadgets.edit(Gadget, "a", clear, namespace=NS)
    assert "items" not in (await raw(gadgets))["spec"]


async def test_ensure_creates_once_and_never_overwrites(gadgets: Client) -> None:
    first = await gadgets.ensure(gadget(replicas=5))
    second = await gadgets.ensure(gadget(replicas=6))
    assert (second.uid, second.spec.replicas) == (first.uid, 5)


async def test_a_dry_run_changes_nothing(gadgets: Client) -> None:
    tried = await gadgets.create(gadget(), dry_run=True)
    assert tried.spec.replicas == 1, "the answer is what would have become of it"
    with pytest.raises(NotFound):
        await gadgets.get(Gadget, "a", namespace=NS)
    before = await gadgets.create(gadget())

    def grow(obj: Gadget) -> None:
        obj.spec.replicas = 7

    assert (await gadgets.edit(Gadget, "a", grow, namespace=NS, dry_run=True)).spec.replicas == 7
    await gadgets.apply(gadget(replicas=7), force=True, dry_run=True)
    await gadgets.patch(Gadget, "a", MergePatch({"spec": {"replicas": 7}}), namespace=NS, dry_run=True)
    await gadgets.scale(Gadget, "a", 7, namespace=NS, dry_run=True)
    await gadgets.delete(Gadget, "a", namespace=NS, dry_run=True)
    await gadgets.delete(before, propagation="Foreground", dry_run=True)
    await gadgets.delete_all_of(Gadget, namespace=NS, everything=True, dry_run=True)
    await gadgets.delete_all_of(Gadget, namespace=NS, everything=True, propagation="Background", dry_run=True)
    after = await gadgets.get(Gadget, "a", namespace=NS)
    assert after.metadata.resource_version == before.metadata.resource_version


async def test_delete_all_of_deletes_what_is_selected(gadgets: Client) -> None:
    for name, app in (("a", "x"), ("b", "x"), ("c", "y")):
        obj = gadget(name)
        obj.metadata.labels = {"app": app}
        await gadgets.create(obj)
    await gadgets.delete_all_of(Gadget, namespace=NS, labels={"app": "x"})
    assert [obj.name for obj in await gadgets.list(Gadget, namespace=NS)] == ["c"]
    await gadgets.delete_all_of(Gadget, namespace=NS, everything=True)
    assert await gadgets.list(Gadget, namespace=NS) == []


async def test_a_scale_is_read_and_written_only_as_it_was_read(gadgets: Client) -> None:
    await gadgets.create(gadget(replicas=2))
    scale = await gadgets.get_scale(Gadget, "a", namespace=NS)
    assert (scale.name, scale.spec.replicas) == ("a", 2)
    version = scale.metadata.resource_version
    assert version is not None
    await gadgets.scale(Gadget, "a", 3, namespace=NS, resource_version=version)
    with pytest.raises(Conflict):
        await gadgets.scale(Gadget, "a", 4, namespace=NS, resource_version=version)
    handle = gadgets.subresource(Gadget, "a", "scale", namespace=NS, of=autoscaling_v1.Scale)
    read = await handle.get()
    read.spec.replicas = 5
    assert (await handle.update(read)).spec.replicas == 5
    assert (await raw(gadgets))["spec"]["replicas"] == 5


async def test_pages_are_of_one_moment(gadgets: Client) -> None:
    for number in range(5):
        await gadgets.create(gadget(f"g{number}"))
    seen: list[str] = []
    versions = set()
    async for page in gadgets.pages(Gadget, namespace=NS, limit=2):
        seen += [obj.name for obj in page.items]
        versions.add(page.resource_version)
        if len(seen) == 2:
            await gadgets.delete(Gadget, "g4", namespace=NS)
            assert page.remaining == 3
    assert seen == ["g0", "g1", "g2", "g3", "g4"]
    assert len(versions) == 1


async def test_a_strategic_merge_patch_knows_the_keys_of_lists(client: Client) -> None:
    containers = [core_v1.Container(name="app", image="i:1"), core_v1.Container(name="side", image="s:1")]
    template = core_v1.PodTemplate(
        metadata=ObjectMeta(name="t", namespace=NS),
        template=core_v1.PodTemplateSpec(spec=core_v1.PodSpec(containers=containers)),
    )
    await client.create(template)
    where = "/template/spec/containers"
    patch = (
        StrategicMergePatch()
        .merge_item(where, {"name": "app", "image": "i:2"})
        .delete_item(where, {"name": "side"})
        .set(("metadata", "labels", "example.com/app"), "x")
    )
    patched = await client.patch(core_v1.PodTemplate, "t", patch, namespace=NS)
    assert patched.metadata.labels == {"example.com/app": "x"}
    spec = patched.template.spec if patched.template else None
    assert spec is not None
    assert [(container.name, container.image) for container in spec.containers] == [("app", "i:2")]
    replaced = StrategicMergePatch().replace(where, [{"name": "new", "image": "n:1"}])
    patched = await client.patch(core_v1.PodTemplate, "t", replaced, namespace=NS)
    spec = patched.template.spec if patched.template else None
    assert spec is not None
    assert [container.name for container in spec.containers] == ["new"]


async def test_kinds_without_a_class_have_the_same_verbs(gadgets: Client) -> None:
    kind = await gadgets.unstructured("verbs.example.com/v1", "Gadget")
    manifest = {
        "apiVersion": "verbs.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "a", "namespace": NS, "labels": {"app": "x"}},
        "spec": {"replicas": 0, "hidden": {"x": [None, False, 0, ""]}},
    }
    made = await gadgets.create(convert(manifest, kind))
    assert (made.name, made["spec", "replicas"], made["spec", "hidden", "x"]) == ("a", 0, [None, False, 0, ""])
    assert [obj["spec", "replicas"] for obj in await gadgets.list(kind, labels={"app": "x"})] == [0]

    def tag(obj: Unstructured) -> None:
        obj["spec", "hidden", "new", "deep"] = 1
        obj.metadata.annotations = {"example.com/a": "b"}

    edited = await gadgets.edit(kind, "a", tag, namespace=NS)
    assert edited["spec", "hidden"] == {"x": [None, False, 0, ""], "new": {"deep": 1}}
    assert edited.metadata.annotations == {"example.com/a": "b"}
    assert (await gadgets.scale(kind, "a", 4, namespace=NS)).spec.replicas == 4
    events = gadgets.watch(kind, namespace=NS, timeout_seconds=5)
    event = await anext(events)
    await events.aclose()
    assert (event.type, event.object["spec", "replicas"]) == ("ADDED", 4)
    await gadgets.delete(edited)
    assert await gadgets.list(kind, namespace=NS) == []
    config = await gadgets.unstructured("v1", "ConfigMap")
    settings = await gadgets.apply(config(metadata=ObjectMeta(name="c", namespace=NS), content={"data": {"a": "b"}}))
    assert settings["data"] == {"a": "b"}


async def test_an_informer_holds_a_kind_without_a_class(gadgets: Client) -> None:
    kind = await gadgets.unstructured("verbs.example.com/v1", "Gadget")
    await gadgets.create(gadget("a", replicas=0))
    informer = Informer(gadgets, kind, indexes={"replicas": lambda obj: [str(obj["spec", "replicas"])]})
    running = asyncio.create_task(informer.run())
    try:
        await informer.synced()
        held = informer.get(NS, "a")
        assert held is not None
        assert held["spec", "replicas"] == 0
        held["spec", "replicas"] = 5
        assert [obj.name for obj in informer.list(index=("replicas", "0"))] == ["a"], "copies do not change the cache"
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_a_kind_that_is_installed_later_is_found(client: Client) -> None:
    with pytest.raises(
        UnknownKind, match="no verbs.example.com/v1, so no Gadget of it: is its CustomResourceDefinition"
    ):
        await client.unstructured("verbs.example.com/v1", "Gadget")
    with pytest.raises(UnknownKind, match="no resource 'gd'"):
        await client.discovery.resource("gd")
    await client.rest.create(CRD, msgspec.json.encode(GADGETS))
    kind = await client.unstructured("verbs.example.com/v1", "Gadget")
    assert resource_info(kind).has_status
    with pytest.raises(UnknownKind, match="no kind 'gadgets' in verbs.example.com/v1; it has: Gadget$"):
        await client.unstructured("verbs.example.com/v1", "gadgets")
    found = await client.discovery.resource("gd")
    assert (found.info.qualified_plural, found.info.kind) == ("gadgets.verbs.example.com", "Gadget")
    assert found.info.short_names == ("gd",)
    assert "deletecollection" in found.verbs
    scale = found.subresource("scale")
    assert scale is not None
    assert scale.gvk.api_version == "autoscaling/v1"


async def test_resources_are_found_by_what_kubectl_calls_them(client: Client) -> None:
    for name in ("deployments", "deploy", "Deployment", "deployments.apps", "deploy.v1.apps"):
        assert (await client.discovery.resource(name)).info.gvk.api_version == "apps/v1"
    assert (await client.discovery.resource("po")).info.kind == "Pod"
    assert (await client.discovery.resource("pods.v1.")).info.kind == "Pod"
    with pytest.raises(UnknownKind, match=r"no resource 'deploymnets.apps': did you mean deployments.apps\?"):
        await client.discovery.resource("deploymnets.apps")


async def test_unknown_fields_can_be_refused(gadgets: Client) -> None:
    kind = await gadgets.unstructured("verbs.example.com/v1", "Gadget")
    wrong = kind(metadata=ObjectMeta(name="a", namespace=NS), content={"spec": {"replica": 1}})
    with pytest.raises(BadRequest, match='unknown field "spec.replica"'):
        await gadgets.create(wrong, field_validation="Strict")
    made = await gadgets.create(wrong, field_validation="Ignore")
    assert "replica" not in made["spec"]


async def test_a_failed_test_of_a_patch_changes_nothing(gadgets: Client) -> None:
    made = await gadgets.create(gadget(replicas=1))
    with pytest.raises(Invalid):
        patch = JsonPatch().test("/spec/replicas", 2).replace("/spec/replicas", 3)
        await gadgets.patch(Gadget, "a", patch, namespace=NS)
    version = made.metadata.resource_version
    assert version is not None
    await gadgets.patch(Gadget, "a", MergePatch({"spec": {"replicas": 2}}).bound_to(version), namespace=NS)
    with pytest.raises(Conflict):
        patch = JsonPatch().bound_to(version).copy("/spec/replicas", "/spec/hidden").remove("/spec/tags")
        await gadgets.patch(Gadget, "a", patch, namespace=NS)
