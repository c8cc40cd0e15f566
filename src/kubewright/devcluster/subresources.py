"""Subresources whose body is not the object: scale, and a Pod's eviction and binding.

https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubewright.devcluster.objects import Object, metadata_of, name_of, with_metadata
from kubewright.devcluster.statuses import StatusError, bad_request, status_body
from kubewright.schema.errors import invalid, invalid_status, not_supported, required
from kubewright.schema.go_text import quoted

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
        selector = {"matchLabels": selector}  # a ReplicationController's
    return _selector_text(selector)


def _selector_text(selector: Object) -> str:
    """A label selector as the server writes it: sorted by keys, values sorted."""
    parts = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for each in selector.get("matchExpressions") or []:
        key, values = each["key"], ",".join(sorted(each.get("values") or []))
        text = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        parts.append((key, text[each["operator"]]))
    return ",".join(text for _, text in sorted(parts, key=lambda part: part[0]))


def scaled(resource: ServedResource, obj: Object, scale: Any) -> Object:
    """The object with the replicas that a Scale wants, and the resource version that it insists on."""
    declared = resource.info.scale
    if not isinstance(scale, dict) or scale.get("kind") != "Scale" or scale.get("apiVersion") != "autoscaling/v1":
        found = scale.get("kind") if isinstance(scale, dict) else scale
        raise bad_request(f"unexpected object of kind {found!r}, expected a Scale of autoscaling/v1")
    metadata = scale.get("metadata") or {}
    if not resource.custom and metadata.get("name") not in {None, "", name_of(obj)}:
        own = name_of(obj)
        raise bad_request(f"the name of the object ({metadata['name']}) does not match the name on the URL ({own})")
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request("json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32")
    if replicas < 0 and not resource.custom:
        info = resource.info
        error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        name = str(metadata_of(obj).get("name"))
        raise StatusError.of(invalid_status([error], kind="Scale", group="autoscaling", name=name or info.plural))
    changed = _with(obj, (declared.spec if declared else _SPEC).strip(".").split("."), replicas)
    insisted = {"resourceVersion": metadata.get("resourceVersion")}
    if not resource.custom and metadata.get("uid"):
        insisted["uid"] = metadata["uid"]
    kept = {**metadata_of(obj), **insisted}
    return {**changed, "metadata": {key: value for key, value in kept.items() if value is not None}}


def bound(pod: Object, binding: Object, *, now: str) -> Object:
    """The Pod on the node that a Binding names; raises `StatusError` for a target that is none, or a Pod that has one."""
    target = binding.get("target") or {}
    metadata, name = metadata_of(pod), name_of(pod)
    if (kind := target.get("kind")) not in {None, "", "Node"}:
        raise StatusError(status_body(500, "", str(not_supported("target.kind", kind, ["Node", "<empty>"]))))
    node = target.get("name")
    if not node:
        raise StatusError(status_body(500, "", str(required("target.name"))))
    spec = pod.get("spec") or {}
    if metadata.get("deletionTimestamp"):
        raise _not_bound(name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise _not_bound(name, f"pod {name} is already assigned to node {quoted(spec['nodeName'])}")
    annotations = {**(metadata.get("annotations") or {}), **(metadata_of(binding).get("annotations") or {})}
    placed = {**pod, "spec": {**spec, "nodeName": node}}
    if annotations:
        placed = with_metadata(placed, annotations=annotations)
    return _scheduled(placed, now)


def _not_bound(name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    return StatusError(status_body(409, "Conflict", message, details={"name": name, "kind": "pods/binding"}))


def _scheduled(pod: Object, now: str) -> Object:
    status = pod.get("status") or {}
    kept = [each for each in status.get("conditions") or [] if each.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    return {**pod, "status": {**status, "conditions": [*kept, scheduled]}}
