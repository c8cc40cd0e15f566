"""The queue beside a model of it that is too simple to be wrong, in virtual time."""

from __future__ import annotations

import asyncio
import random

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kubewright.controller import Priority, Request, WorkQueue
from kubewright.testing import VirtualTimeLoop

REQUESTS = [Request(None, "default", name) for name in "abcde"]
some_request = st.sampled_from(REQUESTS)
some_delay = st.integers(1, 40)


class QueueBesideItsModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.queue = WorkQueue(random.Random(1))
        self.waiting: dict[Request, tuple[Priority, float, float]] = {}
        """With the highest band asked for, since when, and since when in that band."""
        self.running: set[Request] = set()
        self.again: dict[Request, Priority] = {}
        self.timers: dict[Request, tuple[float, Priority]] = {}
        self.ran_in: dict[Request, Priority] = {}
        self.failures: dict[Request, int] = {}

    def teardown(self) -> None:
        self.loop.close()

    def now(self) -> float:
        return self.loop.time()

    def within(self, call: object, *args: object) -> object:
        async def inside() -> object:
            assert callable(call)
            return call(*args)

        return self.loop.run_until_complete(inside())

    def becomes_due(self, request: Request, priority: Priority) -> None:
        if request in self.running:
            self.again[request] = min(priority, self.again.get(request, priority))
        elif request in self.waiting:
            band, since, _ = self.waiting[request]
            if priority < band:
                self.waiting[request] = (priority, since, self.now())
        else:
            self.waiting[request] = (priority, self.now(), self.now())

    def asked_for_later(self, request: Request, when: float, priority: Priority) -> None:
        if request in self.waiting or request in self.again:
            return
        if request not in self.timers or self.timers[request][0] > when:
            self.timers[request] = (when, priority)

    @rule(request=some_request, priority=st.sampled_from(Priority))
    def add(self, request: Request, priority: Priority) -> None:
        self.within(self.queue.add, request, priority)
        self.timers.pop(request, None)
        self.becomes_due(request, priority)

    @rule(request=some_request, delay=some_delay, priority=st.sampled_from(Priority))
    def add_after(self, request: Request, delay: int, priority: Priority) -> None:
        self.asked_for_later(request, self.now() + delay, priority)
        self.within(self.queue.add_after, request, delay, priority)

    @precondition(lambda self: self.waiting)
    @rule()
    def get(self) -> None:
        request = self.loop.run_until_complete(self.queue.get())
        assert request not in self.running
        band, since, _ = self.waiting.pop(request)
        for other_band, other_since, in_band in self.waiting.values():
            assert since <= other_since + 2 * WorkQueue.AGEING + 0.01  # timers here are read a moment later
            assert not (other_band < band and in_band <= since), "a lower band went first without being older"
        self.running.add(request)
        self.ran_in[request] = band

    @precondition(lambda self: self.running)
    @rule(data=st.data(), failed=st.booleans())
    def done(self, data: st.DataObject, failed: bool) -> None:
        request = data.draw(st.sampled_from(sorted(self.running)))
        if failed:
            delay = self.within(self.queue.retry, request)
            assert isinstance(delay, float)
            self.failures[request] = self.failures.get(request, 0) + 1
            self.asked_for_later(request, self.now() + delay, max(Priority.NORMAL, self.ran_in[request]))
        else:
            self.within(self.queue.forget, request)
            self.failures.pop(request, None)
        self.within(self.queue.done, request)
        self.running.discard(request)
        if request in self.again:
            self.becomes_due(request, self.again.pop(request))

    @rule(seconds=st.integers(1, 30))
    def time_passes(self, seconds: int) -> None:
        until = self.now() + seconds + 0.001
        for request, (when, priority) in sorted(self.timers.items(), key=lambda timer: timer[1]):
            if when <= until:
                self.loop.run_until_complete(asyncio.sleep(max(0.0, when - self.now()) + 1e-6))
                del self.timers[request]
                self.becomes_due(request, priority)
        self.loop.run_until_complete(asyncio.sleep(max(0.0, until - self.now())))

    @invariant()
    def they_agree(self) -> None:
        seen = self.within(self.queue.statistics)
        assert len(self.queue) == len(self.waiting)
        assert (seen.running, seen.delayed) == (len(self.running), len(self.timers))  # type: ignore[attr-defined]  # it is one
        assert self.queue.failing == tuple(self.failures)

    @precondition(lambda self: not self.waiting and not self.running)
    @rule()
    def idle(self) -> None:
        self.loop.run_until_complete(asyncio.wait_for(self.queue.idle(), 1))


TestQueueBesideItsModel = QueueBesideItsModel.TestCase
