"""`Samples`: what the operator took, over time; whether that is flat."""

from __future__ import annotations

from pathlib import Path
from statistics import linear_regression, mean
from typing import NamedTuple

import msgspec

__all__ = ["Sample", "Samples"]

_WARM_UP = 300.0
"""Seconds that do not count, or a quarter of all, where that is less: code is loaded when it is first used, what is remembered
for a minute fills, and permissions are asked for a second time.
"""
_GROWTH = 0.01
"""What memory may grow by within all that counts, as a share: less can't be told from what an allocator does."""


class Sample(NamedTuple):
    seconds: float
    megabytes: float
    tasks: int
    descriptors: int
    cluster_megabytes: float
    """Of the embedded cluster, which keeps each Event for an hour, and its last 10,000 to 20,000 changes."""


class Samples:
    def __init__(self) -> None:
        self.all: list[Sample] = []

    @property
    def counted(self) -> list[Sample]:
        warm = min(_WARM_UP, self.all[-1].seconds / 4)
        return [each for each in self.all if each.seconds >= warm]

    @property
    def slope(self) -> float:
        """Megabytes an hour."""
        counted = self.counted
        return linear_regression([each.seconds for each in counted], [each.megabytes for each in counted]).slope * 3600

    @property
    def faults(self) -> list[str]:
        """What is not as it should be."""
        counted = self.counted
        found = []
        hours = (counted[-1].seconds - counted[0].seconds) / 3600
        grown, most = self.slope * hours, _GROWTH * mean(each.megabytes for each in counted)
        if grown > most:
            found.append(f"memory grew by {grown:.1f} MB, more than the {most:.1f} that are noise")
        for name in ("tasks", "descriptors"):
            early, late = self._halves(name)
            if late > early + 1:
                found.append(f"{name}: {early:.1f} in the first half, {late:.1f} in the second")
        return found

    def _halves(self, name: str) -> tuple[float, float]:
        values = [getattr(each, name) for each in self.counted]
        middle = len(values) // 2
        return mean(values[:middle]), mean(values[middle:])

    def summary(self) -> str:
        counted = self.counted
        first, last = counted[0], counted[-1]
        lines = [
            f"after {first.seconds:.0f} s of warming up",
            f"memory: {first.megabytes:.1f} → {last.megabytes:.1f} MB, {self.slope:+.1f} MB an hour",
        ]
        for name in ("tasks", "descriptors"):
            values = [getattr(each, name) for each in counted]
            early, late = self._halves(name)
            lines.append(f"{name}: {min(values)} to {max(values)}, on average {early:.1f}, then {late:.1f}")
        lines.append(f"the embedded cluster: {first.cluster_megabytes:.1f} → {last.cluster_megabytes:.1f} MB")
        return "\n".join(lines)

    def write(self, path: Path, *, steps: int) -> None:
        path.parent.mkdir(exist_ok=True)
        body = {
            "megabytes_per_hour": self.slope,
            "faults": self.faults,
            "steps_of_churn": steps,
            "samples": [each._asdict() for each in self.all],
        }
        path.write_bytes(msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n")
