"""What the server fills into all the kinds that are neither pods nor Services. It edits the object it is given."""

from __future__ import annotations

import base64
from typing import Any

from kubewright.devcluster.builtin.pod_defaults import volume_source

__all__ = [
    "api_service",
    "autoscaler",
    "core_event",
    "csi_driver",
    "custom_resource_definition",
    "disruption_budget",
    "lease",
    "limit_range",
    "mutating_webhooks",
    "namespace",
    "new_event",
    "node",
    "persistent_volume",
    "persistent_volume_claim",
    "priority_class",
    "resource_quota",
    "role",
    "role_binding",
    "secret",
    "storage_class",
    "validating_webhooks",
    "volume_attachment",
]

Json = dict[str, Any]
_RBAC = "rbac.authorization.k8s.io"


def namespace(obj: Json) -> None:
    metadata = obj["metadata"]
    if name := metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": name}  # KEP-2161
    obj.setdefault("spec", {})
    obj.setdefault("status", {}).setdefault("phase", "Active")


def secret(obj: Json) -> None:
    obj.setdefault("type", "Opaque")
    given = obj.pop("stringData", None)
    if given:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in given.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}


def node(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    if cidr := spec.get("podCIDR"):
        spec.setdefault("podCIDRs", [cidr])
    status = obj.setdefault("status", {})
    if "capacity" in status:
        status.setdefault("allocatable", dict(status["capacity"]))
    status.setdefault("daemonEndpoints", {}).setdefault("kubeletEndpoint", {}).setdefault("Port", 0)
    info = status.setdefault("nodeInfo", {})
    for name in (
        "architecture",
        "bootID",
        "containerRuntimeVersion",
        "kernelVersion",
        "kubeProxyVersion",
        "kubeletVersion",
        "machineID",
        "operatingSystem",
        "osImage",
        "systemUUID",
    ):
        info.setdefault(name, "")


def persistent_volume_claim(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("resources", {})
    spec.setdefault("volumeMode", "Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def persistent_volume(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    volume_source(spec)
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def storage_class(obj: Json) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def volume_attachment(obj: Json) -> None:
    obj.setdefault("status", {}).setdefault("attached", False)


def csi_driver(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("attachRequired", True)
    spec.setdefault("podInfoOnMount", False)
    spec.setdefault("volumeLifecycleModes", ["Persistent"])
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")


def core_event(obj: Json) -> None:
    obj.setdefault("source", {})
    for moment in ("firstTimestamp", "lastTimestamp", "eventTime"):
        obj.setdefault(moment, None)
    obj.setdefault("reportingComponent", "")
    obj.setdefault("reportingInstance", "")


def new_event(obj: Json) -> None:
    obj.setdefault("deprecatedSource", {})
    for moment in ("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime"):
        obj.setdefault(moment, None)


def role(obj: Json) -> None:
    obj.setdefault("rules", None)


def role_binding(obj: Json) -> None:
    reference = obj.setdefault("roleRef", {})
    reference["apiGroup"] = reference.get("apiGroup") or _RBAC
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in {"User", "Group"}:
            subject.setdefault("apiGroup", _RBAC)


def lease(obj: Json) -> None:
    obj.setdefault("spec", {})


def resource_quota(obj: Json) -> None:
    obj.setdefault("spec", {})
    obj.setdefault("status", {})


def limit_range(obj: Json) -> None:
    for item in obj.setdefault("spec", {}).get("limits") or ():
        if item.get("type") != "Container":
            continue
        # a limit defaults to the maximum, a request to the limit or else to the minimum
        limits = {**(item.get("max") or {}), **(item.get("default") or {})}
        requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
        if limits:
            item["default"] = limits
        if requests:
            item["defaultRequest"] = requests


def priority_class(obj: Json) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def autoscaler(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    status = obj.setdefault("status", {})
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    utilization = {"averageUtilization": 80, "type": "Utilization"}
    if obj.get("apiVersion") == "autoscaling/v1":
        spec.setdefault("targetCPUUtilizationPercentage", 80)
    else:
        spec.setdefault("metrics", [{"resource": {"name": "cpu", "target": utilization}, "type": "Resource"}])


def disruption_budget(obj: Json) -> None:
    obj.setdefault("spec", {})
    status = obj.setdefault("status", {})
    for count in ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"):
        status.setdefault(count, 0)


def _webhook(hook: Json) -> None:
    hook.setdefault("failurePolicy", "Fail")
    hook.setdefault("matchPolicy", "Equivalent")
    hook.setdefault("namespaceSelector", {})
    hook.setdefault("objectSelector", {})
    hook.setdefault("timeoutSeconds", 10)
    for rule in hook.get("rules") or ():
        rule.setdefault("scope", "*")
    _service_port(hook.get("clientConfig") or {})


def _service_port(client_config: Json) -> None:
    if (target := client_config.get("service")) is not None:
        target.setdefault("port", 443)


def validating_webhooks(obj: Json) -> None:
    for hook in obj.get("webhooks") or ():
        _webhook(hook)


def mutating_webhooks(obj: Json) -> None:
    for hook in obj.get("webhooks") or ():
        _webhook(hook)
        hook.setdefault("reinvocationPolicy", "Never")


def api_service(obj: Json) -> None:
    _service_port(obj.setdefault("spec", {}))
    obj.setdefault("status", {})


def custom_resource_definition(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    names = spec.setdefault("names", {})
    if kind := names.get("kind"):
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    _service_port((conversion.get("webhook") or {}).get("clientConfig") or {})
