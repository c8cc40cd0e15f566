"""An event loop whose clock jumps: hours of timers pass in milliseconds, the same way every time.

Guarantees
    Callbacks run in the order of their virtual time and of their scheduling. Threads that work for the loop
    (`asyncio.to_thread`, `loop.run_in_executor`) take turns with it: while one runs, the clock stands still.

Assumptions
    Everything else runs on the loop: no sockets, no threads of one's own, no other processes. The in-process cluster is
    made for it. Two runs are alike as long as threads do not wait for each other: they take turns in the order of their
    calls, each until it has returned or has something for the loop.

Errors
    `StillWaiting` when nothing is left that could ever wake the loop, instead of hanging. `RealWait`, naming it, for what
    waits in real time: where it happens, and again when the loop ends, so that no ``except`` hides it.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from itertools import count
from typing import Any, TypeVar, TypeVarTuple

from kubewright.testing.counted_threads import CountedThreads, ThreadStuck
from kubewright.testing.real_waits import RealWait, refused

__all__ = ["StillWaiting", "VirtualTimeLoop", "run_in_virtual_time"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class StillWaiting(RuntimeError):
    """Every task waits for something that no timer and no ready callback will bring."""


class _Jump(selectors.BaseSelector):
    """Never blocks, unless a thread has its turn: asked to wait, it moves the loop's clock instead."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        if self._keys:  # the first is the loop's own, by which threads wake it
            wait = RealWait(f"waiting for {fileobj!r} on a loop in virtual time is waiting for a real file or socket")
            self._loop.note(wait)
            raise wait
        key = selectors.SelectorKey(fileobj, getattr(fileobj, "fileno", lambda: fileobj)(), events, data)
        self._keys[key.fd] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(getattr(fileobj, "fileno", lambda: fileobj)())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._loop.a_thread_went_on() or (timeout is not None and timeout <= 0):
            return []
        if timeout is None:
            raise StillWaiting("nothing can wake this loop: every task waits for a thread, a socket or another task")
        self._loop.pass_(timeout)
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._keys

    def close(self) -> None:
        self._keys.clear()


class _SequencedTask(asyncio.Task[Any]):
    """A task whose hash is its number, so that sets of tasks (TaskGroup has one) iterate the same way every time."""

    def __init__(self, number: int, *args: Any, **options: Any) -> None:
        self._number = number
        super().__init__(*args, **options)

    def __hash__(self) -> int:
        return self._number


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An asyncio loop in virtual time that starts at 0 s."""

    def __init__(self) -> None:
        self._now = 0.0
        self._real_waits: list[RealWait] = []
        self.threads = CountedThreads()
        super().__init__(_Jump(self))
        self._clock_resolution = 1e-9
        numbers = count()
        self.set_task_factory(lambda loop, coro, **options: _SequencedTask(next(numbers), coro, loop=loop, **options))

    def time(self) -> float:
        return self._now

    def pass_(self, seconds: float) -> None:
        self._now += seconds

    # what would wait in real time

    def note(self, wait: RealWait) -> None:
        """Has the loop end with this error, whatever becomes of it meanwhile."""
        self._real_waits.append(wait)

    def run_forever(self) -> None:
        with refused():
            super().run_forever()

    def run_until_complete(self, future: Any) -> Any:
        result = super().run_until_complete(future)
        if self._real_waits:
            raise self._real_waits.pop(0)
        return result

    async def getaddrinfo(self, host: Any, port: Any, **_options: Any) -> Any:
        wait = RealWait(f"asking for the address of {host}:{port} on a loop in virtual time is a real wait")
        self.note(wait)
        raise wait

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:  # noqa: ARG002 - as in asyncio
        wait = RealWait(f"connecting to {address} on a loop in virtual time is a real wait")
        self.note(wait)
        raise wait

    # threads that work for the loop

    def a_thread_went_on(self) -> bool:
        """Gives the next thread its turn, if one is due."""
        try:
            return self.threads.step()
        except ThreadStuck:
            wait = RealWait("a thread does not end, and waits for something that is not this loop: what is it?")
            self.note(wait)
            raise wait from None

    @property
    def starts_thread(self) -> bool:
        """Whether a thread that starts now is one that is counted."""
        return self.threads.starting

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        job, turn = self.threads.submit(executor, func, *args)
        future: asyncio.Future[T] = asyncio.wrap_future(job, loop=self)
        turn.wanted = future
        job.add_done_callback(lambda _: self.threads.ended(turn))  # after the one by which `future` hears of it
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ARG002 - as in asyncio
        self.threads.close()


def run_in_virtual_time(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs one coroutine function to its end on a new `VirtualTimeLoop`."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main())
