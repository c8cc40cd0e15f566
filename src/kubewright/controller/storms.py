"""`StormDetector`: notices objects that are reconciled again and again because of what their own runs write."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator

from msgspec import Struct, field

from kubewright.api import JSON, Clock
from kubewright.controller.request import Request
from kubewright.patch.values import same

__all__ = ["Storm", "StormDetector", "changed_fields"]

_RUNS, _WITHIN = 10, 60.0
"""So many runs in a row that wrote and were woken by nothing but own writes, within so many seconds, are a storm."""
_QUIET = 600.0
"""Seconds in which the same storm is not told of again."""
_REMEMBERED = 2048
_SHOWN = 3


class Storm(Struct, frozen=True):
    runs: int
    seconds: float
    fields: dict[str, list[str]]
    """The fields that were written, and the last values of each."""


class _Series(Struct):
    began: float
    runs: int = 0
    fields: dict[str, list[str]] = field(default_factory=dict)
    told: float | None = None


class StormDetector:
    """Hears of every run that wrote. Costs nothing for those that did not, and looks at values only when in doubt."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._series: OrderedDict[Request, _Series] = OrderedDict()

    def ran(
        self, request: Request, *, woke_itself: bool, changes: Callable[[], Iterator[tuple[str, JSON, JSON]]]
    ) -> Storm | None:
        """A run wrote something; ``changes`` are the fields, as they were and as they are. A storm, when it is one."""
        now = self._clock.monotonic()
        series = self._series.get(request)
        if not woke_itself or (series is not None and now - series.began > _WITHIN):
            told = None if series is None else series.told
            series = self._series[request] = _Series(now, told=told)
            self._series.move_to_end(request)
            while len(self._series) > _REMEMBERED:
                self._series.popitem(last=False)
            return None
        if series is None:
            series = self._series[request] = _Series(now)
        series.runs += 1
        for path, _, value in changes():
            values = series.fields.setdefault(path, [])
            values.append(_shown(value))
            del values[:-_SHOWN]
        if series.runs < _RUNS or (series.told is not None and now - series.told < _QUIET):
            return None
        series.told = now
        return Storm(series.runs, now - series.began, {path: list(values) for path, values in series.fields.items()})


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
