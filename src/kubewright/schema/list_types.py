"""Lists that are sets or maps (``x-kubernetes-list-type``): no item twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubewright.schema.errors import FieldError, duplicate, invalid
from kubewright.schema.go_text import json_text
from kubewright.schema.node import Node

__all__ = ["duplicates"]


def duplicates(value: Any, node: Node | None, path: str = "") -> Iterator[FieldError]:
    """One error for each item that repeats an earlier one, the first repetition only."""
    if node is None:
        return
    if isinstance(value, dict):
        for key in sorted(value):
            if key in node.properties:
                yield from duplicates(value[key], node.properties[key], f"{path}.{key}" if path else key)
            elif node.additional is not None:
                yield from duplicates(value[key], node.additional, f"{path}[{key}]")
    elif isinstance(value, list):
        if node.list_type == "set":
            for index in _repeated(value):
                yield duplicate(f"{path}[{index}]", value[index])
        elif node.list_type == "map":
            yield from _same_keys(value, node.list_map_keys, path)
        for index, item in enumerate(value):
            yield from duplicates(item, node.items, f"{path}[{index}]")


def _same_keys(value: list[Any], keys: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            yield invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map")
            return
    identities = [{key: item[key] for key in keys if key in item} if item else {} for item in value]
    for index in _repeated(identities):
        yield duplicate(f"{path}[{index}]", identities[index])


def _repeated(values: Sequence[Any]) -> Iterator[int]:
    """The index of the first repetition of each value."""
    times: dict[tuple[str, str], int] = {}
    for index, value in enumerate(values):
        identity = (type(value).__name__, json_text(value))
        times[identity] = times.get(identity, 0) + 1
        if times[identity] == 2:
            yield index
