"""The status of a StatefulSet: counted from its pods."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kubewright.devcluster.controllers.pods import is_available, is_terminating, is_up
from kubewright.devcluster.controllers.statefulset.identity import revision_of
from kubewright.devcluster.controllers.statefulset.revisions import Revisions
from kubewright.kinds import apps_v1, core_v1

__all__ = ["count"]


def count(
    statefulset: apps_v1.StatefulSet, pods: Iterable[core_v1.Pod], revisions: Revisions, *, now: datetime
) -> None:
    """Writes the numbers and revisions into ``statefulset.status``; ends the rollout when it is through."""
    present = list(pods)
    status, spec = statefulset.status, statefulset.spec
    update, current = revisions.update.name, revisions.current.name
    up = [pod for pod in present if is_up(pod)]
    lasting = [pod for pod in present if not is_terminating(pod)]
    status.observed_generation = statefulset.metadata.generation
    status.collision_count = revisions.collisions
    status.replicas = len(present)
    status.ready_replicas = len(up) or None
    status.available_replicas = sum(1 for pod in up if is_available(pod, spec.min_ready_seconds, now))
    status.current_replicas = sum(1 for pod in lasting if revision_of(pod) == current) or None
    status.updated_replicas = sum(1 for pod in lasting if revision_of(pod) == update) or None
    status.current_revision, status.update_revision = current, update
    if _is_through(statefulset):
        status.current_revision = update
        status.current_replicas = status.updated_replicas


def _is_through(statefulset: apps_v1.StatefulSet) -> bool:
    spec, status = statefulset.spec, statefulset.status
    strategy = spec.update_strategy
    if strategy is not None and strategy.type == "OnDelete":
        return False
    replicas = 1 if spec.replicas is None else spec.replicas
    return (status.updated_replicas or 0) == replicas == status.replicas == (status.ready_replicas or 0)
