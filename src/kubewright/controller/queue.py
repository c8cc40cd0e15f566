"""`WorkQueue`: which requests wait, in which order they run, and when a failed one runs again.

Guarantees
    A request waits at most once and is never handed to two workers at a time. Added while it runs, it waits again once
    `done` is called. A request of a lower band is overtaken for a bounded time only (ageing), and asking for it again
    never makes it wait longer.

Assumptions
    One event loop; every `get` is followed by one `done`.
"""

from __future__ import annotations

import asyncio
import enum
import random
from collections import Counter, deque
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from kubewright.controller.backoff import Backoff
from kubewright.controller.request import Request
from kubewright.telemetry import Histogram

__all__ = ["Priority", "QueueClosed", "QueueStatistics", "QueueTimes", "WorkQueue"]


class Priority(enum.IntEnum):
    """Bands: somebody's edit, other events, and the initial list or a resync."""

    EDIT = 0
    NORMAL = 1
    BACKGROUND = 2


class QueueClosed(Exception):
    """`WorkQueue.get` after `WorkQueue.close`."""


class QueueStatistics(Struct, frozen=True, kw_only=True):
    """What a queue can say of itself at one moment, for metrics."""

    depth: dict[Priority, int]
    """Requests ready to run, by band."""
    running: int
    delayed: int
    """Requests that wait for a time: retries, and runs that were asked for later."""
    failing: int
    adds: int
    """Requests that were made ready, since the start; one that was ready already does not count."""
    retries: int
    longest_running: float
    """Seconds since the oldest run in flight began; 0 without any."""
    unfinished: float
    """Seconds that the runs in flight have taken so far, together."""


class QueueTimes(NamedTuple):
    """Where a queue tells how long each request waited, and how long its worker was at it, in seconds."""

    waited: Histogram
    worked: Histogram


class _Item(Struct, eq=False, gc=False):
    """A request that the queue has something to do with. Its timer, which knows it, is always let go of."""

    request: Request
    waiting: bool = False
    running: bool = False
    band: Priority = Priority.NORMAL
    since: float = 0.0
    started: float = 0.0
    ticket: int = 0
    again: Priority | None = None
    asked: int = 0
    """How often it was asked for since its run began."""
    timer: asyncio.TimerHandle | None = None


_Place: TypeAlias = tuple[float, int, _Item]
"""Since when an item waits, its ticket, and the item: a place in a band is void once the ticket is another."""


