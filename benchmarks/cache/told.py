"""`Told`: counts what a client's handler is called with, and stops the time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

__all__ = ["Told"]


class Told:
    """What the handler of a client calls, once for each object and each change, from whatever thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()
        self._count = self._expected = 0
        self._timed = False
        self._delays: list[int] = []
        self._first = self._last = 0

    def expect(self, count: int, *, timed: bool = False) -> None:
        """Begins anew. ``timed``: with how long each took from being sent."""
        self._done.clear()
        self._delays = []
        self._timed = timed
        self._count, self._expected = 0, count

    def __call__(self, sent: Callable[[], str]) -> None:
        """``sent`` reads the moment of sending from the object, after the clock was read."""
        now = time.time_ns()
        self._count += 1
        if self._count == 1:
            self._first = now
        if self._timed:
            self._delays.append(now - int(sent()))
        if self._count == self._expected:
            self._last = now
            self._loop.call_soon_threadsafe(self._done.set)

    async def all(self) -> None:
        """Waits until all that is expected has come."""
        await self._done.wait()

    @property
    def seconds(self) -> float:
        """From the first to the last."""
        return (self._last - self._first) / 1e9

    def delay(self, share: float) -> float:
        """Milliseconds within which that share of them came."""
        ordered = sorted(self._delays)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6
