"""`CountedThreads`: the threads that work for a loop in virtual time, whose clock stands still meanwhile.

A thread that waits for the loop, by ``asyncio.run_coroutine_threadsafe(…).result()``, does not work: time passes for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["CountedThreads", "waiting_result"]

T = TypeVar("T")

_mine = threading.local()
"""The `CountedThreads` that this thread is one of."""


class CountedThreads:
    """How many threads are at work. ``changed`` is called, from any thread, when one has ended or begun to wait."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self.at_work = 0
        self.starting = False
        """Whether a thread that starts now is one of these."""

    @property
    def pool(self) -> ThreadPoolExecutor:
        self._pool = self._pool or ThreadPoolExecutor(thread_name_prefix="virtual-time")
        return self._pool

    def close(self) -> None:
        """Waits until those at work have ended."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def begin(self) -> None:
        with self._lock:
            self.at_work += 1

    def end(self) -> None:
        with self._lock:
            self.at_work -= 1
        self._changed()

    def run(self, func: Callable[..., T], *args: Any) -> T:
        """Runs ``func`` in this thread as one of these."""
        _mine.threads = self
        try:
            return func(*args)
        finally:
            _mine.threads = None


def waiting_result(inner: Callable[..., Any]) -> Callable[..., Any]:
    """`Future.result`, in which a counted thread does not count as at work."""

    def result(future: Future[Any], timeout: float | None = None) -> Any:
        threads: CountedThreads | None = getattr(_mine, "threads", None)
        if threads is None or future.done():
            return inner(future, timeout)
        resumed = threading.Lock()  # taken by whoever counts the thread again, which is to happen once

        def resume(_: object = None) -> None:
            if resumed.acquire(blocking=False):
                threads.begin()

        threads.end()
        future.add_done_callback(resume)  # within the loop's step that brings the result: no time can pass in between
        try:
            return inner(future, timeout)
        finally:
            resume()

    return result
