"""Signals that come while a command does something which must be undone when it is given up."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["interruptible"]


@contextmanager
def interruptible() -> Iterator[None]:
    """A block in which Ctrl-C raises KeyboardInterrupt and SIGTERM SystemExit, rather than end the process at once."""
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: _exit}
    heeded = {number: handler for number in handlers if (handler := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in heeded:
        signal.signal(number, handlers[number])
    try:
        yield
    finally:
        for number, handler in heeded.items():
            signal.signal(number, handler)


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
