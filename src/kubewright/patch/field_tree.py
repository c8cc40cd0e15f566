"""The tree under a `FieldSet`: fieldsV1 itself, spelled in one way.

A node maps path elements to nodes. Below the root, an empty node is a path in the set with nothing below it, and a
``.`` in a node marks one that has something below it and is in the set as well; without it, a node only leads on.
Trees are shared between sets and never changed. Functions on *trees* work on what a node has below it, functions on
*nodes* on a node with its own membership.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from kubewright.api import JSON
from kubewright.patch.path_elements import canonical, describe, item_element, order
from kubewright.patch.shape import Shape

__all__ = [
    "LEAF",
    "SELF",
    "Tree",
    "below",
    "difference",
    "intersection",
    "is_member",
    "make_node",
    "of_value",
    "paths",
    "read",
    "union",
    "union_of_nodes",
    "with_self",
    "within",
    "without",
    "written",
]

Tree: TypeAlias = "dict[str, Tree]"

SELF = "."
LEAF: Tree = {}

_EMPTY: JSON = {}
_CONTAINERS = (dict, list)


def is_member(node: Tree) -> bool:
    return not node or SELF in node


def with_self(node: Tree) -> Tree:
    return node if is_member(node) else {SELF: LEAF, **node}


def below(node: Tree) -> Tree:
    """A node's children, without the mark."""
    return {element: child for element, child in node.items() if element != SELF} if SELF in node else node


def make_node(*, member: bool, children: Tree) -> Tree | None:
    if not member:
        return children or None
    return {SELF: LEAF, **children} if children else LEAF


def union(a: Tree, b: Tree) -> Tree:
    """The union of two trees' children."""
    merged = dict(a)
    for element, node in b.items():
        mine = merged.get(element)
        if mine is None:
            merged[element] = node
        elif mine is not node:
            merged[element] = union_of_nodes(mine, node)
    return merged


def union_of_nodes(a: Tree, b: Tree) -> Tree:
    if not a:
        return with_self(b)
    if not b:
        return with_self(a)
    return union(a, b)  # the mark is a child like any other


def difference(a: Tree, b: Tree) -> Tree:
    """What is in ``a`` and not in ``b``; ``a`` itself where they have nothing in common."""
    if a.keys().isdisjoint(b):
        return a
    rest: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None:
            rest[element] = node
        elif element != SELF:
            left = make_node(
                member=is_member(node) and not is_member(other), children=difference(below(node), below(other))
            )
            if left is not None:
                rest[element] = left
    return rest


def without(a: Tree, b: Tree) -> Tree:
    rest: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None:
            rest[element] = node
        elif not is_member(other):
            left = make_node(member=is_member(node), children=without(below(node), other))
            if left is not None:
                rest[element] = left
    return rest


def within(a: Tree, b: Tree) -> Tree:
    rest: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None:
            continue
        if is_member(other):
            rest[element] = node
        else:
            left = make_node(member=is_member(node), children=within(below(node), other))
            if left is not None:
                rest[element] = left
    return rest


def intersection(a: Tree, b: Tree) -> Tree:
    shared: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None or element == SELF:
            continue
        left = make_node(member=is_member(node) and is_member(other), children=intersection(below(node), below(other)))
        if left is not None:
            shared[element] = left
    return shared


def read(fields: JSON | Mapping[str, JSON]) -> tuple[Tree, bool]:
    """The children that fieldsV1 lists, and whether the node itself is in the set."""
    if not isinstance(fields, Mapping):
        raise ValueError(f"an object was expected, not {fields!r}")  # noqa: TRY004 - it is what was read that is wrong
    children: Tree = {}
    member = False
    for key, value in fields.items():
        if key == SELF:
            member = True
            continue
        element = key if key[:2] == "f:" else canonical(key)
        if element is None:
            continue
        if value == _EMPTY:
            made: Tree | None = LEAF
        else:
            grandchildren, child_is_member = read(value)
            made = make_node(member=child_is_member, children=grandchildren)
        if made is not None:
            known = children.get(element)
            children[element] = made if known is None else union_of_nodes(known, made)
    return children, member or not children


def written(tree: Tree) -> dict[str, JSON]:
    """fieldsV1 in the server's order."""
    fields: dict[str, JSON] = {SELF: {}} if SELF in tree else {}
    for element in _ordered(tree):
        node = tree[element]
        fields[element] = written(node) if node else {}
    return fields


def _ordered(tree: Tree) -> list[str]:
    elements = [element for element in tree if element != SELF]
    if all(element[0] == "f" for element in elements):
        return sorted(elements)
    return sorted(elements, key=order)


def paths(tree: Tree, prefix: str) -> Iterator[str]:
    """Every path as messages show it: of each node, what is in the set comes before what only leads on."""
    elements = _ordered(tree)
    for element in elements:
        if is_member(tree[element]):
            yield prefix + describe(element)
    for element in elements:
        if tree[element]:
            yield from paths(tree[element], prefix + describe(element))


def of_value(value: JSON, shape: Shape) -> Tree | None:
    """The node that a value makes: {} for one unit, None for a map or list that merges and has nothing in it."""
    if isinstance(value, dict):
        return LEAF if shape.map_type == "atomic" else _of_map(value, shape)
    if isinstance(value, list) and shape.list_type != "atomic":
        return _of_list(value, shape)
    return LEAF


def _of_map(value: dict[str, JSON], shape: Shape) -> Tree | None:
    tree: Tree = {}
    for key, item in value.items():
        node: Tree | None = LEAF
        if isinstance(item, _CONTAINERS) and item != _EMPTY:
            node = of_value(item, shape.child(key))
            if node is not LEAF and not shape.declares(key):
                node = with_self(node or LEAF)
        if node is not None:
            tree[f"f:{key}"] = node
    return tree or None


def _of_list(value: list[JSON], shape: Shape) -> Tree | None:
    tree: Tree = {}
    repeated: set[str] = set()
    for item in value:
        try:
            element = item_element(item, shape)
        except ValueError:
            continue  # validation says so; it has no path
        if element in tree:
            repeated.add(element)
        tree[element] = with_self(of_value(item, shape.items) or LEAF)
    for element in repeated:
        tree[element] = LEAF  # items that can't be told apart are owned as one
    return tree or None
