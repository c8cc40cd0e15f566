"""Which fields a field selector may name, by kind."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["SELECTABLE"]

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
