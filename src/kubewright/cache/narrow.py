"""`Narrow`: decodes chosen paths of an object and nothing else, as a type made of just these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

__all__ = ["Narrow", "Steps", "Values", "fits"]

Steps: TypeAlias = tuple[str | None, ...]
"""Names of members; None stands for each item of a list."""
Values: TypeAlias = tuple[str, ...]

_encode = msgspec.json.Encoder().encode


class _Tree(dict[str | None, "_Tree"]):
    """Paths by their common beginnings. A path ends where nothing is below."""

    @classmethod
    def of(cls, paths: Iterable[Steps]) -> _Tree:
        tree = cls()
        for steps in paths:
            node = tree
            for step in steps:
                node = node.setdefault(step, cls())
        return tree

    def has_room_for(self, steps: Steps) -> bool:
        """Whether the path ends nowhere where others go on, nor goes on where another ends, nor is a list an object."""
        node = self
        for number, step in enumerate(steps):
            if step not in node:
                return not number or (bool(node) and (step is None) is (None in node))
            node = node[step]
        return not node


class Narrow:
    """Some paths that fit together, see `fits`.

    ``over`` are structs whose fields come along, by the path to the object that has them; there must be such objects. A
    path may lead through, or end at, a field that a struct has by the same name as the object: its type is then the path's.
    ``leaf`` is the type of what paths end at.
    """

    def __init__(
        self, paths: Sequence[Steps], over: Mapping[Steps, type[Struct]] | None = None, leaf: Any = Any
    ) -> None:
        tree = _Tree.of(paths)
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(_struct(tree, (), over or {}, leaf)).decode
        ways = [_way(tree, steps, over or {}) for steps in paths]
        self.readers = [_reader(way) for way in ways]
        """Functions of what was decoded, that give the values of each path."""
        dotted = [".".join(step for step in way if step is not None) for way in ways if None not in way]
        self.ends = attrgetter(*dotted) if dotted and len(dotted) == len(ways) else None
        """What all paths end at, in one call, where there is no list on the way; raises AttributeError where one breaks off."""


def fits(paths: Sequence[Steps], another: Steps) -> bool:
    """Whether one more path can be decoded along with the others."""
    return _Tree.of(paths).has_room_for(another)


def _struct(tree: _Tree, place: Steps, over: Mapping[Steps, type[Struct]], leaf: Any) -> type[Struct]:
    base = over.get(place)
    fields = [
        (
            _attribute(number, name, base),
            _type(below, (*place, name), over, leaf),
            msgspec.field(name=name, default=msgspec.NODEFAULT if (*place, name) in over else None),
        )
        for number, (name, below) in enumerate(tree.items())
    ]
    return msgspec.defstruct("Narrow", fields, bases=None if base is None else (base,), gc=False, kw_only=True)


def _type(tree: _Tree, place: Steps, over: Mapping[Steps, type[Struct]], leaf: Any) -> Any:
    if not tree:
        return leaf
    if None in tree:
        return list[_type(tree[None], (*place, None), over, leaf)] | None  # type: ignore[misc]  # a type made at run time
    struct = _struct(tree, place, over, leaf)
    return struct if place in over else struct | None


def _attribute(number: int, name: str | None, base: type[Struct] | None) -> str:
    """The base's own, whose type is then ours, or one that no base has."""
    return name if base is not None and name is not None and name in base.__struct_fields__ else f"at_{number}"


def _way(tree: _Tree, steps: Steps, over: Mapping[Steps, type[Struct]]) -> Steps:
    way: list[str | None] = []
    node = tree
    for number, step in enumerate(steps):
        base = over.get(steps[:number])
        way.append(None if step is None else _attribute(list(node).index(step), step, base))
        node = node[step]
    return tuple(way)


def _reader(way: Steps) -> Callable[[Any], Values]:
    if None in way:
        return lambda decoded: _found(decoded, way)
    get = attrgetter(".".join(step for step in way if step is not None))

    def read(decoded: Any) -> Values:
        try:
            value = get(decoded)
        except AttributeError:  # of None
            return ()
        return (value,) if value.__class__ is str else tuple(dict.fromkeys(_texts(value)))

    return read


def _found(value: Any, way: Steps) -> Values:
    for number, step in enumerate(way):
        if value is None:
            return ()
        if step is None:
            rest = way[number + 1 :]
            return tuple(dict.fromkeys([text for item in value for text in _found(item, rest)]))
        value = getattr(value, step)
    return tuple(dict.fromkeys(_texts(value)))


def _texts(value: Any) -> list[str]:
    if value is None or isinstance(value, dict):
        return []
    if isinstance(value, list):
        return [text for item in value if not isinstance(item, list) for text in _texts(item)]
    return [value if isinstance(value, str) else _encode(value).decode()]
