"""`Handled`: what a contestant calls for every object that it is done with; stops the time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["READY", "Handled", "Pace"]

READY = "Ready"
"""The phase that all contestants write."""


class Pace(NamedTuple):
    """From the first to the last: how many a second, and microseconds of this process' processor time for each."""

    per_second: float
    cpu: float


class Handled:
    def __init__(self) -> None:
        self._done = asyncio.Event()
        self._count = self._expected = 0
        self._first = self._last = 0.0
        self._used = self._used_first = 0.0
        self._delays: list[int] = []

    def expect(self, count: int) -> None:
        """Begins anew."""
        self._done.clear()
        self._delays = []
        self._count, self._expected = 0, count

    def began(self) -> None:
        """The work on an object begins; the first time counts."""
        if not self._count and not self._first:
            self._first, self._used_first = time.perf_counter(), time.process_time()

    def __call__(self) -> None:
        """One more is done."""
        self._count += 1
        if self._count == self._expected:
            self._last, self._used = time.perf_counter(), time.process_time()
            self._done.set()

    def delayed(self, sent: Callable[[], str]) -> None:
        """One more is done; ``sent`` reads the moment of its event from the object, after the clock was read."""
        self._delays.append(time.time_ns() - int(sent()))
        self()

    async def all(self) -> None:
        """Waits until all that is expected has come."""
        await self._done.wait()

    @property
    def pace(self) -> Pace:
        return Pace(self._expected / (self._last - self._first), (self._used - self._used_first) / self._expected * 1e6)

    def delay(self, share: float) -> float:
        """Milliseconds within which that share of them came."""
        ordered = sorted(self._delays)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6
