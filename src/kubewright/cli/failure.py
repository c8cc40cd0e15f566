"""`Failure`: what a command says, in one line, when it can't do what it was asked."""

from __future__ import annotations

__all__ = ["Failure"]


class Failure(Exception):
    """A message for the user that names the flag, file or field and how to mend it. ``exit_code``: 2 for wrong use."""

    def __init__(self, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
