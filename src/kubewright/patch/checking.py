"""Whether an object fits its schema well enough to be merged, which is all that server-side apply asks of it."""

from __future__ import annotations

from collections.abc import Iterator

from kubewright.api import JSON
from kubewright.patch.go_text import literal, plain
from kubewright.patch.path_elements import describe, item_element
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object

__all__ = ["check"]

_GO_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}


def check(value: JSON, shape: Shape) -> list[str]:
    """What keeps ``value`` from being merged: ``.spec.colour: field not declared in schema`` and the like.

    Undeclared fields, values of another type, and items of sets and list maps that repeat or have no identity.
    """
    return list(_check(value, shape, ""))


def _check(value: JSON, shape: Shape, path: str) -> Iterator[str]:
    if value is None:
        return
    kind = shape.type
    if kind == "object" or (kind == "any" and isinstance(value, dict)):
        if isinstance(value, dict):
            yield from _check_map(value, shape, path)
        else:
            yield f"{path}: expected map, got {_printed(value)}"
    elif kind == "array" or (kind == "any" and isinstance(value, list)):
        if isinstance(value, list):
            yield from _check_list(value, shape, path)
        else:
            yield f"{path}: expected list, got {_printed(value)}"
    elif kind == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield f"{path}: expected numeric (int or float), got {_GO_TYPES.get(type(value), 'map[string]interface {}')}"
    elif kind == "string" and not isinstance(value, str):
        yield f"{path}: expected string, got &value.valueUnstructured{{Value:{literal(value)}}}"
    elif kind == "boolean" and not isinstance(value, bool):
        yield f"{path}: expected boolean, got {_printed(value)}"


def _check_map(value: Object, shape: Shape, path: str) -> Iterator[str]:
    undeclared = None
    for key, item in value.items():
        child = shape.property(key)
        if child is not None:
            yield from _check(item, child, f"{path}.{key}")
        elif undeclared is None:
            undeclared = key
    if undeclared is not None:  # ends a server's check, which goes through a map in no order: the last to be told
        yield f"{path}.{undeclared}: field not declared in schema"


def _check_list(value: list[JSON], shape: Shape, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(value):
        if shape.list_type == "atomic":
            yield from _check(item, shape.items, f"{path}[{index}]")
            continue
        try:
            element = item_element(item, shape)
        except ValueError as error:
            yield f"{path}: element {index}: {error}"
            return
        if element in seen:
            yield f"{path}: duplicate entries for key {describe(element)}"
        seen.add(element)
        yield from _check(item, shape.items, f"{path}{describe(element)}")


def _printed(value: JSON) -> str:
    """A value as Go's %v prints it, inside the wrapper that the server's message shows."""
    return f"&{{{plain(value)}}}"
