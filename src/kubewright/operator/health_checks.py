"""What a manager's health consists of: each function makes one `Check`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kubewright.api import Clock
from kubewright.cache import Cache, InformerHealth, Phase
from kubewright.controller import Controller
from kubewright.operator.health import Check

if TYPE_CHECKING:
    from kubewright.operator.election import LeaderElection

__all__ = ["PING", "Heartbeat", "caches_check", "leader_check", "workers_check"]

PING = Check("ping", lambda: None)
"""Always well: the process answers."""

_OVERDUE = 10.0
"""Seconds by which a run may exceed its time-out, to clean up after itself, before it counts as stuck."""


def caches_check(cache: Cache, clock: Clock) -> Check:
    """Whether every declared kind is in step with the server."""

    def look() -> str | None:
        troubles = [_told(health, clock) for health in cache.health() if not health.in_step]
        return "; ".join(troubles) or None

    return Check("caches", look)


def _told(health: InformerHealth, clock: Clock) -> str:
    where = "" if health.namespaces is None else f" in {', '.join(health.namespaces)}"
    age = "" if health.since is None else f" for {(clock.now() - health.since).total_seconds():.0f} s"
    reason = f": {health.reason}" if health.reason else ""
    state = "was not read yet" if health.phase is Phase.STARTING else f"is {health.phase.value}"
    return f"{health.resource}{where} {state}{age}{reason}"


def workers_check(controllers: Sequence[Controller[Any]]) -> Check:
    """Whether every run ends: one that goes on after its time-out does not heed it, or blocks its thread."""

    def look() -> str | None:
        stuck = []
        for controller in controllers:
            seconds = controller.queue.statistics().longest_running
            if seconds > controller.spec.timeout + _OVERDUE:
                stuck.append(
                    f"a run of controller {controller.spec.name} goes on for {seconds:.0f} s, although its time-out is "
                    f"{controller.spec.timeout:g} s"
                )
        return "; ".join(stuck) or None

    return Check("workers", look)


def leader_check(election: LeaderElection) -> Check:
    """Whether it is known who leads: this process or another one."""

    def look() -> str | None:
        if election.is_leader or election.leader:
            return None
        what = f"the lease {election.namespace}/{election.name}"
        return f"{what} could not be read yet" if election.leader is None else f"nobody holds {what}"

    return Check("leader", look)


class Heartbeat:
    """Whether the event loop takes turns: code that blocks it stops all controllers, watches and the lease's renewal.

    A loop that is blocked can't answer either, which probes notice by their time-outs; this tells it afterwards.
    """

    INTERVAL = 1.0
    BLOCKED = 5.0
    """Seconds without a turn that are too many."""
    REMEMBERED = 30.0
    """Seconds for which it is told, so that somebody sees it."""

    def __init__(self) -> None:
        self._beat: float | None = None
        self._blocked: tuple[float, float] | None = None

    async def run(self) -> None:
        """Beats, for ever."""
        while True:
            self._beat = self._look()
            await asyncio.sleep(self.INTERVAL)

    def _look(self) -> float:
        now = asyncio.get_running_loop().time()  # which stands still while the machine is suspended
        if self._beat is not None and now - self._beat > self.BLOCKED:
            self._blocked = (now, now - self._beat)
        return now

    @property
    def check(self) -> Check:
        def look() -> str | None:
            now = self._look()
            if self._blocked is None or now - self._blocked[0] > self.REMEMBERED:
                return None
            return (
                f"the event loop was blocked for {self._blocked[1]:.0f} s: a reconciler calls something that does not "
                "await; use threads=True for it"
            )

        return Check("loop", look)
