"""`Index`: entries by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from kubewright.cache.entry import Entry

__all__ = ["Held", "Index"]


class Held(Struct, frozen=True):
    """Gives values that entries hold themselves, so that an index of them need keep no book of its own."""

    place: int
    """In `Entry.values`."""

    def __call__(self, entry: Entry) -> tuple[str, ...]:
        return entry.values[self.place]


class _Many(dict[Entry, None]):
    """The entries of one value."""

    __slots__ = ("value",)

    def __init__(self, value: str, first: Entry) -> None:
        super().__init__({first: None})
        self.value = value


class Index:
    """Which entries have which values; an entry may have several values or none.

    ``values_of`` is asked once for each entry, when it comes, unless it is `Held`.
    """

    def __init__(self, values_of: Callable[[Entry], Iterable[str]]) -> None:
        self.values_of = values_of
        self._place = values_of.place if isinstance(values_of, Held) else None
        self._found: dict[str, Entry | _Many] = {}
        self._values: dict[Entry, str | tuple[str, ...]] = {}

    def put(self, entry: Entry) -> None:
        if self._place is not None:
            for value in entry.values[self._place]:
                self._enter(entry, value)
            return
        values = tuple(self.values_of(entry))
        if values:
            self._keep(entry, values if len(values) == 1 else tuple(dict.fromkeys(values)))

    def take_over(self, entry: Entry, other: Index) -> None:
        """As `put`, for an entry that ``other``, an index of the same values, has already."""
        if self._place is not None:
            self.put(entry)
            return
        values = other._values.get(entry)
        if values is not None:
            self._keep(entry, (values,) if isinstance(values, str) else values)

    def _keep(self, entry: Entry, values: tuple[str, ...]) -> None:
        kept = tuple([self._enter(entry, value) for value in values])
        self._values[entry] = kept[0] if len(kept) == 1 else kept

    def _enter(self, entry: Entry, value: str) -> str:
        """Returns the value as others have it already, so that it is kept once."""
        found = self._found.get(value)
        if found is None:
            self._found[value] = entry  # most values of many an index are one entry's: a dict would be waste
            return value
        if not isinstance(found, _Many):
            self._found[value] = found = _Many(value, found)
        found[entry] = None
        return found.value

    def replace(self, old: Entry, new: Entry) -> None:
        """Drops one entry and puts another, which has the same values most often."""
        if self._place is None or (values := old.values[self._place]) != new.values[self._place]:
            self.drop(old)
            self.put(new)
            return
        for value in values:
            found = self._found[value]
            if isinstance(found, _Many):
                del found[old]
                found[new] = None
            else:
                self._found[value] = new

    def drop(self, entry: Entry) -> None:
        values = self._values.pop(entry, ()) if self._place is None else entry.values[self._place]
        for value in (values,) if isinstance(values, str) else values:
            found = self._found[value]
            if isinstance(found, _Many):
                del found[entry]
                if found:
                    continue
            del self._found[value]

    def entries(self, value: str) -> tuple[Entry, ...]:
        found = self._found.get(value)
        if found is None:
            return ()
        return tuple(found) if isinstance(found, _Many) else (found,)

    def all(self) -> dict[str, set[Entry]]:
        """Everything, for tests and for inspection."""
        return {value: set(self.entries(value)) for value in self._found}
