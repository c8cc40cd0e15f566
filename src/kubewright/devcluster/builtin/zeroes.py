"""Which optional fields the server tells apart from absent when they are 0, false, "" or [].

In the server's structs those are pointers. The tables below list, per definition, the numbers and booleans that are no
pointers (their zero vanishes) and the strings and lists that stay when empty; all else follows the common case.
"""

from __future__ import annotations

from kubewright.devcluster.builtin.definitions import definitions

__all__ = ["always_written", "keeps_zero", "null_when_absent"]

_VANISHING: dict[str, str] = {
    "admissionregistration.v1.ValidatingAdmissionPolicyStatus": "observedGeneration",
    "apps.v1.DaemonSetSpec": "minReadySeconds",
    "apps.v1.DaemonSetStatus": "numberAvailable numberUnavailable observedGeneration updatedNumberScheduled",
    "apps.v1.DeploymentSpec": "minReadySeconds paused",
    "apps.v1.DeploymentStatus": (
        "availableReplicas observedGeneration readyReplicas replicas unavailableReplicas updatedReplicas"
    ),
    "apps.v1.ReplicaSetSpec": "minReadySeconds",
    "apps.v1.ReplicaSetStatus": "availableReplicas fullyLabeledReplicas observedGeneration readyReplicas",
    "apps.v1.StatefulSetSpec": "minReadySeconds",
    "apps.v1.StatefulSetStatus": "currentReplicas observedGeneration readyReplicas updatedReplicas",
    "authentication.v1.TokenReviewStatus": "authenticated",
    "authorization.v1.SubjectAccessReviewStatus": "denied",
    "autoscaling.v1.ScaleSpec": "replicas",
    "autoscaling.v2.HorizontalPodAutoscalerStatus": "currentReplicas",
    "batch.v1.JobStatus": "active failed succeeded",
    "core.v1.AWSElasticBlockStoreVolumeSource": "partition readOnly",
    "core.v1.Container": "stdin stdinOnce tty",
    "core.v1.ContainerImage": "sizeBytes",
    "core.v1.ContainerPort": "hostPort",
    "core.v1.ContainerStateTerminated": "signal",
    "core.v1.EphemeralContainer": "stdin stdinOnce tty",
    "core.v1.Event": "count",
    "core.v1.EventSeries": "count",
    "core.v1.GCEPersistentDiskVolumeSource": "partition readOnly",
    "core.v1.ISCSIPersistentVolumeSource": "chapAuthDiscovery chapAuthSession readOnly",
    "core.v1.ISCSIVolumeSource": "chapAuthDiscovery chapAuthSession readOnly",
    "core.v1.NodeSpec": "unschedulable",
    "core.v1.PodCondition": "observedGeneration",
    "core.v1.PodSpec": "hostIPC hostNetwork hostPID",
    "core.v1.PodStatus": "observedGeneration",
    "core.v1.Probe": "failureThreshold initialDelaySeconds periodSeconds successThreshold timeoutSeconds",
    "core.v1.ReplicationControllerSpec": "minReadySeconds",
    "core.v1.ReplicationControllerStatus": "availableReplicas fullyLabeledReplicas observedGeneration readyReplicas",
    "core.v1.ScaleIOPersistentVolumeSource": "readOnly sslEnabled",
    "core.v1.ScaleIOVolumeSource": "readOnly sslEnabled",
    "core.v1.ServicePort": "nodePort",
    "core.v1.ServiceSpec": "healthCheckNodePort publishNotReadyAddresses",
    "events.v1.Event": "deprecatedCount",
    "networking.v1.ServiceBackendPort": "number",
    "policy.v1.PodDisruptionBudgetStatus": "observedGeneration",
    "scheduling.v1.PriorityClass": "globalDefault",
    "apiextensions.v1.CustomResourceColumnDefinition": "priority",
    "apiextensions.v1.CustomResourceDefinitionCondition": "observedGeneration",
    "apiextensions.v1.CustomResourceDefinitionSpec": "preserveUnknownFields",
    "apiextensions.v1.CustomResourceDefinitionStatus": "observedGeneration",
    "apiextensions.v1.CustomResourceDefinitionVersion": "deprecated",
    "apiextensions.v1.JSONSchemaProps": (
        "exclusiveMaximum exclusiveMinimum nullable uniqueItems x-kubernetes-embedded-resource x-kubernetes-int-or-string"
    ),
    "meta.v1.Condition": "observedGeneration",
    "meta.v1.ObjectMeta": "generation",
    "apiregistration.v1.APIServiceSpec": "insecureSkipTLSVerify",
}

