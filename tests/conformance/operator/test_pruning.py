"""What a controller removes: only what it applied for this object, and only when a run said what should be there."""

from __future__ import annotations

from contextlib import suppress

import pytest

from kubewright import Context, ObjectMeta, Operator, Requeue, Resource
from kubewright.kinds import core_v1
from tests.conformance.clients.servers import Server, eventually
from tests.conformance.operator.working import Gadget, World, Zone, config_map, gone, try_out

pytestmark = pytest.mark.servers("embedded", "1.36")  # 1.20 is not the truth about server-side apply


def test_what_is_no_longer_in_the_complete_set_goes_and_nothing_else(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget, owns=[core_v1.ConfigMap, core_v1.Secret])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        wanted: list[Resource] = [config_map(f"c{number}") for number in range(gadget.spec.size)]
        if gadget.spec.size > 1:
            wanted.append(core_v1.Secret(metadata=ObjectMeta(name="secret"), string_data={"a": "b"}))
        await ctx.apply_all(*wanted)
        await ctx.ensure(config_map("ensured"))

    async def test(here: World) -> None:
        await here.client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="theirs", namespace=namespace)))
        await here.create(size=3)
        async with here.at_work(operator) as work:
            await eventually(lambda: here.is_there(core_v1.ConfigMap, "ensured"))
            await here.resize(1)
            await gone(lambda: here.is_there(core_v1.ConfigMap, "c2"))
            await work.quiet()
            found = {each.name for each in await here.client.list(core_v1.ConfigMap, namespace=namespace)}
            assert found - {"kube-root-ca.crt"} == {"c0", "ensured", "theirs"}
            assert await here.is_there(core_v1.Secret, "secret")  # holds data, and is not named in prune

    try_out(server, namespace, test)


@pytest.mark.parametrize("how", ["returns early", "raises Requeue", "raises", "breaks off a set and returns"])
def test_a_run_that_says_nothing_complete_removes_nothing(server: Server, namespace: str, how: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget, owns=[core_v1.ConfigMap])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        gadget.status.seen = gadget.spec.size
        if gadget.spec.size == 1:
            await ctx.apply_all(config_map("a"), config_map("b"))
        elif how == "returns early":
            return
        elif how == "breaks off a set and returns":
            await ctx.apply_all(config_map("a"))
            with suppress(LookupError):
                async with ctx.owned():
                    raise LookupError("what else there should be is not known")
        else:
            await ctx.apply_all(config_map("a"))
            raise Requeue(100) if how == "raises Requeue" else RuntimeError("after all")

    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(operator) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await here.resize(2)
            await here.until(lambda gadget: gadget.status.seen == 2)
            await work.quiet(0.2)
            assert await here.is_there(core_v1.ConfigMap, "b")

    try_out(server, namespace, test)


def test_two_controllers_of_one_kind_leave_each_others_children_alone(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget, owns=[core_v1.ConfigMap], name="one")
    async def one(gadget: Gadget, ctx: Context) -> None:
        await ctx.apply_all(*[config_map(f"one-{number}") for number in range(gadget.spec.size)])

    @operator.controller(Gadget, owns=[core_v1.ConfigMap], name="two")
    async def two(gadget: Gadget, ctx: Context) -> None:
        await ctx.apply_all(config_map("two"))

    async def test(here: World) -> None:
        await here.create(size=2)
        async with here.at_work(operator) as work:
            await eventually(lambda: here.is_there(core_v1.ConfigMap, "one-1"))
            await here.resize(1)
            await gone(lambda: here.is_there(core_v1.ConfigMap, "one-1"))
            await work.quiet()
            assert await here.is_there(core_v1.ConfigMap, "two")
            assert await here.is_there(core_v1.ConfigMap, "one-0")
            assert work.said("reconcile failed") == []

    try_out(server, namespace, test)


def test_a_cluster_scoped_owner_prunes_in_namespaces(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Zone, owns=[core_v1.ConfigMap])
    async def reconcile(zone: Zone, ctx: Context) -> None:
        if zone.name != namespace:
            return
        maps = [config_map(f"z{number}") for number in range(zone.spec.size)]
        for each in maps:
            each.metadata.namespace = namespace
        await ctx.apply_all(*maps)

    async def test(here: World) -> None:
        zone = Zone(metadata=ObjectMeta(name=namespace))
        zone.spec.size = 2
        await here.client.create(zone)
        async with here.at_work(operator):
            await eventually(lambda: here.is_there(core_v1.ConfigMap, "z1"))

            def shrink(live: Zone) -> None:
                live.spec.size = 1

            await here.client.edit(Zone, namespace, shrink)
            await gone(lambda: here.is_there(core_v1.ConfigMap, "z1"))
            assert await here.is_there(core_v1.ConfigMap, "z0")
        await here.client.delete(Zone, namespace)

    try_out(server, namespace, test)


def test_after_a_restart_what_was_applied_before_it_is_known_and_goes(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget, owns=[core_v1.ConfigMap])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        async with ctx.owned():
            for number in range(gadget.spec.size):
                await ctx.apply(config_map(f"c{number}"))

    async def test(here: World) -> None:
        await here.create(size=2)
        async with here.at_work(operator):
            await eventually(lambda: here.is_there(core_v1.ConfigMap, "c1"))
        await here.resize(1)
        async with here.at_work(operator):
            await gone(lambda: here.is_there(core_v1.ConfigMap, "c1"))
            assert await here.is_there(core_v1.ConfigMap, "c0")

    try_out(server, namespace, test)


def test_nothing_goes_in_the_name_of_an_object_that_was_edited_meanwhile(server: Server, namespace: str) -> None:
    operator, sizes = Operator("gadgets"), list[int]()

    @operator.controller(Gadget, owns=[core_v1.ConfigMap])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        sizes.append(gadget.spec.size)
        await ctx.apply_all(*[config_map(f"c{number}") for number in range(gadget.spec.size)])
        if gadget.spec.size == 1:  # while this run goes on, more is wanted again
            live = await ctx.live.get(Gadget, gadget.name)
            assert live is not None

            def grow(again: Gadget) -> None:
                again.spec.size = 2

            await ctx.edit(live, grow)

    async def test(here: World) -> None:
        await here.create(size=2)
        async with here.at_work(operator) as work:
            await eventually(lambda: here.is_there(core_v1.ConfigMap, "c1"))
            await here.resize(1)
            await here.until(lambda gadget: gadget.metadata.generation == 3)
            await work.quiet()
            assert 1 in sizes
            assert not [line for line in work.writes if line.startswith("DELETE")]

    try_out(server, namespace, test)
