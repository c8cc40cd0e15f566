from __future__ import annotations

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kubewright.api import LoopClock
from kubewright.testing import RealWait, StillWaiting, run_in_virtual_time


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


def _slow() -> int:
    time.sleep(0.02)
    return 7


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_threads_take_turns_in_the_same_order_each_time(workers: int) -> None:
    def once() -> list[str]:
        said: list[str] = []

        async def answer(number: int) -> int:
            said.append(f"loop answers {number}")
            await asyncio.sleep(1.0 / (number + 1))
            return number

        async def main() -> None:
            loop = asyncio.get_running_loop()

            def work(number: int) -> None:
                for turn in range(3):
                    said.append(f"thread {number} turn {turn} at {loop.time():.2f}")
                    time.sleep(random.uniform(0, 0.002))
                    assert asyncio.run_coroutine_threadsafe(answer(number), loop).result() == number

            with ThreadPoolExecutor(workers) as pool:
                await asyncio.gather(*(loop.run_in_executor(pool, work, number) for number in range(5)))

        run_in_virtual_time(main)
        return said

    first = once()
    assert len(first) == 30
    assert first == once() == once()


def test_a_thread_whose_turn_never_came_does_nothing_once_it_is_not_wanted() -> None:
    began: list[bool] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(None, began.append, True)
        future.cancel()
        await asyncio.sleep(1)

    run_in_virtual_time(main)
    assert began == []


def test_a_thread_that_waits_for_something_else_than_the_loop_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubewright.testing.counted_threads._LIMIT", 0.05)
    other = threading.Event()

    async def main() -> None:
        try:
            await asyncio.to_thread(other.wait)
        finally:
            other.set()

    with pytest.raises(RealWait, match="a thread does not end, and waits for something that is not this loop"):
        run_in_virtual_time(main)


def test_a_thread_ends_with_the_loop_that_it_waits_for() -> None:
    ended: list[BaseException] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def work() -> None:
            try:
                asyncio.run_coroutine_threadsafe(asyncio.sleep(3600), loop).result()
            except BaseException as error:
                ended.append(error)
                raise

        task = asyncio.create_task(asyncio.to_thread(work))
        await asyncio.sleep(1)
        assert not task.done()

    run_in_virtual_time(main)
    assert [type(error).__name__ for error in ended] == ["CancelledError"]
