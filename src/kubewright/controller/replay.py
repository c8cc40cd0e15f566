"""Replaying a run's edit on an object that somebody else changed meanwhile: only what the run changed is carried over."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from kubewright.api import JSON
from kubewright.patch.shape import Shape
from kubewright.patch.values import same

__all__ = ["replayed"]


def replayed(live: JSON, before: JSON, after: JSON, shape: Shape) -> JSON:
    """``live`` with the step from ``before`` to ``after`` made in it.

    Maps are taken key by key, list maps item by item, sets member by member; any other list or value that the run
    changed is the run's. What the run left as it was stays as it is in ``live``, also where that lacks it.
    """
    if same(before, after):
        return live
    if isinstance(after, dict) and isinstance(before, dict):
        known = dict(live) if isinstance(live, dict) else {}
        for name in before:
            if name not in after:
                known.pop(name, None)
        for name, value in after.items():
            if name not in before or not same(before[name], value):
                known[name] = replayed(known.get(name), before.get(name), value, shape.child(name))
        return known
    if isinstance(after, list) and shape.list_type != "atomic":
        lists = [side if isinstance(side, list) else [] for side in (live, before)]
        keyed = [_by_key(items, shape) for items in (*lists, after)]
        present, known_before, wanted = keyed
        if present is None or known_before is None or wanted is None:
            return after
        result = {key: item for key, item in present.items() if key in wanted or key not in known_before}
        for key, item in wanted.items():
            if key not in known_before or not same(known_before[key], item):
                result[key] = replayed(present.get(key), known_before.get(key), item, shape.items)
        return list(result.values())
    return after


def _by_key(items: Sequence[JSON], shape: Shape) -> dict[Hashable, JSON] | None:
    """The items by what tells them apart; None where something doesn't."""
    found: dict[Hashable, JSON] = {}
    for item in items:
        key: Hashable = None
        if shape.list_type == "set":
            key = None if isinstance(item, dict | list) else (type(item).__name__, item)
        elif isinstance(item, dict):
            marks = tuple(item.get(name, shape.key_defaults.get(name)) for name in shape.list_map_keys)
            key = None if any(isinstance(mark, dict | list) for mark in marks) else repr(marks)
        if key is None or key in found:
            return None
        found[key] = item
    return found