_STAYING: dict[str, str] = {
    "apiextensions.v1.CustomResourceDefinitionVersion": "deprecationWarning",
    "coordination.v1.LeaseSpec": "holderIdentity preferredHolder strategy",
    "core.v1.Event": "reportingComponent reportingInstance",
    "core.v1.HostPathVolumeSource": "type",
    "core.v1.PersistentVolumeClaimSpec": "storageClassName volumeAttributesClassName volumeMode",
    "core.v1.PersistentVolumeSpec": "volumeMode",
    "core.v1.PodDNSConfigOption": "value",
    "core.v1.PodSpec": "preemptionPolicy runtimeClassName",
    "core.v1.ServicePort": "appProtocol",
    "discovery.v1.Endpoint": "hostname nodeName zone",
    "discovery.v1.EndpointPort": "appProtocol name protocol",
    "networking.v1.IngressSpec": "ingressClassName",
    "rbac.v1.ClusterRole": "rules",
    "rbac.v1.Role": "rules",
    "storage.v1.StorageClass": "reclaimPolicy volumeBindingMode",
}


_UNMARKED: dict[str, str] = {"apps.v1.StatefulSetStatus": "availableReplicas"}
"""Written even when absent, though the published schema does not list them as required."""


_NULL: dict[str, str] = {
    "apps.v1.DaemonSetCondition": "lastTransitionTime",
    "apps.v1.DeploymentCondition": "lastTransitionTime lastUpdateTime",
    "apps.v1.ReplicaSetCondition": "lastTransitionTime",
    "apps.v1.StatefulSetCondition": "lastTransitionTime",
    "autoscaling.v2.HorizontalPodAutoscalerCondition": "lastTransitionTime",
    "batch.v1.JobCondition": "lastProbeTime lastTransitionTime",
    "core.v1.ContainerStateRunning": "startedAt",
    "core.v1.ContainerStateTerminated": "finishedAt startedAt",
    "core.v1.NamespaceCondition": "lastTransitionTime",
    "core.v1.NodeCondition": "lastHeartbeatTime lastTransitionTime",
    "core.v1.PersistentVolumeClaimCondition": "lastProbeTime lastTransitionTime",
    "core.v1.PodCondition": "lastProbeTime lastTransitionTime",
    "core.v1.ReplicationControllerCondition": "lastTransitionTime",
}
"""Times that are written as null when absent: structs of their own in the server, which can't be left out."""


def null_when_absent(definition: str) -> frozenset[str]:
    """The fields of a definition that are on the wire as null where nothing was given."""
    return frozenset(_NULL.get(".".join(definition.rsplit(".", 3)[-3:]), "").split())


def always_written(definition: str) -> frozenset[str]:
    """The fields of a definition that are on the wire whatever was given."""
    short = ".".join(definition.rsplit(".", 3)[-3:])
    return frozenset(definitions()[definition].get("required", ())) | frozenset(_UNMARKED.get(short, "").split())


def keeps_zero(definition: str, field: str) -> bool:
    """Whether the server keeps a 0, false, "" or [] in this optional field of a definition."""
    short = ".".join(definition.rsplit(".", 3)[-3:])
    schema = definitions()[definition]["properties"][field]
    match schema.get("type"):
        case "integer" | "boolean":
            # a volume's readOnly is a plain boolean everywhere, but for one
            plain = field == "readOnly" and short != "core.v1.AzureDiskVolumeSource"
            return not plain and field not in _VANISHING.get(short, "").split()
        case "string" | "array" | "object":
            return field in _STAYING.get(short, "").split()
    return True
