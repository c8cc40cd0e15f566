"""`FieldSet`: which fields of an object someone owns, as server-side apply keeps books of it.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kubewright.api import JSON
from kubewright.patch.path_elements import canonical, describe, item_element, order
from kubewright.patch.shape import UNTYPED, Shape

if TYPE_CHECKING:
    Tree: TypeAlias = dict[str, "Tree"]

__all__ = ["FieldSet", "FieldSetError", "digest"]

_sorted_json = msgspec.json.Encoder(order="deterministic").encode

_SELF = "."
_LEAF: Tree = {}


class FieldSetError(ValueError):
    """A fieldsV1 that can't be read."""


class FieldSet:
    """An immutable set of paths.

    A path's owner does not thereby own what is below: of an atomic list or a scalar the path itself is in the set, of a
    map its fields are, and the map itself only where its being there was someone's doing.
    """

    # The tree is fieldsV1 itself, spelled in one way: below the root, {} is a path in the set with nothing below, and a
    # "." marks one with something below. Trees are shared between sets and never changed.
    __slots__ = ("_tree",)
    _tree: Tree

    def __init__(self, paths: Iterable[Iterable[str]] = ()) -> None:
        """``paths`` are sequences of path elements, such as ``("f:spec", "f:replicas")``."""
        tree: Tree = {}
        for path in paths:
            one: Tree = _LEAF
            for element in reversed(tuple(path)):
                one = {element: one}
            tree = _union(tree, one)
        self._tree = tree

    @classmethod
    def _of_tree(cls, tree: Tree) -> FieldSet:
        made = cls.__new__(cls)
        made._tree = tree
        return made

    @classmethod
    def from_fields_v1(cls, fields: Mapping[str, JSON]) -> FieldSet:
        """Reads fieldsV1; elements of kinds that are not known are left out. Raises `FieldSetError`."""
        try:
            children, _ = _read(fields)
        except ValueError as error:
            raise FieldSetError(f"fieldsV1: {error}") from error
        return cls._of_tree(children)

    @classmethod
    def of(cls, value: JSON, shape: Shape = UNTYPED) -> FieldSet:
        """All fields of a value, as someone owns them who applies it."""
        return cls._of_tree(_fields_of(value, shape) or {})

    @classmethod
    def of_names(cls, *paths: str) -> FieldSet:
        """The set of plain fields given as ``metadata.name``."""
        return cls([[f"f:{name}" for name in path.split(".")] for path in paths])

    def to_fields_v1(self) -> dict[str, JSON]:
        """fieldsV1 in the server's order."""
        return _written(self._tree)

    def union(self, other: FieldSet) -> FieldSet:
        return self._of_tree(_union(self._tree, other._tree))

    def difference(self, other: FieldSet) -> FieldSet:
        """What is here and not in ``other``; fields below a path of ``other`` stay."""
        return self._of_tree(_difference(self._tree, other._tree))

    def without(self, other: FieldSet) -> FieldSet:
        """What is neither in ``other`` nor below one of its paths."""
        return self._of_tree(_without(self._tree, other._tree))

    def within(self, other: FieldSet) -> FieldSet:
        """What is in ``other`` or below one of its paths, and what leads there."""
        return self._of_tree(_within(self._tree, other._tree))

    def intersection(self, other: FieldSet) -> FieldSet:
        return self._of_tree(_intersection(self._tree, other._tree))

    __or__ = union
    __sub__ = difference
    __and__ = intersection

    def is_empty(self) -> bool:
        return not self._tree

    def __bool__(self) -> bool:
        return bool(self._tree)

    def __eq__(self, other: object) -> bool:
        return self._tree == other._tree if isinstance(other, FieldSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(digest(self))

    def __repr__(self) -> str:
        return f"FieldSet({', '.join(self.paths())})"

    def paths(self) -> list[str]:
        """Every path as messages show it, in the server's order: ``.status.conditions[type="Ready"].status``."""
        return list(_paths(self._tree, ""))

    def __contains__(self, path: Iterable[str]) -> bool:
        """Whether a path, given by its elements, is in the set."""
        node: Tree | None = self._tree
        parent: Tree | None = None
        for element in path:
            parent, node = node, None if node is None else node.get(element)
        return parent is not None and node is not None and _is_member(node)

    @property
    def tree(self) -> Mapping[str, Mapping[str, object]]:
        """fieldsV1 in no particular order. Not a copy."""
        return self._tree


def digest(fields: FieldSet | Mapping[str, JSON]) -> bytes:
    """16 bytes that are equal for equal sets, whatever their order. A mapping is fieldsV1 as a server writes it."""
    tree = fields._tree if isinstance(fields, FieldSet) else fields
    return blake2b(_sorted_json(tree), digest_size=16).digest()


def _is_member(node: Tree) -> bool:
    return not node or _SELF in node


def _with_self(node: Tree) -> Tree:
    return node if _is_member(node) else {_SELF: _LEAF, **node}


def _below(node: Tree) -> Tree:
    """A node's children, without the mark."""
    return {element: child for element, child in node.items() if element != _SELF} if _SELF in node else node


def _node(*, member: bool, children: Tree) -> Tree | None:
    if not member:
        return children or None
    return {_SELF: _LEAF, **children} if children else _LEAF


def _union(a: Tree, b: Tree) -> Tree:
    """The union of two trees' children."""
    merged = dict(a)
    for element, node in b.items():
        mine = merged.get(element)
        if mine is None:
            merged[element] = node
        elif mine is not node:
            merged[element] = _union_of_nodes(mine, node)
    return merged


def _union_of_nodes(a: Tree, b: Tree) -> Tree:
    if not a:
        return _with_self(b)
    if not b:
        return _with_self(a)
    return _union(a, b)  # the mark is a child like any other


def _difference(a: Tree, b: Tree) -> Tree:
    rest: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None:
            rest[element] = node
        elif element != _SELF:
            left = _node(
                member=_is_member(node) and not _is_member(other), children=_difference(_below(node), _below(other))
            )
            if left is not None:
                rest[element] = left
    return rest


def _without(a: Tree, b: Tree) -> Tree:
    rest: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None:
            rest[element] = node
        elif not _is_member(other):
            left = _node(member=_is_member(node), children=_without(_below(node), other))
            if left is not None:
                rest[element] = left
    return rest


def _within(a: Tree, b: Tree) -> Tree:
    rest: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None:
            continue
        if _is_member(other):
            rest[element] = node
        else:
            left = _node(member=_is_member(node), children=_within(_below(node), other))
            if left is not None:
                rest[element] = left
    return rest


def _intersection(a: Tree, b: Tree) -> Tree:
    shared: Tree = {}
    for element, node in a.items():
        other = b.get(element)
        if other is None or element == _SELF:
            continue
        left = _node(member=_is_member(node) and _is_member(other), children=_intersection(_below(node), _below(other)))
        if left is not None:
            shared[element] = left
    return shared


def _read(fields: JSON | Mapping[str, JSON]) -> tuple[Tree, bool]:
    """The children that fieldsV1 lists, and whether the node itself is in the set."""
    if not isinstance(fields, Mapping):
        raise ValueError(f"an object was expected, not {fields!r}")  # noqa: TRY004 - it is what was read that is wrong
    children: Tree = {}
    member = False
    for key, value in fields.items():
        if key == _SELF:
            member = True
            continue
        element = canonical(key)
        if element is None:
            continue
        below, is_member = _read(value)
        node = _node(member=is_member, children=below)
        if node is not None:
            known = children.get(element)
            children[element] = node if known is None else _union_of_nodes(known, node)
    return children, member or not children


def _written(tree: Tree) -> dict[str, JSON]:
    written: dict[str, JSON] = {}
    if _SELF in tree:
        written[_SELF] = {}
        if len(tree) == 1:
            return written
    for element in _ordered(tree):
        written[element] = _written(tree[element])
    return written


def _ordered(tree: Tree) -> list[str]:
    elements = [element for element in tree if element != _SELF]
    if all(element[0] == "f" for element in elements):
        return sorted(elements)
    return sorted(elements, key=order)


def _paths(tree: Tree, prefix: str) -> Iterator[str]:
    elements = _ordered(tree)
    for element in elements:
        if _is_member(tree[element]):
            yield prefix + describe(element)
    for element in elements:
        if tree[element]:
            yield from _paths(tree[element], prefix + describe(element))


def _fields_of(value: JSON, shape: Shape) -> Tree | None:
    """The node that a value makes: {} for one unit, None for a map or list that merges and has nothing in it."""
    if isinstance(value, dict):
        return _LEAF if shape.map_type == "atomic" else _fields_of_map(value, shape)
    if isinstance(value, list) and shape.list_type != "atomic":
        return _fields_of_list(value, shape)
    return _LEAF


def _fields_of_map(value: dict[str, JSON], shape: Shape) -> Tree | None:
    tree: Tree = {}
    for key, item in value.items():
        if item is None or item == {}:
            tree[f"f:{key}"] = _LEAF
            continue
        node = _fields_of(item, shape.child(key)) if isinstance(item, dict | list) else _LEAF
        if not shape.declares(key):
            node = _with_self(node or _LEAF)
        if node is not None:
            tree[f"f:{key}"] = node
    return tree or None


def _fields_of_list(value: list[JSON], shape: Shape) -> Tree | None:
    tree: Tree = {}
    repeated: set[str] = set()
    for item in value:
        try:
            element = item_element(item, shape)
        except ValueError:
            continue  # validation says so; it has no path
        if element in tree:
            repeated.add(element)
        tree[element] = _with_self(_fields_of(item, shape.items) or _LEAF)
    for element in repeated:
        tree[element] = _LEAF  # items that can't be told apart are owned as one
    return tree or None
