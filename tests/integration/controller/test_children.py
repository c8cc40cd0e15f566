"""What a reconciler applies: whose it is, and what can't be a child."""

from __future__ import annotations

import asyncio

import pytest

from kubewright import Backoff, Context, NotFound, ObjectMeta, Operator
from kubewright.api import AlreadyOwned, OwnerReference
from kubewright.client import MergePatch
from kubewright.controller import Whole
from kubewright.controller.predicates import selected
from kubewright.kinds import core_v1
from kubewright.testing import Delay, Match, OpenHarness, Refuse, run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


def test_two_objects_do_not_fight_over_one_child() -> None:
    operator, runs, refused = Operator("widgets"), list[str](), list[str]()

    @operator.controller(Widget, owns=[core_v1.Service])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        runs.append(widget.name)
        if len(runs) > 100:
            await asyncio.sleep(3600)  # or a fight would never let time pass
        service = core_v1.Service(metadata=ObjectMeta(name="same"))
        service.spec.ports = [core_v1.ServicePort(port=80)]
        try:
            await ctx.apply(service)
        except AlreadyOwned as error:
            refused.append(str(error))
            raise

    async def main() -> None:
        async with world(operator) as here:
            await here.create("first")
            await asyncio.sleep(1)
            await here.create("second")
            await asyncio.sleep(30)
            service = await here.client.get(core_v1.Service, "same", namespace="default")
            assert [owner.name for owner in service.metadata.owner_references or ()] == ["first"]
            assert runs.count("first") < 5
            assert len(runs) < 30
            assert refused[0] == (
                "Widget default/second can't apply Service default/same: it is already controlled by Widget first; give it a "
                "name that follows from its owner's"
            )
            await here.client.delete(Widget, "first", namespace="default")
            await asyncio.sleep(1)  # far less than the back-off has come to: it is heard of
            service = await here.client.get(core_v1.Service, "same", namespace="default")
            assert [owner.name for owner in service.metadata.owner_references or ()] == ["second"]

    run_in_virtual_time(main)


def test_who_was_refused_an_object_takes_it_as_soon_as_its_controller_lets_go_of_it() -> None:
    operator, refused = Operator("widgets"), list[float]()

    @operator.controller(Widget, reads=[Whole(core_v1.ConfigMap)], backoff=Backoff(first=600))
    async def reconcile(widget: Widget, ctx: Context) -> None:
        found = ctx.get(core_v1.ConfigMap, "same")
        assert found is not None
        try:
            await ctx.adopt(found)
        except AlreadyOwned:
            refused.append(asyncio.get_running_loop().time())
            raise

    async def main() -> None:
        async with world(operator) as here:
            holder = core_v1.ConfigMap(metadata=ObjectMeta(name="holder", namespace="default"))
            uid = (await here.client.create(holder)).uid
            owner = OwnerReference(api_version="v1", kind="ConfigMap", name="holder", uid=uid, controller=True)
            held = ObjectMeta(name="same", namespace="default", owner_references=[owner])
            await here.client.create(core_v1.ConfigMap(metadata=held))
            widget = await here.create()
            await asyncio.sleep(300)
            assert len(refused) == 1

            def relabel(found: core_v1.ConfigMap) -> None:
                found.metadata.labels = {"who": "cares"}

            def let_go(found: core_v1.ConfigMap) -> None:
                found.metadata.owner_references = []

            await here.client.edit(core_v1.ConfigMap, "same", relabel, namespace="default")
            await asyncio.sleep(1)
            assert len(refused) == 1
            await here.client.edit(core_v1.ConfigMap, "same", let_go, namespace="default")
            await asyncio.sleep(1)
            same = await here.client.get(core_v1.ConfigMap, "same", namespace="default")
            assert [each.uid for each in same.metadata.owner_references or ()] == [widget.uid]

    run_in_virtual_time(main)


def test_an_object_can_not_be_applied_as_its_own_child() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[Widget])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(widget)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.003)
            assert "can't own itself" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


@pytest.mark.parametrize("given", [{"kind": "ConfigMap"}, None, core_v1.ConfigMap, [core_v1.ConfigMap()]])
@pytest.mark.parametrize("verb", ["apply", "apply_all", "ensure", "create"])
def test_what_is_no_object_is_refused_by_name(given: object, verb: str) -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await getattr(ctx, verb)(given)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            assert "is no object of a kind: give a ConfigMap, say" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


