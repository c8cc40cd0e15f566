"""Sources by themselves, in virtual time."""

from __future__ import annotations

import asyncio
import io
import json
import random
import threading
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from kubewright import Request
from kubewright.api import LoopClock
from kubewright.controller import Channel, Priority, Source, SourceContext, Wake, cron, every
from kubewright.controller.sources import SourceItem, follow
from kubewright.telemetry import new_log
from kubewright.testing import run_in_virtual_time

A, B = Request(None, "default", "a"), Request(None, "default", "b")


def around(text: io.StringIO | None = None) -> SourceContext:
    log = new_log("json", level="debug", stream=text or io.StringIO())
    return SourceContext(clock=LoopClock(), log=log, requests=lambda: [A, B])


def heard_within(seconds: float, source: Source, text: io.StringIO | None = None) -> list[tuple[float, Any]]:
    """What a source gives within a time, and when."""
    heard: list[tuple[float, Any]] = []

    async def main() -> None:
        def wake(item: object) -> None:
            heard.append((round(asyncio.get_running_loop().time(), 3), item))

        task = asyncio.create_task(follow(source, around(text), wake, rng=random.Random(1)))
        await asyncio.sleep(seconds)
        task.cancel()

    run_in_virtual_time(main)
    return heard


def test_a_timer_wakes_everything_in_the_background_without_drifting() -> None:
    heard = heard_within(3.5, every(1))
    assert [at for at, _ in heard] == [1, 1, 2, 2, 3, 3]
    assert heard[0][1] == Wake(A, Priority.BACKGROUND)
    assert {item.request for _, item in heard} == {A, B}


def test_a_timer_may_wake_one_request() -> None:
    sweep = Request(None, None, "sweep")
    assert heard_within(25, every(10, request=sweep)) == [(10, Wake(sweep)), (20, Wake(sweep))]


def test_what_a_busy_process_missed_is_made_up_for_once() -> None:
    heard: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async for _ in every(1, request=A)(around()):
            heard.append(loop.time())
            if len(heard) == 2:
                await asyncio.sleep(5.5)
            if loop.time() > 9:
                return

    run_in_virtual_time(main)
    assert heard == pytest.approx([1, 2, 7.5, 8, 9, 10], abs=0.001)


def test_a_schedule_wakes_at_its_times() -> None:
    hours = [at / 3600 for at, _ in heard_within(26 * 3600, cron("0 6,18 * * *", request=A))]
    assert hours == [6, 18]
    assert [at / 60 for at, _ in heard_within(1000, cron("*/5 * * * *", request=A))] == [5, 10, 15]


def test_a_source_that_fails_is_called_anew_after_a_growing_delay() -> None:
    starts: list[float] = []

    async def broken(around: SourceContext) -> AsyncIterator[SourceItem]:
        starts.append(asyncio.get_running_loop().time())
        raise OSError("no connection")
        yield A

    text = io.StringIO()
    heard_within(60, broken, text)
    waits = [later - earlier for earlier, later in pairwise(starts)]
    assert len(waits) >= 5
    assert all(later > 1.3 * earlier for earlier, later in pairwise(waits[:4]))
    (first, *_) = [json.loads(line) for line in text.getvalue().splitlines()]
    assert first["msg"] == "a source failed"
    assert first["source"].endswith("broken")


@pytest.mark.parametrize("given", [[A], None, 5])
def test_a_function_that_is_no_source_is_told_what_one_is(given: Any) -> None:
    def mistaken(around: SourceContext) -> Any:
        return given

    text = io.StringIO()
    assert heard_within(1, mistaken, text) == []
    said = json.loads(text.getvalue().splitlines()[0])
    assert "gave " in said["exception"]
    assert "a source gives an async iterator, as an `async def` function that yields does" in said["exception"]


def test_a_source_that_waits_for_what_others_cancelled_is_called_anew_too() -> None:
    starts: list[float] = []

    async def broken(around: SourceContext) -> AsyncIterator[SourceItem]:
        starts.append(asyncio.get_running_loop().time())
        shared = asyncio.get_running_loop().create_future()
        shared.cancel()
        yield await shared

    heard_within(60, broken)
    assert len(starts) >= 5


def test_a_source_that_ends_is_done() -> None:
    async def once(around: SourceContext) -> AsyncIterator[SourceItem]:
        yield A

    text = io.StringIO()
    assert heard_within(100, once, text) == [(0, A)]
    assert json.loads(text.getvalue())["msg"] == "a source ended"


def test_a_source_that_always_has_more_lets_others_run() -> None:
    turns = 0

    async def greedy(around: SourceContext) -> AsyncIterator[SourceItem]:
        while True:
            yield A

    async def main() -> None:
        nonlocal turns
        task = asyncio.create_task(follow(greedy, around(), lambda _: None, rng=random.Random(1)))
        for _ in range(5):
            await asyncio.sleep(0)
            turns += 1
        task.cancel()

    run_in_virtual_time(main)
    assert turns == 5


def test_a_source_is_closed_when_nobody_listens_any_more() -> None:
    closed = []

    async def held(around: SourceContext) -> AsyncIterator[SourceItem]:
        try:
            yield A
            await asyncio.sleep(1000)
        finally:
            closed.append(asyncio.get_running_loop().time())

    heard_within(3, held)
    assert closed == [3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: every(0), "every(0): give 0.001 or more seconds"),
        (lambda: every(float("inf")), "every(inf)"),
        (lambda: every("60"), "every('60'): give seconds as a number"),  # type: ignore[arg-type]  # what is tested
        (lambda: cron("* *"), "write five fields"),
    ],
)
def test_what_is_no_time_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        make()
    assert message in str(caught.value)


def test_a_channel_is_heard_by_all_and_what_was_sent_early_by_the_first() -> None:
    channel, first, second = Channel(), list[object](), list[object]()

    async def main() -> None:
        channel.send(A)
        channel.send(A, Priority.EDIT)
        tasks = [asyncio.create_task(follow(channel, around(), first.append, rng=random.Random(1)))]
        await asyncio.sleep(1)
        assert first == [Wake(A, Priority.EDIT)]
        tasks.append(asyncio.create_task(follow(channel, around(), second.append, rng=random.Random(1))))
        await asyncio.sleep(1)
        channel.send(B)
        channel.send(B)
        await asyncio.sleep(1)
        assert first[1:] == second == [Wake(B)]
        for task in tasks:
            task.cancel()

    run_in_virtual_time(main)


def test_a_channel_takes_from_any_thread_and_nothing_but_requests() -> None:
    channel, heard = Channel(), list[object]()
    with pytest.raises(TypeError, match="send a Request"):
        channel.send("default/a")  # type: ignore[arg-type]  # what is tested

    async def main() -> None:
        came = asyncio.Event()

        def wake(item: object) -> None:
            heard.append(item)
            came.set()

        task = asyncio.create_task(follow(channel, around(), wake, rng=random.Random(1)))
        await asyncio.sleep(0)
        thread = threading.Thread(target=channel.send, args=(A,))
        thread.start()
        await came.wait()
        thread.join()
        task.cancel()

    asyncio.run(main())
    assert heard == [Wake(A)]
