"""`columns_of`: what ``kubectl get`` shows of a built-in kind. Kinds without an entry show their name and age."""

from __future__ import annotations

from kubewright.devcluster.builtin import (
    cluster_columns,
    network_columns,
    pod_columns,
    storage_columns,
    workload_columns,
)
from kubewright.devcluster.builtin.printing import Columns, created_at, listed, name_and_age

__all__ = ["columns_of"]

_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"
_NAMED = listed("Created At:date", cells=lambda obj, _now: [created_at(obj)])

_COLUMNS: dict[tuple[str, str], Columns] = {
    ("", "ConfigMap"): cluster_columns.CONFIG_MAP,
    ("", "Endpoints"): network_columns.ENDPOINTS,
    ("", "Event"): cluster_columns.EVENT,
    ("", "LimitRange"): _NAMED,
    ("", "Namespace"): cluster_columns.NAMESPACE,
    ("", "Node"): cluster_columns.NODE,
    ("", "PersistentVolume"): storage_columns.PERSISTENT_VOLUME,
    ("", "PersistentVolumeClaim"): storage_columns.PERSISTENT_VOLUME_CLAIM,
    ("", "Pod"): pod_columns.POD,
    ("", "PodTemplate"): workload_columns.POD_TEMPLATE,
    ("", "ReplicationController"): workload_columns.REPLICATION_CONTROLLER,
    ("", "ResourceQuota"): cluster_columns.RESOURCE_QUOTA,
    ("", "Secret"): cluster_columns.SECRET,
    ("", "Service"): network_columns.SERVICE,
    ("", "ServiceAccount"): cluster_columns.SERVICE_ACCOUNT,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): cluster_columns.WEBHOOKS,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): cluster_columns.WEBHOOKS,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _NAMED,
    ("apiregistration.k8s.io", "APIService"): cluster_columns.API_SERVICE,
    ("apps", "ControllerRevision"): workload_columns.CONTROLLER_REVISION,
    ("apps", "DaemonSet"): workload_columns.DAEMON_SET,
    ("apps", "Deployment"): workload_columns.DEPLOYMENT,
    ("apps", "ReplicaSet"): workload_columns.REPLICA_SET,
    ("apps", "StatefulSet"): workload_columns.STATEFUL_SET,
    ("autoscaling", "HorizontalPodAutoscaler"): cluster_columns.AUTOSCALER,
    ("batch", "CronJob"): workload_columns.CRON_JOB,
    ("batch", "Job"): workload_columns.JOB,
    ("coordination.k8s.io", "Lease"): cluster_columns.LEASE,
    ("discovery.k8s.io", "EndpointSlice"): network_columns.ENDPOINT_SLICE,
    ("events.k8s.io", "Event"): cluster_columns.NEW_EVENT,
    ("networking.k8s.io", "Ingress"): network_columns.INGRESS,
    ("networking.k8s.io", "IngressClass"): network_columns.INGRESS_CLASS,
    ("networking.k8s.io", "NetworkPolicy"): network_columns.NETWORK_POLICY,
    ("node.k8s.io", "RuntimeClass"): cluster_columns.RUNTIME_CLASS,
    ("policy", "PodDisruptionBudget"): network_columns.DISRUPTION_BUDGET,
    (_RBAC, "ClusterRole"): _NAMED,
    (_RBAC, "ClusterRoleBinding"): cluster_columns.BINDING,
    (_RBAC, "Role"): _NAMED,
    (_RBAC, "RoleBinding"): cluster_columns.BINDING,
    ("scheduling.k8s.io", "PriorityClass"): cluster_columns.PRIORITY_CLASS,
    (_STORAGE, "CSIDriver"): storage_columns.CSI_DRIVER,
    (_STORAGE, "CSINode"): storage_columns.CSI_NODE,
    (_STORAGE, "StorageClass"): storage_columns.STORAGE_CLASS,
    (_STORAGE, "VolumeAttachment"): storage_columns.VOLUME_ATTACHMENT,
}


def columns_of(group: str, kind: str) -> Columns:
    return _COLUMNS.get((group, kind), name_and_age)
