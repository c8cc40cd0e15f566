"""Python's garbage collector, for a process that runs for long and leaves it little to find."""

from __future__ import annotations

import gc

__all__ = ["collect_seldom"]

_YOUNG = 10_000
"""New objects after which their cycles are looked for. A write makes some hundreds, and none that is in a cycle; Python's
own 700 is a look for every tenth of them, which took a twentieth of the time that they take, and of a cluster's process a
tenth."""


def collect_seldom() -> None:
    """To be called once everything is loaded. What is loaded stays, so looking through it for garbage is in vain."""
    gc.freeze()
    young, *older = gc.get_threshold()
    if 0 < young < _YOUNG:  # 0: somebody turned it off
        gc.set_threshold(_YOUNG, *older)
