"""`fill_in`: what a server fills into an object that its creator left out, by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubewright.devcluster.builtin import cluster_defaults, network_defaults, pod_defaults, workload_defaults

__all__ = ["fill_in"]

Json = dict[str, Any]

_FUNCTIONS: dict[tuple[str, str], Callable[[Json], None]] = {
    ("", "Endpoints"): network_defaults.endpoints,
    ("", "Event"): cluster_defaults.core_event,
    ("", "LimitRange"): cluster_defaults.limit_range,
    ("", "Namespace"): cluster_defaults.namespace,
    ("", "Node"): cluster_defaults.node,
    ("", "PersistentVolume"): cluster_defaults.persistent_volume,
    ("", "PersistentVolumeClaim"): cluster_defaults.persistent_volume_claim,
    ("", "Pod"): pod_defaults.pod,
    ("", "PodTemplate"): pod_defaults.pod_template,
    ("", "ReplicationController"): workload_defaults.replication_controller,
    ("", "ResourceQuota"): cluster_defaults.resource_quota,
    ("", "Secret"): cluster_defaults.secret,
    ("", "Service"): network_defaults.service,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): cluster_defaults.mutating_webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): cluster_defaults.validating_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): cluster_defaults.custom_resource_definition,
    ("apiregistration.k8s.io", "APIService"): cluster_defaults.api_service,
    ("apps", "DaemonSet"): workload_defaults.daemon_set,
    ("apps", "Deployment"): workload_defaults.deployment,
    ("apps", "ReplicaSet"): workload_defaults.replica_set,
    ("apps", "StatefulSet"): workload_defaults.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): cluster_defaults.autoscaler,
    ("batch", "CronJob"): workload_defaults.cron_job,
    ("batch", "Job"): workload_defaults.job,
    ("coordination.k8s.io", "Lease"): cluster_defaults.lease,
    ("discovery.k8s.io", "EndpointSlice"): network_defaults.endpoint_slice,
    ("events.k8s.io", "Event"): cluster_defaults.new_event,
    ("networking.k8s.io", "Ingress"): network_defaults.ingress,
    ("networking.k8s.io", "NetworkPolicy"): network_defaults.network_policy,
    ("policy", "PodDisruptionBudget"): cluster_defaults.disruption_budget,
    ("rbac.authorization.k8s.io", "ClusterRole"): cluster_defaults.role,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): cluster_defaults.role_binding,
    ("rbac.authorization.k8s.io", "Role"): cluster_defaults.role,
    ("rbac.authorization.k8s.io", "RoleBinding"): cluster_defaults.role_binding,
    ("scheduling.k8s.io", "PriorityClass"): cluster_defaults.priority_class,
    ("storage.k8s.io", "CSIDriver"): cluster_defaults.csi_driver,
    ("storage.k8s.io", "StorageClass"): cluster_defaults.storage_class,
    ("storage.k8s.io", "VolumeAttachment"): cluster_defaults.volume_attachment,
}


def fill_in(group: str, kind: str, obj: Json) -> None:
    """Edits ``obj``, which must be the caller's own all the way down. Kinds without defaults are left as they are."""
    function = _FUNCTIONS.get((group, kind))
    if function is not None:
        function(obj)
