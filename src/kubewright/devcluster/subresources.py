"""Subresources whose body is not the object: scale, and a Pod's eviction and binding.

https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubewright.api import LabelSelector, Selector, convert
from kubewright.devcluster.objects import Object, metadata_of
from kubewright.devcluster.statuses import StatusError, bad_request
from kubewright.schema.errors import invalid, invalid_status

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource

__all__ = ["bound", "scale_of", "scaled"]

_SPEC, _STATUS = ".spec.replicas", ".status.replicas"


def _at(obj: Any, path: str) -> Any:
    """The value at a simple path (``.spec.replicas``); None where there is none."""
    for part in path.strip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def _with(obj: Object, path: list[str], value: Any) -> Object:
    head, *rest = path
    if not rest:
        return {**obj, head: value}
    inner = obj.get(head)
    return {**obj, head: _with(inner if isinstance(inner, dict) else {}, rest, value)}


def scale_of(resource: ServedResource, obj: Object) -> Object:
    """The ``autoscaling/v1`` Scale of an object."""
    declared = resource.info.scale
    metadata = metadata_of(obj)
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Object = {"replicas": _at(obj, declared.status if declared else _STATUS) or 0}
    selector = _selector(resource, obj)
    if selector:
        status["selector"] = selector
    replicas = _at(obj, declared.spec if declared else _SPEC)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector(resource: ServedResource, obj: Object) -> str:
    declared = resource.info.scale
    if declared is not None and declared.selector:
        return str(_at(obj, declared.selector) or "")
    if resource.custom:
        return ""
    selector = _at(obj, ".spec.selector") or {}
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return str(Selector.from_labels(selector))  # a ReplicationController's
    return str(Selector.from_object(convert(selector, LabelSelector)))


def scaled(resource: ServedResource, obj: Object, scale: Any) -> Object:
    """The object with the replicas that a Scale wants, and the resource version that it insists on."""
    declared = resource.info.scale
    if not isinstance(scale, dict) or scale.get("kind") != "Scale" or scale.get("apiVersion") != "autoscaling/v1":
        found = scale.get("kind") if isinstance(scale, dict) else scale
        raise bad_request(f"unexpected object of kind {found!r}, expected a Scale of autoscaling/v1")
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request("json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32")
    if replicas < 0 and not resource.custom:
        info = resource.info
        error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        name = str(metadata_of(obj).get("name"))
        raise StatusError.of(invalid_status([error], kind="Scale", group="autoscaling", name=name or info.plural))
    changed = _with(obj, (declared.spec if declared else _SPEC).strip(".").split("."), replicas)
    given = (scale.get("metadata") or {}).get("resourceVersion")
    metadata = {**metadata_of(obj), "resourceVersion": given}
    return {**changed, "metadata": {key: value for key, value in metadata.items() if value is not None}}


def bound(pod: Object, binding: Object) -> Object:
    """The Pod on the node that a Binding names."""
    node = (binding.get("target") or {}).get("name")
    if not node:
        error = invalid("target.name", "", "must be specified")
        name = str(metadata_of(pod).get("name"))
        raise StatusError.of(invalid_status([error], kind="Binding", group="", name=name))
    return {**pod, "spec": {**(pod.get("spec") or {}), "nodeName": node}}
