"""`Backoff`: how long a request that failed waits."""

from __future__ import annotations

import math
import random

from msgspec import Struct

from kubewright.api.arguments import Declared

__all__ = ["Backoff"]


class Backoff(Struct, frozen=True, kw_only=True, metaclass=Declared):
    """Exponential delays: ``first``·2ⁿ⁻¹ seconds after n failures in a row, up to ``longest``, each ± ``jitter``."""

    first: float = 0.005
    """Seconds before the first retry."""
    longest: float = 1000.0
    """Seconds that no retry waits more than."""
    jitter: float = 0.2
    """Share by which a delay may be shorter or longer, so that what failed together does not come back together."""

    def __post_init__(self) -> None:
        for name, seconds in (("first", self.first), ("longest", self.longest)):
            if isinstance(seconds, bool) or not isinstance(seconds, int | float):
                raise TypeError(f"Backoff({name}={seconds!r}): give seconds as a number")
            if not (math.isfinite(seconds) and seconds > 0):
                raise ValueError(f"Backoff({name}={seconds!r}): give more than 0 seconds")
        if self.longest < self.first:
            raise ValueError(f"Backoff(first={self.first:g}, longest={self.longest:g}): longest is the ceiling")
        if not 0 <= self.jitter < 1:
            raise ValueError(f"Backoff(jitter={self.jitter!r}): give a share from 0 to below 1")

    def delay(self, failures: int, rng: random.Random) -> float:
        """Seconds to wait after that many failures in a row (at least one); ``longest`` is never exceeded."""
        exponential = min(self.first * 2.0 ** min(failures - 1, 64), self.longest)
        if self.jitter == 0:
            return exponential
        return min(exponential * rng.uniform(1 - self.jitter, 1 + self.jitter), self.longest)
