"""`ends_us`: what is no mere failure."""

from __future__ import annotations

import asyncio

__all__ = ["ends_us"]


def ends_us(error: BaseException) -> bool:
    """Whether ``error`` is to end the running task; else it is just a failure of what that has called.

    Ctrl-C is, and a cancellation that means us. One that comes from what we wait for is not, and a task that lets it
    pass ends in silence: a `TaskGroup` takes it for wanted.
    """
    if isinstance(error, BaseExceptionGroup):
        return _ends() or error.subgroup(KeyboardInterrupt) is not None
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return _ends()
    return isinstance(error, KeyboardInterrupt)


def _ends() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # the loop is gone, and what is left of its tasks is being closed
    return task is None or task.cancelling() > 0
