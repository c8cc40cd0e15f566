"""How a failed run shows in the object's status.

By default as https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md has it: ``Reconciling`` is
there, and True, while a run that failed is tried again; ``Stalled`` when nothing will be tried until the object changes.
Both are gone with the next run that ends well. What the reconciler itself says, ``Ready`` above all, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from kubewright.api import JSON, ApiError, Clock, Condition, Conditions, Resource, resource_info, whole_seconds
from kubewright.controller.outcome import TerminalError
from kubewright.controller.status import has_conditions
from kubewright.telemetry import described, said, without_credentials

__all__ = [
    "ErrorStatus",
    "clear_error",
    "default_error_status",
    "finalizer_failed",
    "is_error",
    "retrying_or_stalled",
    "says_nothing",
    "stalled",
    "summary",
]

ErrorStatus: TypeAlias = Callable[[Any, Exception, Conditions | None], None]
"""Called with the object, as the run left it, what the run raised, and the object's conditions, if it has any; edits the
object's status, which is then written."""

RECONCILING, STALLED = "Reconciling", "Stalled"
RETRY, TERMINAL, UNREADABLE, FINALIZER = "RetryAfterError", "TerminalError", "DoesNotFit", "FinalizerFailed"
_TYPES = (RECONCILING, STALLED)
_ERRORS = (RETRY, TERMINAL, UNREADABLE, FINALIZER)
_LONGEST = 1024
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+\b")
"""Where an object is in memory tells nobody anything, and would make the same failure another one each time."""


def default_error_status(kind: type[Resource]) -> ErrorStatus:
    """`retrying_or_stalled` for custom resources whose class has conditions; other kinds' status is not ours to fill."""
    return retrying_or_stalled if resource_info(kind).custom and has_conditions(kind) else says_nothing


def retrying_or_stalled(_obj: Any, error: Exception, conditions: Conditions | None) -> None:
    if conditions is None:
        return
    if isinstance(error, TerminalError):
        conditions.set(STALLED, True, reason=TERMINAL, message=summary(error))
        _drop(conditions, RECONCILING)
    else:
        conditions.set(RECONCILING, True, reason=RETRY, message=summary(error))
        _drop(conditions, STALLED)


def says_nothing(_obj: Any, _error: Exception, _conditions: Conditions | None) -> None:
    """For ``error_status=``: a failed run shows in log, events and metrics only."""


def finalizer_failed(finalizer: str, error: Exception, *, generation: int | None, clock: Clock) -> Condition:
    """The condition of an object that can't go because a clean-up fails, until it is edited or (`RECONCILING`) for now."""
    message = f"{finalizer}: {summary(error)}"[:_LONGEST]
    type_ = STALLED if isinstance(error, TerminalError) else RECONCILING
    return _true(type_, FINALIZER, message, generation, clock)


def clear_error(entries: list[Condition]) -> None:
    """Removes what this module has set."""
    kept = [entry for entry in entries if entry.type not in _TYPES or entry.reason not in _ERRORS]
    if len(kept) < len(entries):
        entries[:] = kept


def is_error(type_: JSON, reason: JSON) -> bool:
    """Whether a condition of this type and reason is one that this module sets."""
    return type_ in _TYPES and reason in _ERRORS


def stalled(error: Exception, *, generation: int | None, clock: Clock) -> Condition:
    """The condition of an object that can't be read as its class."""
    return _true(STALLED, UNREADABLE, summary(error), generation, clock)


def _true(type_: str, reason: str, message: str, generation: int | None, clock: Clock) -> Condition:
    return Condition(
        type=type_,
        status="True",
        reason=reason,
        message=message,
        last_transition_time=whole_seconds(clock.now()),
        observed_generation=generation,
    )


def summary(error: BaseException) -> str:
    """One line, short enough for a condition or an event."""
    text = said(error) if isinstance(error, ApiError | TerminalError) else described(error)
    text = _ADDRESS.sub("", without_credentials(text))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _drop(conditions: Conditions, type_: str) -> None:
    present = conditions.get(type_)
    if present is not None and present.reason in _ERRORS:
        conditions.remove(type_)
