"""`contain_exits`: a task that a run starts may ask for the process to exit; that fails the run and ends nothing else.

asyncio raises what such a task raised out of the event loop itself, past whoever waits for the task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from kubewright.controller.failures import as_failure
from kubewright.telemetry.standard_logging import RUN_LOG

__all__ = ["contain_exits"]

T = TypeVar("T")


def contain_exits(loop: asyncio.AbstractEventLoop) -> None:
    """For a loop that is an operator's alone: it sets the loop's task factory."""
    loop.set_task_factory(_task)


def _task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    if RUN_LOG.get() is not None and isinstance(work, Coroutine):
        work = _Contained(work)
    return asyncio.Task(work, loop=loop, **options)


class _Contained(Coroutine[Any, Any, T]):
    """A coroutine that raises RuntimeError for SystemExit."""

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine

    def __getattr__(self, name: str) -> Any:
        """For those who show tasks."""
        return getattr(self._coroutine, name)

    def __await__(self) -> Generator[Any, Any, T]:
        return (yield from self._coroutine.__await__())

    def send(self, value: Any, /) -> Any:
        try:
            return self._coroutine.send(value)
        except SystemExit as error:
            raise as_failure(error) from error

    def throw(self, *error: Any) -> Any:
        try:
            return self._coroutine.throw(*error)
        except SystemExit as exit_:
            raise as_failure(exit_) from exit_

    def close(self) -> None:
        self._coroutine.close()
