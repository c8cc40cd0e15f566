"""`limited`: awaits something within a time, at no cost where it never waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from types import CoroutineType, coroutine
from typing import Any, TypeVar

__all__ = ["limited"]

T = TypeVar("T")


async def limited(awaited: Awaitable[T], deadline: float, expired: Callable[[], TimeoutError]) -> T:
    """What ``awaited`` gives; raises what ``expired`` makes when it is not there at ``deadline``, on the loop's clock.

    A coroutine begins at once. Only if it waits for something a timer is set, which takes longer than a run without
    anything to do.
    """
    if isinstance(awaited, CoroutineType):
        try:
            waits_for = awaited.send(None)
        except StopIteration as ended:
            result: T = ended.value
            return result
        awaited = _going_on(awaited, waits_for)
    limit = asyncio.timeout(None)
    try:
        async with limit:
            # the loop holds a timer, with its context, until long after it is cancelled: with nothing of a run that is over
            Context().run(limit.reschedule, deadline)
            return await awaited
    except (TimeoutError, asyncio.CancelledError) as error:  # see `api.cancellation` for how it comes to be the latter
        if limit.expired():
            raise expired() from error
        raise


@coroutine
def _going_on(begun: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """The rest of a coroutine that has come to its first wait."""
    try:
        while True:
            try:
                answer = yield waits_for
            except GeneratorExit:
                raise
            except BaseException as error:
                waits_for = begun.throw(error)
            else:
                waits_for = begun.send(answer)
    except StopIteration as ended:
        result: T = ended.value
        return result
    finally:
        begun.close()
