"""Fields that a schema does not know: found, named and left out."""

from __future__ import annotations

from typing import Any

from kubewright.schema.node import Node

__all__ = ["prune"]

_ABOUT_THE_OBJECT = frozenset({"apiVersion", "kind", "metadata"})


def prune(value: Any, node: Node | None, *, root: bool) -> tuple[Any, list[str]]:
    """``value`` without unknown fields, and their paths in order. Returns ``value`` itself when it has none.

    At the root, and in embedded resources, apiVersion, kind and metadata are known whatever the schema says.
    """
    unknown: list[str] = []
    return _prune(value, node, "", unknown, is_object=root), sorted(unknown)


def _prune(value: Any, node: Node | None, path: str, unknown: list[str], *, is_object: bool = False) -> Any:
    if isinstance(value, dict):
        return _prune_object(
            value, node, path, unknown, is_object=is_object or (node is not None and node.embedded_resource)
        )
    if isinstance(value, list):
        child = node.items if node else None
        if child is None and node is not None and node.preserve_unknown:
            return value
        items = [_prune(item, child, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _prune_object(
    value: dict[str, Any], node: Node | None, path: str, unknown: list[str], *, is_object: bool
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        where = f"{path}.{key}" if path else key
        child = node.child(key) if node else None
        if is_object and key in _ABOUT_THE_OBJECT:
            result[key] = item
        elif child is not None:
            result[key] = _prune(item, child, where, unknown)
            changed = changed or result[key] is not item
        elif node is not None and (node.preserve_unknown or node.allows_additional):
            # additionalProperties: true knows every key, and nothing inside
            result[key] = item if node.preserve_unknown else _prune(item, None, where, unknown)
            changed = changed or result[key] is not item
        else:
            unknown.append(where)
            changed = True
    return result if changed else value
