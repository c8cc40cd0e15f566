"""Ctrl-C and SIGTERM: the first asks for a clean stop, the second cancels."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["stop_on_signals"]


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While in the block, the first signal calls ``stop`` and a further one cancels the task that entered it."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    asked = False

    def received() -> None:
        nonlocal asked
        if asked and task is not None:
            task.cancel()
        asked = True
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, received)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
