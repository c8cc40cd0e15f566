"""`ContestDetector`: notices fields that a controller sets again and again because somebody else sets them otherwise."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator

from msgspec import Struct, field

from kubewright.api import JSON, Clock
from kubewright.controller.request import Request

__all__ = ["Contest", "ContestDetector"]

_RUNS, _WITHIN = 10, 60.0
"""So many runs in a row that wrote, the later half of them the same, within so many seconds, are a contest."""
_QUIET = 600.0
"""Seconds in which the same object's contest is not told of again."""
_REMEMBERED = 2048


class Contest(Struct, frozen=True):
    runs: int
    seconds: float
    fields: dict[str, list[str]]
    """The fields, and for each what it was found to be and what it was set to."""


class _Series(Struct):
    began: float
    runs: int = 0
    made: dict[str, list[str]] = field(default_factory=dict)
    told: float | None = None


class ContestDetector:
    """Hears of every run that wrote and was woken by others. Values are looked at only for objects written often."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._series: OrderedDict[Request, _Series] = OrderedDict()

    def ran(self, request: Request, changes: Callable[[], Iterator[tuple[str, JSON, JSON]]]) -> Contest | None:
        """A run wrote something; ``changes`` are the fields, as they were and as they are. A contest, when it is one."""
        now = self._clock.monotonic()
        series = self._series.get(request)
        if series is None or now - series.began > _WITHIN:
            series = self._series[request] = _Series(now, told=None if series is None else series.told)
            self._series.move_to_end(request)
            while len(self._series) > _REMEMBERED:
                self._series.popitem(last=False)
        series.runs += 1
        if series.runs < _RUNS // 2 or (series.told is not None and now - series.told < _QUIET):
            return None
        # values that are not shown, such as a Secret's, are equal here: whether they came back can't be told
        made = {path: [_shown(old), _shown(new)] for path, old, new in changes() if old != new}
        before, series.made = series.made, made
        again = {path: values for path, values in series.made.items() if before.get(path) == values}
        if not again and before:
            series.runs = _RUNS // 2
        if not again or series.runs < _RUNS:
            return None
        series.told = now
        return Contest(series.runs, now - series.began, again)


def _shown(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