class WorkQueue:
    """Requests in three bands, with delayed adds and per-request back-off."""

    AGEING = 5.0
    """Seconds by which a band may overtake the next lower one."""

    def __init__(self, rng: random.Random, *, backoff: Backoff | None = None, times: QueueTimes | None = None) -> None:
        self._rng = rng
        self._times = times
        self._backoff = backoff or Backoff()
        self._items: dict[Request, _Item] = {}
        self._edits: deque[_Place] = deque()
        self._normal: deque[_Place] = deque()
        self._background: deque[_Place] = deque()
        self._bands = (self._edits, self._normal, self._background)
        self._ready = 0
        self._running: set[_Item] = set()
        self._delayed = 0
        self._failures: dict[Request, int] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._idlers: list[asyncio.Future[None]] = []
        self._closed = False
        self._adds = 0
        self._retries = 0

    def __len__(self) -> int:
        """Requests ready to run; neither those running nor those delayed."""
        return self._ready

    # asking for runs

    def add(self, request: Request, priority: Priority = Priority.NORMAL) -> None:
        """Has ``request`` run soon. Of several adds the highest priority counts; a delayed add is overtaken."""
        if self._closed:
            return
        item = self._items.get(request)
        if item is None:
            item = self._items[request] = _Item(request)
        elif item.timer is not None:
            self._cancel_timer(item)
        if item.running:
            self._ask_again(item, priority)
        else:
            self._make_ready(item, priority)

    def add_after(self, request: Request, delay: float, priority: Priority = Priority.NORMAL) -> None:
        """Has ``request`` run ``delay`` seconds from now, unless it is asked for earlier."""
        if delay <= 0:
            self.add(request, priority)
            return
        if self._closed:
            return
        item = self._items.get(request)
        if item is None:
            item = self._items[request] = _Item(request)
        elif item.waiting or item.again is not None:
            return
        loop = asyncio.get_running_loop()
        when = loop.time() + delay
        if item.timer is not None:
            if item.timer.when() <= when:
                return
            self._cancel_timer(item)
        item.timer = loop.call_at(when, self._due, item, priority)
        self._delayed += 1

    def retry(self, request: Request) -> float:
        """Counts a failure and has ``request`` run after its back-off; returns the seconds.

        It then waits among normal ones, or in the background where it ran in the background.
        """
        self._retries += 1
        failures = self._failures[request] = self._failures.get(request, 0) + 1
        delay = self._backoff.delay(failures, self._rng)
        item = self._items.get(request)
        self.add_after(request, delay, Priority.NORMAL if item is None else max(Priority.NORMAL, item.band))
        return delay

    def take_back(self, request: Request, times: int) -> bool:
        """Has a running request not run again at once, if it was asked for just so many ``times`` since its run began."""
        item = self._items.get(request)
        if item is None or item.again is None or item.asked != times:
            return False
        item.again = None
        return True

    def forget(self, request: Request) -> None:
        """Resets the count of failures, after a run that went well or an edit that may have mended the cause."""
        if self._failures:
            self._failures.pop(request, None)

    def failures(self, request: Request) -> int:
        return self._failures.get(request, 0) if self._failures else 0

    @property
    def failing(self) -> tuple[Request, ...]:
        """Requests whose last run failed, or asked for another at once, in the order in which that began."""
        return tuple(self._failures)

    # running them

    async def get(self) -> Request:
        """Waits for the next request. Raises `QueueClosed` once the queue is closed."""
        while not self._ready and not self._closed:
            await self._woken()
        if self._closed:
            raise QueueClosed
        item = self._next()
        item.waiting = False
        item.running = True
        item.asked = 0
        item.ticket += 1
        item.started = asyncio.get_running_loop().time()
        self._ready -= 1
        self._running.add(item)
        if self._times is not None:
            self._times.waited.observe(item.started - item.since)
        return item.request

    def done(self, request: Request) -> None:
        """Ends the run that `get` started."""
        item = self._items[request]
        item.running = False
        self._running.discard(item)
        if self._times is not None:
            self._times.worked.observe(asyncio.get_running_loop().time() - item.started)
        again = item.again
        if again is not None:
            item.again = None
            self._make_ready(item, again)
        elif item.timer is None:
            del self._items[request]
        if self._idlers and not self._running and not self._ready:
            self._tell_idlers()

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs and nothing is ready to run; delayed requests don't count."""
        return not self._running and not self._ready

    async def idle(self) -> None:
        """Waits until nothing runs and nothing is ready to run; delayed requests don't count."""
        while self._running or self._ready:
            idler = asyncio.get_running_loop().create_future()
            self._idlers.append(idler)
            await idler

    def close(self) -> None:
        """Drops what waits and ends every `get`; requests that run are left to their workers."""
        self._closed = True
        for item in tuple(self._items.values()):
            if item.timer is not None:
                self._cancel_timer(item)
            item.waiting = False
            item.again = None
            if not item.running:
                del self._items[item.request]
        for band in self._bands:
            band.clear()
        self._ready = 0
        for getter in self._getters:
            if not getter.done():
                getter.set_result(None)
        if not self._running:
            self._tell_idlers()

    @property
    def closed(self) -> bool:
        return self._closed

    def statistics(self) -> QueueStatistics:
        now = asyncio.get_running_loop().time()
        ages = [now - item.started for item in self._running]
        waiting = Counter(item.band for item in self._items.values() if item.waiting)
        return QueueStatistics(
            depth={band: waiting[band] for band in Priority},
            running=len(ages),
            delayed=self._delayed,
            failing=len(self._failures),
            adds=self._adds,
            retries=self._retries,
            longest_running=max(ages, default=0.0),
            unfinished=sum(ages),
        )

    # bookkeeping

    def _make_ready(self, item: _Item, priority: Priority) -> None:
        if item.waiting:
            if item.band <= priority:
                return
            # its place in the lower band stays good: it may come up sooner there
        else:
            item.waiting = True
            item.since = asyncio.get_running_loop().time()
            self._ready += 1
            self._adds += 1
        item.band = priority
        self._bands[priority].append((item.since, item.ticket, item))
        if self._getters:
            self._wake()

    def _next(self) -> _Item:
        """The head of the band that is due: a lower band's head counts as higher by each `AGEING` it has waited."""
        best: deque[_Place] | None = None
        best_score = handicap = 0.0
        for places in self._bands:
            while places and places[0][2].ticket != places[0][1]:
                places.popleft()  # it ran from its place in another band
            if places and (best is None or places[0][0] + handicap < best_score):
                best, best_score = places, places[0][0] + handicap
            handicap += self.AGEING
        if best is None:
            raise AssertionError("a waiting request is in no band")
        return best.popleft()[2]

    def _due(self, item: _Item, priority: Priority) -> None:
        item.timer = None
        self._delayed -= 1
        if item.running:
            self._ask_again(item, priority)
        else:
            self._make_ready(item, priority)

    def _ask_again(self, item: _Item, priority: Priority) -> None:
        item.asked += 1
        if item.again is None or priority < item.again:
            item.again = priority

    def _cancel_timer(self, item: _Item) -> None:
        if item.timer is not None:
            item.timer.cancel()
            item.timer = None
            self._delayed -= 1

    async def _woken(self) -> None:
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

    def _wake(self) -> None:
        while self._getters:
            getter = self._getters.popleft()
            if not getter.done():
                getter.set_result(None)
                return

    def _tell_idlers(self) -> None:
        for idler in self._idlers:
            if not idler.done():
                idler.set_result(None)
        self._idlers.clear()
