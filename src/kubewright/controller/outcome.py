"""How a reconcile run ends, other than well."""

from __future__ import annotations

import math

from msgspec import Struct

from kubewright.api.arguments import Declared
from kubewright.controller.queue import Priority

__all__ = ["Requeue", "Result", "TerminalError"]


def check_delay(seconds: object, *, what: str) -> None:
    """Raises TypeError or ValueError for what is no time to wait."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{what} is {seconds!r}: give seconds as a number")
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{what} is {seconds!r}: give 0 or more seconds")


class Result(Struct, frozen=True, kw_only=True, metaclass=Declared):
    """What a reconcile returns when it wants to run again although nothing changes; None means it does not."""

    requeue_after: float | None = None
    """Seconds from the end of this run; 0 asks for another run as soon as the back-off allows."""
    priority: Priority = Priority.NORMAL
    """The band in which that run waits for a worker once it is due; of no matter where ``requeue_after`` is 0, as the
    back-off decides then."""

    def __post_init__(self) -> None:
        if self.requeue_after is not None:
            check_delay(self.requeue_after, what="requeue_after")
        if not isinstance(self.priority, Priority):
            raise TypeError(f"priority is {self.priority!r}: give a Priority, such as Priority.BACKGROUND")


class Requeue(Exception):
    """Raise to stop this run and run again after some seconds. Status is written, nothing is pruned, nothing is logged
    as an error.
    """

    def __init__(self, after: float) -> None:
        check_delay(after, what="Requeue(after)")
        super().__init__(f"run again after {after:g} s")
        self.after = after


class TerminalError(Exception):
    """Raise when running again can't help until the object changes: logged once, not retried."""
