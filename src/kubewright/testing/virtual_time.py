"""An event loop whose clock jumps: hours of timers pass in milliseconds, the same way every time.

Assumptions
    Everything runs on the loop: no sockets, no threads, no other processes. The in-process cluster is made for it.

Errors
    `StillWaiting` when nothing is left that could ever wake the loop, instead of hanging.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from itertools import count
from typing import Any, TypeVar

__all__ = ["StillWaiting", "VirtualTimeLoop", "run_in_virtual_time"]

T = TypeVar("T")


class StillWaiting(RuntimeError):
    """Every task waits for something that no timer and no ready callback will bring."""


class _Jump(selectors.BaseSelector):
    """Never blocks: asked to wait, it moves the loop's clock instead."""

    def __init__(self, advance: Callable[[float], None]) -> None:
        self._advance = advance
        self._keys: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        key = selectors.SelectorKey(fileobj, getattr(fileobj, "fileno", lambda: fileobj)(), events, data)
        self._keys[key.fd] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(getattr(fileobj, "fileno", lambda: fileobj)())

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise StillWaiting("nothing can wake this loop: every task waits for a thread, a socket or another task")
        if timeout > 0:
            self._advance(timeout)
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
        super().__init__(_Jump(self._advance))
        self._clock_resolution = 1e-9
        numbers = count()
        self.set_task_factory(lambda loop, coro, **options: _SequencedTask(next(numbers), coro, loop=loop, **options))

    def time(self) -> float:
        return self._now

    def _advance(self, seconds: float) -> None:
        self._now += seconds


def run_in_virtual_time(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs one coroutine function to its end on a new `VirtualTimeLoop`."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main())
