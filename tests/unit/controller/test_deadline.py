"""What a run may take, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any
from weakref import ReferenceType, ref

import pytest

from kubewright.controller.deadline import limited
from kubewright.testing import run_in_virtual_time


def within(seconds: float, function: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        deadline = asyncio.get_running_loop().time() + seconds
        return await limited(function(), deadline, lambda: TimeoutError("too late"))

    return run_in_virtual_time(main)


def test_what_never_waits_sets_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[int, int]:
        loop, timers = asyncio.get_running_loop(), list[float]()
        call_at = loop.call_at

        def counted(when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
            timers.append(when)
            return call_at(when, *arguments, **options)

        monkeypatch.setattr(loop, "call_at", counted)

        async def seven() -> int:
            return 7

        return await limited(seven(), loop.time() + 5, TimeoutError), len(timers)

    assert run_in_virtual_time(main) == (7, 0)


def test_when_it_is_over_nothing_of_its_context_is_held() -> None:
    class Said:
        """What a run says of itself."""

    said: ContextVar[Said] = ContextVar("said")

    async def run() -> ReferenceType[Said]:
        said.set(Said())
        await limited(asyncio.sleep(1), asyncio.get_running_loop().time() + 600, TimeoutError)
        return ref(said.get())

    async def main() -> Said | None:
        earlier = asyncio.get_running_loop().call_later(
            60, lambda: None
        )  # a loop forgets a cancelled timer that is next
        held = await asyncio.create_task(run())
        await asyncio.sleep(1)
        earlier.cancel()
        return held()

    assert run_in_virtual_time(main) is None


def test_what_waits_gives_its_result() -> None:
    async def work() -> list[float]:
        clock = asyncio.get_running_loop().time
        began = clock()
        await asyncio.sleep(1)
        await asyncio.sleep(2)
        return [clock() - began]

    assert within(5, work) == [pytest.approx(3)]


def test_it_ends_at_the_deadline_and_may_still_clean_up() -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
            seen.append("cleaned up")
            raise

    with pytest.raises(TimeoutError, match="too late"):
        within(5, work)
    assert seen == ["cleaned up"]


def test_what_refuses_to_end_gives_its_result_after_all() -> None:
    async def work() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        return "done"

    assert within(5, work) == "done"


@pytest.mark.parametrize("waits", [False, True])
def test_its_own_errors_stay_what_they_are(waits: bool) -> None:
    async def work() -> None:
        if waits:
            await asyncio.sleep(1)
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        within(5, work)


def test_an_error_of_what_it_waits_for_reaches_it() -> None:
    async def work() -> str:
        failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(1, failing.set_exception, ValueError("broken"))
        try:
            await failing
        except ValueError as error:
            return str(error)
        return ""

    assert within(5, work) == "broken"


def test_what_is_no_coroutine_is_awaited_too() -> None:
    def work() -> Awaitable[None]:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        return never

    with pytest.raises(TimeoutError, match="too late"):
        within(5, work)


def test_a_cancellation_from_outside_is_one_inside() -> None:
    seen: list[str] = []

    async def main() -> None:
        async def work() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                seen.append("ended")

        task = asyncio.create_task(limited(work(), asyncio.get_running_loop().time() + 50, TimeoutError))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run_in_virtual_time(main)
    assert seen == ["ended"]
