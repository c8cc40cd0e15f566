"""`Metrics`: what one manager counts and measures. `prometheus` exports it; nothing here is global."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

__all__ = ["Counter", "Family", "Histogram", "Metric", "Metrics", "Reading", "null_metrics"]


class Metric(Struct, frozen=True, kw_only=True):
    """One metric: what a name stands for, whatever the values of its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """Of a histogram: the upper bounds, ascending, without infinity."""


class Counter:
    """Only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1.0) -> None:
        self.value += amount


class Histogram:
    """How often values fell into each bucket, and their sum."""

    __slots__ = ("_bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """By bucket, each without those before it; the last one has what exceeds every bound."""
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.sum += value


class Reading(NamedTuple):
    """The value that a gauge, or a counter which somebody keeps anyway, has at this moment."""

    metric: Metric
    labels: tuple[str, ...]
    value: float


class Family(NamedTuple):
    """A metric with all its values, by the values of its labels."""

    metric: Metric
    values: dict[tuple[str, ...], float | Histogram]


class Metrics:
    """The instruments of one manager.

    Guarantees
        The same metric with the same label values is the same instrument. It is there, with 0, from the moment that it
        is asked for, so that rates and alerts know it before something happens.
    Assumptions
        One event loop: instruments have no locks, which would cost more than all else about them.
    Errors
        ValueError for labels that a metric does not have.
    """

    enabled = True
    """Whether anybody will ask: a value that takes work to get can be spared otherwise."""

    def __init__(self) -> None:
        self._counters: dict[tuple[Metric, tuple[str, ...]], Counter] = {}
        self._histograms: dict[tuple[Metric, tuple[str, ...]], Histogram] = {}
        self._readers: list[Callable[[], Iterable[Reading]]] = []

    def counter(self, metric: Metric, *labels: str) -> Counter:
        """``labels``: a value for each of the metric's, in their order."""
        found = self._counters.get((metric, labels))
        if found is None:
            found = self._counters[metric, _fitting(metric, labels)] = Counter()
        return found

    def histogram(self, metric: Metric, *labels: str) -> Histogram:
        """As `counter`."""
        found = self._histograms.get((metric, labels))
        if found is None:
            found = self._histograms[metric, _fitting(metric, labels)] = Histogram(metric.buckets)
        return found

    def read_from(self, read: Callable[[], Iterable[Reading]]) -> None:
        """Has ``read`` called in the event loop whenever somebody asks: for gauges, and what is counted anyway."""
        self._readers.append(read)

    def families(self) -> Iterator[Family]:
        """All there is at this moment, ordered by name."""
        found: dict[Metric, dict[tuple[str, ...], float | Histogram]] = {}
        for (metric, labels), counter in self._counters.items():
            found.setdefault(metric, {})[labels] = counter.value
        for (metric, labels), histogram in self._histograms.items():
            found.setdefault(metric, {})[labels] = histogram
        for read in self._readers:
            for metric, labels, value in read():
                found.setdefault(metric, {})[_fitting(metric, labels)] = value
        for metric in sorted(found, key=lambda each: each.name):
            yield Family(metric, found[metric])


class _NullCounter(Counter):
    __slots__ = ()

    def inc(self, amount: float = 1.0) -> None: ...


class _NullHistogram(Histogram):
    __slots__ = ()

    def observe(self, value: float) -> None: ...


class _NullMetrics(Metrics):
    """Gives instruments that do nothing, and keeps nothing."""

    enabled = False

    def counter(self, metric: Metric, *labels: str) -> Counter:
        _fitting(metric, labels)
        return _NO_COUNTER

    def histogram(self, metric: Metric, *labels: str) -> Histogram:
        _fitting(metric, labels)
        return _NO_HISTOGRAM

    def read_from(self, read: Callable[[], Iterable[Reading]]) -> None: ...


_NO_COUNTER, _NO_HISTOGRAM = _NullCounter(), _NullHistogram(())
_NULL = _NullMetrics()


def null_metrics() -> Metrics:
    """Where nobody will ask."""
    return _NULL


def _fitting(metric: Metric, labels: tuple[str, ...]) -> tuple[str, ...]:
    if len(labels) != len(metric.labels):
        wanted = ", ".join(metric.labels) or "none"
        raise ValueError(f"metric {metric.name} has the labels {wanted}; {len(labels)} values were given: {labels}")
    return labels
