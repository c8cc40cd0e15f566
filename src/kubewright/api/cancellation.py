"""`being_cancelled`: whether a cancellation means us."""

from __future__ import annotations

import asyncio

__all__ = ["being_cancelled"]


def being_cancelled() -> bool:
    """Whether the running task is to end; else a `CancelledError` comes from what it waits for, and is just a failure.

    A task that lets such a one pass ends in silence: a `TaskGroup` takes it for wanted.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
