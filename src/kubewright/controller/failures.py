"""Showing a user where their own code failed, not how we came to call it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from kubewright.telemetry import described, said

__all__ = ["as_failure", "from_the_users_code", "place", "users_frame"]

_OURS = str(Path(__file__).parents[1])
_RUNS = str(Path(__file__).parent)


def as_failure(error: BaseException) -> Exception:
    """The same as an exception that everybody may handle: what is none is meant for a process or a task, not for a run."""
    if isinstance(error, Exception):
        return error
    if isinstance(error, asyncio.CancelledError):
        what = "was cancelled from within"
    elif isinstance(error, SystemExit):
        what = f"asked for the process to exit: {said(error)}"
    else:
        what = f"raised {described(error)}"
    failure = RuntimeError(f"it {what}").with_traceback(error.__traceback__)
    failure.__cause__ = error
    return failure


def from_the_users_code(error: BaseException) -> TracebackType | None:
    """The traceback from the first frame on that is not Kubewright's; whole where there is none."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith(_OURS):
        frame = frame.tb_next
    return frame or error.__traceback__


def users_frame(files: Sequence[str]) -> int | None:
    """Which frame of a stack, outermost first and given by its files, is the first that a run of ours has called.

    The run's own first one where it has called nothing else; None where no run is under way. A command, which is ours
    too, stands further out, with all that the event loop is made of in between.
    """
    run = next((index for index, file in enumerate(files) if file.startswith(_RUNS)), None)
    if run is None:
        return None
    return next((index for index in range(run, len(files)) if not files[index].startswith(_OURS)), run)


def place(error: BaseException) -> str:
    """``file:line`` of the last of the user's frames before Kubewright's take over again.

    Where there is none, the error's first note, which says what Kubewright was doing.
    """
    frame, found = from_the_users_code(error), ""
    while frame is not None and not frame.tb_frame.f_code.co_filename.startswith(_OURS):
        found = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    return found or next(iter(getattr(error, "__notes__", ())), "")
