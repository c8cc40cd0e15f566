"""`Samples`: what the operator took, over time; whether that is flat."""

from __future__ import annotations

from pathlib import Path
from statistics import linear_regression, mean
from typing import NamedTuple

import msgspec

__all__ = ["Sample", "Samples"]

_WARMING_UP = 0.25
"""The first part, which does not count: caches fill, code is loaded when it is first used."""
_GROWTH = 0.02
"""What memory may grow by within all that counts, as a share: less can't be told from what an allocator does."""


class Sample(NamedTuple):
    seconds: float
    megabytes: float
    tasks: int
    descriptors: int


class Samples:
    def __init__(self) -> None:
        self.all: list[Sample] = []

    @property
    def counted(self) -> list[Sample]:
        return self.all[int(len(self.all) * _WARMING_UP) :]

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
        lines = [f"memory: {counted[0].megabytes:.1f} → {counted[-1].megabytes:.1f} MB, {self.slope:+.1f} MB an hour"]
        for name in ("tasks", "descriptors"):
            values = [getattr(each, name) for each in counted]
            early, late = self._halves(name)
            lines.append(f"{name}: {min(values)} to {max(values)}, on average {early:.1f}, then {late:.1f}")
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
