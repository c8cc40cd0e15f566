"""What a field is to a field selector: text, which of some built-in kinds is found, or made up, elsewhere.

https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["selected_text"]

_ELSEWHERE = {
    ("", "Event", "source"): "source.component",
    ("", "Pod", "spec.host"): "spec.nodeName",
    ("", "Pod", "status.podIPs"): "",  # may be asked for, and is never anything
    ("batch", "Job", "status.successful"): "status.succeeded",
}
_ZERO = {
    ("", "Node", "spec.unschedulable"): "false",
    ("", "Pod", "spec.hostNetwork"): "false",
    ("", "ReplicationController", "status.replicas"): "0",
    ("batch", "Job", "status.successful"): "0",
}


def selected_text(group: str, kind: str, obj: Mapping[str, Any], path: str) -> str:
    """The text of the field at ``path``; empty, or the field's zero, where the object lacks it."""
    field = group, kind, path
    value: Any = obj
    for part in _ELSEWHERE.get(field, path).split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return _ZERO.get(field, "")
    return str(value).lower() if isinstance(value, bool) else str(value)
