"""Time as a parameter: nothing in Kubewright asks the operating system what time it is, except `SystemClock`."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

__all__ = ["Clock", "LoopClock", "SystemClock"]

_BOOT_TIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)
"""Linux only; elsewhere `time.monotonic` is the best there is."""


class Clock(Protocol):
    """Wall time for what is written into objects, monotonic seconds for everything that is measured."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """The machine's clocks. The monotonic one counts the time in which the machine was suspended, where it can."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic() if _BOOT_TIME is None else time.clock_gettime(_BOOT_TIME)


class LoopClock:
    """Both times from the running event loop's clock, so that a loop with a virtual clock moves them together."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.start = start

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()
