"""`FieldPath`: the place of a field in an object, as kubectl and column definitions write it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

__all__ = ["FieldPath"]

_STEP = re.compile(r"""\.([A-Za-z0-9_\-$]+) | \[(\d+)\] | \[(?:"([^"\]]+)"|'([^'\]]+)')\]""", re.VERBOSE)


class FieldPath(Struct, frozen=True):
    """``.spec.replicas``, ``.spec.containers[0].image``, ``.metadata.annotations["example.com/owner"]``."""

    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Raises ValueError for what is no path."""
        steps: list[str | int] = []
        position = 0
        while position < len(text):
            step = _STEP.match(text, position)
            if step is None:
                break
            name, index, double, single = step.groups()
            steps.append(int(index) if index is not None else name or double or single)
            position = step.end()
        if not steps or position < len(text):
            raise ValueError(
                f"{text!r} is no path of fields: write it as .spec.replicas, .spec.ports[0].name or "
                '.metadata.labels["app.kubernetes.io/name"]'
            )
        return cls(tuple(steps))

    def read(self, document: Any) -> Any:
        """The value in a decoded object; None where there is none."""
        value = document
        for step in self.steps:
            if isinstance(step, int):
                value = value[step] if isinstance(value, list) and step < len(value) else None
            else:
                value = value.get(step) if isinstance(value, dict) else None
        return value

    @staticmethod
    def read_all(paths: Iterable[FieldPath], raw: bytes) -> list[Any]:
        """The values in an object's JSON, which is decoded once."""
        document = msgspec.json.decode(raw)
        return [path.read(document) for path in paths]
