"""`CountedThreads`: the threads that work for a loop in virtual time take turns with it, and are never at work beside it.

A thread runs from where the loop lets it to where it waits for the loop, by ``asyncio.run_coroutine_threadsafe(…).result()``,
or ends; the loop does nothing meanwhile, and its clock stands still. So what threads do is the same each time, too.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CountedThreads", "ThreadStuck", "waiting_result"]

_LIMIT = 60.0
"""Real seconds after which a thread that neither ends nor waits for the loop is an error."""

_mine = threading.local()
"""The `CountedThreads` that this thread is one of."""


class ThreadStuck(Exception):
    """A thread waits for something that is not the loop."""


@dataclass(eq=False)
class _Turn:
    """A thread's right to go on. ``pool`` names the executor of a thread that has yet to begin."""

    pool: Executor | None = None
    job: Future[Any] | None = None
    granted: threading.Event = field(default_factory=threading.Event)
    wanted: asyncio.Future[Any] | None = None
    """Who waits for the result on the loop."""
    void: bool = False
    """Nobody wants the result any more, or the loop has ended."""


class CountedThreads:
    """The loop's own methods are `submit` and `step`; all else goes on in the threads."""

    def __init__(self) -> None:
        self._ready: deque[_Turn] = deque()
        self._waiting: set[_Turn] = set()
        self._begun: Counter[Executor] = Counter()
        self._stopped = threading.Event()
        self._pool: ThreadPoolExecutor | None = None
        self.starting = False
        """Whether a thread that starts now is one of these."""

    def submit(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> tuple[Future[Any], _Turn]:
        """Has ``func`` run in a thread of ``executor``, when it is its turn."""
        if executor is None:
            executor = self._pool = self._pool or ThreadPoolExecutor(thread_name_prefix="virtual-time")
        turn = _Turn(executor)
        self.starting = True
        try:
            turn.job = executor.submit(self._run, turn, func, *args)
        finally:
            self.starting = False
        self._ready.append(turn)
        return turn.job, turn

    def step(self) -> bool:
        """Lets the next thread go on as far as it comes without the loop. False where none can."""
        turn = next((turn for turn in self._ready if self._can_go_on(turn)), None)
        if turn is None:
            return False
        self._ready.remove(turn)
        self._waiting.discard(turn)
        turn.void = turn.void or (turn.wanted is not None and turn.wanted.cancelled())
        if turn.void and turn.job is not None and turn.job.cancelled():
            return True
        if turn.pool is not None:
            self._begun[turn.pool] += 1
        self._stopped.clear()
        turn.granted.set()
        if not self._stopped.wait(_LIMIT):
            raise ThreadStuck
        return True

    def ended(self, turn: _Turn) -> None:
        """To be called when the job of ``turn`` is done and the loop knows."""
        if turn.granted.is_set() and turn.pool is not None:
            self._begun[turn.pool] -= 1
        self._stopped.set()

    def close(self) -> None:
        """Has every thread end where it is."""
        for turn in (*self._ready, *self._waiting):
            turn.void = True
            turn.granted.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def wait_for(self, future: Future[Any]) -> None:
        """In a thread: gives the loop its turn until ``future`` is done. Raises CancelledError where the loop ended."""
        turn = _Turn()
        self._waiting.add(turn)
        future.add_done_callback(lambda _: self._ready.append(turn))  # called by the loop, which settles the order
        self._stopped.set()
        turn.granted.wait()
        if turn.void:
            raise CancelledError("the loop that this thread works for has ended")

    def _can_go_on(self, turn: _Turn) -> bool:
        limit = getattr(turn.pool, "_max_workers", None)
        return turn.pool is None or turn.void or limit is None or self._begun[turn.pool] < limit

    def _run(self, turn: _Turn, func: Callable[..., Any], *args: Any) -> Any:
        turn.granted.wait()
        if turn.void:
            raise CancelledError
        _mine.threads = self
        try:
            return func(*args)
        finally:
            _mine.threads = None


def waiting_result(inner: Callable[..., Any]) -> Callable[..., Any]:
    """`Future.result`, which gives the loop its turn where a counted thread calls it; its time-out is the loop's matter."""

    def result(future: Future[Any], timeout: float | None = None) -> Any:
        threads: CountedThreads | None = getattr(_mine, "threads", None)
        if threads is None or future.done():
            return inner(future, timeout)
        threads.wait_for(future)
        return inner(future)

    return result