def test_a_child_has_metadata_of_its_own() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        metadata = widget.metadata
        metadata.name = "child"
        await ctx.apply(core_v1.ConfigMap(metadata=metadata))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            error = here.said("reconcile failed")[0]["error"]
            assert "this ConfigMap shares its metadata with Widget" in error
            assert "give it an ObjectMeta of its own" in error

    run_in_virtual_time(main)


def test_one_object_twice_in_a_complete_set_is_refused_before_anything_is_applied() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        first, second = (core_v1.ConfigMap(metadata=ObjectMeta(name="same"), data={"n": n}) for n in "12")
        await ctx.apply_all(first, second)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            error = here.said("reconcile failed")[0]["error"]
            assert "ConfigMap default/same is there twice: each would set back what the other says" in error
            with pytest.raises(NotFound):
                await here.client.get(core_v1.ConfigMap, "same", namespace="default")

    run_in_virtual_time(main)


def service(name: str) -> core_v1.Service:
    return core_v1.Service(
        metadata=ObjectMeta(name=name), spec=core_v1.ServiceSpec(ports=[core_v1.ServicePort(port=80)])
    )


async def test_nothing_is_pruned_in_the_name_of_an_older_state_of_a_kind_without_a_generation(
    harness: OpenHarness,
) -> None:
    operator, begun, go_on = Operator("plans"), asyncio.Event(), asyncio.Event()
    go_on.set()

    @operator.controller(core_v1.ConfigMap, owns=[core_v1.Service], when=selected("kind=plan"))
    async def reconcile(plan: core_v1.ConfigMap, ctx: Context) -> None:
        await ctx.apply_all(*map(service, (plan.data or {})["services"].split()))
        begun.set()
        await go_on.wait()

    async def edit(services: str, label: str) -> None:
        patch = MergePatch({"data": {"services": services}, "metadata": {"labels": {"edit": label}}})
        await here.client.patch(core_v1.ConfigMap, "plan", patch, namespace=here.namespace)

    plan = core_v1.ConfigMap(metadata=ObjectMeta(name="plan", labels={"kind": "plan"}), data={"services": "a b"})
    here = await harness(operator, objects=[plan])
    await here.settle()
    first = await here.get(core_v1.Service, "b")
    begun.clear()
    go_on.clear()
    await edit("a", "first")
    await begun.wait()
    await edit("a b", "second")
    await asyncio.sleep(1)
    go_on.set()
    await here.settle()
    assert (await here.get(core_v1.Service, "b")).uid == first.uid

    begun.clear()
    go_on.clear()
    await edit("a", "third")
    await begun.wait()
    await edit("a", "fourth")  # which says nothing else
    await asyncio.sleep(1)
    go_on.set()
    await asyncio.sleep(0.05)
    await here.assert_absent((core_v1.Service, "b"))


async def test_an_edit_amid_pruning_ends_it(harness: OpenHarness) -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.Service])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply_all(*(service(f"s-{number}") for number in range(widget.spec.size)))

    async def resize(size: int) -> None:
        await here.client.patch(Widget, "w", MergePatch({"spec": {"size": size}}), namespace=here.namespace)

    here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w"))])
    await resize(3)
    await here.settle()
    last = await here.get(core_v1.Service, "s-2")
    here.faults.add(Delay(after=10), Match(verbs=("delete",), kind=core_v1.Service))
    await resize(1)
    await asyncio.sleep(1)
    await here.assert_absent((core_v1.Service, "s-1"))
    await resize(3)
    await here.settle()
    assert (await here.get(core_v1.Service, "s-2")).uid == last.uid
    assert len(await here.list(core_v1.Service, labels="!provider")) == 3


async def test_a_child_whose_deletion_is_refused_keeps_no_other_and_is_told_of(harness: OpenHarness) -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.Service])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply_all(*(map(service, "abc") if widget.spec.size == 1 else ()))

    here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w"))])
    await here.settle()
    refused = here.faults.add(Refuse(403), Match(verbs=("delete",), name="a"), times=None)
    await here.client.patch(Widget, "w", MergePatch({"spec": {"size": 2}}), namespace=here.namespace)
    await here.advance(seconds=30)
    await here.assert_absent((core_v1.Service, "b"))
    await here.assert_absent((core_v1.Service, "c"))
    await here.assert_event((Widget, "w"), {"reason": "ReconcileFailed", "message": "refused by a test"})
    refused.lift()
    await here.settle()
    await here.assert_absent((core_v1.Service, "a"))
