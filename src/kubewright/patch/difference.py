"""The three-way difference: what a typed edit means for the object as the server has it.

A typed model may not know every field of the object it was decoded from, and writes some values differently from how
the server wrote them. So an edit is never sent as the whole object. It is a JSON Patch against the raw object as read,
made by walking the raw object, the typed form before and the typed form after side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

import msgspec

from kubewright.api import JSON
from kubewright.patch.operations import apply, escape
from kubewright.patch.shape import UNTYPED, Shape
from kubewright.patch.values import Object, same

__all__ = ["difference"]

Operations: TypeAlias = list[Object]
Partners: TypeAlias = list[int | None]
"""For each item of the list as edited, where the raw list has it."""

_encode = msgspec.json.Encoder().encode

_CONTAINERS = (dict, list)

_IDENTIFYING = ("name", "type", "uid", "key", "id")
"""Fields that name an item where the schema doesn't say which does."""


def difference(raw: JSON, before: JSON, after: JSON, *, shape: Shape = UNTYPED, path: str = "") -> Operations:
    """The JSON Patch that makes of ``raw`` what ``after`` says.

    ``raw`` is the object as the server has it (None: there is nothing yet), ``before`` its typed form, encoded again
    (None: not known), ``after`` the typed form after the edit (None: nothing is wanted). ``path`` is where in the
    document they stand; the operations point from the document's root.

    Guarantees
        A field of ``raw`` that neither ``before`` nor ``after`` has is unknown to the model, and stays; in items of
        lists too, as long as the item can be told: by the keys of a list map, by ``name`` and the like where all items
        have one of their own, else by being unchanged or at the same place. A value that the edit did not touch
        is not written, however differently the model prints it. A field that ``raw`` lacks and ``after`` has is added
        even if ``before`` had it too: it was a default that existed only in the model.

    Caveats
        Nothing here guards against a changed object: let the first operation replace ``/metadata/resourceVersion``.
    """
    operations: Operations = []
    if raw is None:
        if after is not None:
            operations.append({"op": "add", "path": path, "value": after})
    elif after is None:
        operations.append({"op": "remove", "path": path})
    else:
        _walk(raw, before, after, shape, path, operations)
    return operations


def _walk(raw: JSON, before: JSON, after: JSON, shape: Shape, path: str, operations: Operations) -> None:
    if isinstance(raw, dict) and isinstance(after, dict):
        _walk_dict(raw, before if isinstance(before, dict) else {}, after, shape, path, operations)
    elif isinstance(raw, list) and isinstance(after, list):
        _walk_list(raw, before if isinstance(before, list) else None, after, shape, path, operations)
    elif not (before is not None and same(before, after)) and not same(raw, after):
        operations.append({"op": "replace", "path": path, "value": after})


def _walk_dict(raw: Object, before: Object, after: Object, shape: Shape, path: str, operations: Operations) -> None:
    for key in before:
        if key not in after and key in raw:
            operations.append({"op": "remove", "path": f"{path}/{escape(key)}"})
    for key, value in after.items():
        if key not in raw:
            operations.append({"op": "add", "path": f"{path}/{escape(key)}", "value": value})
        elif not same(raw[key], value):
            earlier = before.get(key)
            if isinstance(value, _CONTAINERS):
                _walk(raw[key], earlier, value, shape.child(key), f"{path}/{escape(key)}", operations)
            elif earlier is None or not same(earlier, value):  # as `_walk` does, without asking for the shape
                operations.append({"op": "replace", "path": f"{path}/{escape(key)}", "value": value})


