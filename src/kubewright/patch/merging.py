"""Merging an applied configuration into a live object, and taking out what nobody wants any more."""

from __future__ import annotations

from collections import deque

from kubewright.api import JSON
from kubewright.patch.comparison import ABSENT, Maybe, deduced
from kubewright.patch.field_tree import Tree, is_member
from kubewright.patch.path_elements import item_element
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object

__all__ = ["merge", "remove"]


def merge(live: Object, applied: Object, shape: Shape) -> Object:
    """``live`` with all that ``applied`` says.

    Maps merge key by key, sets and list maps item by item, everything else is replaced. ``applied`` must have passed
    `kubewright.patch.checking.check`; ``live`` may have repeated items, which are kept but not merged into.
    """
    merged = _merge(live, applied, shape)
    return merged if isinstance(merged, dict) else {}


def _merge(live: Maybe, applied: Maybe, shape: Shape) -> JSON:
    if applied is ABSENT:
        return None if live is ABSENT else live
    if live is ABSENT or live is applied:
        return applied
    kind = deduced(applied, shape)
    if kind == "map" and shape.map_type != "atomic":
        before = live if isinstance(live, dict) else {}
        wanted = applied if isinstance(applied, dict) else {}
        return _merge_maps(before, wanted, shape) if before or wanted else applied
    if kind == "list" and shape.list_type != "atomic":
        items = live if isinstance(live, list) else []
        wanted_items = applied if isinstance(applied, list) else []
        return _merge_lists(items, wanted_items, shape) if items or wanted_items else applied
    return applied


def _merge_maps(live: Object, applied: Object, shape: Shape) -> Object:
    merged = dict(live)
    for key, value in applied.items():
        merged[key] = _merge(live.get(key, ABSENT), value, shape.child(key))
    return merged


def _merge_lists(live: list[JSON], applied: list[JSON], shape: Shape) -> list[JSON]:
    """Items in the applied order; those that only the live list has stay behind the neighbours they had."""
    wanted = {item_element(item, shape): item for item in applied}
    present: dict[str, JSON] = {}
    left: deque[tuple[str, JSON]] = deque()
    for item in live:
        element = item_element(item, shape)
        present[element] = None if element in present else item  # repeated ones are not merged into
        left.append((element, item))
    todo = deque(wanted)
    shared = deque(element for element in wanted if element in present)
    done: set[str] = set()
    merged: list[JSON] = []

    def take() -> None:
        element = todo.popleft()
        done.add(element)
        merged.append(_merge(present.get(element, ABSENT), wanted[element], shape.items))
        if shared and shared[0] == element:
            shared.popleft()

    while left or todo:
        if left and todo:
            element = left[0][0]
            if element == todo[0]:
                left.popleft()
                take()
                continue
            if element in wanted and shared and shared[0] != element:
                left.popleft()  # it comes where the applied order has it
                continue
        if left:
            element, item = left[0]
            if element not in wanted:
                left.popleft()
                merged.append(item)
                continue
            if element in done:
                left.popleft()
        if todo:
            take()
    return merged


def remove(value: Object, fields: Tree, shape: Shape) -> Object:
    """``value`` without the fields of a set."""
    left = _remove(value, fields, shape)
    return left if isinstance(left, dict) else {}


def _remove(value: JSON, fields: Tree, shape: Shape) -> JSON:
    """A map or list that is left with nothing becomes null, as in an API server."""
    if isinstance(value, dict):
        if shape.map_type == "atomic" or not value:
            return None
        return _remove_from_map(value, fields, shape) or None
    if isinstance(value, list):
        if shape.list_type == "atomic" or not value:
            return None
        return _remove_from_list(value, fields, shape) or None
    return value


def _remove_from_map(value: Object, fields: Tree, shape: Shape) -> Object:
    left: Object = {}
    for key, item in value.items():
        node = fields.get(f"f:{key}")
        if node is None:
            left[key] = item
        elif not is_member(node):
            left[key] = _remove(item, node, shape.child(key))
    return left


def _remove_from_list(value: list[JSON], fields: Tree, shape: Shape) -> list[JSON]:
    left: list[JSON] = []
    for item in value:
        node = fields.get(item_element(item, shape))
        if node is None:
            left.append(item)
        elif not is_member(node):
            left.append(_remove(item, node, shape.items))
    return left
