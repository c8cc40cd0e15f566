"""Where telemetry plugs in: spans and counts of what runs do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from kubewright.api import Clock
from kubewright.telemetry import Log

__all__ = ["Instruments", "PlainInstruments"]


class Instruments(Protocol):
    """What measures the runs of a process."""

    def span(self, name: str, *, log: Log, attributes: Mapping[str, object]) -> AbstractContextManager[None]:
        """Around a part of a run."""
        ...

    def count(self, name: str, **labels: str) -> None:
        """One more of what ``name`` counts, such as ``finalizer_failures_total``."""
        ...


class PlainInstruments:
    """Writes spans to the log, at level debug, and keeps the counts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()

    @contextmanager
    def span(self, name: str, *, log: Log, attributes: Mapping[str, object]) -> Iterator[None]:
        start, outcome = self._clock.monotonic(), "failed"
        try:
            yield
            outcome = "ok"
        finally:
            seconds = round(self._clock.monotonic() - start, 6)
            log.debug("span", **{**attributes, "span": name, "seconds": seconds, "outcome": outcome})

    def count(self, name: str, **labels: str) -> None:
        self.counts[name, tuple(sorted(labels.items()))] += 1
