"""Conditions of stored objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubewright.devcluster.objects import Object

__all__ = ["condition", "with_condition"]


def condition(obj: Object, type: str) -> dict[str, Any]:  # noqa: A002 - the field's own name
    """One condition of ``status``, empty where there is none."""
    conditions = (obj.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each.get("type") == type), {})


def with_condition(obj: Object, type: str, status: str, *, reason: str, message: str, now: str) -> Object:  # noqa: A002
    """``obj`` with a condition set; its transition time moves only with its status."""
    present = condition(obj, type)
    since = present.get("lastTransitionTime") if present.get("status") == status else None
    entry = {
        "type": type,
        "status": status,
        "lastTransitionTime": since or now,
        "reason": reason,
        "message": message,
    }
    conditions = list((obj.get("status") or {}).get("conditions") or [])
    if present:
        conditions[conditions.index(present)] = entry
    else:
        conditions.append(entry)
    return {**obj, "status": {**(obj.get("status") or {}), "conditions": conditions}}
