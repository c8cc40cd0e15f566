"""Garbage collection by owner references."""

from __future__ import annotations

from typing import Any

from kubewright.api import JSON, Model, ObjectMeta, OwnerReference, Resource, field, owner_reference, resource
from kubewright.kinds import apiextensions_v1, core_v1


class WidgetSpec(Model):
    size: int | None = None


@resource("example.com/v1")
class Widget(Resource):
    spec: WidgetSpec = field(default_factory=WidgetSpec)


def config(name: str, *owners: OwnerReference, finalizers: list[str] | None = None) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(
        metadata=ObjectMeta(
            name=name, namespace="default", owner_references=list(owners) or None, finalizers=finalizers
        )
    )


def reference(owner: Resource, *, blocks: bool = True) -> OwnerReference:
    made = owner_reference(owner, controller=False)
    made.block_owner_deletion = blocks
    return made


async def configs(world: Any) -> list[str]:
    return [name for name in await world.names(core_v1.ConfigMap) if name != "kube-root-ca.crt"]


async def release(world: Any, name: str) -> None:
    def change(obj: core_v1.ConfigMap) -> None:
        obj.metadata.finalizers = None

    await world.client.edit(core_v1.ConfigMap, name, change, namespace="default")


def test_dependents_go_after_their_owner(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        owner = await world.client.create(config("owner"))
        child = await world.client.create(config("child", reference(owner)))
        await world.client.create(config("grandchild", reference(child)))
        await world.client.create(config("stranger"))
        await world.after(1)
        assert len(await configs(world)) == 4
        await world.client.delete(core_v1.ConfigMap, "owner", namespace="default")
        await world.after(1)
        assert await configs(world) == ["stranger"]

    in_cluster(scenario)


def test_a_dependent_of_an_absent_owner_goes_at_once(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        gone = OwnerReference(api_version="v1", kind="ConfigMap", name="gone", uid="0000")
        await world.client.create(config("late", gone))
        await world.after(1)
        assert await configs(world) == []

    in_cluster(scenario)


def test_an_owner_of_the_same_name_and_another_uid_is_another_owner(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        first = await world.client.create(config("owner"))
        await world.client.delete(core_v1.ConfigMap, "owner", namespace="default")
        await world.client.create(config("owner"))
        await world.client.create(config("child", reference(first)))
        await world.after(1)
        assert await configs(world) == ["owner"]

    in_cluster(scenario)


def test_of_several_owners_those_that_are_gone_are_dropped(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        one, two = [await world.client.create(config(name)) for name in ("one", "two")]
        await world.client.create(config("child", reference(one), reference(two)))
        await world.client.delete(core_v1.ConfigMap, "one", namespace="default")
        await world.after(1)
        child = await world.client.get(core_v1.ConfigMap, "child", namespace="default")
        assert [owner.name for owner in child.metadata.owner_references or ()] == ["two"]
        await world.client.delete(core_v1.ConfigMap, "two", namespace="default")
        await world.after(1)
        assert await configs(world) == []

    in_cluster(scenario)


def test_orphaned_dependents_stay_without_their_owner(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        owner = await world.client.create(config("owner"))
        await world.client.create(config("child", reference(owner)))
        await world.client.delete(core_v1.ConfigMap, "owner", namespace="default", propagation="Orphan")
        await world.after(1)
        assert await configs(world) == ["child"]
        child = await world.client.get(core_v1.ConfigMap, "child", namespace="default")
        assert not child.metadata.owner_references

    in_cluster(scenario)


def test_in_the_foreground_the_owner_waits_for_those_that_block_it(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        owner = await world.client.create(config("owner"))
        await world.client.create(config("blocks", reference(owner), finalizers=["example.com/hold"]))
        await world.client.create(config("free", reference(owner, blocks=False), finalizers=["example.com/hold"]))
        await world.after(0.1)
        await world.client.delete(core_v1.ConfigMap, "owner", namespace="default", propagation="Foreground")
        await world.after(1)
        waiting = await world.client.get(core_v1.ConfigMap, "owner", namespace="default")
        assert waiting.metadata.finalizers == ["foregroundDeletion"]
        for name in ("blocks", "free"):
            child = await world.client.get(core_v1.ConfigMap, name, namespace="default")
            assert child.metadata.deletion_timestamp is not None
        await release(world, "blocks")
        await world.after(1)
        assert await configs(world) == ["free"]

    in_cluster(scenario)


def test_foreground_deletion_goes_all_the_way_down(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        owner = await world.client.create(config("owner"))
        child = await world.client.create(config("child", reference(owner)))
        await world.client.create(config("grandchild", reference(child), finalizers=["example.com/hold"]))
        await world.after(0.1)
        await world.client.delete(core_v1.ConfigMap, "owner", namespace="default", propagation="Foreground")
        await world.after(1)
        assert await configs(world) == ["child", "grandchild", "owner"]
        await release(world, "grandchild")
        await world.after(1)
        assert await configs(world) == []

    in_cluster(scenario)


def test_a_circle_of_owners_does_not_hold_itself(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        one = await world.client.create(config("one"))
        two = await world.client.create(config("two", reference(one)))

        def close(obj: core_v1.ConfigMap) -> None:
            obj.metadata.owner_references = [reference(two)]

        await world.client.edit(core_v1.ConfigMap, "one", close, namespace="default")
        await world.after(0.1)
        await world.client.delete(core_v1.ConfigMap, "one", namespace="default", propagation="Foreground")
        await world.after(2)
        assert await configs(world) == []

    in_cluster(scenario)


def test_a_cluster_scoped_object_can_not_belong_to_a_namespaced_one(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        odd = OwnerReference(api_version="v1", kind="ConfigMap", name="gone", uid="0000")
        await world.client.create(
            core_v1.PersistentVolume(
                metadata=ObjectMeta(name="odd", owner_references=[odd]),
                spec=core_v1.PersistentVolumeSpec(
                    access_modes=["ReadWriteOnce"],
                    capacity={"storage": "1Gi"},
                    host_path=core_v1.HostPathVolumeSource(path="/data"),
                ),
            )
        )
        await world.after(60)
        assert await world.names(core_v1.PersistentVolume, None) == ["odd"]

    in_cluster(scenario)


def test_a_namespaced_object_may_belong_to_a_cluster_scoped_one(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        node = await world.client.create(core_v1.Node(metadata=ObjectMeta(name="other")))
        await world.client.create(config("child", reference(node)))
        await world.after(1)
        assert await configs(world) == ["child"]
        await world.client.delete(core_v1.Node, "other")
        await world.after(1)
        assert await configs(world) == []

    in_cluster(scenario)


def test_an_owner_in_another_namespace_is_no_owner(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.namespace("far")
        await world.after(0.1)
        far = core_v1.ConfigMap(metadata=ObjectMeta(name="owner", namespace="far"))
        owner = await world.client.create(far)
        await world.client.create(config("child", reference(owner)))
        await world.after(1)
        assert await configs(world) == []
        said = f"[v1/ConfigMap, namespace: default, name: owner, uid: {owner.metadata.uid}]"
        why = f'ownerRef {said} does not exist in namespace "default"'
        assert await world.events("child") == [("OwnerRefInvalidNamespace", why)]

    in_cluster(scenario)


def widgets() -> apiextensions_v1.CustomResourceDefinition:
    from kubewright.api import convert

    body: dict[str, JSON] = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }
    return convert(body, apiextensions_v1.CustomResourceDefinition)


def widget(name: str, *owners: OwnerReference) -> Widget:
    return Widget(metadata=ObjectMeta(name=name, namespace="default", owner_references=list(owners) or None))


def test_custom_resources_that_appear_later_are_owners_and_dependents(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(widgets())
        await world.after(1)
        owner = await world.client.create(widget("owner"))
        await world.client.create(widget("part", reference(owner)))
        await world.client.create(config("child", reference(owner)))
        await world.after(1)
        assert await configs(world) == ["child"]
        await world.client.delete(Widget, "owner", namespace="default")
        await world.after(1)
        assert await configs(world) == []
        assert await world.names(Widget) == []

    in_cluster(scenario)


def test_while_nobody_knows_the_owners_kind_nothing_is_deleted(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        gone = OwnerReference(api_version="example.com/v1", kind="Widget", name="gone", uid="0000")
        await world.client.create(config("child", gone))
        world.forget_requests()
        await world.after(3600)
        assert await configs(world) == ["child"]
        assert world.writes == []
        await world.client.create(widgets())
        await world.after(2)
        assert await configs(world) == []

    in_cluster(scenario)


def test_what_belongs_to_a_deleted_definitions_objects_goes_too(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(widgets())
        await world.after(1)
        owner = await world.client.create(widget("owner"))
        await world.client.create(config("child", reference(owner)))
        await world.after(1)
        await world.client.delete(apiextensions_v1.CustomResourceDefinition, "widgets.example.com")
        await world.after(2)
        assert await world.names(apiextensions_v1.CustomResourceDefinition, None) == []
        assert await configs(world) == []

    in_cluster(scenario)
