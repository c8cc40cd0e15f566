"""Parts start in order and stop in reverse, whatever one of them does."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from kubewright.operator.lifecycle import LAST_SECONDS, Lifecycle, StartFailed
from kubewright.telemetry import new_log
from kubewright.testing import run_in_virtual_time


class Trial:
    """A lifecycle whose parts write down what happens to them."""

    def __init__(self, *, stop_within: float = 10.0) -> None:
        self.text = io.StringIO()
        self.lifecycle = Lifecycle(stop_within=stop_within, log=new_log("json", stream=self.text))
        self.happened: list[str] = []
        self.never = asyncio.Event()

    @asynccontextmanager
    async def part(self, name: str) -> AsyncIterator[None]:
        self.happened.append(f"{name} starts")
        try:
            yield
        finally:
            self.happened.append(f"{name} stops")

    async def work(self, name: str) -> None:
        async with self.part(name):
            await asyncio.Event().wait()

    async def enter(self, name: str) -> None:
        await self.lifecycle.enter(name, self.part(name), unless=[self.never])

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.getvalue().splitlines()]


def others() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {asyncio.current_task()}


def test_parts_stop_in_reverse_and_the_one_that_is_to_be_last_is() -> None:
    async def main() -> None:
        trial = Trial()
        await trial.enter("http")
        trial.lifecycle.run("caches", {"caches": trial.work("caches")})
        trial.lifecycle.run("lease", {"lease": trial.work("lease")}, stop_last=True)
        await asyncio.sleep(1)
        trial.lifecycle.run("controllers", {"controllers": trial.work("controllers")})
        await asyncio.sleep(1)
        await trial.lifecycle.close()
        assert trial.happened == [
            *(f"{name} starts" for name in ("http", "caches", "lease", "controllers")),
            *(f"{name} stops" for name in ("controllers", "caches", "http", "lease")),
        ]
        assert not others()

    run_in_virtual_time(main)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError("address in use"), "address in use$"),
        (TimeoutError(), "TimeoutError$"),
        (ExceptionGroup("several", [OSError("no disk"), ExceptionGroup("", [KeyError()])]), "no disk; KeyError$"),
        (SystemExit("no password"), "it asked for the process to exit: no password$"),
    ],
)
def test_what_fails_to_start_is_named_and_what_was_started_is_stopped(error: BaseException, why: str) -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[None]:
        raise error
        yield

    async def main() -> None:
        trial = Trial()
        await trial.enter("caches")
        with pytest.raises(StartFailed, match=f"the health endpoint did not start: {why}"):
            await trial.lifecycle.enter("the health endpoint", broken(), unless=[trial.never])
        await trial.lifecycle.close(drain=False)
        assert trial.happened == ["caches starts", "caches stops"]
        assert not others()

    run_in_virtual_time(main)


@asynccontextmanager
async def slow(trial: Trial) -> AsyncIterator[None]:
    async with trial.part("connecting"):
        await asyncio.sleep(100)
        yield


def test_a_start_that_takes_its_time_is_given_up_when_it_is_wanted_no_more() -> None:
    async def main() -> None:
        trial, stop = Trial(), asyncio.Event()
        asyncio.get_running_loop().call_later(5, stop.set)
        before = asyncio.get_running_loop().time()
        await trial.lifecycle.enter("slow", slow(trial), unless=[stop])
        assert asyncio.get_running_loop().time() - before == 5
        assert trial.happened == ["connecting starts", "connecting stops"]
        await trial.lifecycle.close()
        assert not others()

    run_in_virtual_time(main)


def test_a_start_that_takes_its_time_is_given_up_when_another_part_dies() -> None:
    async def dies() -> None:
        await asyncio.sleep(3)
        raise ConnectionError("gone")

    async def main() -> None:
        trial = Trial()
        trial.lifecycle.run("mortal", {"mortal": dies()})
        with pytest.raises(ConnectionError, match="gone"):
            await trial.lifecycle.enter("slow", slow(trial), unless=[trial.never])
        assert asyncio.get_running_loop().time() == 3
        assert trial.happened == ["connecting starts", "connecting stops"]
        await trial.lifecycle.close(drain=False)
        assert trial.said() == []
        assert not others()

    run_in_virtual_time(main)


def test_a_part_that_dies_is_what_waiting_raises() -> None:
    async def dies() -> None:
        await asyncio.sleep(3)
        raise ConnectionError("gone")

    async def main() -> None:
        trial = Trial()
        trial.lifecycle.run("caches", {"caches": trial.work("caches")})
        trial.lifecycle.run("mortal", {"mortal": dies()})
        with pytest.raises(ConnectionError, match="gone"):
            await trial.lifecycle.until(asyncio.Event().wait())
        await trial.lifecycle.close(drain=False)
        assert trial.happened == ["caches starts", "caches stops"]
        assert trial.said() == [], "what is raised is not told twice"
        assert not others()

    run_in_virtual_time(main)


def test_a_part_that_just_ends_is_named_unless_it_may() -> None:
    async def main() -> None:
        trial, event = Trial(), asyncio.Event()
        trial.lifecycle.run("election", {"election": asyncio.sleep(1)}, may_end=True)
        asyncio.get_running_loop().call_later(3, event.set)
        await trial.lifecycle.until(event.wait())
        trial.lifecycle.run("caches", {"caches": asyncio.sleep(1)})
        with pytest.raises(RuntimeError, match="caches ended"):
            await trial.lifecycle.until(asyncio.Event().wait())
        await trial.lifecycle.close()

    run_in_virtual_time(main)


def test_a_part_that_is_cancelled_from_within_after_one_of_its_tasks_failed_did_not_start() -> None:
    async def fails() -> None:
        raise ValueError("no")

    @asynccontextmanager
    async def part() -> AsyncIterator[None]:
        with suppress(ExceptionGroup):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fails())
        other = asyncio.create_task(asyncio.sleep(3600))
        other.cancel()
        await other
        yield

    async def main() -> None:
        trial = Trial()
        with pytest.raises(StartFailed, match="lifespan did not start: it was cancelled from within"):
            await trial.lifecycle.enter("lifespan", part(), unless=[trial.never])

    run_in_virtual_time(main)


def test_drains_share_one_bound_and_who_exceeds_it_is_cancelled_and_named() -> None:
    async def main() -> None:
        trial = Trial(stop_within=10)

        def slow(seconds: float) -> Any:
            return lambda: asyncio.sleep(seconds)

        trial.lifecycle.run("lease", {"lease": trial.work("lease")}, drain=slow(100))
        trial.lifecycle.run("controllers", {"controllers": trial.work("controllers")}, drain=slow(8))
        await asyncio.sleep(0)
        before = asyncio.get_running_loop().time()
        await trial.lifecycle.close()
        assert asyncio.get_running_loop().time() - before == 10
        assert trial.happened[-2:] == ["controllers stops", "lease stops"]
        assert [line["part"] for line in trial.said()] == ["lease"]
        assert not others()

    run_in_virtual_time(main)


def test_what_does_not_heed_cancellation_is_left_behind_and_named() -> None:
    async def stubborn(free: asyncio.Event) -> None:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        trial, free = Trial(), asyncio.Event()
        await trial.enter("http")
        trial.lifecycle.run("controllers", {"controller-db": stubborn(free)})
        await asyncio.sleep(0)
        before = asyncio.get_running_loop().time()
        await trial.lifecycle.close()
        assert asyncio.get_running_loop().time() - before == LAST_SECONDS
        assert trial.lifecycle.abandoned == ["controller-db"]
        assert trial.happened[-1] == "http stops", "the others are stopped nevertheless"
        assert [(line["msg"], line["task"]) for line in trial.said()] == [
            ("does not end and is left behind", "controller-db")
        ]
        free.set()
        await asyncio.wait(others())

    run_in_virtual_time(main)


def test_cancelled_while_it_drains_it_cuts_short_and_still_stops_everything() -> None:
    async def main() -> None:
        trial = Trial(stop_within=60)
        trial.lifecycle.run("lease", {"lease": trial.work("lease")}, drain=lambda: asyncio.sleep(50))
        trial.lifecycle.run("controllers", {"controllers": trial.work("controllers")}, drain=lambda: asyncio.sleep(50))
        await asyncio.sleep(0)
        closing = asyncio.create_task(trial.lifecycle.close())
        await asyncio.sleep(5)
        before = asyncio.get_running_loop().time()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert asyncio.get_running_loop().time() == before
        assert trial.happened[-2:] == ["controllers stops", "lease stops"]
        assert not others()

    run_in_virtual_time(main)
