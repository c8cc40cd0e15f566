"""How a reconcile run ends, other than well."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Requeue", "Result", "TerminalError"]


class Result(Struct, frozen=True, kw_only=True):
    """What a reconcile returns when it wants to run again although nothing changes; None means it does not."""

    requeue_after: float | None = None
    """Seconds from the end of this run."""


class Requeue(Exception):
    """Raise to stop this run and run again after some seconds. Status is written, nothing is pruned, nothing is logged
    as an error.
    """

    def __init__(self, after: float) -> None:
        super().__init__(f"run again after {after:g} s")
        self.after = after


class TerminalError(Exception):
    """Raise when running again can't help until the object changes: logged once, not retried."""
