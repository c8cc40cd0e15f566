"""What can be wrong with the status that a controller reports."""

from __future__ import annotations

from kubewright.devcluster.builtin.checks import Errors, Json, non_negative
from kubewright.schema.errors import invalid

__all__ = ["daemon_set_status", "deployment_status", "namespace_status", "replica_set_status", "stateful_set_status"]

_COUNTED = "cannot be greater than status.replicas"


def deployment_status(obj: Json, _old: Json) -> Errors:
    status = obj.get("status") or {}
    yield from non_negative(
        status, "status", "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas"
    )
    yield from non_negative(status, "status", "unavailableReplicas", "collisionCount")
    total = status.get("replicas", 0)
    for name in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        if (count := status.get(name, 0)) > total:
            yield invalid(f"status.{name}", count, _COUNTED)
    if status.get("availableReplicas", 0) > status.get("readyReplicas", 0):
        message = "cannot be greater than readyReplicas"
        yield invalid("status.availableReplicas", status.get("availableReplicas", 0), message)


def namespace_status(obj: Json, _old: Json) -> Errors:
    phase = (obj.get("status") or {}).get("phase") or ""
    deleted = bool((obj.get("metadata") or {}).get("deletionTimestamp"))
    if deleted and phase != "Terminating":
        yield invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
    elif not deleted and phase != "Active":
        yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")


def replica_set_status(obj: Json, _old: Json) -> Errors:
    status = obj.get("status") or {}
    names = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    yield from non_negative(status, "status", "replicas", *names, "observedGeneration")
    for name in names:
        if (count := status.get(name, 0)) > status.get("replicas", 0):
            yield invalid(f"status.{name}", count, _COUNTED)
    if status.get("availableReplicas", 0) > status.get("readyReplicas", 0):
        message = "cannot be greater than readyReplicas"
        yield invalid("status.availableReplicas", status.get("availableReplicas", 0), message)


def stateful_set_status(obj: Json, old: Json) -> Errors:
    status = obj.get("status") or {}
    names = ("readyReplicas", "currentReplicas", "updatedReplicas")
    yield from non_negative(status, "status", "replicas", *names, "observedGeneration", "collisionCount")
    for name in names:
        if (count := status.get(name, 0)) > status.get("replicas", 0):
            yield invalid(f"status.{name}", count, _COUNTED)
    collisions, before = status.get("collisionCount", 0), (old.get("status") or {}).get("collisionCount")
    if before is not None and collisions < before:
        yield invalid("status.collisionCount", collisions, "cannot be decremented")


def daemon_set_status(obj: Json, _old: Json) -> Errors:
    yield from non_negative(
        obj.get("status") or {},
        "status",
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    )
