"""What changed between two values, as sets of fields: the basis of who owns what after a write."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, NamedTuple, TypeAlias

from kubewright.api import JSON
from kubewright.patch.field_tree import LEAF, Tree, with_self
from kubewright.patch.fields import FieldSet
from kubewright.patch.path_elements import item_element
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object, same

__all__ = ["ABSENT", "Absent", "Comparison", "Maybe", "compare", "deduced"]


class Absent(Enum):
    """Not there, which is something else than null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
Maybe: TypeAlias = JSON | Literal[Absent.ABSENT]


class Comparison(NamedTuple):
    """No path is in more than one of the sets. A map or list that came or went is listed with all that is in it."""

    added: FieldSet
    removed: FieldSet
    modified: FieldSet

    def without(self, fields: FieldSet) -> Comparison:
        return Comparison(*(changes.without(fields) for changes in self)) if fields else self

    def within(self, fields: FieldSet) -> Comparison:
        return Comparison(*(changes.within(fields) for changes in self))


class _Node(NamedTuple):
    added: Tree | None
    removed: Tree | None
    modified: Tree | None


_CONTAINERS = (dict, list)
_EQUAL = _Node(None, None, None)
_ADDED = _Node(LEAF, None, None)
_REMOVED = _Node(None, LEAF, None)
_MODIFIED = _Node(None, None, LEAF)


def compare(old: Object, new: Object, shape: Shape) -> Comparison:
    """The fields that ``new`` added, removed and modified."""
    node = _compare(old, new, shape)
    return Comparison(*(FieldSet.of_tree(tree or {}) for tree in node))


def deduced(value: Maybe, shape: Shape) -> Literal["map", "list", "scalar"]:
    """How a value merges: as its schema says, or where the schema leaves it open, as it looks."""
    if shape.type == "object":
        return "map"
    if shape.type == "array":
        return "list"
    if shape.type != "any" or isinstance(value, str | int | float | bool):
        return "scalar"
    return "list" if isinstance(value, list) else "map"


def _compare(old: Maybe, new: Maybe, shape: Shape) -> _Node:
    if old is ABSENT:
        if not isinstance(new, _CONTAINERS):
            return _ADDED  # whatever the schema says of it, there is nothing below
    elif new is not ABSENT and same(old, new):
        return _EQUAL
    kind = deduced(old if new is ABSENT else new, shape)
    before = kind if old is ABSENT or new is ABSENT else deduced(old, shape)
    if before != kind:
        # An untyped value became another kind: what was below is gone, and the path itself is modified.
        gone = _children(old, ABSENT, before, shape)
        there = _children(ABSENT, new, kind, shape)
        return _Node(there.added if there else None, gone.removed if gone else None, LEAF)
    inside = _children(old, new, kind, shape)
    if inside is None:
        return _ADDED if old is ABSENT else _REMOVED if new is ABSENT else _MODIFIED
    if old is ABSENT:
        return inside._replace(added=with_self(inside.added or LEAF))
    if new is ABSENT:
        return inside._replace(removed=with_self(inside.removed or LEAF))
    return inside


def _children(old: Maybe, new: Maybe, kind: Literal["map", "list", "scalar"], shape: Shape) -> _Node | None:
    """The changes below; None where the value is one unit (scalars, what is atomic, two empty ones)."""
    if kind == "map" and shape.map_type != "atomic":
        before, after = _as_map(old), _as_map(new)
        return _compare_maps(before, after, shape) if before or after else None
    if kind == "list" and shape.list_type != "atomic":
        earlier, later = _as_list(old), _as_list(new)
        return _compare_lists(earlier, later, shape) if earlier or later else None
    return None


def _as_map(value: Maybe) -> Object:
    return value if isinstance(value, dict) else {}


def _as_list(value: Maybe) -> list[JSON]:
    return value if isinstance(value, list) else []


class _Trees:
    """Collects children's changes."""

    def __init__(self) -> None:
        self.added: Tree = {}
        self.removed: Tree = {}
        self.modified: Tree = {}

    def put(self, element: str, node: _Node) -> None:
        if node.added is not None:
            self.added[element] = node.added
        if node.removed is not None:
            self.removed[element] = node.removed
        if node.modified is not None:
            self.modified[element] = node.modified

    def node(self) -> _Node:
        return _Node(self.added or None, self.removed or None, self.modified or None)


def _compare_maps(old: Object, new: Object, shape: Shape) -> _Node:
    trees = _Trees()
    for key, value in old.items():
        after = new.get(key, ABSENT)
        if after is not value and (node := _compare(value, after, shape.child(key))) is not _EQUAL:
            trees.put(f"f:{key}", node)
    for key, value in new.items():
        if key not in old:
            trees.put(f"f:{key}", _compare(ABSENT, value, shape.child(key)))
    return trees.node()


def _compare_lists(old: list[JSON], new: list[JSON], shape: Shape) -> _Node:
    trees = _Trees()
    before, after = _by_element(old, shape), _by_element(new, shape)
    for element in before | after:
        trees.put(element, _compare_items(before.get(element, []), after.get(element, []), shape.items))
    return trees.node()


def _by_element(items: list[JSON], shape: Shape) -> dict[str, list[JSON]]:
    """The items by their identity; several where it is not one. What has no identity can't be owned."""
    found: dict[str, list[JSON]] = {}
    for item in items:
        try:
            found.setdefault(item_element(item, shape), []).append(item)
        except ValueError:
            continue
    return found


def _compare_items(old: list[JSON], new: list[JSON], shape: Shape) -> _Node:
    """Items that share an identity are owned as one unit, since their fields can't be told apart."""
    if len(old) <= 1 and len(new) <= 1:
        return _compare(old[0] if old else ABSENT, new[0] if new else ABSENT, shape)
    if len(old) > 1 and len(new) > 1:
        return _EQUAL if same([*old], [*new]) else _MODIFIED
    if len(old) > 1:
        kept = _compare(ABSENT, new[0], shape) if new else _EQUAL
        return kept._replace(removed=LEAF)
    gone = _compare(old[0], ABSENT, shape) if old else _EQUAL
    return gone._replace(added=LEAF)