def _walk_list(
    raw: list[JSON], before: list[JSON] | None, after: list[JSON], shape: Shape, path: str, operations: Operations
) -> None:
    # The model keeps the order of what it decodes: its items stand where the raw ones do, and compare better.
    paired = before if before is not None and len(before) == len(raw) else None
    known = raw if paired is None else paired
    identity = _identity(shape, known, after)
    partners = _by_likeness(known, after) if identity is None else _by_identity(identity, known, after)
    kept = [index for index in partners if index is not None]
    in_place = len(raw) == len(after) and partners == list(range(len(raw)))

    if in_place or (identity is not None and kept == sorted(kept) and (kept or not raw)):
        for item, index in zip(after, partners, strict=True):
            if index is not None and not same(raw[index], item):
                earlier = None if paired is None else paired[index]
                _walk(raw[index], earlier, item, shape.items, f"{path}/{index}", operations)
        _move_items(len(raw), after, partners, path, operations)
        return
    edited = [
        item if index is None else _edited(raw[index], None if paired is None else paired[index], item, shape.items)
        for item, index in zip(after, partners, strict=True)
    ]
    if not same(raw, edited):
        operations.append({"op": "replace", "path": path, "value": edited})


def _edited(raw: JSON, before: JSON, after: JSON, shape: Shape) -> JSON:
    """``raw`` with the edit made, for a list that has to be written whole."""
    operations: Operations = []
    _walk(raw, before, after, shape, "", operations)
    return apply(raw, operations)


def _move_items(length: int, after: list[JSON], partners: Partners, path: str, operations: Operations) -> None:
    """Removes from the end, so that the places of what is still to be removed hold; then adds in rising order."""
    kept = {index for index in partners if index is not None}
    operations.extend(
        {"op": "remove", "path": f"{path}/{index}"} for index in reversed(range(length)) if index not in kept
    )
    size = len(kept)
    for place, (item, index) in enumerate(zip(after, partners, strict=True)):
        if index is None:
            step = "-" if place == size else str(place)
            operations.append({"op": "add", "path": f"{path}/{step}", "value": item})
            size += 1


Identity: TypeAlias = Callable[[JSON], Hashable]


def _identity(shape: Shape, known: list[JSON], after: list[JSON]) -> Identity | None:
    """What tells the items apart, if anything does for every item of both lists."""
    if shape.list_type == "set":
        candidates: list[Identity] = [_scalar]
    elif shape.list_type == "map" and shape.list_map_keys:
        candidates = [_by_keys(shape)]
    else:
        candidates = [_by_field(name) for name in _IDENTIFYING]
    for identity in candidates:
        if all(_tells_apart(identity, items) for items in (known, after)):
            return identity
    return None


def _tells_apart(identity: Identity, items: list[JSON]) -> bool:
    seen = set()
    for item in items:
        mark = identity(item)
        if mark is None or mark in seen:
            return False
        seen.add(mark)
    return True


def _scalar(item: JSON) -> Hashable:
    return None if item is None or isinstance(item, dict | list) else (type(item), item)


def _by_keys(shape: Shape) -> Identity:
    keys, defaults = shape.list_map_keys, shape.key_defaults

    def identity(item: JSON) -> Hashable:
        if not isinstance(item, dict):
            return None
        marks = tuple(_scalar(item.get(key, defaults.get(key))) for key in keys)
        return None if all(mark is None for mark in marks) else marks

    return identity


def _by_field(name: str) -> Identity:
    def identity(item: JSON) -> Hashable:
        value = item.get(name) if isinstance(item, dict) else None
        return value if isinstance(value, str) else None

    return identity


def _by_identity(identity: Identity, known: list[JSON], after: list[JSON]) -> Partners:
    places = {identity(item): index for index, item in enumerate(known)}
    return [places.get(identity(item)) for item in after]


def _by_likeness(known: list[JSON], after: list[JSON]) -> Partners:
    """Equal items belong together, at the same place if possible; in lists of one length, what is left does by place."""
    partners: Partners = [None] * len(after)
    free = dict.fromkeys(range(len(known)))
    for place, (old, new) in enumerate(zip(known, after, strict=False)):
        if same(old, new):
            partners[place] = place
            del free[place]
    elsewhere: dict[bytes, list[int]] = {}
    for place in free:
        elsewhere.setdefault(_encode(known[place]), []).append(place)
    for place, item in enumerate(after):
        if partners[place] is None and (places := elsewhere.get(_encode(item))):
            partners[place] = taken = places.pop(0)
            del free[taken]
    if len(known) == len(after):
        for place in free:
            if partners[place] is None:
                partners[place] = place
    return partners
