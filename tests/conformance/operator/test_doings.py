"""What else a run does on a server: events, adoption, edits, things that are created once, and clean-ups."""

from __future__ import annotations

import pytest

from kubewright import Context, NotFound, ObjectMeta, Operator
from kubewright.api import AlreadyOwned, OwnerReference
from kubewright.kinds import core_v1, events_v1
from tests.conformance.clients.servers import Server, eventually
from tests.conformance.operator.working import Gadget, World, config_map, try_out

pytestmark = pytest.mark.servers("embedded", "1.36")  # 1.20 is not the truth about server-side apply


async def events(here: World) -> list[events_v1.Event]:
    found = await here.client.list(events_v1.Event, namespace=here.namespace)
    return [event for event in found if event.regarding and event.regarding.kind == "Gadget"]


def test_the_same_event_is_one_with_a_count_also_after_a_restart(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget)
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        await ctx.event("Normal", "Looked", "somebody looked")
        gadget.status.seen = gadget.spec.size

    async def test(here: World) -> None:
        await here.create()
        for size in (2, 4):
            async with here.at_work(operator) as work:
                await here.resize(size)
                await here.until(lambda gadget, size=size: gadget.status.seen == size)  # type: ignore[misc]
                await here.resize(size + 1)
                await here.until(lambda gadget, size=size: gadget.status.seen == size + 1)  # type: ignore[misc]
                await work.quiet(0.2)
                assert work.said("event not recorded") == []
        (event,) = await events(here)
        assert (event.type, event.reason, event.note) == ("Normal", "Looked", "somebody looked")
        assert event.reporting_controller == "gadgets/gadget"
        assert event.series is not None
        assert event.series.count >= 3

    try_out(server, namespace, test)


def test_an_event_that_is_refused_does_not_fail_the_run(server: Server, namespace: str) -> None:
    operator = Operator("gadgets")

    @operator.controller(Gadget)
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        await ctx.event("Loud", "Looked", "wrong type")  # type: ignore[arg-type]
        await ctx.event("Normal", "", "no reason")
        await ctx.event("Normal", "Long", "x" * 5000)
        gadget.status.seen = 1

    async def test(here: World) -> None:
        await here.create()
        async with here.at_work(operator) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            assert len(work.said("event not recorded")) == 2
            (event,) = await events(here)
            assert len((event.note or "").encode()) == 1024

    try_out(server, namespace, test)


def test_orphans_are_adopted_and_what_is_somebody_elses_is_not(server: Server, namespace: str) -> None:
    operator, refused = Operator("gadgets"), dict[str, str]()

    @operator.controller(Gadget, owns=[core_v1.ConfigMap])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        for name, where in (("orphan", namespace), ("owned", namespace), ("far", "default")):
            found = await ctx.client.get(core_v1.ConfigMap, f"{namespace}-{name}", namespace=where)
            try:
                await ctx.adopt(found)
            except AlreadyOwned as error:
                refused[name] = str(error)
        gadget.status.seen = 1

    async def test(here: World) -> None:
        holder = core_v1.ConfigMap(metadata=ObjectMeta(name="o", namespace=namespace))
        uid = (await here.client.create(holder)).uid
        other = OwnerReference(api_version="v1", kind="ConfigMap", name="o", uid=uid, controller=True)
        for name, where in (("orphan", namespace), ("owned", namespace), ("far", "default")):
            metadata = ObjectMeta(name=f"{namespace}-{name}", namespace=where)
            if name == "owned":
                metadata.owner_references = [other]
            await here.client.create(core_v1.ConfigMap(metadata=metadata))
        gadget = await here.create()
        async with here.at_work(operator):
            await here.until(lambda gadget: gadget.status.seen == 1)
        orphan = await here.client.get(core_v1.ConfigMap, f"{namespace}-orphan", namespace=namespace)
        assert [owner.uid for owner in orphan.metadata.owner_references or []] == [gadget.uid]
        assert "already controlled by ConfigMap o" in refused["owned"]
        assert "owns objects of that namespace only" in refused["far"]
        await here.client.delete(core_v1.ConfigMap, f"{namespace}-far", namespace="default")

    try_out(server, namespace, test)


