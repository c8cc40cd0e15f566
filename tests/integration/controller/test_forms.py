"""The forms a reconciler may have, and how controllers live beside each other."""

from __future__ import annotations

import asyncio
import io
import random

import pytest

from kubewright import Client, Context, Manager, ObjectMeta, Operator, Request, Result
from kubewright.api import LoopClock
from kubewright.controller import Priority
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.telemetry import new_log
from kubewright.testing import RecordingTransport, install, run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


def config_map(name: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name), data={"by": name})


def test_an_object_with_a_method_reconciles() -> None:
    class Counter:
        def __init__(self) -> None:
            self.runs = 0

        async def reconcile(self, widget: Widget, ctx: Context) -> Result | None:
            self.runs += 1
            widget.status.seen = self.runs
            return Result(requeue_after=10) if self.runs < 3 else None

    operator, counter = Operator("widgets"), Counter()
    assert operator.controller(Widget)(counter) is counter

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(100)
            assert counter.runs == 3
            assert (await here.widget()).status.seen == 3

    run_in_virtual_time(main)


def test_who_reconciles_keys_hears_of_objects_that_are_gone() -> None:
    operator, seen = Operator("widgets"), list[tuple[str, bool]]()

    @operator.controller(Widget, keys=True)
    async def reconcile(request: Request, ctx: Context) -> None:
        seen.append((str(request), ctx.get(Widget, request.name) is not None))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            assert seen == [("default/w", True), ("default/w", False)]
            assert here.sent.writes == []

    run_in_virtual_time(main)


def test_by_key_children_are_applied_and_pruned_while_there_is_an_owner_and_refused_when_there_is_none() -> None:
    operator, refused = Operator("widgets"), list[str]()

    @operator.controller(Widget, keys=True, owns=[core_v1.ConfigMap])
    async def reconcile(request: Request, ctx: Context) -> None:
        widget = ctx.get(Widget, request.name)
        if widget is None:
            with pytest.raises(ValueError, match="Widget default/w is gone, so ConfigMap") as caught:
                await ctx.apply(config_map("late"))
            refused.append(str(caught.value))
            return
        await ctx.apply_all(*(config_map(f"c{number}") for number in range(widget.spec.size)))

    async def main() -> None:
        async with world(operator) as here:

            async def names() -> list[str]:
                found = await here.client.list(core_v1.ConfigMap, namespace="default")
                return [each.name for each in found if each.name.startswith("c")]

            await here.create(size=2)
            await asyncio.sleep(1)
            assert await names() == ["c0", "c1"]
            await here.resize(1)
            await asyncio.sleep(1)
            assert await names() == ["c0"]
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            assert refused  # once for itself, and once more when its child has been collected

    run_in_virtual_time(main)


def test_a_result_names_the_band_of_the_next_run() -> None:
    operator, order = Operator("widgets"), list[str]()

    @operator.controller(Widget, workers=1)
    async def reconcile(widget: Widget, ctx: Context) -> Result | None:
        order.append(widget.name)
        if len(order) == 3:
            await asyncio.sleep(30)  # meanwhile the others become due
        if len(order) > 3:
            return None
        priority = Priority.BACKGROUND if widget.name == "a" else Priority.NORMAL
        return None if widget.name == "busy" else Result(requeue_after=20, priority=priority)

    async def main() -> None:
        async with world(operator) as here:
            for name in ("a", "b"):
                await here.create(name)
                await asyncio.sleep(1)
            await asyncio.sleep(10)
            await here.create("busy")
            await asyncio.sleep(60)
            assert order == ["a", "b", "busy", "b", "a"]

    run_in_virtual_time(main)


def test_a_priority_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="priority is 1: give a Priority"):
        Result(requeue_after=1, priority=1)  # type: ignore[arg-type]  # what is tested


def test_two_controllers_of_one_kind_keep_their_own_children() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap], name="first")
    async def first(widget: Widget, ctx: Context) -> None:
        await ctx.apply_all(config_map("first"))
        widget.status.seen = widget.spec.size

    @operator.controller(Widget, owns=[core_v1.ConfigMap], name="second")
    async def second(widget: Widget, ctx: Context) -> None:
        await ctx.apply_all(*[config_map("second")][: widget.spec.size])
        widget.status.note = "second was here"

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(5)
            await here.resize(0)
            await asyncio.sleep(5)
            found = await here.client.list(core_v1.ConfigMap, namespace="default")
            assert [each.name for each in found if each.name in {"first", "second"}] == ["first"]
            status = (await here.widget()).status
            assert (status.seen, status.note) == (0, "second was here")

    run_in_virtual_time(main)


def test_two_operators_in_one_process_never_meet() -> None:
    first, second, seen = Operator("first"), Operator("second"), list[tuple[str, str, object]]()

    @first.controller(Widget)
    async def in_first(widget: Widget, ctx: Context) -> None:
        seen.append(("first", widget.name, ctx.client))

    @second.controller(Widget)
    async def in_second(widget: Widget, ctx: Context) -> None:
        seen.append(("second", widget.name, ctx.client))
        raise RuntimeError("it concerns nobody else")

    async def main() -> None:
        clock, rng = LoopClock(), random.Random(1)
        async with DevCluster(clock=clock, rng=rng) as cluster, asyncio.TaskGroup() as tasks:
            managers = []
            for operator in (first, second):
                client = Client(RecordingTransport(cluster.transport()), clock=clock, rng=rng)
                log = new_log("json", level="debug", stream=io.StringIO())
                managers.append(Manager(operator, client, clock=clock, rng=rng, log=log))
            await install(managers[0].client, first)
            running = [tasks.create_task(manager.run()) for manager in managers]
            await managers[0].client.create(Widget(metadata=ObjectMeta(name="w", namespace="default")))
            await asyncio.sleep(0.004)
            await managers[0].settled()
            assert {entry[2] for entry in seen if entry[0] == "first"} == {managers[0].client}
            assert {entry[2] for entry in seen if entry[0] == "second"} == {managers[1].client}
            assert managers[0].cache is not managers[1].cache
            assert managers[0].controllers[0].queue.failing == ()
            assert managers[1].controllers[0].queue.failing != ()
            managers[1].stop()
            await running[1]
            seen.clear()
            await managers[0].client.create(Widget(metadata=ObjectMeta(name="x", namespace="default")))
            await asyncio.sleep(1)
            assert [entry[:2] for entry in seen] == [("first", "x")]
            running[0].cancel()

    run_in_virtual_time(main)
