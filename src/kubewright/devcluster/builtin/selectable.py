"""Which fields a field selector may name, by kind, and what their text is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SELECTABLE", "selected_text"]

_EVENT = (
    "involvedObject.apiVersion",
    "involvedObject.fieldPath",
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.resourceVersion",
    "involvedObject.uid",
    "reason",
    "reportingComponent",
    "source",
    "type",
)

SELECTABLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Event"): _EVENT,
    ("", "Namespace"): ("status.phase",),
    ("", "Node"): ("spec.unschedulable",),
    ("", "Pod"): (
        "spec.host",
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
        "status.podIPs",
    ),
    ("", "ReplicationController"): ("status.replicas",),
    ("", "Secret"): ("type",),
    ("", "Service"): ("spec.clusterIP", "spec.type"),
    ("batch", "Job"): ("status.successful",),
    ("certificates.k8s.io", "CertificateSigningRequest"): ("spec.signerName",),
    ("events.k8s.io", "Event"): (
        "reason",
        "regarding.apiVersion",
        "regarding.fieldPath",
        "regarding.kind",
        "regarding.name",
        "regarding.namespace",
        "regarding.resourceVersion",
        "regarding.uid",
        "reportingController",
        "type",
    ),
}

_ELSEWHERE = {
    "source": "source.component",
    "spec.host": "spec.nodeName",
    "status.podIPs": "",  # may be asked for, and is never anything
    "status.successful": "status.succeeded",
}
_ZERO = {"spec.hostNetwork": "false", "spec.unschedulable": "false", "status.replicas": "0", "status.successful": "0"}


def selected_text(obj: Mapping[str, Any], path: str) -> str:
    """The text of the field at ``path``; empty, or the field's zero, where the object lacks it."""
    value: Any = obj
    for part in _ELSEWHERE.get(path, path).split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return _ZERO.get(path, "")
    return str(value).lower() if isinstance(value, bool) else str(value)
