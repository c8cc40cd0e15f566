"""`FieldSet`: which fields of an object someone owns, as server-side apply keeps books of it.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

import msgspec

from kubewright.api import JSON
from kubewright.patch import field_tree
from kubewright.patch.field_tree import Tree
from kubewright.patch.shape import UNTYPED, Shape

__all__ = ["NOTHING", "FieldSet", "FieldSetError", "digest"]

_json = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_sorted_json = msgspec.json.Encoder(order="deterministic").encode


class FieldSetError(ValueError):
    """A fieldsV1 that can't be read."""


class FieldSet:
    """An immutable set of paths.

    A path's owner does not thereby own what is below: of an atomic list or a scalar the path itself is in the set, of a
    map its fields are, and the map itself only where its being there was someone's doing.
    """

    __slots__ = ("_fits", "_tree", "_written")
    _tree: Tree
    _fits: Shape | None
    _written: dict[str, JSON] | None

    def __init__(self, paths: Iterable[Iterable[str]] = ()) -> None:
        """``paths`` are sequences of path elements, such as ``("f:spec", "f:replicas")``."""
        tree: Tree = {}
        for path in paths:
            one: Tree = field_tree.LEAF
            for element in reversed(tuple(path)):
                one = {element: one}
            tree = field_tree.union(tree, one)
        self._tree = tree
        self._fits = self._written = None

    @classmethod
    def of_tree(cls, tree: Tree) -> FieldSet:
        """The set that `tree` gives; for those who build one in that form."""
        made = cls.__new__(cls)
        made._tree = tree
        made._fits = made._written = None
        return made

    @classmethod
    def from_fields_v1(cls, fields: Mapping[str, JSON]) -> FieldSet:
        """Reads fieldsV1; elements of kinds that are not known are left out. Raises `FieldSetError`.

        Most objects of a kind have the same few sets: the latest are remembered, with what was found out about them.
        """
        try:
            return _read(_json(fields))
        except ValueError as error:
            raise FieldSetError(f"fieldsV1: {error}") from error

    @classmethod
    def of(cls, value: JSON, shape: Shape = UNTYPED) -> FieldSet:
        """All fields of a value, as someone owns them who applies it."""
        return cls.of_tree(field_tree.of_value(value, shape) or {})

    @classmethod
    def of_names(cls, *paths: str) -> FieldSet:
        """The set of plain fields given as ``metadata.name``."""
        return cls([[f"f:{name}" for name in path.split(".")] for path in paths])

    def to_fields_v1(self) -> dict[str, JSON]:
        """fieldsV1 in the server's order. Not a copy."""
        if self._written is None:
            self._written = field_tree.written(self._tree)
        return self._written

    def fits(self, shape: Shape) -> bool:
        """Whether this is known to be a set of a shape's fields as that shape divides them; see `known_to_fit`."""
        return self._fits is shape

    def known_to_fit(self, shape: Shape) -> FieldSet:
        """Itself, remembering that this was found out."""
        self._fits = shape
        return self

    def union(self, other: FieldSet) -> FieldSet:
        if not other._tree:
            return self
        if not self._tree:
            return other
        return self.of_tree(field_tree.union(self._tree, other._tree))

    def difference(self, other: FieldSet) -> FieldSet:
        """What is here and not in ``other``; fields below a path of ``other`` stay."""
        rest = field_tree.difference(self._tree, other._tree)
        return self if rest is self._tree else self.of_tree(rest)

    def without(self, other: FieldSet) -> FieldSet:
        """What is neither in ``other`` nor below one of its paths."""
        return self.of_tree(field_tree.without(self._tree, other._tree))

    def within(self, other: FieldSet) -> FieldSet:
        """What is in ``other`` or below one of its paths, and what leads there."""
        if not self._tree:
            return self
        return self.of_tree(field_tree.within(self._tree, other._tree))

    def intersection(self, other: FieldSet) -> FieldSet:
        return self.of_tree(field_tree.intersection(self._tree, other._tree))

    __or__ = union
    __sub__ = difference
    __and__ = intersection

    def is_empty(self) -> bool:
        return not self._tree

    def __bool__(self) -> bool:
        return bool(self._tree)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldSet):
            return NotImplemented
        return self._tree is other._tree or self._tree == other._tree

    def __hash__(self) -> int:
        return hash(digest(self))

    def __repr__(self) -> str:
        return f"FieldSet({', '.join(self.paths())})"

    def paths(self) -> list[str]:
        """Every path as messages show it, in the server's order: ``.status.conditions[type="Ready"].status``."""
        return list(field_tree.paths(self._tree, ""))

    def __contains__(self, path: Iterable[str]) -> bool:
        """Whether a path, given by its elements, is in the set."""
        node: Tree | None = self._tree
        parent: Tree | None = None
        for element in path:
            parent, node = node, None if node is None else node.get(element)
        return parent is not None and node is not None and field_tree.is_member(node)

    @property
    def tree(self) -> Tree:
        """The set as a tree (see `field_tree`). Not a copy."""
        return self._tree


@lru_cache(256)
def _read(fields: bytes) -> FieldSet:
    """The set of an encoded fieldsV1."""
    children, _ = field_tree.read(_decode(fields))
    return FieldSet.of_tree(children)


NOTHING = FieldSet()
"""The empty set."""


def digest(fields: FieldSet | Mapping[str, JSON]) -> bytes:
    """16 bytes that are equal for equal sets, whatever their order. A mapping is fieldsV1 as a server writes it."""
    tree = fields._tree if isinstance(fields, FieldSet) else fields
    return blake2b(_sorted_json(tree), digest_size=16).digest()
