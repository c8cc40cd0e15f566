"""Conditions: a list with one entry per type, whose transition times tell the truth (KEP-1623)."""

from __future__ import annotations

from collections.abc import Iterator

from kubewright.api.clock import Clock
from kubewright.api.meta import Condition
from kubewright.api.scalars import whole_seconds

__all__ = ["Conditions", "condition_status"]


def condition_status(value: bool | str | None) -> str:
    """True, False and None (unknown) as the strings of the API."""
    if isinstance(value, str):
        return value
    return {True: "True", False: "False", None: "Unknown"}[value]


class Conditions:
    """Edits a list of conditions in place.

    `set` keeps `last_transition_time` while the status stays what it was, stamps `observed_generation`, and touches no
    condition of another type.
    """

    def __init__(self, entries: list[Condition], *, generation: int | None, clock: Clock) -> None:
        self._entries = entries
        self._generation = generation
        self._clock = clock

    def __iter__(self) -> Iterator[Condition]:
        return iter(self._entries)

    def get(self, type: str) -> Condition | None:  # noqa: A002 - the field's own name
        return next((entry for entry in self._entries if entry.type == type), None)

    def is_true(self, type: str) -> bool:  # noqa: A002 - the field's own name
        entry = self.get(type)
        return entry is not None and entry.status == "True"

    def by_clock(self, clock: Clock) -> Conditions:
        """The same conditions, for code that has the time from another clock."""
        return Conditions(self._entries, generation=self._generation, clock=clock)

    def set(self, type: str, status: bool | str | None, *, reason: str, message: str = "") -> Condition:  # noqa: A002
        """Sets one condition. ``status``: True, False, None for Unknown, or the API's own word."""
        value = condition_status(status)
        entry = self.get(type)
        if entry is None:
            entry = Condition(
                type=type,
                status=value,
                reason=reason,
                message=message,
                last_transition_time=whole_seconds(self._clock.now()),
            )
            self._entries.append(entry)
        elif entry.status != value:
            entry.status = value
            entry.last_transition_time = whole_seconds(self._clock.now())
        entry.reason = reason
        entry.message = message
        entry.observed_generation = self._generation
        return entry

    def remove(self, type: str) -> None:  # noqa: A002 - the field's own name
        self._entries[:] = [entry for entry in self._entries if entry.type != type]
