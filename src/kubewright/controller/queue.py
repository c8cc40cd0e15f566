"""`WorkQueue`: which requests wait, in which order they run, and when a failed one runs again.

Guarantees
    A request waits at most once and is never handed to two workers at a time. Added while it runs, it waits again once
    `done` is called. A request of a lower band is overtaken for a bounded time only (ageing).

Assumptions
    One event loop; every `get` is followed by one `done`.
"""

from __future__ import annotations

import asyncio
import enum
import random
from collections import deque

from kubewright.controller.request import Request

__all__ = ["Backoff", "Priority", "QueueClosed", "WorkQueue"]


class Priority(enum.IntEnum):
    """Bands: somebody's edit, other events, and the initial list or a resync."""

    EDIT = 0
    NORMAL = 1
    BACKGROUND = 2


class Backoff:
    """Exponential delays: ``first``·2ⁿ seconds up to ``longest``, ±20 %."""

    def __init__(self, rng: random.Random, *, first: float = 0.005, longest: float = 1000.0) -> None:
        self._rng = rng
        self._first = first
        self._longest = longest

    def delay(self, failures: int) -> float:
        """Seconds to wait after that many failures in a row (at least one)."""
        exponential = self._first * 2.0 ** min(failures - 1, 64)
        return min(exponential, self._longest) * self._rng.uniform(0.8, 1.2)


class QueueClosed(Exception):
    """`WorkQueue.get` after `WorkQueue.close`."""


class WorkQueue:
    """Requests in three bands, with delayed adds and per-request back-off."""

    AGEING = 5.0
    """Seconds by which a band may overtake the next lower one."""

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self._bands: dict[Priority, deque[tuple[float, Request]]] = {band: deque() for band in Priority}
        self._waiting: dict[Request, Priority] = {}
        self._running: set[Request] = set()
        self._again: dict[Request, Priority] = {}
        self._delayed: dict[Request, asyncio.TimerHandle] = {}
        self._failures: dict[Request, int] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    def __len__(self) -> int:
        """Requests ready to run; neither those running nor those delayed."""
        return len(self._waiting)

    def add(self, request: Request, priority: Priority = Priority.NORMAL) -> None:
        """Has ``request`` run soon. Of several adds the highest priority counts; a delayed add is overtaken."""
        if self._closed:
            return
        if (timer := self._delayed.pop(request, None)) is not None:
            timer.cancel()
        self._idle.clear()
        if request in self._running:
            self._again[request] = min(priority, self._again.get(request, priority))
            return
        present = self._waiting.get(request)
        if present is not None and present <= priority:
            return
        self._waiting[request] = priority
        self._bands[priority].append((asyncio.get_running_loop().time(), request))
        self._wake()

    def add_after(self, request: Request, delay: float, priority: Priority = Priority.NORMAL) -> None:
        """Has ``request`` run ``delay`` seconds from now, unless it is asked for earlier."""
        if delay <= 0:
            self.add(request, priority)
            return
        if self._closed or request in self._waiting or request in self._again:
            return
        loop = asyncio.get_running_loop()
        when = loop.time() + delay
        timer = self._delayed.get(request)
        if timer is not None:
            if timer.when() <= when:
                return
            timer.cancel()
        self._delayed[request] = loop.call_at(when, self._due, request, priority)

    def retry(self, request: Request, priority: Priority = Priority.NORMAL) -> float:
        """Counts a failure and has ``request`` run after its back-off; returns the seconds."""
        self._failures[request] = self._failures.get(request, 0) + 1
        delay = self._backoff.delay(self._failures[request])
        self.add_after(request, delay, priority)
        return delay

    def forget(self, request: Request) -> None:
        """Resets the count of failures, after a run that went well."""
        self._failures.pop(request, None)

    def failures(self, request: Request) -> int:
        return self._failures.get(request, 0)

    @property
    def failing(self) -> tuple[Request, ...]:
        """Requests whose last run failed, or asked for another at once, in the order in which that began."""
        return tuple(self._failures)

    async def get(self) -> Request:
        """Waits for the next request. Raises `QueueClosed` once the queue is closed."""
        while not self._waiting and not self._closed:
            getter = asyncio.get_running_loop().create_future()
            self._getters.append(getter)
            try:
                await getter
            except asyncio.CancelledError:
                if getter.done() and not getter.cancelled():
                    self._wake()  # this worker was woken for a request that another one can take
                raise
            finally:
                if getter in self._getters:
                    self._getters.remove(getter)
        if self._closed:
            raise QueueClosed
        request = self._pop()
        self._running.add(request)
        return request

    def done(self, request: Request) -> None:
        """Ends the run that `get` started."""
        self._running.discard(request)
        priority = self._again.pop(request, None)
        if priority is not None:
            self.add(request, priority)
        if not self._running and not self._waiting:
            self._idle.set()

    async def idle(self) -> None:
        """Waits until nothing runs and nothing is ready to run; delayed requests don't count."""
        await self._idle.wait()

    def close(self) -> None:
        """Drops what waits and ends every `get`; requests that run are left to their workers."""
        self._closed = True
        for timer in self._delayed.values():
            timer.cancel()
        self._delayed.clear()
        self._waiting.clear()
        self._again.clear()
        for band in self._bands.values():
            band.clear()
        for getter in self._getters:
            if not getter.done():
                getter.set_result(None)
        if not self._running:
            self._idle.set()

    def _due(self, request: Request, priority: Priority) -> None:
        self._delayed.pop(request, None)
        self.add(request, priority)

    def _wake(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _pop(self) -> Request:
        """The head of the band that is due: a lower band's head counts as higher by each `AGEING` it has waited."""
        best: Priority | None = None
        best_score = 0.0
        for band, entries in self._bands.items():
            while entries and self._waiting.get(entries[0][1]) != band:
                entries.popleft()  # raised to another band since
            if entries:
                score = entries[0][0] + band * self.AGEING
                if best is None or score < best_score:
                    best, best_score = band, score
        if best is None:
            raise AssertionError("a waiting request is in no band")
        _, request = self._bands[best].popleft()
        del self._waiting[request]
        return request
