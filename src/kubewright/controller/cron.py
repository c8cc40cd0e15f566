"""`Schedule`: times of day, month and week as cron writes them.

Five fields, as https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax has them: minute,
hour, day of month, month, day of week (0 and 7 are Sunday). Where both days are restricted, either of them is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo

from msgspec import Struct

__all__ = ["Schedule"]

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_LEAP_CYCLE = 8 * 366
"""Days within which every date comes that comes at all, 29 February across a century that has none included."""


class _Field(Struct, frozen=True):
    name: str
    first: int
    last: int
    names: dict[str, int]

    def values(self, text: str) -> frozenset[int]:
        return frozenset(value for part in text.split(",") for value in self._part(part, text))

    def _part(self, part: str, text: str) -> Iterator[int]:
        span, slash, step_text = part.partition("/")
        step = self._number(step_text, text) if slash else 1
        if step < 1:
            raise ValueError(f"{self.name} {text!r}: a step is 1 or more")
        if span in {"*", "?"}:
            first, last = self.first, self.last
        else:
            start, dash, end = span.partition("-")
            first = self._value(start, text)
            last = self._value(end, text) if dash else (self.last if slash else first)
        if first > last:
            raise ValueError(f"{self.name} {text!r}: {first} comes after {last}")
        return iter(range(first, last + 1, step))

    def _value(self, word: str, text: str) -> int:
        value = self.names.get(word.lower())
        if value is None:
            value = self._number(word, text)
        if not self.first <= value <= self.last:
            raise ValueError(f"{self.name} {text!r}: {word} is not within {self.first}-{self.last}")
        return value

    def _number(self, word: str, text: str) -> int:
        if not (word.isascii() and word.isdigit()):
            raise ValueError(f"{self.name} {text!r}: {word!r} is no number")
        return int(word)


_MINUTE = _Field("minute", 0, 59, {})
_HOUR = _Field("hour", 0, 23, {})
_DAY = _Field("day of month", 1, 31, {})
_MONTH = _Field("month", 1, 12, _MONTHS)
_WEEKDAY = _Field("day of week", 0, 7, _DAYS)


class Schedule(Struct, frozen=True):
    """When something is due, to the minute, in one time zone."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    either_day: bool
    """Both days are restricted: one of them is enough."""
    every_hour: bool = False
    """The hour is written with a ``*``."""
    zone: tzinfo = UTC

    @classmethod
    def parse(cls, text: str, *, zone: str | None = None) -> Schedule:
        """``zone`` is a name such as ``Europe/Berlin``; default UTC, as everywhere in Kubernetes.

        Raises ValueError for what is no schedule, or one that never comes, and for a zone that is not known here; TypeError
        for what is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"cron schedule {text!r}: write it as text, such as '*/5 * * * *'")
        words = _NICKNAMES.get(text.strip().lower(), text).split()
        if len(words) != 5:
            raise ValueError(
                f"cron schedule {text!r}: write five fields (minute hour day-of-month month day-of-week), or one of "
                f"{', '.join(_NICKNAMES)}"
            )
        try:
            fields = (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY)
            minutes, hours, days, months, weekdays = (
                field.values(word) for field, word in zip(fields, words, strict=True)
            )
        except ValueError as error:
            raise ValueError(f"cron schedule {text!r}: {error}") from None
        schedule = cls(
            text,
            tuple(sorted(minutes)),
            tuple(sorted(hours)),
            days,
            months,
            frozenset(day % 7 for day in weekdays),
            either_day=not words[2].startswith(("*", "?")) and not words[4].startswith(("*", "?")),
            every_hour=words[1].startswith("*"),
            zone=_zone(zone),
        )
        if schedule.after(datetime(2000, 1, 1, tzinfo=UTC)) is None:
            raise ValueError(f"cron schedule {text!r}: there is no such day in any year")
        return schedule

    def after(self, moment: datetime) -> datetime | None:
        """The first time due later than ``moment``, in the schedule's zone; None where none ever comes.

        A local time that the clocks skip in spring comes as much later as they are put forward. Of one that comes twice in
        autumn the first counts, unless the hour is a ``*``: then both do.
        """
        local, moment = moment.astimezone(self.zone), moment.astimezone(UTC)
        for offset in range(_LEAP_CYCLE):
            day = local.date() + timedelta(days=offset)
            if self._on(day):
                due = next((time for time in self._times(day) if time > moment), None)
                if due is not None:
                    return due.astimezone(self.zone)
        return None

    def _on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week

    def _times(self, day: date) -> list[datetime]:
        """In UTC, since times of one zone compare by what its clocks show, which is ambiguous in autumn."""
        folds = (0, 1) if self.every_hour else (0,)
        moments = {
            datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone, fold=fold).astimezone(UTC)
            for hour in self.hours
            for minute in self.minutes
            for fold in folds
        }
        return sorted(moments)


def _zone(name: str | None) -> tzinfo:
    if name is None:
        return UTC
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - only for schedules that name a zone

    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:  # not known, or no name of a file
        raise ValueError(f"time zone {name!r} is not known here: give a name such as Europe/Berlin") from error
