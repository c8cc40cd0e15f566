"""Plain functions as reconcilers, each run in a thread that may block."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from kubewright import Context, NotFound, ObjectMeta, Operator, Request, Requeue, Result, Whole
from kubewright.controller import BlockingContext, RunEnded
from kubewright.controller.live import LiveReads
from kubewright.controller.threads import Conversation, Threads
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


def test_whatever_a_run_may_do_a_plain_function_may_do_too() -> None:
    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    of_instances, of_the_machinery = (
        {"request", "log", "reconcile_id", "attempt", "deadline"},
        {"children", "knows", "note_status"},
    )
    live = {f"{name}_live" for name in public(LiveReads)}
    wanted = (public(Context) | of_instances | live | {"wait"}) - of_the_machinery - {"live"}
    assert wanted == public(BlockingContext)


def test_a_plain_function_knows_its_deadline_has_spans_and_lists_live() -> None:
    operator, found = Operator("widgets"), list[object]()

    @operator.controller(Widget, reads=[core_v1.ConfigMap], threads=True, timeout=30)
    def reconcile(widget: Widget, ctx: BlockingContext) -> None:
        found.append(ctx.deadline)
        with ctx.span("looking", size=widget.spec.size):
            found.append([each.name for each in ctx.list_live(core_v1.ConfigMap, labels={"app": "x"})])
        with suppress(OSError), ctx.span("failing"):
            raise OSError("no")

    async def main() -> None:
        async with world(operator) as here:
            wanted = core_v1.ConfigMap(metadata=ObjectMeta(name="a", namespace="default", labels={"app": "x"}))
            await here.client.create(wanted)
            await here.client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="b", namespace="default")))
            now = asyncio.get_running_loop().time()
            await here.create()
            await asyncio.sleep(1)
            assert found[1:] == [["a"]]
            assert isinstance(found[0], float)
            assert now + 30 <= found[0] <= now + 31
            spans = [(line["span"], line["outcome"]) for line in here.said("span")]
            assert spans == [("looking", "ok"), ("failing", "failed")]

    run_in_virtual_time(main)


def test_what_can_not_be_waited_for_is_told() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, threads=True)
    def reconcile(widget: Widget, ctx: BlockingContext) -> None:
        ctx.wait(5)  # type: ignore[arg-type]  # the mistake

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            assert "wait(5): give a coroutine, such as ctx.client.get" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


def config_map(name: str, value: str = "x") -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name), data={"value": value})


def test_a_plain_function_reads_applies_and_writes_status_as_an_async_one_does() -> None:
    operator, threads = Operator("widgets"), set[int]()

    @operator.controller(Widget, owns=[Whole(core_v1.ConfigMap)], threads=True, workers=2)
    def reconcile(widget: Widget, ctx: BlockingContext) -> Result | None:
        threads.add(threading.get_ident())
        with ctx.owned():
            made = ctx.apply(config_map("a", str(widget.spec.size)))
        assert made.metadata.resource_version
        found = ctx.get(core_v1.ConfigMap, "a")
        assert found is not None
        assert [each.name for each in ctx.list(core_v1.ConfigMap) if each.data == found.data] == ["a"]
        live = ctx.wait(ctx.client.get(core_v1.ConfigMap, "a", namespace="default"))
        widget.status.note = (live.data or {})["value"]
        ctx.conditions.set("Ready", True, reason="Fine")
        return None

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=3)
            await asyncio.sleep(1)
            widget = await here.widget()
            assert widget.status.note == "3"
            assert [(each.type, each.status) for each in widget.status.conditions] == [("Ready", "True")]
            assert threads
            assert threading.get_ident() not in threads
            here.sent.clear()
            await here.resize(4)
            await asyncio.sleep(1)
            assert (await here.widget()).status.note == "4"
            assert len(here.sent.writes) == 2
            assert len(threads) <= 2

    run_in_virtual_time(main)


def test_what_was_applied_earlier_and_is_no_longer_wanted_goes() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap], threads=True)
    def reconcile(widget: Widget, ctx: BlockingContext) -> None:
        ctx.apply_all(*(config_map(f"c{number}") for number in range(widget.spec.size)))

    async def main() -> None:
        async with world(operator) as here:
            await here.create(size=2)
            await asyncio.sleep(1)
            await here.resize(1)
            await asyncio.sleep(1)
            found = await here.client.list(core_v1.ConfigMap, namespace="default")
            assert [each.name for each in found if each.name.startswith("c")] == ["c0"]

    run_in_virtual_time(main)


def test_errors_come_out_on_the_side_that_asked() -> None:
    operator, caught, attempts = Operator("widgets"), list[str](), list[int]()

    @operator.controller(Widget, threads=True)
    def reconcile(widget: Widget, ctx: BlockingContext) -> Result | None:
        attempts.append(ctx.attempt)
        try:
            ctx.wait(ctx.client.get(core_v1.ConfigMap, "nowhere", namespace="default"))
        except NotFound as error:
            caught.append(str(error))
        if len(attempts) == 1:
            raise RuntimeError("a bug in a thread")
        if len(attempts) == 2:
            raise Requeue(after=20)
        if len(attempts) == 3:
            raise SystemExit(1)
        return None

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(100)
            assert attempts == [0, 1, 0, 1]
            assert len(caught) == 4
            failures = here.said("reconcile failed")
            assert [line["error"] for line in failures] == ["RuntimeError: a bug in a thread", "SystemExit: 1"]
            assert "test_threads.py" in str(failures[0])
            assert "kubewright/controller" not in str(failures[0])

    run_in_virtual_time(main)


def test_clean_ups_and_keys_may_be_plain_functions_too() -> None:
    operator, done = Operator("widgets"), list[str]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        done.append("reconciled")

    @operator.finalizer(Widget, name="example.com/x", threads=True)
    def cleanup(widget: Widget, ctx: BlockingContext) -> None:
        done.append(f"cleaned up off the loop: {threading.current_thread() is not threading.main_thread()}")

    @operator.controller(Widget, keys=True, threads=True, name="keys")
    def by_key(request: Request, ctx: BlockingContext) -> None:
        if ctx.get(Widget, request.name) is None:
            done.append(f"{request} is gone")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            assert done[:2] == ["reconciled", "cleaned up off the loop: True"]
            assert done[-1] == "default/w is gone"

    run_in_virtual_time(main)


def test_the_same_seed_gives_the_same_requests() -> None:
    def once() -> list[str]:
        operator = Operator("widgets")

        @operator.controller(Widget, owns=[core_v1.ConfigMap], threads=True)
        def reconcile(widget: Widget, ctx: BlockingContext) -> None:
            for number in range(3):
                ctx.apply(config_map(f"{widget.name}-{number}"))
            widget.status.seen = 1

        async def main() -> list[str]:
            async with world(operator) as here:
                for name in "abcde":
                    await here.create(name)
                await asyncio.sleep(2)
                return [f"{each.method} {each.path}" for each in here.sent.requests]

        return run_in_virtual_time(main)

    assert once() == once()


# time and ends, with a clock and threads that are real


@contextmanager
def gate() -> Iterator[tuple[threading.Event, threading.Event]]:
    """One that says a thread is inside, one that lets it out; out it comes in any case."""
    inside, out = threading.Event(), threading.Event()
    try:
        yield inside, out
    finally:
        out.set()


async def until(event: threading.Event) -> None:
    await asyncio.get_running_loop().run_in_executor(None, event.wait, 10)


def test_a_run_is_not_over_before_its_thread_is_and_what_it_asks_afterwards_is_refused() -> None:
    order: list[str] = []

    async def main() -> None:
        threads = Threads("test")
        with gate() as (inside, out):

            def work(talk: Conversation) -> None:
                inside.set()
                out.wait(10)
                try:
                    talk.ask(asyncio.sleep(0))
                except RunEnded:
                    order.append("told that it is over")
                order.append("thread ended")

            run = asyncio.create_task(threads.run(work))
            await until(inside)
            run.cancel()
            await asyncio.sleep(0.01)
            assert not run.done()
            out.set()
            with pytest.raises(asyncio.CancelledError):
                await run
            order.append("run ended")
        threads.close()

    asyncio.run(main())
    assert order == ["told that it is over", "thread ended", "run ended"]


def test_a_thread_that_waits_is_told_at_once_that_its_run_is_over() -> None:
    async def main() -> None:
        threads, told = Threads("test"), list[str]()

        def work(talk: Conversation) -> None:
            try:
                talk.ask(asyncio.sleep(1000))
            except RunEnded as error:
                told.append(str(error))
                raise

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await threads.run(work)
        assert told == ["the run is over: its time was up, or the operator stops"]
        assert await threads.run(lambda talk: talk.ask(asyncio.sleep(0, "again"))) == "again"
        threads.close()

    asyncio.run(main())


def test_when_everything_ends_a_thread_that_does_not_return_is_left_behind() -> None:
    async def main() -> None:
        threads = Threads("test")
        with gate() as (inside, out):

            def work(talk: Conversation) -> None:
                inside.set()
                out.wait(10)

            run = asyncio.create_task(threads.run(work))
            await until(inside)
            threads.close()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run

    asyncio.run(main())


def test_threads_are_kept_and_see_the_context_variables_of_their_run() -> None:
    who = contextvars.ContextVar[str]("who")

    async def main() -> list[tuple[str, int]]:
        threads, seen = Threads("test"), list[tuple[str, int]]()
        for name in ("a", "b", "c"):
            who.set(name)
            await threads.run(lambda _: seen.append((who.get(), threading.get_ident())))
        threads.close()
        return seen

    seen = asyncio.run(main())
    assert [name for name, _ in seen] == ["a", "b", "c"]
    assert len({thread for _, thread in seen}) == 1


def test_a_context_serves_only_its_own_thread() -> None:
    refused: list[str] = []

    async def main() -> None:
        threads = Threads("test")

        def work(talk: Conversation) -> None:
            def elsewhere() -> None:
                try:
                    talk.ask(asyncio.sleep(0))
                except RuntimeError as error:
                    refused.append(str(error))

            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()

        await threads.run(work)
        threads.close()

    asyncio.run(main())
    assert refused == ["a BlockingContext serves only the thread that it was given to"]
