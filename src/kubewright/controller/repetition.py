"""`Repetition`: notices objects that are written again and again to no end.

Either runs wake each other by what they write (`Storm`), or somebody else sets back what they set (`Contest`).
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from kubewright.api import JSON, Clock
from kubewright.controller.request import Request
from kubewright.patch.values import same

__all__ = ["WITHIN", "Changes", "Contest", "Repetition", "Storm", "changed_fields"]

Changes: TypeAlias = Callable[[], Iterator[tuple[str, JSON, JSON]]]
"""The fields that a run wrote, each as it was and as it is."""

_RUNS, WITHIN = 10, 60.0
"""So many runs in a row that wrote, within so many seconds, are a storm if nothing but own writes woke them, and a contest
if others woke them and the later half of them wrote the same."""
_QUIET = 600.0
"""Seconds in which the same is not told of again."""
_REMEMBERED = 2048
_SHOWN = 3


class Storm(Struct, frozen=True):
    """Runs that wake each other."""

    runs: int
    seconds: float
    fields: dict[str, list[str]]
    """The fields that were written, and the last values of each."""


class Contest(Struct, frozen=True):
    """Runs that set what somebody else sets back."""

    runs: int
    seconds: float
    fields: dict[str, list[str]]
    """The fields, and for each what it was found to be and what it was set to."""


class _Series(Struct):
    began: float
    runs: int = 0
    fields: dict[str, list[str]] = field(default_factory=dict)
    changes: Sequence[int] = ()
    """The hash of each that the last run made, as texts of many fields would be more than all else that is kept of an object."""
    told: float | None = None

    def begin(self, now: float) -> None:
        self.began, self.runs, self.fields, self.changes = now, 0, {}, ()

    def goes_on(self, now: float) -> None:
        """One run more, of this series or of a new one."""
        if now - self.began > WITHIN:
            self.begin(now)
        self.runs += 1

    def is_quiet(self, now: float) -> bool:
        return self.told is not None and now - self.told < _QUIET

    def is_over(self, now: float) -> bool:
        """Whether another run would be the first of a new one, which nothing is known of."""
        return now - self.began > WITHIN and not self.is_quiet(now)


class _Both(Struct):
    """What is known of one object: nothing of what it never did."""

    woke_itself: _Series | None = None
    woken_by_others: _Series | None = None

    def is_over(self, now: float) -> bool:
        itself, others = self.woke_itself, self.woken_by_others
        return (itself is None or itself.is_over(now)) and (others is None or others.is_over(now))


class Repetition:
    """Hears of every run that wrote. Costs nothing for those that did not, and looks at values only when in doubt.

    Of an object that is no longer written nothing is kept once that could not be part of anything any more.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of: OrderedDict[Request, _Both] = OrderedDict()

    def __len__(self) -> int:
        """Objects of which something is kept."""
        return len(self._of)

    def ran(self, request: Request, *, woke_itself: bool, changes: Changes) -> Storm | Contest | None:
        """A run wrote something; what that is part of, once it is clear."""
        now = self._clock.monotonic()
        both = self._of.get(request)
        if both is None:
            series = _Series(now)
            both = self._of[request] = _Both(series) if woke_itself else _Both(woken_by_others=series)
            while len(self._of) > _REMEMBERED or next(iter(self._of.values())).is_over(now):
                self._of.popitem(last=False)
        else:
            self._of.move_to_end(request)
        if woke_itself:
            itself = both.woke_itself = both.woke_itself or _Series(now)
            return _storm(itself, now, changes)
        if both.woke_itself is not None:
            both.woke_itself.begin(now)
        others = both.woken_by_others = both.woken_by_others or _Series(now)
        return _contest(others, now, changes)


def _storm(series: _Series, now: float, changes: Changes) -> Storm | None:
    series.goes_on(now)
    for path, _, value in changes():
        values = series.fields.setdefault(path, [])
        values.append(_shown(value))
        del values[:-_SHOWN]
    if series.runs < _RUNS or series.is_quiet(now):
        return None
    series.told = now
    return Storm(series.runs, now - series.began, {path: list(values) for path, values in series.fields.items()})


def _contest(series: _Series, now: float, changes: Changes) -> Contest | None:
    series.goes_on(now)
    if series.runs < _RUNS // 2 or series.is_quiet(now):
        return None
    before = series.changes
    # values that are not shown, such as a Secret's, are equal here: whether they came back can't be told
    fields = {path: [_shown(old), _shown(new)] for path, old, new in changes() if old != new}
    marks = {path: hash((path, *values)) for path, values in fields.items()}
    series.changes = array("q", marks.values())
    again = {path: values for path, values in fields.items() if marks[path] in before}
    if not again and before:
        series.runs = _RUNS // 2
    if not again or series.runs < _RUNS:
        return None
    series.told = now
    return Contest(series.runs, now - series.began, again)


def changed_fields(before: JSON, after: JSON, path: str = "") -> Iterator[tuple[str, JSON, JSON]]:
    """Path, old and new value of what differs; metadata that the server keeps aside."""
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if path == ".metadata" and key in {"managedFields", "resourceVersion", "generation"}:
                continue
            yield from changed_fields(before.get(key), after.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changed_fields(old, new, f"{path}[{index}]")
    else:
        yield path, before, after


def _shown(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
