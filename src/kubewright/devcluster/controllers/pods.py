"""What the controllers of pods share: states of a pod, pods from templates, and whose they are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubewright.api import ObjectMeta, Resource, convert, owner_reference, to_dict
from kubewright.kinds import core_v1

__all__ = [
    "available_in",
    "condition",
    "is_available",
    "is_ended",
    "is_ready",
    "is_terminating",
    "is_up",
    "pod_from_template",
]


def is_terminating(pod: core_v1.Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def is_ended(pod: core_v1.Pod) -> bool:
    return pod.status.phase in {"Failed", "Succeeded"}


def condition(pod: core_v1.Pod, kind: str) -> core_v1.PodCondition | None:
    return next((each for each in pod.status.conditions or () if each.type == kind), None)


def is_ready(pod: core_v1.Pod) -> bool:
    found = condition(pod, "Ready")
    return found is not None and found.status == "True"


def is_up(pod: core_v1.Pod) -> bool:
    """Running and ready."""
    return pod.status.phase == "Running" and is_ready(pod)


def available_in(pod: core_v1.Pod, min_ready_seconds: int | None, now: datetime) -> float | None:
    """Seconds until the pod counts as available, 0 when it does; None while it is not ready."""
    if not is_ready(pod):
        return None
    ready = condition(pod, "Ready")
    if not min_ready_seconds or ready is None or ready.last_transition_time is None:
        return 0.0
    return max(0.0, min_ready_seconds - (now - ready.last_transition_time).total_seconds())


def is_available(pod: core_v1.Pod, min_ready_seconds: int | None, now: datetime) -> bool:
    return available_in(pod, min_ready_seconds, now) == 0.0


def pod_from_template(template: core_v1.PodTemplateSpec, owner: Resource) -> core_v1.Pod:
    """A pod as the template says, owned by ``owner`` and without a name yet."""
    of = template.metadata or ObjectMeta()
    spec: dict[str, Any] = to_dict(template.spec) if template.spec is not None else {"containers": []}
    return core_v1.Pod(
        metadata=ObjectMeta(
            namespace=owner.namespace,
            labels=dict(of.labels or {}),
            annotations=dict(of.annotations or {}) or None,
            finalizers=list(of.finalizers or ()) or None,
            owner_references=[owner_reference(owner)],
        ),
        spec=convert(spec, core_v1.PodSpec),
    )
