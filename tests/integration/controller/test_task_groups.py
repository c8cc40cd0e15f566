"""Task groups in an operator's code. Before Python 3.13 one that fails as it is left has its task look cancelled for good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest

from kubewright import Context, ObjectMeta, Operator, Request, Watch
from kubewright.controller import BlockingContext, SourceContext
from kubewright.controller.workflow import Step, Workflow
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


async def fails() -> None:
    await asyncio.sleep(0.1)
    raise ValueError("no")


async def group() -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fails())


async def caught_and_then_too_slow() -> None:
    try:
        await group()
    except* ValueError:
        await asyncio.sleep(3600)


async def too_slow_within_a_limit() -> None:
    async with asyncio.timeout(1):
        await caught_and_then_too_slow()


async def caught_and_then_cancelled() -> None:
    try:
        await group()
    except* ValueError:
        other = asyncio.create_task(asyncio.sleep(3600))
        other.cancel()
        await other


each_end = pytest.mark.parametrize(
    "work", [group, caught_and_then_too_slow, too_slow_within_a_limit, caught_and_then_cancelled]
)


@each_end
def test_a_run_with_one_that_fails_fails_alone(work: Callable[[], Awaitable[None]]) -> None:
    operator, done = Operator("widgets"), list[str]()

    @operator.controller(Widget, workers=1, timeout=5)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.name == "bad":
            await work()
        done.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create("bad")
            await asyncio.sleep(20)
            await here.create("good")
            await asyncio.sleep(20)
            assert done == ["good"]
            assert len(here.said("reconcile failed")) > 2
            [condition] = (await here.widget("bad")).status.conditions
            assert condition.reason == "RetryAfterError"

    run_in_virtual_time(main)


def test_a_run_whose_time_is_up_after_one_that_failed_says_so() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, timeout=5)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await caught_and_then_too_slow()

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(6)
            assert here.said("reconcile failed")[0]["error"] == "TimeoutError: the run took longer than 5 s"

    run_in_virtual_time(main)


def test_a_run_that_one_it_waits_for_cancels_after_one_that_failed_says_so() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await caught_and_then_cancelled()

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert here.said("reconcile failed")[0]["error"] == "RuntimeError: it was cancelled from within"

    run_in_virtual_time(main)


def test_a_clean_up_that_one_it_waits_for_cancels_after_one_that_failed_fails_alone() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/x")
    async def clean(widget: Widget, ctx: Context) -> None:
        await caught_and_then_cancelled()

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(5)
            [condition] = (await here.widget()).status.conditions
            assert condition.message == "example.com/x: RuntimeError: it was cancelled from within"

    run_in_virtual_time(main)


@each_end
@pytest.mark.parametrize("others", [(), ("a", "z")])
def test_a_workflows_step_with_one_that_fails_fails_alone(
    work: Callable[[], Awaitable[None]], others: tuple[str, ...]
) -> None:
    operator, done, outcomes = Operator("widgets"), list[str](), list[str]()

    async def bad(widget: Widget, ctx: Context) -> bool:
        async with asyncio.timeout(10):
            await work()
        return True

    def good(name: str) -> Step[Widget]:
        def holds(widget: Widget) -> bool:
            done.append(name)
            return True

        return Step.check(name, holds)

    steps = sorted([Step.check("bad", bad), *map(good, others)], key=lambda step: step.name)
    flow = Workflow[Widget](*steps, condition="Ready")

    @operator.controller(Widget, timeout=30)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        try:
            await flow.run(widget, ctx)
        except Exception as error:
            outcomes.append(str(error))
            raise

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(40)
            assert len(here.said("reconcile failed")) == len(outcomes) > 1
            assert set(done) == set(others)
            conditions = {each.type: each.reason for each in (await here.widget()).status.conditions}
            assert conditions == {"Ready": "StepFailed", "Reconciling": "RetryAfterError"}

    run_in_virtual_time(main)


def test_a_step_whose_time_is_up_after_one_that_failed_ends_with_its_run() -> None:
    operator, ended = Operator("widgets"), list[str]()

    async def slow(widget: Widget, ctx: Context) -> bool:
        try:
            await caught_and_then_too_slow()
        finally:
            ended.append("slow")
        return True

    flow = Workflow[Widget](Step.check("slow", slow), Step.check("other", lambda widget: True, after=["slow"]))

    @operator.controller(Widget, timeout=5)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        try:
            await flow.run(widget, ctx)
        finally:
            ended.append("run")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(6)
            assert here.said("reconcile failed")[0]["error"] == "TimeoutError: the run took longer than 5 s"
            assert ended[:2] == ["slow", "run"]

    run_in_virtual_time(main)


def test_what_a_thread_waits_for_may_have_one_that_fails_and_be_cancelled_and_the_thread_goes_on() -> None:
    operator, caught = Operator("widgets"), list[BaseException]()

    @operator.controller(Widget, threads=True)
    def reconcile(widget: Widget, ctx: BlockingContext) -> None:
        try:
            ctx.wait(caught_and_then_cancelled())
        except BaseException as error:
            caught.append(error)
        widget.status.note = "went on"

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert isinstance(caught[0], asyncio.CancelledError)
            assert (await here.widget()).status.note == "went on"

    run_in_virtual_time(main)


def test_what_a_run_leaves_behind_does_not_meet_the_next() -> None:
    operator, names = Operator("widgets"), list[str]()

    @operator.controller(Widget, workers=1)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        names.append(widget.name)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()
        with suppress(ExceptionGroup):
            await group()

    async def main() -> None:
        async with world(operator) as here:
            await here.create("a")
            await asyncio.sleep(1)
            await here.create("b")
            await asyncio.sleep(1)
            assert set(names) == {"a", "b"}
            assert not here.said("reconcile failed")

    run_in_virtual_time(main)


@each_end
def test_a_source_with_one_that_fails_is_called_anew(work: Callable[[], Awaitable[None]]) -> None:
    operator, calls = Operator("widgets"), list[int]()

    async def source(around: SourceContext) -> AsyncIterator[Request]:
        calls.append(1)
        async with asyncio.timeout(10):
            await work()
        yield Request(None, "default", "w")

    @operator.controller(Widget, watches=[source])
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            await asyncio.sleep(100)
            assert len(calls) > 3
            assert len(here.said("a source failed")) >= len(calls) - 1

    run_in_virtual_time(main)


@each_end
def test_a_mapper_with_one_that_fails_is_tried_again_and_maps_what_comes_next(
    work: Callable[[], Awaitable[None]],
) -> None:
    operator, woken = Operator("widgets"), list[str]()

    async def mapper(found: core_v1.ConfigMap) -> list[Request]:
        if found.name == "bad":
            async with asyncio.timeout(10):
                await work()
        return [Request(None, "default", "w")]

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=mapper)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(ctx.reason)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            for name in ("bad", "good"):
                await here.client.create(core_v1.ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
                await asyncio.sleep(100)
            assert here.said("a mapper failed; its event is given up")
            assert woken[-1] == "Added ConfigMap default/good"

    run_in_virtual_time(main)
