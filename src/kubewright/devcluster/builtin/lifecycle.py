"""What a create or update does to an object besides defaults: status kept apart, generations, labels of Jobs.

`BuiltinStrategy` calls these; every function edits the object it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubewright.devcluster.builtin.pod_defaults import quality_of_service

__all__ = [
    "COUNTS_GENERATIONS",
    "admit_pod",
    "born",
    "choose_storage_class",
    "counted_generation",
    "job_labels",
    "template_generation",
    "tolerate",
]

Json = dict[str, Any]

COUNTS_GENERATIONS = frozenset(
    {
        ("", "Pod"),
        ("", "ReplicationController"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "Ingress"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("policy", "PodDisruptionBudget"),
        ("resource.k8s.io", "ResourceSlice"),
        ("scheduling.k8s.io", "PriorityClass"),
    }
)
"""The kinds whose objects have a ``metadata.generation``."""

_NOT_SPEC = frozenset({"apiVersion", "kind", "metadata", "status"})
_PROTECTED = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}
"""Finalizers that a controller takes away once nobody uses the volume."""
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _spec(obj: Json) -> Json:
    return {key: value for key, value in obj.items() if key not in _NOT_SPEC}


def counted_generation(new: Json, old: Json) -> int | None:
    """The generation after an update: one more when anything but metadata and status changed."""
    before: int | None = (old.get("metadata") or {}).get("generation")
    changed = _spec(new) != _spec(old)
    if old.get("kind") == "Deployment":
        annotations = [(each.get("metadata") or {}).get("annotations") for each in (new, old)]
        changed = changed or annotations[0] != annotations[1]
    return (before or 0) + 1 if changed else before


def born(group: str, kind: str, obj: Json) -> None:
    """What only the creation of an object does."""
    metadata = obj.setdefault("metadata", {})
    if (group, kind) == ("", "Namespace"):
        finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
    elif (group, kind) == ("", "Pod"):
        admit_pod(obj.setdefault("spec", {}))
        obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
    elif kind in _PROTECTED and not group:
        finalizers = metadata.setdefault("finalizers", [])
        if _PROTECTED[kind] not in finalizers:
            finalizers.append(_PROTECTED[kind])
    elif (group, kind) == ("apps", "DaemonSet"):
        metadata.setdefault("annotations", {})[_TEMPLATE_GENERATION] = "1"
    elif (group, kind) == ("batch", "Job"):
        _label_job(obj, metadata)


_JOB_UID = "batch.kubernetes.io/controller-uid"


def job_labels(name: str, uid: str) -> dict[str, str]:
    """What the pods of a Job carry; those without a domain are for programs from before there was one."""
    return {_JOB_UID: uid, "batch.kubernetes.io/job-name": name, "controller-uid": uid, "job-name": name}


def _label_job(obj: Json, metadata: Json) -> None:
    """A Job selects its pods by its own uid, unless it says that it selects them itself."""
    spec = obj["spec"]
    template = spec["template"].setdefault("metadata", {})
    if not spec.get("manualSelector"):
        uid = metadata.get("uid", "")
        labels = template.get("labels") or {}
        template["labels"] = {**job_labels(metadata.get("name", ""), uid), **labels}
        spec.setdefault("selector", {}).setdefault("matchLabels", {}).setdefault(_JOB_UID, uid)
    if template.get("labels") and not metadata.get("labels"):
        metadata["labels"] = dict(template["labels"])


def template_generation(new: Json, old: Json) -> None:
    """Counts a DaemonSet's templates, in the annotation where old clients look."""
    before = ((old.get("metadata") or {}).get("annotations") or {}).get(_TEMPLATE_GENERATION, "0")
    count = int(before) + ((new.get("spec") or {}).get("template") != (old.get("spec") or {}).get("template"))
    new.setdefault("metadata", {}).setdefault("annotations", {})[_TEMPLATE_GENERATION] = str(count)


_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def choose_storage_class(claim: Json, classes: Iterable[Json]) -> None:
    """A claim that names no class, not even "", gets the cluster's default one; the newest if there are several."""
    spec = claim["spec"]
    if "storageClassName" in spec:
        return
    defaults = [
        each
        for each in classes
        if any((each["metadata"].get("annotations") or {}).get(name) == "true" for name in _DEFAULT_CLASS)
    ]
    if defaults:
        newest = max(defaults, key=lambda each: str(each["metadata"].get("creationTimestamp", "")))
        spec["storageClassName"] = newest["metadata"]["name"]


_GRACE = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def admit_pod(spec: Json) -> None:
    """What the admission plugins that every cluster runs add to a pod."""
    spec.setdefault("serviceAccountName", "default")
    spec["serviceAccount"] = spec["serviceAccountName"]
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    tolerate(spec)


def tolerate(spec: Json) -> None:
    """A pod stays five minutes on a node that is not ready or out of reach, unless it says otherwise."""
    tolerations = spec.setdefault("tolerations", [])
    for condition in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{condition}"
        covered = any(
            each.get("key") in {key, None} and each.get("effect") in {"NoExecute", None} for each in tolerations
        )
        if not covered:
            tolerations.append({"key": key, **_GRACE})
