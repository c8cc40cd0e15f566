from __future__ import annotations

import asyncio
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.controller import Priority, QueueClosed, Request, WorkQueue
from kubewright.testing import run_in_virtual_time


def request(name: str) -> Request:
    return Request(None, "default", name)


A, B, C = request("a"), request("b"), request("c")


def new_queue() -> WorkQueue:
    return WorkQueue(random.Random(1))


def test_a_request_waits_at_most_once() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A)
        queue.add(A)
        assert await queue.get() == A
        assert len(queue) == 0

    run_in_virtual_time(main)


def test_added_while_it_runs_it_waits_until_done() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A)
        await queue.get()
        queue.add(A)
        queue.add(A)
        assert len(queue) == 0
        queue.done(A)
        assert await queue.get() == A
        queue.done(A)
        assert len(queue) == 0

    run_in_virtual_time(main)


def test_what_was_asked_for_during_a_run_is_taken_back_only_if_nobody_else_asked() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A)
        await queue.get()
        assert not queue.take_back(A, 0)
        queue.add(A)
        queue.add(A)
        assert not queue.take_back(A, 1)
        assert queue.take_back(A, 2)
        queue.done(A)
        assert len(queue) == 0

    run_in_virtual_time(main)


def test_edits_go_first_and_the_background_last() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A, Priority.BACKGROUND)
        queue.add(B, Priority.NORMAL)
        queue.add(C, Priority.EDIT)
        assert [await queue.get() for _ in range(3)] == [C, B, A]

    run_in_virtual_time(main)


def test_a_request_added_again_with_more_priority_moves_up() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A, Priority.BACKGROUND)
        queue.add(B, Priority.NORMAL)
        queue.add(A, Priority.EDIT)
        assert [await queue.get() for _ in range(2)] == [A, B]
        assert len(queue) == 0

    run_in_virtual_time(main)


def test_the_background_is_not_starved_by_edits() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A, Priority.BACKGROUND)
        started = asyncio.get_running_loop().time()
        number = 0
        while True:
            number += 1
            queue.add(request(f"edit-{number}"), Priority.EDIT)
            got = await queue.get()
            queue.done(got)
            if got == A:
                break
            await asyncio.sleep(0.1)
        assert asyncio.get_running_loop().time() - started <= 2 * WorkQueue.AGEING + 0.2

    run_in_virtual_time(main)


def test_a_failure_comes_back_later_each_time_and_success_resets_it() -> None:
    async def main() -> None:
        queue, loop = new_queue(), asyncio.get_running_loop()
        delays = []
        queue.add(A)
        for _ in range(5):
            assert await queue.get() == A
            before = loop.time()
            promised = queue.retry(A)
            queue.done(A)
            await queue.get()
            assert loop.time() - before == pytest.approx(promised)
            delays.append(promised)
            queue.add(A)
            queue.done(A)
        assert all(later > 1.3 * earlier for earlier, later in itertools.pairwise(delays))
        assert queue.failures(A) == 5
        queue.forget(A)
        assert queue.failures(A) == 0

    run_in_virtual_time(main)


def test_what_ran_in_the_background_is_retried_there_and_nothing_is_retried_as_an_edit() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A, Priority.BACKGROUND)
        queue.add(B, Priority.EDIT)
        for _ in range(2):
            got = await queue.get()
            queue.retry(got)
            queue.done(got)
        await asyncio.sleep(1)
        assert queue.statistics().depth == {Priority.EDIT: 0, Priority.NORMAL: 1, Priority.BACKGROUND: 1}
        assert await queue.get() == B

    run_in_virtual_time(main)


def test_asking_again_with_more_priority_never_makes_a_request_wait_longer() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A, Priority.BACKGROUND)
        await asyncio.sleep(3 * WorkQueue.AGEING)
        for name in "bcd":
            queue.add(request(name), Priority.EDIT)
        queue.add(A, Priority.EDIT)  # aged already: its turn had come
        assert await queue.get() == A
        assert [await queue.get() for _ in range(3)] == [B, C, request("d")]
        assert len(queue) == 0

    run_in_virtual_time(main)


