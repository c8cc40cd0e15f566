"""What a Deployment's status tells of its rollout."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kubewright.api import whole_seconds
from kubewright.devcluster.controllers.deployment.rollout import replicas_of, surge_and_unavailable
from kubewright.kinds import apps_v1

__all__ = ["report"]


def report(
    deployment: apps_v1.Deployment,
    new: apps_v1.ReplicaSet | None,
    replica_sets: Sequence[apps_v1.ReplicaSet],
    *,
    created: bool,
    now: datetime,
) -> float | None:
    """Counts into ``deployment.status`` and sets its conditions; ``created``: the new replica set was made just now.

    Returns the seconds after which a rollout that does not move counts as failed.
    """
    status = deployment.status
    before = (status.updated_replicas or 0, status.ready_replicas or 0, status.available_replicas or 0)
    old_before = (status.replicas or 0) - before[0]
    total = sum(each.status.replicas for each in replica_sets)
    available = sum(each.status.available_replicas or 0 for each in replica_sets)
    status.observed_generation = deployment.metadata.generation
    status.replicas = total or None
    status.updated_replicas = (new.status.replicas if new else 0) or None
    status.ready_replicas = sum(each.status.ready_replicas or 0 for each in replica_sets) or None
    status.available_replicas = available or None
    status.unavailable_replicas = max(0, sum(replicas_of(each) for each in replica_sets) - available) or None
    _set_available(deployment, available, now)
    after = (status.updated_replicas or 0, status.ready_replicas or 0, status.available_replicas or 0)
    moved = any(a > b for a, b in zip(after, before, strict=True)) or total - after[0] < old_before
    return _set_progress(deployment, new, created=created, moved=moved, now=now)


def _set_available(deployment: apps_v1.Deployment, available: int, now: datetime) -> None:
    _, unavailable = surge_and_unavailable(deployment)
    if available >= replicas_of(deployment) - unavailable:
        message = "Deployment has minimum availability."
        _set(deployment, "Available", "True", "MinimumReplicasAvailable", message, now)
    else:
        message = "Deployment does not have minimum availability."
        _set(deployment, "Available", "False", "MinimumReplicasUnavailable", message, now)


def _set_progress(
    deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet | None, *, created: bool, moved: bool, now: datetime
) -> float | None:
    if deployment.spec.paused:
        _set(deployment, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", now)
        return None
    if new is None:
        return None
    present = _find(deployment, "Progressing")
    done = present is not None and present.reason == "NewReplicaSetAvailable"
    if _is_complete(deployment):
        message = f'ReplicaSet "{new.name}" has successfully progressed.'
        _set(deployment, "Progressing", "True", "NewReplicaSetAvailable", message, now)
        return None
    if created:
        message = f'Created new replica set "{new.name}"'
        _set(deployment, "Progressing", "True", "NewReplicaSetCreated", message, now, restart=True)
    elif (moved and not done) or present is None or (done and new.name not in (present.message or "")):
        message = f'ReplicaSet "{new.name}" is progressing.'
        _set(deployment, "Progressing", "True", "ReplicaSetUpdated", message, now, restart=True)
    elif done or present.reason == "ProgressDeadlineExceeded":
        return None
    return _until_deadline(deployment, new, now)


def _until_deadline(deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet, now: datetime) -> float | None:
    deadline = deployment.spec.progress_deadline_seconds
    present = _find(deployment, "Progressing")
    if deadline is None or present is None or present.last_update_time is None:
        return None
    left = deadline - (now - present.last_update_time).total_seconds()
    if left > 0:
        return left
    message = f'ReplicaSet "{new.name}" has timed out progressing.'
    _set(deployment, "Progressing", "False", "ProgressDeadlineExceeded", message, now)
    return None


def _is_complete(deployment: apps_v1.Deployment) -> bool:
    status, wanted = deployment.status, replicas_of(deployment)
    return {status.updated_replicas or 0, status.replicas or 0, status.available_replicas or 0} == {wanted}


def _find(deployment: apps_v1.Deployment, kind: str) -> apps_v1.DeploymentCondition | None:
    return next((each for each in deployment.status.conditions or () if each.type == kind), None)


def _set(
    deployment: apps_v1.Deployment,
    kind: str,
    status: str,
    reason: str,
    message: str,
    now: datetime,
    *,
    restart: bool = False,
) -> None:
    """Times move only when something else does; ``restart`` makes progress count from now."""
    conditions = deployment.status.conditions = list(deployment.status.conditions or ())
    present = _find(deployment, kind)
    if present is None:
        present = apps_v1.DeploymentCondition(type=kind, status="")
        conditions.append(present)
    if (present.status, present.reason, present.message) == (status, reason, message) and not restart:
        return
    if present.status != status:
        present.last_transition_time = whole_seconds(now)
    present.status, present.reason, present.message = status, reason, message
    present.last_update_time = whole_seconds(now)
