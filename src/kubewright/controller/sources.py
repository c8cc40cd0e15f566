"""Sources: what wakes a controller other than objects of the server.

A source is a function that is called with what it may know of the controller (`SourceContext`) and gives an async
iterator of what to reconcile. An ``async def`` function that yields is one; `every`, `cron` and `Channel` are others.
They stand among a controller's ``watches``.
"""

from __future__ import annotations

import asyncio
import math
import random
import threading
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Coroutine
from datetime import datetime
from typing import Protocol, TypeAlias

from msgspec import Struct

from kubewright.api import Clock, Resource
from kubewright.api.cancellation import ends_us, failure_of
from kubewright.controller.backoff import Backoff
from kubewright.controller.cron import Schedule
from kubewright.controller.queue import Priority
from kubewright.controller.request import Request
from kubewright.telemetry import Log, shown
from kubewright.telemetry.standard_logging import RUN_LOG

__all__ = ["Channel", "Source", "SourceContext", "SourceItem", "Wake", "cron", "every", "follow", "source_name"]

_PATIENCE = 60.0
"""Seconds that a schedule sleeps at a time: the machine's clock may be set meanwhile."""
_SLICE = 100
"""Items taken in one go."""


class Wake(Struct, frozen=True):
    """A request, and the band it waits in."""

    request: Request
    priority: Priority = Priority.NORMAL


SourceItem: TypeAlias = Request | Resource | Wake
"""What to reconcile: a request, an object of the controller's kind, or a request with a priority."""


class SourceContext(Struct, frozen=True, kw_only=True):
    """What a source may know of the controller that it wakes."""

    clock: Clock
    log: Log
    requests: Callable[[], list[Request]]
    """Every object of the controller's kind, as the cache has it now."""


class Source(Protocol):
    """Gives what to reconcile, for as long as the controller runs.

    A source that ends is done; one that fails is logged, and called anew after a growing delay. What it gave while
    nobody listened is its own to remember.
    """

    def __call__(self, around: SourceContext, /) -> AsyncIterator[SourceItem]: ...


class Channel:
    """A source that code elsewhere in the process feeds: a webhook, a message queue's client, another controller.

    Guarantees: every controller that has it among its watches hears of every `send`; what is sent before any of them
    runs waits for the first. A request waits once, however often it is sent.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inboxes: list[_Inbox] = []
        self._early = dict[Request, Priority]()

    def send(self, what: Request | Resource, priority: Priority = Priority.NORMAL) -> None:
        """Wakes ``what``: a request, or an object of the controller's kind. Never waits; any thread may call it."""
        request = Request.of(what) if isinstance(what, Resource) else what
        if not isinstance(request, Request):
            raise TypeError(f"Channel.send({shown(what)}): send a Request, or an object of the controller's kind")
        with self._lock:
            if not self._inboxes:
                _keep(self._early, request, priority)
            for inbox in self._inboxes:
                inbox.put(request, priority)

    async def __call__(self, around: SourceContext, /) -> AsyncIterator[SourceItem]:  # noqa: ARG002 - a source's signature
        inbox = _Inbox()
        with self._lock:
            inbox.waiting, self._early = self._early, {}
            self._inboxes.append(inbox)
        try:
            while True:
                request, priority = await inbox.next()
                yield Wake(request, priority)
        finally:
            with self._lock:
                self._inboxes.remove(inbox)


class _Inbox:
    """What one controller has yet to hear of a channel."""

    def __init__(self) -> None:
        self.waiting = dict[Request, Priority]()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._filled = asyncio.Event()

    def put(self, request: Request, priority: Priority) -> None:
        if threading.get_ident() == self._thread:
            self._take(request, priority)
        else:
            self._loop.call_soon_threadsafe(self._take, request, priority)

    def _take(self, request: Request, priority: Priority) -> None:
        _keep(self.waiting, request, priority)
        self._filled.set()

    async def next(self) -> tuple[Request, Priority]:
        while not self.waiting:
            self._filled.clear()
            await self._filled.wait()
        request = next(iter(self.waiting))
        return request, self.waiting.pop(request)


