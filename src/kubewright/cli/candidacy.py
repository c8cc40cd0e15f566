"""The leader election that settings ask for."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from kubewright.api import Clock
from kubewright.cli.failure import Failure
from kubewright.client import Client
from kubewright.operator import Settings
from kubewright.telemetry import Log

if TYPE_CHECKING:
    from kubewright.operator.election import LeaderElection

__all__ = ["candidacy"]


def candidacy(
    client: Client, settings: Settings, *, name: str, namespace: str | None, clock: Clock, rng: random.Random, log: Log
) -> LeaderElection | None:
    """``name`` and ``namespace`` are the Lease's where the settings have none. Raises `Failure`."""
    if not settings.leader_elect:
        return None
    from kubewright.operator.election import LeaderElection  # noqa: PLC0415 - only who has rivals needs it

    try:
        return LeaderElection(
            client,
            settings.leader_elect_resource_name or name,
            settings.leader_elect_resource_namespace or namespace or "default",
            identity=settings.leader_elect_identity or None,
            labels=settings.leader_elect_resource_labels,
            lease_duration=settings.leader_elect_lease_duration,
            renew_deadline=settings.leader_elect_renew_deadline,
            retry_period=settings.leader_elect_retry_period,
            clock=clock,
            rng=rng,
            log=log,
        )
    except ValueError as error:
        raise Failure(f"leader election: {error}", exit_code=2) from error
