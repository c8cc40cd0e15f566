"""Whether an object has the values that an intent wants, and `Additions`: what the server adds to some by itself.

A list or a map that is one unit has defaults inside (a StatefulSet's ``volumeClaimTemplates`` have a ``volumeMode`` and
a status), so that it never equals what was applied. Those of built-in kinds are known (`known_defaults`). Of others, what
the server made of one value it makes of the same value in every object of the kind; so one answer tells for all that a
start finds.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from kubewright.api import JSON
from kubewright.controller.known_defaults import known_defaults, only_defaults_more
from kubewright.patch.shape import Shape
from kubewright.patch.values import same

__all__ = ["Additions", "holds", "partners"]

_KEPT = 1000
_Equal: TypeAlias = Callable[[JSON, JSON, str], bool]
_encode = msgspec.json.Encoder(order="deterministic").encode


def holds(live: JSON, wanted: JSON, shape: Shape, equal: _Equal, field: str = "") -> bool:
    """Whether ``live``, in which all that ``wanted`` names is owned, has all that it says; in keyed lists and sets may be more.

    ``equal`` compares single values and units, and is told which ``field`` they are of.
    """
    if isinstance(live, dict) and isinstance(wanted, dict) and shape.map_type != "atomic":
        for key, value in wanted.items():
            if key not in live:
                if value:
                    return False
                continue  # what is owned and not there, a server left out as it does False, 0, "", [] and {}
            known = live[key]
            if type(known) is str and type(value) is str and known == value:
                continue  # most of an object
            if not holds(known, value, shape.child(key), equal, key):
                return False
        return True
    if isinstance(live, list) and isinstance(wanted, list) and shape.list_type != "atomic":
        found = partners(live, wanted, shape)
        if found is None or found != sorted(found):  # an apply may bring them into its own order
            return False
        items = shape.items
        return all(holds(live[index], item, items, equal, field) for index, item in zip(found, wanted, strict=True))
    return equal(live, wanted, field)


class Additions:
    """What a server is known, or was seen, to add to the units of one kind.

    Assumptions: what is added follows from the value and its field. Where an admission webhook makes it depend on more,
    an object to which an earlier version of the operator had applied just that keeps it until it next changes.
    """

    def __init__(self, kind: str) -> None:
        """``kind`` as in ``statefulsets.apps``."""
        self._known = known_defaults(kind)
        self._seen: dict[bytes, None] = {}

    def learn(self, live: JSON, wanted: JSON, shape: Shape) -> None:
        """``live`` is the answer to an apply of ``wanted``."""

        def note(one: JSON, other: JSON, field: str) -> bool:
            if not same(one, other) and _adds(one, other):
                self._seen[_mark(one, other, field)] = None
            return True

        holds(live, wanted, shape, note)
        while len(self._seen) > _KEPT:
            del self._seen[next(iter(self._seen))]

    def known(self, live: JSON, wanted: JSON, field: str) -> bool:
        """For `holds`: whether they are the same but for what every server adds there."""
        defaults = self._known.get(field)
        return same(live, wanted) or (defaults is not None and only_defaults_more(live, wanted, defaults))

    def seen(self, live: JSON, wanted: JSON, field: str) -> bool:
        """As `known`, or but for what the server was seen to add there to that very value."""
        return self.known(live, wanted, field) or (
            bool(self._seen) and _adds(live, wanted) and _mark(live, wanted, field) in self._seen
        )


def _mark(live: JSON, wanted: JSON, field: str) -> bytes:
    return blake2b(_encode([field, wanted, live]), digest_size=16).digest()


def _adds(live: JSON, wanted: JSON) -> bool:
    """Whether ``live`` is ``wanted`` with more fields; items that are more, and other values, are something else."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        return all(key in live and _adds(live[key], value) for key, value in wanted.items())
    if isinstance(live, list) and isinstance(wanted, list):
        return len(live) == len(wanted) and all(_adds(one, other) for one, other in zip(live, wanted, strict=True))
    return same(live, wanted)


def partners(live: list[JSON], wanted: list[JSON], shape: Shape) -> list[int] | None:
    """Where ``live`` has each item of ``wanted``; None where it lacks one."""
    if shape.list_type == "set":
        return [live.index(item) for item in wanted] if all(item in live for item in wanted) else None
    if len(live) == len(wanted) == 1:  # the commonest
        return [0] if _keys(live[0], shape) == _keys(wanted[0], shape) else None
    places = {_keys(item, shape): index for index, item in enumerate(live)}
    found = [places.get(_keys(item, shape)) for item in wanted]
    return None if None in found else [index for index in found if index is not None]


def _keys(item: JSON, shape: Shape) -> str:
    if not isinstance(item, dict):
        return repr(item)
    return repr([item.get(key, shape.key_defaults.get(key)) for key in shape.list_map_keys])
