"""`IndexBy`: an index by a label or by a field's path, which is read without making an object of the JSON."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec
from msgspec import Struct

from kubewright.cache.narrow import Narrow, Steps, Values

__all__ = ["IndexBy"]

_STEP = re.compile(r"\.?(?:(?P<name>[\w-]+)|\['(?P<quoted>[^']+)'\]|\[(?P<each>\*)\])")


class IndexBy(Struct, frozen=True):
    """Where an object's values of an index are: a label (`label`) or a field (`path`).

    Such an index costs a fraction of one by a function, for which each object has to be decoded whole.
    """

    steps: Steps

    @classmethod
    def label(cls, key: str) -> IndexBy:
        """By the value of one label."""
        return cls(("metadata", "labels", key))

    @classmethod
    def path(cls, path: str) -> IndexBy:
        """By a field: ``.spec.engine``, ``.spec.containers[*].image``, ``.metadata.annotations['example.com/team']``.

        Of a list each item is a value. Numbers and booleans are written as JSON has them; null and objects are no values.
        Raises ValueError for what is no such path, and for fields that are the same in all objects, or not cached.
        """
        steps: list[str | None] = []
        at = 0
        while (step := _STEP.match(path, at)) is not None:
            steps.append(None if step["each"] else step["name"] or step["quoted"])
            at = step.end()
        if at < len(path) or not steps or steps[0] is None:
            raise ValueError(f"{path!r} is no path of a field: write it as .spec.engine or .spec.ports[*].name")
        if steps[0] in {"apiVersion", "kind"} or steps[:2] == ["metadata", "managedFields"]:
            raise ValueError(f"{path!r} can't be indexed: it is the same in all objects, or not cached")
        return cls(tuple(steps))

    def values(self, raw: bytes) -> Values:
        """Those of one object's JSON; none where something else is where the path leads."""
        narrow = _alone(self.steps)
        try:
            return narrow.readers[0](narrow.decode(raw))
        except msgspec.DecodeError:
            return ()

    def __str__(self) -> str:
        return "".join("[*]" if step is None else f".{step}" for step in self.steps)


@lru_cache(256)
def _alone(steps: Steps) -> Narrow:
    return Narrow([steps])
