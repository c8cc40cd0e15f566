"""Which error, and which cancellation, means the running task itself.

Python before 3.13 counts a task as cancelled for good in which a `TaskGroup` failed while it was being left, so that what is
cancelled in it later, and every `asyncio.timeout`, seems to mean the task (https://github.com/python/cpython/issues/133747).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["called_apart", "ends_us", "failure_of", "forget_cancellation"]

T = TypeVar("T")

_GROUPS_LEAVE_US_CANCELLED = sys.version_info < (3, 13)


def ends_us(error: BaseException, *, could_be: Callable[[], bool] | None = None) -> bool:
    """Whether ``error`` is to end the running task; else it is just a failure of what that has called.

    Ctrl-C is, and a cancellation that means us. One that comes from what we wait for is not, and a task that lets it
    pass ends in silence: a `TaskGroup` takes it for wanted. ``could_be`` is asked where the task looks cancelled: whether
    anybody can have done that.
    """
    if isinstance(error, Exception):
        return False
    if isinstance(error, BaseExceptionGroup):
        cancelled = error.subgroup((asyncio.CancelledError, GeneratorExit)) is not None
        return error.subgroup(KeyboardInterrupt) is not None or (cancelled and _ends(could_be))
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return _ends(could_be)
    return isinstance(error, KeyboardInterrupt)


def forget_cancellation() -> None:
    """To be called when what we have called is over and did not end us, before we call anything else."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


async def failure_of(work: Callable[[], Awaitable[object]]) -> BaseException | None:
    """What ``work`` raised, called in a task of its own, so that it can't make this one look cancelled.

    The answer is to be given to `ends_us`: a cancellation of this task ends ``work``.
    """

    async def attempt() -> BaseException | None:
        try:
            await work()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return None

    return await asyncio.create_task(attempt(), name="of its own")


async def called_apart(work: Callable[[], Awaitable[T]]) -> T:
    """What ``work`` gives, without making this task look cancelled, so that `ends_us` can tell of what it raises."""
    if not _GROUPS_LEAVE_US_CANCELLED:
        return await work()
    results = list[T]()

    async def keep() -> None:
        results.append(await work())

    if (error := await failure_of(keep)) is not None:
        raise error
    return results[0]


def _ends(could_be: Callable[[], bool] | None) -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # the loop is gone, and what is left of its tasks is being closed
    return task is None or (task.cancelling() > 0 and (could_be is None or could_be()))
