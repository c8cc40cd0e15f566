"""`errors_of`: all that is wrong with an object of a built-in kind, apart from its metadata.

The checks are those that a user meets: what must be there, names, numbers out of bounds, selectors that miss their own
pods, fields that are fixed once set. Kinds without an entry are held to their schema only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubewright.devcluster.builtin import (
    cluster_validation,
    job_validation,
    network_validation,
    pod_validation,
    rbac_validation,
    status_validation,
    storage_validation,
    workload_validation,
)
from kubewright.schema.errors import FieldError

__all__ = ["errors_of"]

Json = dict[str, Any]
Check = Callable[[Json, Json | None], Iterator[FieldError]]
StatusCheck = Callable[[Json, Json], Iterator[FieldError]]


def _pod(obj: Json, old: Json | None) -> Iterator[FieldError]:
    yield from pod_validation.pod(obj)
    if old is not None:
        yield from pod_validation.pod_update(obj, old)


def _pod_template(obj: Json, _old: Json | None) -> Iterator[FieldError]:
    yield from pod_validation.pod_template(obj.get("template") or {}, "template")


_RBAC = "rbac.authorization.k8s.io"
_CHECKS: dict[tuple[str, str], Check] = {
    ("", "ConfigMap"): cluster_validation.config_map,
    ("", "Endpoints"): network_validation.endpoints,
    ("", "Event"): cluster_validation.core_event,
    ("", "Namespace"): cluster_validation.namespace,
    ("", "Node"): cluster_validation.node,
    ("", "PersistentVolume"): storage_validation.persistent_volume,
    ("", "PersistentVolumeClaim"): storage_validation.persistent_volume_claim,
    ("", "Pod"): _pod,
    ("", "PodTemplate"): _pod_template,
    ("", "Secret"): cluster_validation.secret,
    ("", "Service"): network_validation.service,
    ("apps", "ControllerRevision"): workload_validation.controller_revision,
    ("apps", "DaemonSet"): workload_validation.daemon_set,
    ("apps", "Deployment"): workload_validation.deployment,
    ("apps", "ReplicaSet"): workload_validation.replica_set,
    ("apps", "StatefulSet"): workload_validation.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): cluster_validation.autoscaler,
    ("batch", "CronJob"): job_validation.cron_job,
    ("batch", "Job"): job_validation.job,
    ("coordination.k8s.io", "Lease"): cluster_validation.lease,
    ("discovery.k8s.io", "EndpointSlice"): network_validation.endpoint_slice,
    ("events.k8s.io", "Event"): cluster_validation.new_event,
    ("networking.k8s.io", "Ingress"): network_validation.ingress,
    ("networking.k8s.io", "NetworkPolicy"): network_validation.network_policy,
    ("policy", "PodDisruptionBudget"): network_validation.disruption_budget,
    (_RBAC, "ClusterRole"): rbac_validation.cluster_role,
    (_RBAC, "ClusterRoleBinding"): rbac_validation.cluster_role_binding,
    (_RBAC, "Role"): rbac_validation.role,
    (_RBAC, "RoleBinding"): rbac_validation.role_binding,
    ("scheduling.k8s.io", "PriorityClass"): cluster_validation.priority_class,
    ("storage.k8s.io", "StorageClass"): storage_validation.storage_class,
}
_STATUS_CHECKS: dict[tuple[str, str], StatusCheck] = {
    ("", "Namespace"): status_validation.namespace_status,
    ("apps", "DaemonSet"): status_validation.daemon_set_status,
    ("apps", "Deployment"): status_validation.deployment_status,
    ("apps", "ReplicaSet"): status_validation.replica_set_status,
    ("apps", "StatefulSet"): status_validation.stateful_set_status,
}


def errors_of(group: str, kind: str, obj: Json, old: Json | None, *, subresource: str = "") -> list[FieldError]:
    """In the server's order; ``old`` is None on create."""
    if (group, kind, subresource) == ("", "Namespace", "finalize"):
        return list(cluster_validation.namespace_finalizers(obj))
    if subresource:
        check = _STATUS_CHECKS.get((group, kind)) if subresource == "status" else None
        return [] if check is None or old is None else list(check(obj, old))
    found = _CHECKS.get((group, kind))
    return [] if found is None else list(found(obj, old))
