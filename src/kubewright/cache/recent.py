"""`Recent`: what was used last, by key, within a bound."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

__all__ = ["Once", "Recent"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(dict[K, V]):
    """The last ``least`` values at least, twice as many at most. Itself it is the younger half, to be read as any dict.

    Halves rather than an order of all: what is used stays, and finding it costs nothing but a look at a dict. What does not
    fit any more goes half by half, so that what is in use is never lost all at once.
    """

    __slots__ = ("_full", "_least", "_old")

    def __init__(self, least: Callable[[], int]) -> None:
        """``least`` is asked whenever the young half is full."""
        super().__init__()
        self._least = least
        self._full = 0
        self._old: dict[K, V] = {}

    def recall(self, key: K, make: Callable[[], V]) -> V:
        """What the young half lacks: from the old one, or made; it is among the young from now on."""
        value = self._old[key] if key in self._old else make()
        if len(self) >= self._full:
            self._make_room()
        self[key] = value
        return value

    def _make_room(self) -> None:
        self._full = self._least()
        if len(self) >= self._full:
            self._old = dict(self)
            self.clear()

    @property
    def kept(self) -> int:
        """How many there are."""
        return len(self.keys() | self._old.keys())


class Once(Recent[K, K]):
    """Values as they were seen first, ``once[value]``, so that equal ones share their memory."""

    __slots__ = ()

    def __missing__(self, value: K) -> K:
        first = self._old.get(value, value)
        if len(self) >= self._full:
            self._make_room()
        self[first] = first
        return first
