"""Nulls out, defaults in: what the API server does to an object before it validates it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kubewright.schema.node import Node

__all__ = ["default_value", "drop_nulls"]


def drop_nulls(value: Any, node: Node | None) -> Any:
    """Without the nulls of fields that are neither nullable nor have a default. Returns ``value`` when none are there.

    Nulls in lists stay, and so do those in fields that the schema does not know.
    """
    if isinstance(value, dict):
        changed = {}
        dropped = set()
        for key, item in value.items():
            child = node.child(key) if node else None
            if item is None and child is not None and not child.nullable and child.default is None:
                dropped.add(key)
                continue
            kept = drop_nulls(item, child)
            if kept is not item:
                changed[key] = kept
        if not changed and not dropped:
            return value
        return {key: changed.get(key, item) for key, item in value.items() if key not in dropped}
    if isinstance(value, list):
        items = [drop_nulls(item, node.items if node else None) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def default_value(value: Any, node: Node | None) -> Any:
    """With the schema's defaults where fields are missing, or null without being nullable, at every depth.

    A default fills in nothing below a missing parent. Returns ``value`` when there is nothing to fill in.
    """
    if node is None:
        return value
    if isinstance(value, dict):
        return _default_object(value, node)
    if isinstance(value, list) and node.items is not None:
        items = [default_value(_or_default(item, node.items), node.items) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _or_default(value: Any, node: Node) -> Any:
    if value is None and not node.nullable and node.default is not None:
        return deepcopy(node.default)
    return value


def _default_object(value: dict[str, Any], node: Node) -> dict[str, Any]:
    result: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        child = node.child(key)
        new = item if child is None else default_value(_or_default(item, child), child)
        changed = changed or new is not item
        result[key] = new
    for key, child in node.properties.items():
        if key not in value and child.default is not None:
            result[key] = default_value(deepcopy(child.default), child)
            changed = True
    return result if changed else value
