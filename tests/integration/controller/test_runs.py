"""What a reconcile run promises: finalizers, status, failures, requeues, declared reads."""

from __future__ import annotations

import asyncio

import pytest

from kubewright import Context, NotFound, ObjectMeta, Operator, Requeue, Result, TerminalError, Whole
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


def test_a_finalizer_is_there_before_the_first_side_effect_and_goes_after_its_clean_up() -> None:
    operator, order = Operator("widgets"), list[str]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        order.append(f"reconcile with {widget.metadata.finalizers}")

    @operator.finalizer(Widget, name="example.com/first")
    async def first(widget: Widget, ctx: Context) -> None:
        order.append("first")

    @operator.finalizer(Widget, name="example.com/second")
    async def second(widget: Widget, ctx: Context) -> None:
        order.append(f"second with {widget.metadata.finalizers}")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert order == ["reconcile with ['example.com/first', 'example.com/second']"]
            order.clear()
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            assert order == ["first", "second with ['example.com/second']"]
            with pytest.raises(NotFound):
                await here.widget()

    run_in_virtual_time(main)


def test_a_finalizer_of_somebody_else_is_left_alone() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/ours")
    async def ours(widget: Widget, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            await here.create()

            def add(widget: Widget) -> None:
                widget.metadata.finalizers = ["other.com/theirs", *(widget.metadata.finalizers or [])]

            await here.client.edit(Widget, "w", add, namespace="default")
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            assert (await here.widget()).metadata.finalizers == ["other.com/theirs"]

    run_in_virtual_time(main)


def test_a_clean_up_that_fails_is_tried_again_with_growing_delay() -> None:
    operator, tries = Operator("widgets"), list[float]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/slow")
    async def slow(widget: Widget, ctx: Context) -> None:
        tries.append(asyncio.get_running_loop().time())
        if len(tries) < 6:
            raise RuntimeError("not yet")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(30)
            assert len(tries) == 6
            assert tries[5] - tries[4] > 4 * (tries[1] - tries[0])
            with pytest.raises(NotFound):
                await here.widget()

    run_in_virtual_time(main)


def test_status_is_one_write_and_none_when_nothing_changed() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        widget.status.seen = widget.spec.size
        ctx.conditions.set("Ready", True, reason="Fine")

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=0)
            await asyncio.sleep(1)
            assert [request.path.rpartition("/")[2] for request in here.sent.writes] == ["status"]
            assert (await here.widget()).status.seen == 0
            await here.resize(5)
            await asyncio.sleep(1)
            assert len(here.sent.writes) == 2
            assert (await here.widget()).status.seen == 5
            assert (await here.widget()).status.conditions[0].observed_generation == 2

    run_in_virtual_time(main)


def test_status_of_others_written_meanwhile_survives_a_conflict() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.status.note is None:

            def others(live: Widget) -> None:
                live.status.note = "theirs"

            await ctx.client.edit(Widget, widget.name, others, namespace=widget.namespace, subresource="status")
        widget.status.seen = widget.spec.size

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=3)
            await asyncio.sleep(1)
            status = (await here.widget()).status
            assert (status.note, status.seen) == ("theirs", 3)

    run_in_virtual_time(main)


def test_status_never_lands_on_a_re_created_object() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.spec.size == 1:
            await ctx.client.delete(Widget, widget.name, namespace=widget.namespace)
            again = Widget(metadata=ObjectMeta(name=widget.name, namespace=widget.namespace))
            again.spec.size = 2
            await ctx.client.create(again)
            widget.status.seen = 1

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=1)
            await asyncio.sleep(5)
            assert (await here.widget()).status.seen is None

    run_in_virtual_time(main)


def test_what_a_failed_run_learnt_is_kept() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        widget.status.seen = widget.spec.size
        raise RuntimeError("after that")

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=4)
            await asyncio.sleep(0.02)
            assert (await here.widget()).status.seen == 4
            assert here.said("reconcile failed")

    run_in_virtual_time(main)


def test_a_requeue_runs_again_without_a_complaint_and_keeps_the_status() -> None:
    operator, times = Operator("widgets"), list[float]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        times.append(asyncio.get_running_loop().time())
        widget.status.seen = len(times)
        raise Requeue(60)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(150)
            assert len(times) == 3
            assert times[2] - times[1] == pytest.approx(60, abs=1)
            assert (await here.widget()).status.seen == 3
            assert here.said("reconcile failed") == []

    run_in_virtual_time(main)


def test_a_result_asks_for_another_run() -> None:
    operator, times = Operator("widgets"), list[float]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> Result | None:
        times.append(asyncio.get_running_loop().time())
        return Result(requeue_after=3600) if len(times) == 1 else None

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(2 * 3600)
            assert len(times) == 2
            assert times[1] - times[0] == pytest.approx(3600, abs=1)

    run_in_virtual_time(main)


