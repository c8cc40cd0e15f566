"""What the server fills into pods and pod templates. Everything here edits the object it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["containers_of", "pod", "pod_spec", "pod_template", "quality_of_service", "volume_source"]

Json = dict[str, Any]


def containers_of(spec: Json) -> Iterator[Json]:
    for key in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(key) or ()


def pod(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in containers_of(spec):
        resources = container["resources"]
        if limits := resources.get("limits"):
            resources["requests"] = {**limits, **resources.get("requests", {})}
    status = obj.setdefault("status", {})
    status.setdefault("phase", "Pending")
    if address := status.get("podIP"):
        status.setdefault("podIPs", [{"ip": address}])


def pod_template(owner: Json) -> None:
    """The ``template`` of a workload's spec, or of a PodTemplate."""
    template = owner.setdefault("template", {})
    template.setdefault("metadata", {})
    pod_spec(template.setdefault("spec", {}))


def pod_spec(spec: Json) -> None:
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for volume in spec.get("volumes") or ():
        _volume(volume)
    for container in containers_of(spec):
        _container(container)
        if spec.get("hostNetwork"):
            for port in container.get("ports") or ():
                if number := port.get("containerPort"):
                    port.setdefault("hostPort", number)


def _container(container: Json) -> None:
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for variable in container.get("env") or ():
        _reference(variable.get("valueFrom") or {})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            _probe(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _http_get(handler)


def _pull_policy(image: str) -> str:
    named, digest, _ = image.partition("@")
    tag = named.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or (not tag and not digest) else "IfNotPresent"


def _reference(source: Json) -> None:
    """A downward API reference, in an environment variable or in a volume's file."""
    if (field := source.get("fieldRef")) is not None:
        field.setdefault("apiVersion", "v1")
    if (resource := source.get("resourceFieldRef")) is not None:
        resource.setdefault("divisor", "0")


def _http_get(handler: Json) -> None:
    if (get := handler.get("httpGet")) is not None:
        get.setdefault("path", "/")
        get.setdefault("scheme", "HTTP")


def _probe(probe: Json) -> None:
    _http_get(probe)
    if (grpc := probe.get("grpc")) is not None:
        grpc.setdefault("service", "")
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)


_VOLUME_DEFAULTS: dict[str, Json] = {
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False},
    "configMap": {"defaultMode": 0o644},
    "downwardAPI": {"defaultMode": 0o644},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "projected": {"defaultMode": 0o644},
    "rbd": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "scaleIO": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
    "secret": {"defaultMode": 0o644},
}


def _volume(volume: Json) -> None:
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}
    volume_source(volume)
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _reference(item)
    for source in (volume.get("projected") or {}).get("sources") or ():
        if (token := source.get("serviceAccountToken")) is not None:
            token.setdefault("expirationSeconds", 3600)
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _reference(item)
    if (claim := (volume.get("ephemeral") or {}).get("volumeClaimTemplate")) is not None:
        claim.setdefault("metadata", {})
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def volume_source(holder: Json) -> None:
    """The volume sources that pods and PersistentVolumes share."""
    for kind, defaults in _VOLUME_DEFAULTS.items():
        if (source := holder.get(kind)) is not None:
            for name, value in defaults.items():
                source.setdefault(name, value)


def quality_of_service(spec: Json) -> str:
    """Guaranteed when limits of cpu and memory equal requests everywhere, BestEffort without either, else Burstable."""
    counted = ("cpu", "memory")
    guaranteed, anything = True, False
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        resources = container.get("resources") or {}
        limits, requests = (
            {k: v for k, v in (resources.get(key) or {}).items() if k in counted and v != "0"}
            for key in ("limits", "requests")
        )
        anything = anything or bool(limits or requests)
        guaranteed = guaranteed and limits.keys() == set(counted) and requests == limits
    if not anything:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"
