"""`Index`: entries by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kubewright.cache.entry import Entry

__all__ = ["Index"]


class Index:
    """Which entries have which values; an entry may have several values or none.

    ``values_of`` is asked once for each entry, when it comes.
    """

    def __init__(self, values_of: Callable[[Entry], Iterable[str]]) -> None:
        self.values_of = values_of
        self._found: dict[str, Entry | dict[Entry, None]] = {}
        self._values: dict[Entry, str | tuple[str, ...]] = {}

    def put(self, entry: Entry) -> None:
        values = tuple(self.values_of(entry))
        self._put(entry, values if len(values) < 2 else tuple(dict.fromkeys(values)))

    def take_over(self, entry: Entry, other: Index) -> None:
        """As `put`, for an entry that ``other``, an index of the same values, has already."""
        values = other._values.get(entry, ())
        self._put(entry, (values,) if isinstance(values, str) else values)

    def _put(self, entry: Entry, values: tuple[str, ...]) -> None:
        if not values:
            return
        self._values[entry] = values[0] if len(values) == 1 else values
        for value in values:
            found = self._found.get(value)
            if found is None:
                self._found[value] = entry  # most values of many an index are one entry's: a dict would be waste
            elif isinstance(found, dict):
                found[entry] = None
            else:
                self._found[value] = {found: None, entry: None}

    def drop(self, entry: Entry) -> None:
        values = self._values.pop(entry, ())
        for value in (values,) if isinstance(values, str) else values:
            found = self._found[value]
            if isinstance(found, dict):
                del found[entry]
                if found:
                    continue
            del self._found[value]

    def entries(self, value: str) -> tuple[Entry, ...]:
        found = self._found.get(value)
        if found is None:
            return ()
        return tuple(found) if isinstance(found, dict) else (found,)

    def all(self) -> dict[str, set[Entry]]:
        """Everything, for tests and for inspection."""
        return {value: set(self.entries(value)) for value in self._found}
