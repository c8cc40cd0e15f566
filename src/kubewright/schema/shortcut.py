"""`Shortcut`: what was proved of an object in one step of a write, remembered for the next ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kubewright.schema.acceptance import Acceptance
from kubewright.schema.filling import Fill, filling
from kubewright.schema.node import Node

__all__ = ["Shortcut"]

_WORTH_IT: Final = 8
"""So many questions are answered the long way first: making the proof costs as much as asking some tens of times."""

_NOTHING: Final = object()


class Shortcut:
    """Answers about objects of one schema, where it can.

    A write asks three times about nearly the same object: is anything to be pruned, are defaults missing, is it right?
    Objects never change, so an answer holds for every object that shares its parts, whatever became of its metadata.
    """

    def __init__(self, root: Node) -> None:
        self._root = root
        self._asked = 0
        self._acceptance: Acceptance | None = None
        self._fill: Fill | None = None
        self._accepted: Mapping[str, Any] = {}
        """The object last found right but for its defaults."""
        self._right: Mapping[str, Any] = {}
        """The object last found right, defaults and all."""

    def accepts(self, obj: dict[str, Any]) -> bool:
        """Whether ``obj`` certainly has nothing to prune, and is right once it has its defaults."""
        if self._acceptance is None and not self._made():
            return False
        if self._acceptance is None or not self._acceptance.accepts(obj):
            return False
        self._accepted = obj
        return True

    def _made(self) -> bool:
        self._asked += 1
        if self._asked != _WORTH_IT:
            return False
        try:
            self._acceptance = Acceptance(self._root)
        except (TypeError, ValueError, RecursionError):
            return False  # a schema that only the long way can deal with
        self._fill = filling(self._root)
        return True

    def filled(self, obj: dict[str, Any]) -> dict[str, Any] | None:
        """``obj`` with its defaults if that is all that it lacks; None where that is not known."""
        if not self._same(self._accepted, obj):
            return None
        filled = self._fill(obj) if self._fill is not None else obj
        self._right = filled
        return filled

    def proves(self, obj: dict[str, Any]) -> bool:
        """Whether ``obj`` is certainly right."""
        if self._same(self._right, obj):
            return True
        if self.accepts(obj) and (self._fill is None or self._fill(obj) is obj):
            self._right = obj
            return True
        return False

    def _same(self, known: Mapping[str, Any], obj: dict[str, Any]) -> bool:
        """Whether ``obj`` is made of parts of ``known``, and of all that the schema requires."""
        if not known:
            return False
        for key, value in obj.items():
            if key != "metadata" and known.get(key, _NOTHING) is not value:
                return False
        return all(key in obj for key in self._root.required)
