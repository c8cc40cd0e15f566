"""Ctrl-C and SIGTERM: the first asks for a clean stop, the second cancels, and a process that heeds neither is ended."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from kubewright.cli.standard_output import flush_or_forget
from kubewright.telemetry import Log

__all__ = ["Signals", "stop_on_signals"]

_FORCED_WITHIN = 5.0
"""Seconds from the second signal until the process is ended, whatever it does."""
_LAST_WORDS = 0.5
"""Seconds that it may take to say so."""


class Signals:
    """What signals have asked for so far."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.second: int | None = None

    @property
    def exit_code(self) -> int:
        """As shells tell of a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + (self.second or self.first or 0)


@contextmanager
def stop_on_signals(
    stop: Callable[[], None],
    *,
    log: Log,
    within: float | None = None,
    reload: Callable[[], None] | None = None,
) -> Iterator[Signals]:
    """While in the block, the first signal calls ``stop`` and a further one cancels the task that entered it.

    A process that is still there ``within`` seconds after the first, or a few after the second, is ended: code that
    blocks the loop can't be stopped otherwise. SIGHUP calls ``reload``. All are called by the event loop.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    signals = Signals()
    timers: list[threading.Timer] = []

    def end_after(seconds: float, code: int) -> None:
        timer = threading.Timer(seconds, _end, args=(seconds, code, log))
        timer.daemon = True
        timer.start()
        timers.append(timer)

    def received(number: int, _frame: FrameType | None) -> None:
        # called between any two lines of whatever runs, so also while the loop is blocked
        if signals.first is None:
            signals.first = number
            loop.call_soon_threadsafe(stop)
            if within is not None:
                end_after(within, 128 + number)
        elif signals.second is None:
            signals.second = number
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            end_after(_FORCED_WITHIN, 128 + number)
        else:
            os._exit(128 + number)

    def reloading(_number: int, _frame: FrameType | None) -> None:
        if reload is not None:
            loop.call_soon_threadsafe(reload)

    handlers: dict[int, Callable[[int, FrameType | None], None]] = {signal.SIGINT: received, signal.SIGTERM: received}
    if reload is not None:
        handlers[signal.SIGHUP] = reloading
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for timer in timers:
            timer.cancel()


def _end(seconds: float, code: int, log: Log) -> None:
    def say() -> None:
        log.error("not stopped in time and ended: something does not let go", seconds=seconds, exit_code=code)
        flush_or_forget()

    saying = threading.Thread(target=say, daemon=True)  # what does not let go may be what writes to standard error
    saying.start()
    saying.join(_LAST_WORDS)
    os._exit(code)
