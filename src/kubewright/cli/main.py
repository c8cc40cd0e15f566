"""The entry point of the ``kubewright`` command: from its first moment on, signals end it quietly.

It loads only what that takes, since a signal that comes while modules load would show as a traceback, or as an error
of whatever module was being loaded.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # checkers go by the name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 well, 1 failed, 2 used wrongly. Failures are one line, never a traceback."""
    try:
        _heed_signals()
        _open_what_is_closed()
    except KeyboardInterrupt:
        os._exit(130)
    from kubewright.cli.commands import run_command  # noqa: PLC0415 - what takes a moment comes after the handlers

    run_command(arguments)


def _heed_signals() -> None:
    """Not least since a container's first process hears no signal that it has no handler for."""
    import signal  # noqa: PLC0415 - it is a third of what is loaded until here

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as for what a shell starts in the background
            signal.signal(number, _end)


def _open_what_is_closed() -> None:
    """Where standard input, output or error is closed, the next file or socket would be it; and Python has None for it."""
    import sys  # noqa: PLC0415 - as above

    for number, mode in enumerate("rww"):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            setattr(sys, ("stdin", "stdout", "stderr")[number], open(number, mode))  # noqa: SIM115 - for good


def _end(number: int, _frame: FrameType | None) -> None:
    """Ends the process at once: commands with something to clean up have handlers of their own while they do."""
    os._exit(128 + number)