def test_created_once_edited_and_read_live(server: Server, namespace: str) -> None:
    operator, read = Operator("gadgets"), list[object]()

    @operator.controller(Gadget, owns=[core_v1.ConfigMap])
    async def reconcile(gadget: Gadget, ctx: Context) -> None:
        password = await ctx.ensure(config_map("password", born=str(gadget.spec.size)))
        if not read:
            await ctx.create(config_map("created"))
            foreign = await ctx.client.get(core_v1.ConfigMap, "theirs", namespace=namespace)

            def change(live: core_v1.ConfigMap) -> None:
                live.data = {**(live.data or {}), "ours": "1"}

            await ctx.edit(foreign, change)
        absent = await ctx.live.get(core_v1.ConfigMap, "absent")
        read.append((password.data, len(await ctx.live.list(core_v1.ConfigMap)) >= 3, absent))
        gadget.status.seen = gadget.spec.size

    async def test(here: World) -> None:
        metadata = ObjectMeta(name="theirs", namespace=namespace)
        await here.client.create(core_v1.ConfigMap(metadata=metadata, data={"a": "b"}))
        await here.create()
        async with here.at_work(operator) as work:
            await here.until(lambda gadget: gadget.status.seen == 1)
            await here.resize(2)
            await here.until(lambda gadget: gadget.status.seen == 2)
            assert work.said("reconcile failed") == []
        theirs = await here.client.get(core_v1.ConfigMap, "theirs", namespace=namespace)
        assert theirs.data == {"a": "b", "ours": "1"}
        assert theirs.metadata.owner_references is None
        assert read[-1] == ({"born": "1"}, True, None)

    try_out(server, namespace, test)


def test_a_clean_up_that_fails_is_seen_and_does_not_hurry_and_one_that_is_done_is_not_done_again(
    server: Server, namespace: str
) -> None:
    operator, done, tries, room = Operator("gadgets"), list[str](), list[int](), list[bool]()

    async def test(here: World) -> None:
        @operator.controller(Gadget)
        async def reconcile(gadget: Gadget, ctx: Context) -> None:
            gadget.status.seen = 1

        @operator.finalizer(Gadget, name="operators.kubewright.dev/first")
        async def first(gadget: Gadget, ctx: Context) -> None:
            done.append("first")

            def touch(live: Gadget) -> None:
                live.metadata.labels = {"touched": "yes"}

            # overtaken between the clean-up and the removal of its finalizer
            await here.client.edit(Gadget, gadget.name, touch, namespace=namespace)

        @operator.finalizer(Gadget, name="operators.kubewright.dev/second")
        async def second(gadget: Gadget, ctx: Context) -> None:
            tries.append(1)
            if not room:
                raise RuntimeError("disk full")

        await here.create()
        async with here.at_work(operator):
            await here.until(lambda gadget: gadget.status.seen == 1)
            await here.client.delete(Gadget, "g", namespace=namespace)

            def told(gadget: Gadget) -> bool:
                return any(each.reason == "FinalizerFailed" for each in gadget.status.conditions)

            found = await here.until(told)
            assert found.status.conditions[-1].message == "operators.kubewright.dev/second: RuntimeError: disk full"
            assert found.metadata.finalizers == ["operators.kubewright.dev/second"]
            room.append(True)

            async def gone() -> bool:
                try:
                    await here.gadget()
                except NotFound:
                    return True
                return False

            await eventually(gone)
            assert done == ["first"]
            assert 2 <= len(tries) < 20  # in a minute
            (event,) = await events(here)
            assert (event.type, event.reason) == ("Warning", "FinalizerFailed")

    try_out(server, namespace, test)
