"""What this process costs: memory, processor time, pauses of its event loop."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

__all__ = ["Pauses", "collected", "collection", "resident"]

_PROBE = 0.001


def resident(*, peak: bool = False) -> int:
    """Bytes in memory, now or at most so far."""
    key = "VmHWM:" if peak else "VmRSS:"
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def collected() -> int:
    """Bytes in memory after a full collection, and after what is free was given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return resident()


def collection() -> float:
    """Milliseconds of one full collection."""
    begin = time.perf_counter()
    gc.collect()
    return (time.perf_counter() - begin) * 1000


class Pauses:
    """How long the event loop kept others waiting, in milliseconds."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.worked = 0.0
        """The longest as this process's processor time: without what other processes took meanwhile."""

    def forget(self) -> None:
        self.longest = self.worked = 0.0

    async def run(self) -> None:
        while True:
            begin, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_PROBE)
            self.longest = max(self.longest, (time.perf_counter() - begin - _PROBE) * 1000)
            self.worked = max(self.worked, (time.thread_time() - used) * 1000)

    @classmethod
    @asynccontextmanager
    async def watched(cls) -> AsyncIterator[Pauses]:
        pauses = cls()
        task = asyncio.create_task(pauses.run())
        try:
            await asyncio.sleep(_PROBE * 5)
            pauses.forget()
            yield pauses
            await asyncio.sleep(_PROBE * 5)
        finally:
            task.cancel()
