"""A clock for tests that do not run in virtual time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["SetClock"]


class SetClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
