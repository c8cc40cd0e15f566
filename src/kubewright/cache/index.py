"""`Index`: keys by value."""

from __future__ import annotations

from collections.abc import Iterable

from kubewright.cache.entry import Key

__all__ = ["Index"]


class Index:
    """Which keys have which values; a key may have several values or none."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[Key, None]] = {}
        self._values: dict[Key, tuple[str, ...]] = {}

    def put(self, key: Key, values: Iterable[str]) -> None:
        """Replaces the key's values."""
        new = tuple(dict.fromkeys(values))
        old = self._values.get(key, ())
        if new == old:
            return
        self.drop(key)
        if new:
            self._values[key] = new
        for value in new:
            self._keys.setdefault(value, {})[key] = None

    def drop(self, key: Key) -> None:
        for value in self._values.pop(key, ()):
            keys = self._keys[value]
            del keys[key]
            if not keys:
                del self._keys[value]

    def keys(self, value: str) -> tuple[Key, ...]:
        return tuple(self._keys.get(value, ()))
