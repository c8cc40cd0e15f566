"""`Liveness`: what a reflector says of its view, which is no longer live where nothing is watched for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kubewright.cache.state import InformerState, Phase

__all__ = ["Liveness"]

_UNWATCHED = 10.0
"""Seconds without a watch for which a view still counts as live: a busy server may take some to open the next."""


class Liveness:
    """``turn`` hears of each state. A view that is not watched, nor in trouble, is in trouble after ten seconds."""

    def __init__(self, turn: Callable[[InformerState], None]) -> None:
        self._turn = turn
        self._overdue: asyncio.TimerHandle | None = None
        self.claimed = False
        """Whether the state says that the view is live."""

    def live(self) -> None:
        self._wait_no_more()
        self.claimed = True
        self._turn(InformerState(Phase.SYNCED))

    def trouble(self, phase: Phase, reason: str) -> None:
        self._wait_no_more()
        self.claimed = False
        self._turn(InformerState(phase, reason))

    def unwatched(self) -> None:
        """Nothing is watched from now on."""
        if self.claimed and self._overdue is None:
            reason = "nothing is watched, since the server is slow to answer: what is held may be old"
            self._overdue = asyncio.get_running_loop().call_later(_UNWATCHED, self.trouble, Phase.BROKEN, reason)

    def stop(self) -> None:
        """Nothing will be said any more unless it is asked for."""
        self._wait_no_more()

    def _wait_no_more(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
