"""Fields that a schema does not know: found, named and left out."""

from __future__ import annotations

from typing import Any

from kubewright.schema.embedded import clean_identity
from kubewright.schema.node import Node

__all__ = ["prune"]

_ABOUT_THE_OBJECT = frozenset({"apiVersion", "kind", "metadata"})


def prune(value: Any, node: Node | None, *, root: bool) -> tuple[Any, list[str]]:
    """``value`` without unknown fields, and their paths in order. Returns ``value`` itself when it has none.

    At the root, and in embedded resources, apiVersion, kind and metadata are known whatever the schema says. The paths
    inside embedded metadata come last. Raises `MalformedMetadata`.
    """
    pruning = _Pruning()
    result = pruning.visit(value, node, "", is_object=root)
    return result, sorted(pruning.unknown) + pruning.in_metadata


class _Pruning:
    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.in_metadata: list[str] = []

    def visit(self, value: Any, node: Node | None, path: str, *, is_object: bool = False) -> Any:
        if isinstance(value, dict):
            if node is not None and node.embedded_resource:
                value, unknown = clean_identity(value, path)
                self.in_metadata += unknown
                is_object = True
            return self._object(value, node, path, is_object=is_object)
        if isinstance(value, list):
            child = node.items if node else None
            if child is None and node is not None and node.preserve_unknown:
                return value
            items = [self.visit(item, child, f"{path}[{index}]") for index, item in enumerate(value)]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        return value

    def _object(self, value: dict[str, Any], node: Node | None, path: str, *, is_object: bool) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in value.items():
            where = f"{path}.{key}" if path else key
            child = node.child(key) if node else None
            if is_object and key in _ABOUT_THE_OBJECT:
                result[key] = item
            elif child is not None:
                result[key] = self.visit(item, child, where)
            elif node is not None and node.preserve_unknown:
                result[key] = item
            elif node is not None and node.allows_additional:
                result[key] = self.visit(item, None, where)  # true: every key is known, and nothing inside
            else:
                self.unknown.append(where)
        same = len(result) == len(value) and all(result[key] is item for key, item in value.items())
        return value if same else result
