"""Defaults filled into objects that are otherwise right: `defaulting` for one schema, made once.

Only the parts of an object that have defaults are visited.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from kubewright.schema.defaulting import default_value
from kubewright.schema.node import Node

__all__ = ["Fill", "filling"]

Fill = Callable[[Any], Any]
"""Gives a value with its defaults, itself where there is nothing to fill in. Filled-in defaults are shared."""


def filling(node: Node) -> Fill | None:
    """How values of a node are filled; None where there never is anything to fill in."""
    missing = [
        (name, default_value(deepcopy(child.default), child))
        for name, child in node.properties.items()
        if child.default is not None
    ]
    inner = {name: fill for name, child in node.properties.items() if (fill := filling(child)) is not None}
    additional = filling(node.additional) if node.additional is not None else None
    if missing or inner or additional is not None:
        return _object(missing, inner, additional, node.properties)
    items = filling(node.items) if node.items is not None else None
    return _list(items) if items is not None else None


def _object(
    missing: list[tuple[str, Any]], inner: dict[str, Fill], additional: Fill | None, declared: dict[str, Node]
) -> Fill:
    def fill(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        changed: dict[str, Any] = {}
        for name, fill_inner in inner.items():
            if name in value and (new := fill_inner(value[name])) is not value[name]:
                changed[name] = new
        if additional is not None:
            for name, item in value.items():
                if name not in declared and (new := additional(item)) is not item:
                    changed[name] = new
        changed.update((name, default) for name, default in missing if name not in value)
        return {**value, **changed} if changed else value

    return fill


def _list(items: Fill) -> Fill:
    def fill(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        filled = [items(item) for item in value]
        return filled if any(new is not old for new, old in zip(filled, value, strict=True)) else value

    return fill
