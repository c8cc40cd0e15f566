"""Who owns what of a new object, in one pass: all that is in it is its creator's.

The same as comparing the object with nothing and writing down what was added. What a map of given keys gives is
remembered with its shape, as most objects of a kind have the same fields.
"""

from __future__ import annotations

from kubewright.api import JSON
from kubewright.patch.field_tree import LEAF, SELF, Tree
from kubewright.patch.fields import FieldSet
from kubewright.patch.managed import NEVER_OWNED
from kubewright.patch.path_elements import item_element, order
from kubewright.patch.shape import Layout, Shape
from kubewright.patch.values import Object

__all__ = ["created_fields"]

_MOST_LAYOUTS = 256
_IDENTITY = frozenset({"f:apiVersion", "f:kind"})
_NOT_OWNED_METADATA = frozenset(NEVER_OWNED.tree["f:metadata"])


def created_fields(obj: Object, shape: Shape, *, ignored: FieldSet) -> Tree | None:
    """The fieldsV1 of who creates ``obj``, in the server's order; empty where there is nothing to own.

    ``ignored`` is what the write leaves alone; None where that is more than whole top-level fields.
    """
    if any(ignored.tree.values()):
        return None
    fields: Tree = {}
    for key in sorted(obj):
        element = f"f:{key}"
        if element in _IDENTITY or element in ignored.tree:
            continue
        if key == "metadata":
            metadata = _fields(obj[key], shape.child(key))
            owned = {name: node for name, node in metadata.items() if name not in _NOT_OWNED_METADATA and name != SELF}
            if owned:
                fields[element] = owned
        else:
            fields[element] = _fields(obj[key], shape.child(key))
    return fields


def _fields(value: JSON, shape: Shape) -> Tree:
    """What is added with a value: itself, and what is below unless it is one unit."""
    if isinstance(value, dict):
        if value and shape.type in {"object", "any"} and shape.map_type != "atomic":
            return _of_map(value, shape)
    elif isinstance(value, list) and value and shape.type in {"array", "any"} and shape.list_type != "atomic":
        return _of_list(value, shape)
    return LEAF


def _of_map(value: dict[str, JSON], shape: Shape) -> Tree:
    layout = shape.layouts.get(tuple(value))
    if layout is None:
        layout = _layout(value, shape)
    if not layout.open:
        return layout.fields
    fields = layout.fields.copy()
    for key, element, child in layout.open:
        fields[element] = _fields(value[key], child)
    return fields


def _layout(value: dict[str, JSON], shape: Shape) -> Layout:
    if len(shape.layouts) >= _MOST_LAYOUTS:
        shape.layouts.clear()
    keys = sorted(value)
    fields: Tree = {SELF: LEAF, **{f"f:{key}": LEAF for key in keys}}
    children = [(key, f"f:{key}", shape.child(key)) for key in keys]
    layout = Layout(fields, tuple(each for each in children if _has_parts(each[2])))
    shape.layouts[tuple(value)] = layout
    return layout


def _has_parts(shape: Shape) -> bool:
    """Whether anything below a value of this shape can be owned by itself."""
    match shape.type:
        case "object":
            return shape.map_type != "atomic"
        case "array":
            return shape.list_type != "atomic"
        case "any":
            return True
    return False


def _of_list(value: list[JSON], shape: Shape) -> Tree:
    found: Tree = {}
    repeated: set[str] = set()
    for item in value:
        try:
            element = item_element(item, shape)
        except ValueError:
            continue  # what has no identity can't be owned
        if element in found:
            repeated.add(element)
        found[element] = _fields(item, shape.items)
    for element in repeated:
        found[element] = LEAF  # items that can't be told apart are owned as one
    if not found:
        return LEAF
    elements = sorted(found, key=order) if len(found) > 1 else found
    return {SELF: LEAF, **{element: found[element] for element in elements}}