def _keep(waiting: dict[Request, Priority], request: Request, priority: Priority) -> None:
    waiting[request] = min(priority, waiting.get(request, priority))


def every(seconds: float, *, request: Request | None = None) -> Source:
    """Wakes every object of the controller's kind, or ``request`` alone, each time ``seconds`` have passed.

    The first time is ``seconds`` after the start, since the start itself wakes them all. What a busy process misses is
    made up for once, not as often as it was missed. Raises ValueError for less than a millisecond.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"every({seconds!r}): give seconds as a number")
    if not (math.isfinite(seconds) and seconds >= 0.001):
        raise ValueError(f"every({seconds!r}): give 0.001 or more seconds")

    async def source(around: SourceContext) -> AsyncIterator[SourceItem]:
        start, turns = around.clock.monotonic(), 0
        while True:
            passed = around.clock.monotonic() - start
            turns = max(turns + 1, math.floor(passed / seconds))
            await asyncio.sleep(start + turns * seconds - around.clock.monotonic())
            for wake in _due(around, request):
                yield wake

    return source


def cron(schedule: str, *, zone: str | None = None, request: Request | None = None) -> Source:
    """Wakes every object of the controller's kind, or ``request`` alone, at the times of a cron schedule.

    ``schedule`` is ``"*/5 * * * *"`` (minute, hour, day of month, month, day of week) or ``"@daily"``; ``zone`` a time
    zone such as ``Europe/Berlin``, default UTC. A time that passes while the process does not run is not made up for.
    Raises ValueError for what is no schedule, or one that never comes.
    """
    times = Schedule.parse(schedule, zone=zone)

    async def source(around: SourceContext) -> AsyncIterator[SourceItem]:
        last = around.clock.now()
        while (due := times.after(last)) is not None:
            await _sleep_until(due, around.clock)
            last = max(due, around.clock.now())
            for wake in _due(around, request):
                yield wake

    return source


async def _sleep_until(due: datetime, clock: Clock) -> None:
    while True:
        left = (due - clock.now()).total_seconds()
        if left <= 0:
            return
        await asyncio.sleep(min(left, _PATIENCE))


def _due(around: SourceContext, request: Request | None) -> list[Wake]:
    if request is not None:
        return [Wake(request)]
    return [Wake(each, Priority.BACKGROUND) for each in around.requests()]


async def follow(source: Source, around: SourceContext, wake: Callable[[object], None], *, rng: random.Random) -> None:
    """Hands what ``source`` gives to ``wake`` until it ends; one that fails is called anew."""
    backoff, failures = Backoff(first=0.5, longest=60), 0

    def took(item: object) -> None:
        nonlocal failures
        failures = 0
        wake(item)

    RUN_LOG.set(around.log)

    async def take_all() -> None:
        await _take_all(_iterator(source, around), took)

    while (error := await failure_of(take_all)) is not None:
        if ends_us(error):
            raise error
        failures += 1  # the next attempt may go well; nothing else depends on it
        delay = backoff.delay(failures, rng)
        around.log.exception("a source failed", source=source_name(source), retry_in=round(delay, 3), exc_info=error)
        await asyncio.sleep(delay)
    around.log.info("a source ended", source=source_name(source))


def _iterator(source: Source, around: SourceContext) -> AsyncIterable[SourceItem]:
    items: object = source(around)
    if not isinstance(items, AsyncIterable):
        if isinstance(items, Coroutine):
            items.close()
        raise TypeError(
            f"{source_name(source)} gave {shown(items)}: a source gives an async iterator, as an `async def` function that "
            "yields does"
        )
    return items


async def _take_all(items: AsyncIterable[SourceItem], took: Callable[[object], None]) -> None:
    taken = 0
    try:
        async for item in items:
            took(item)
            taken += 1
            if taken % _SLICE == 0:
                await asyncio.sleep(0)  # a source that always has more must not keep all else from running
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def source_name(source: object) -> str:
    return getattr(source, "__qualname__", type(source).__qualname__)
