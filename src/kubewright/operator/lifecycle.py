"""`Lifecycle`: the parts of a process, started in order and stopped in reverse.

Guarantees
    A part that fails to start, or ends by itself, is named, and what was started before it is stopped. Closing takes no
    longer than the drains' common bound and `LAST_SECONDS` for each part after that, whatever the parts do. No task is
    left behind, except of a part that refuses to end, which is named in `abandoned` and in the log.

Assumptions
    All methods are called by one task, which is the owner of every part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

from kubewright.api.cancellation import ends_us
from kubewright.controller.failures import as_failure
from kubewright.telemetry import Log, said

__all__ = ["LAST_SECONDS", "Lifecycle", "StartFailed"]

LAST_SECONDS = 1.0
"""What a part that was cancelled is given to end."""

Drain: TypeAlias = Callable[[], Awaitable[None]]
"""Has a part end well, and waits for it; cancelled when the time is up. It must not raise."""


class StartFailed(Exception):
    """A part could not start; the message names it and says why."""


class _Part:
    """Tasks that run until they are ended."""

    def __init__(self, name: str, tasks: tuple[asyncio.Task[None], ...], drain: Drain | None) -> None:
        self.name = name
        self.tasks = tasks
        self.drain = drain


class Lifecycle:
    """The parts that run, in the order in which they were started; see the module."""

    def __init__(self, *, stop_within: float, log: Log) -> None:
        """``stop_within``: seconds that all parts together have to end well, from the begin of `close`."""
        self._stop_within = stop_within
        self._log = log
        self._parts: list[_Part] = []
        self._interrupted = False
        self._may_end: set[asyncio.Task[None]] = set()
        self._dead: asyncio.Task[None] | None = None
        self.abandoned: list[str] = []
        """Tasks that did not end when they were cancelled."""

    # starting

    async def enter(
        self, name: str, part: AbstractAsyncContextManager[object], *, unless: Iterable[asyncio.Event]
    ) -> None:
        """Starts something that is there once it was entered; it is entered and left in one task.

        It is given up, and ended, as soon as one of ``unless`` is set, or another part dies, which is raised as by
        `until`. Raises `StartFailed`.
        """
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(_held(part, entered, leave), name=name)

        async def drain() -> None:
            leave.set()
            await asyncio.wait([task])

        held = _Part(name, (task,), drain)
        self._parts.append(held)
        try:
            await self.until(entered.wait(), *(event.wait() for event in unless))
        except Exception as error:
            if self._dead is not task:
                raise
            raise StartFailed(f"{name} did not start: {_why(error)}") from error
        finally:
            if not entered.is_set():
                self._parts.remove(held)
                await self._end(held)

    def run(
        self,
        name: str,
        work: Mapping[str, Coroutine[Any, Any, None]],
        *,
        drain: Drain | None = None,
        stop_last: bool = False,
        may_end: bool = False,
    ) -> None:
        """Starts tasks, by their names, that work until they are cancelled, or until ``drain`` had them end."""
        tasks = tuple(asyncio.create_task(coroutine, name=task) for task, coroutine in work.items())
        if may_end:
            self._may_end.update(tasks)
        self._parts.insert(0 if stop_last else len(self._parts), _Part(name, tasks, drain))

    async def until(self, *conditions: Coroutine[Any, Any, object]) -> None:
        """Waits for the first of ``conditions``. Raises what a part died of; RuntimeError where one just ended."""
        waiters = {asyncio.create_task(condition, name="waiting for a condition") for condition in conditions}
        try:
            while not any(waiter.done() for waiter in waiters):
                tasks = [task for part in self._parts for task in part.tasks]
                for task in tasks:
                    if task.done():
                        self._check(task)
                await asyncio.wait(
                    {*waiters, *(task for task in tasks if not task.done())}, return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            for waiter in waiters:
                waiter.cancel()

    def _check(self, task: asyncio.Task[None]) -> None:
        """Raises where it ended and should not have."""
        self._dead = task
        try:
            task.result()
        except asyncio.CancelledError as error:  # by its own doing, as nothing is being stopped yet
            raise as_failure(error) from error
        if task not in self._may_end:
            raise RuntimeError(f"{task.get_name()} ended, which it should not")

    # stopping

    async def close(self, *, drain: bool = True) -> None:
        """Stops everything, the last first. Cancelled meanwhile, it drains no more and goes on to the end; then it raises."""
        deadline = _now() + self._stop_within
        while self._parts:
            part = self._parts.pop()
            if drain and part.drain is not None and not self._interrupted:
                await self._drain(part, part.drain, deadline)
            await self._end(part)
        if self._interrupted:
            raise asyncio.CancelledError

    async def _drain(self, part: _Part, drain: Drain, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(max(deadline, _now() + LAST_SECONDS)):
                await drain()
        except TimeoutError:
            self._log.warning("did not end in time and is cancelled", part=part.name, seconds=self._stop_within)
        except asyncio.CancelledError:
            self._interrupted = True

    async def _end(self, part: _Part) -> None:
        for task in part.tasks:
            task.cancel()
        deadline = _now() + LAST_SECONDS
        while (left := [task for task in part.tasks if not task.done()]) and _now() < deadline:
            try:
                await asyncio.wait(left, timeout=deadline - _now())
            except asyncio.CancelledError:
                self._interrupted = True
        for task in part.tasks:
            if not task.done():
                self.abandoned.append(task.get_name())
                self._log.error("does not end and is left behind", part=part.name, task=task.get_name())
            elif not task.cancelled() and task is not self._dead and (error := task.exception()) is not None:
                self._log.error(
                    "failed while stopping",
                    part=part.name,
                    task=task.get_name(),
                    error=f"{type(error).__name__}: {error}",
                )


async def _held(part: AbstractAsyncContextManager[object], entered: asyncio.Event, leave: asyncio.Event) -> None:
    try:
        async with part:
            entered.set()
            await leave.wait()
    except BaseException as error:
        if ends_us(error):
            raise
        raise as_failure(error) from error


def _why(error: Exception) -> str:
    """What task groups wrap is what went wrong; an error that says nothing has at least a name."""
    if isinstance(error, ExceptionGroup):
        return "; ".join(map(_why, error.exceptions))
    return said(error) or type(error).__name__


def _now() -> float:
    return asyncio.get_running_loop().time()
