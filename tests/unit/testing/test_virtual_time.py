from __future__ import annotations

import asyncio
import time

import pytest

from kubewright.api import LoopClock
from kubewright.testing import StillWaiting, run_in_virtual_time


def test_hours_pass_in_no_time() -> None:
    async def main() -> float:
        await asyncio.sleep(10 * 3600)
        return asyncio.get_running_loop().time()

    started = time.monotonic()
    assert run_in_virtual_time(main) == 36_000
    assert time.monotonic() - started < 5


def test_the_loops_clock_gives_wall_time_too() -> None:
    async def main() -> float:
        clock = LoopClock()
        before = clock.now()
        await asyncio.sleep(90)
        return (clock.now() - before).total_seconds()

    assert run_in_virtual_time(main) == 90


def test_waiting_for_nothing_is_an_error_instead_of_a_hang() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(StillWaiting, match="nothing can wake this loop"):
        run_in_virtual_time(main)


def test_a_time_out_fires_at_its_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.sleep(4000)
        return asyncio.get_running_loop().time()

    assert run_in_virtual_time(main) == 3600


def test_a_task_group_cancels_its_tasks_in_the_order_they_were_made() -> None:
    async def main() -> list[int]:
        order = []

        async def wait(number: int) -> None:
            try:
                await asyncio.sleep(100)
            finally:
                order.append(number)

        async def fail() -> None:
            await asyncio.sleep(1)
            raise ValueError

        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as tasks:
                for number in range(8):
                    tasks.create_task(wait(number))
                tasks.create_task(fail())
        return order

    assert run_in_virtual_time(main) == list(range(8))


def test_the_clock_stands_still_while_a_thread_works_for_the_loop() -> None:
    async def main() -> tuple[int, float]:
        async def tick() -> None:
            while True:  # noqa: ASYNC110
                await asyncio.sleep(1)

        ticking = asyncio.create_task(tick())
        await asyncio.sleep(0.5)
        result = await asyncio.to_thread(_slow)
        ticking.cancel()
        return result, asyncio.get_running_loop().time()

    assert run_in_virtual_time(main) == (7, 0.5)


def test_a_thread_can_have_the_loop_do_something_and_wait_for_it() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()

        async def wait() -> float:
            await asyncio.sleep(3600)
            return loop.time()

        return await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(wait(), loop).result(timeout=20))

    assert run_in_virtual_time(main) == 3600


def test_a_thread_that_is_not_waited_for_ends_with_the_loop() -> None:
    ended: list[int] = []

    async def main() -> None:
        task = asyncio.create_task(asyncio.to_thread(lambda: ended.append(_slow())))
        await asyncio.sleep(0)
        task.cancel()

    run_in_virtual_time(main)
    assert ended == [7]


def test_threads_take_turns_in_the_order_of_their_calls_however_long_each_takes() -> None:
    async def main() -> list[int]:
        order: list[int] = []

        async def work(number: int) -> None:
            for _ in range(3):
                await asyncio.to_thread(time.sleep, 0.004 if number == 0 else 0.0)
                order.append(number)

        await asyncio.gather(*(work(number) for number in range(3)))
        return order

    assert run_in_virtual_time(main) == [0, 1, 2] * 3


def _slow() -> int:
    time.sleep(0.02)
    return 7