def test_a_terminal_error_waits_for_a_change() -> None:
    operator, runs = Operator("widgets"), list[int]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        runs.append(widget.spec.size)
        if widget.spec.size == 1:
            raise TerminalError("size 1 can't work")

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=1)
            await asyncio.sleep(3600)
            assert runs == [1]
            await here.resize(2)
            await asyncio.sleep(1)
            assert runs == [1, 2]

    run_in_virtual_time(main)


def test_a_run_that_takes_too_long_is_ended_and_reported() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, timeout=10)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await asyncio.sleep(3600)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(10.5)
            failure = here.said("reconcile failed")[0]
            assert failure["error"] == "TimeoutError: the run took longer than 10 s"

    run_in_virtual_time(main)


def test_one_object_that_hangs_or_fails_disturbs_no_other() -> None:
    operator, done = Operator("widgets"), set[str]()

    @operator.controller(Widget, workers=2)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.name == "hangs":
            await asyncio.sleep(200)
        if widget.name == "fails":
            raise RuntimeError("always")
        done.add(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            for name in ("hangs", "fails", *(f"good-{number}" for number in range(20))):
                await here.create(name)
            await asyncio.sleep(5)
            assert len(done) == 20
            assert {line["name"] for line in here.said("reconcile failed")} == {"fails"}

    run_in_virtual_time(main)


def test_a_failure_is_logged_once_from_the_users_own_line() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if not ctx.attempt:
            raise RuntimeError("once")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(10)
            (failure,) = here.said("reconcile failed")
            assert (failure["namespace"], failure["name"], failure["kind"]) == ("default", "w", "Widget")
            assert len(failure["reconcile_id"]) == 16
            assert "test_runs.py" in failure["exception"]
            assert "/kubewright/" not in failure["exception"]

    run_in_virtual_time(main)


def test_an_api_error_is_one_line_with_the_place_in_the_users_code() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="Not A Name")))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.003)
            failure = here.said("reconcile failed")[0]
            assert "exception" not in failure
            assert "Not A Name" in failure["error"]
            assert "test_runs.py:" in failure["at"]

    run_in_virtual_time(main)


def test_reading_or_applying_an_undeclared_kind_is_an_error_that_says_so() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        ctx.list(core_v1.Secret)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.003)
            error = here.said("reconcile failed")[0]["error"]
            assert "controller widget uses Secret but does not declare it: add reads=[Secret]" in error

    run_in_virtual_time(main)


def test_what_was_applied_is_read_back_at_once_and_created_once_with_ensure() -> None:
    operator, found = Operator("widgets"), list[object]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="applied"), data={"size": str(widget.spec.size)}))
        seen = await ctx.read(core_v1.ConfigMap, "applied")
        first = await ctx.ensure(
            core_v1.ConfigMap(metadata=ObjectMeta(name="ensured"), data={"born": str(widget.spec.size)})
        )
        found.append((seen and seen.data, first.data))

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=1)
            await asyncio.sleep(1)
            await here.resize(2)
            await asyncio.sleep(1)
            assert found[0] == ({"size": "1"}, {"born": "1"})
            assert found[-1] == ({"size": "2"}, {"born": "1"})

    run_in_virtual_time(main)


def test_what_was_applied_and_is_now_ensured_is_not_pruned() -> None:
    operator, uids = Operator("widgets"), list[str]()

    @operator.controller(Widget, owns=[Whole(core_v1.ConfigMap)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        async with ctx.owned():
            wanted = core_v1.ConfigMap(metadata=ObjectMeta(name="kept"), data={"size": str(widget.spec.size)})
            found = await (ctx.apply(wanted) if widget.spec.size == 1 else ctx.ensure(wanted))
            uids.append(found.uid)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.resize(2)
            await asyncio.sleep(1)
            kept = await here.client.get(core_v1.ConfigMap, "kept", namespace="default")
            assert set(uids) == {kept.uid}
            assert kept.data == {"size": "1"}

    run_in_virtual_time(main)


def test_an_object_deleted_while_it_is_applied_is_not_made_anew_by_an_old_view() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="child"), data={"size": str(widget.spec.size)}))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            first = await here.client.get(core_v1.ConfigMap, "child", namespace="default")
            await here.client.delete(core_v1.ConfigMap, "child", namespace="default")
            await asyncio.sleep(1)
            second = await here.client.get(core_v1.ConfigMap, "child", namespace="default")
            assert second.uid != first.uid
            assert here.said("reconcile failed") == []

    run_in_virtual_time(main)


def test_stopping_lets_a_run_in_flight_end() -> None:
    operator, ended = Operator("widgets"), list[str]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await asyncio.sleep(5)
        ended.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            here.manager.stop()
            await asyncio.sleep(10)
            assert ended == ["w"]
            assert here.log()[-1]["msg"] == "stopped"

    run_in_virtual_time(main)


def test_a_run_that_does_not_end_is_cancelled_when_its_time_is_up() -> None:
    operator, ended = Operator("widgets"), list[str]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        try:
            await asyncio.sleep(200)
        finally:
            ended.append("cancelled")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            here.manager.stop()
            await asyncio.sleep(20)
            assert ended == []
            await asyncio.sleep(10)
            assert ended == ["cancelled"]

    run_in_virtual_time(main)
