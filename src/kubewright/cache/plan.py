"""What a reflector does next: one total function of what it did and how that went."""

from __future__ import annotations

import random
from enum import Enum

from msgspec import Struct

__all__ = ["Outcome", "Pause", "Plan", "next_plan"]

_FIRST_DELAY, _LONGEST_DELAY = 0.8, 30.0
_GOOD_TIMES = 120.0
"""Seconds for which all must have been well for earlier failures to count no more."""


class Outcome(Enum):
    """How one turn went."""

    LISTED = "listed"
    ENDED = "ended"
    """The watch ran and ended, as watches do."""
    CUT_SHORT = "cut short"
    """The watch ended at once, without an event."""
    BROKEN_OFF = "broken off"
    """The connection broke during the watch, or fell silent."""
    INCOMPLETE = "incomplete"
    """A streaming list did not come to its end."""
    UNSUPPORTED = "unsupported"
    """The server has no streaming lists."""
    EXPIRED = "expired"
    """The server no longer has our version, or has another history."""
    GARBLED = "garbled"
    """The watch said something that is no event, or no object: we don't know what we missed."""
    UNREACHABLE = "unreachable"
    MISSING = "missing"
    REFUSED = "refused"
    """Any other error the server answers: forbidden, overloaded, broken."""
    FAILED = "failed"
    """An error of our own."""


class Pause(Enum):
    """What to wait for before the next turn."""

    NONE = "none"
    BACK_OFF = "back off"
    """Longer after each failure."""
    INSTALLATION = "installation"
    """A CustomResourceDefinition is on its way, perhaps: someone may be waiting for us."""


class Plan(Struct, frozen=True):
    """What to do next: list or watch, when, and after how many failures since a watch last ran."""

    list: bool = True
    failures: int = 0
    pause: Pause = Pause.NONE

    def delay(self, rng: random.Random) -> float:
        """Seconds to wait first, jittered so that a fleet does not come back in step: 0.8 to 30 after a failure."""
        match self.pause:
            case Pause.NONE:
                return 0.0
            case Pause.INSTALLATION:
                return rng.uniform(0.5, 2.0)
            case Pause.BACK_OFF:
                least = min(_FIRST_DELAY * 2.0 ** min(self.failures - 1, 10), _LONGEST_DELAY / 2)
                return rng.uniform(least, 2 * least)


def next_plan(plan: Plan, outcome: Outcome, lasted: float = 0.0) -> Plan:
    """The one place that decides how a reflector goes on; ``lasted`` is for how many seconds the view was live."""
    failed = 1 if lasted >= _GOOD_TIMES else plan.failures + 1
    match outcome:
        case Outcome.LISTED:
            return Plan(list=False, failures=plan.failures)  # only a watch that runs proves that all is well
        case Outcome.ENDED:
            return Plan(list=False)
        case Outcome.CUT_SHORT | Outcome.BROKEN_OFF:
            return Plan(list=False, failures=failed, pause=Pause.BACK_OFF)
        case Outcome.UNSUPPORTED:
            return Plan(list=True, failures=plan.failures)
        case Outcome.EXPIRED | Outcome.UNREACHABLE | Outcome.GARBLED | Outcome.INCOMPLETE | Outcome.FAILED:
            return Plan(list=True, failures=failed, pause=Pause.BACK_OFF)
        case Outcome.MISSING:
            return Plan(list=True, pause=Pause.INSTALLATION)
        case Outcome.REFUSED:
            return Plan(list=plan.list, failures=failed, pause=Pause.BACK_OFF)
