"""Showing a user where their own code failed, not how we came to call it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

__all__ = ["from_the_users_code", "place_in_the_users_code"]

_OURS = str(Path(__file__).parents[1])


def from_the_users_code(error: BaseException) -> TracebackType | None:
    """The traceback from the first frame on that is not Kubewright's; whole where there is none."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith(_OURS):
        frame = frame.tb_next
    return frame or error.__traceback__


def place_in_the_users_code(error: BaseException) -> str:
    """``file:line`` of the last of the user's frames before Kubewright's take over again; empty where there is none."""
    frame, place = from_the_users_code(error), ""
    while frame is not None and not frame.tb_frame.f_code.co_filename.startswith(_OURS):
        place = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place
