"""`Samples`: what the operator took, over time; whether that is flat."""

from __future__ import annotations

from pathlib import Path
from statistics import linear_regression, mean
from typing import Literal, NamedTuple

import msgspec

__all__ = ["Sample", "Samples"]

_WARM_UP = 300.0
"""Seconds that do not count, or a quarter of all, where that is less: code is loaded when it is first used, what is remembered
for a minute fills, and permissions are asked for a second time.
"""
_GROWTH = 0.01
"""What the blocks in use may become more by within all that counts, as a share."""
_SCATTER = 0.02
"""The same for the memory that the process has of the system: less can't be told from how blocks lie scattered in it."""


class Sample(NamedTuple):
    seconds: float
    megabytes: float
    blocks: int
    """In use, as Python counts them: what is remembered, wherever it lies."""
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

    def slope(self, name: Literal["megabytes", "blocks"]) -> float:
        """In an hour."""
        return linear_regression([each.seconds for each in self.counted], self._values(name)).slope * 3600

    def _share(self, name: Literal["megabytes", "blocks"]) -> float:
        """Of what there is, so much came in all the time that counts."""
        counted = self.counted
        hours = (counted[-1].seconds - counted[0].seconds) / 3600
        return self.slope(name) * hours / mean(self._values(name))

    def _values(self, name: str) -> list[float]:
        return [getattr(each, name) for each in self.counted]

    @property
    def faults(self) -> list[str]:
        """What is not as it should be."""
        found = []
        if (grown := self._share("megabytes")) > _SCATTER:
            found.append(f"memory grew by {grown:.1%}, more than the {_SCATTER:.0%} that are noise")
        if (grown := self._share("blocks")) > _GROWTH:
            found.append(f"blocks in use grew by {grown:.1%}, more than the {_GROWTH:.0%} that are noise")
        for name in ("tasks", "descriptors"):
            early, late = self._halves(name)
            if late > early + 1:
                found.append(f"{name}: {early:.1f} in the first half, {late:.1f} in the second")
        return found

    def _halves(self, name: str) -> tuple[float, float]:
        values = self._values(name)
        middle = len(values) // 2
        return mean(values[:middle]), mean(values[middle:])

    def summary(self) -> str:
        counted = self.counted
        first, last = counted[0], counted[-1]
        lines = [
            f"after {first.seconds:.0f} s of warming up",
            f"memory: {first.megabytes:.1f} → {last.megabytes:.1f} MB, {self.slope('megabytes'):+.1f} MB an hour",
            f"blocks in use: {first.blocks:,} → {last.blocks:,}, {self.slope('blocks'):+,.0f} an hour",
        ]
        for name in ("tasks", "descriptors"):
            values = self._values(name)
            early, late = self._halves(name)
            lines.append(f"{name}: {min(values):.0f} to {max(values):.0f}, on average {early:.1f}, then {late:.1f}")
        lines.append(f"the embedded cluster: {first.cluster_megabytes:.1f} → {last.cluster_megabytes:.1f} MB")
        return "\n".join(lines)

    def write(self, path: Path, *, steps: int) -> None:
        path.parent.mkdir(exist_ok=True)
        body = {
            "megabytes_per_hour": self.slope("megabytes"),
            "blocks_per_hour": self.slope("blocks"),
            "faults": self.faults,
            "steps_of_churn": steps,
            "samples": [each._asdict() for each in self.all],
        }
        path.write_bytes(msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n")