def test_a_place_that_was_overtaken_by_a_higher_band_is_void() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add(A, Priority.BACKGROUND)
        queue.add(A, Priority.EDIT)
        queue.done(await queue.get())
        queue.add(B, Priority.BACKGROUND)
        queue.add(A, Priority.BACKGROUND)
        assert [await queue.get() for _ in range(2)] == [B, A]

    run_in_virtual_time(main)


def test_statistics_tell_what_waits_runs_and_for_how_long() -> None:
    async def main() -> None:
        queue = new_queue()
        for name in "abc":
            queue.add(request(name))
        await queue.get()
        await asyncio.sleep(2)
        await queue.get()
        await asyncio.sleep(1)
        queue.add_after(request("later"), 60)
        queue.retry(A)
        seen = queue.statistics()
        assert (seen.depth[Priority.NORMAL], seen.running, seen.delayed, seen.failing) == (1, 2, 2, 1)
        assert (seen.longest_running, seen.unfinished, seen.adds, seen.retries) == (3, 4, 3, 1)
        queue.done(A)
        queue.done(B)
        assert queue.statistics().longest_running == 0

    run_in_virtual_time(main)


def test_an_event_overtakes_a_delayed_run() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add_after(A, 3600)
        queue.add(A)
        assert await queue.get() == A
        assert asyncio.get_running_loop().time() == 0
        queue.done(A)
        async with asyncio.timeout(10_000):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(5000):
                    await queue.get()

    run_in_virtual_time(main)


def test_of_two_delays_the_earlier_counts() -> None:
    async def main() -> None:
        queue = new_queue()
        queue.add_after(A, 50)
        queue.add_after(A, 10)
        queue.add_after(A, 90)
        await queue.get()
        assert asyncio.get_running_loop().time() == 10

    run_in_virtual_time(main)


def test_closing_ends_every_worker_and_drops_what_waits() -> None:
    async def main() -> None:
        queue = new_queue()
        workers = [asyncio.ensure_future(queue.get()) for _ in range(3)]
        await asyncio.sleep(0)
        queue.add_after(A, 5)
        queue.close()
        for worker in workers:
            with pytest.raises(QueueClosed):
                await worker
        queue.add(B)
        assert len(queue) == 0

    run_in_virtual_time(main)


def test_a_cancelled_worker_passes_its_wake_up_on() -> None:
    async def main() -> None:
        queue = new_queue()
        first = asyncio.ensure_future(queue.get())
        second = asyncio.ensure_future(queue.get())
        await asyncio.sleep(0)
        queue.add(A)
        first.cancel()
        assert await second == A
        assert first.cancelled()

    run_in_virtual_time(main)


def test_idle_waits_for_running_and_ready_ones_but_not_for_delayed_ones() -> None:
    async def main() -> None:
        queue = new_queue()
        await queue.idle()
        queue.add(A)
        queue.add_after(B, 1000)
        waiting = asyncio.ensure_future(queue.idle())
        await asyncio.sleep(1)
        assert not waiting.done()
        queue.done(await queue.get())
        await waiting
        assert asyncio.get_running_loop().time() < 2

    run_in_virtual_time(main)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(Priority), st.booleans()), max_size=60), st.integers(1, 4))
def test_every_added_request_runs_after_its_last_add_and_never_twice_at_a_time(
    adds: list[tuple[int, Priority, bool]], workers: int
) -> None:
    async def main() -> None:
        queue, running, last_run, last_add, step = (
            new_queue(),
            set[Request](),
            dict[Request, int](),
            dict[Request, int](),
            0,
        )

        async def work() -> None:
            nonlocal step
            while True:
                got = await queue.get()
                assert got not in running
                running.add(got)
                step += 1
                last_run[got] = step
                await asyncio.sleep(0.01)
                running.discard(got)
                queue.done(got)

        async with asyncio.TaskGroup() as tasks:
            started = [tasks.create_task(work()) for _ in range(workers)]
            for number, priority, pause in adds:
                step += 1
                last_add[request(str(number))] = step
                queue.add(request(str(number)), priority)
                if pause:
                    await asyncio.sleep(0.004)
            await queue.idle()
            for task in started:
                task.cancel()
        assert set(last_run) == set(last_add)
        assert all(last_run[key] > last_add[key] for key in last_add)

    run_in_virtual_time(main)
