"""`Index`: entries by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from kubewright.cache.entry import Entry

__all__ = ["Held", "Index"]


class Held(Struct, frozen=True):
    """Gives values that entries hold themselves, so that an index of them need keep no book of its own."""

    place: int
    """In `Entry.values`."""

    def __call__(self, entry: Entry) -> tuple[str, ...]:
        return entry.values[self.place]


_FEW = 8
"""How many entries of one value are kept as a tuple: the least dict is larger than that."""


class _Many(Struct, gc=False):
    """The entries of one value: of a few a tuple. The garbage collector has nothing to look for here.

    What is neither tracked by it nor holds what is (this, entries, strings) does not make it walk a dict or tuple either.
    """

    value: str
    entries: tuple[Entry, ...] | dict[Entry, None]

    def add(self, entry: Entry) -> None:
        entries = self.entries
        if isinstance(entries, dict):
            entries[entry] = None
        elif len(entries) < _FEW:
            self.entries = (*entries, entry)
        else:
            self.entries = dict.fromkeys((*entries, entry))

    def replace(self, old: Entry, new: Entry) -> None:
        entries = self.entries
        if isinstance(entries, dict):
            del entries[old]
            entries[new] = None
        else:
            self.entries = tuple([new if each is old else each for each in entries])

    def remove(self, entry: Entry) -> None:
        entries = self.entries
        if isinstance(entries, dict):
            del entries[entry]
        else:
            self.entries = tuple([each for each in entries if each is not entry])


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

    def put_all(self, entries: Sequence[Entry], before: Sequence[Entry | None]) -> None:
        """As `put` and `replace`: for each entry there is the one that it replaces, if any."""
        place = self._place
        for entry, old in zip(entries, before, strict=True):
            if old is not None:
                self.replace(old, entry)
            elif place is None:
                self.put(entry)
            else:
                for value in entry.values[place]:
                    self._enter(entry, value)

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
        if isinstance(found, _Many):
            found.add(entry)
            return found.value
        self._found[value] = _Many(value, (found, entry))
        return value

    def replace(self, old: Entry, new: Entry) -> None:
        """Drops one entry and puts another, which has the same values most often."""
        if self._place is None or (values := old.values[self._place]) != new.values[self._place]:
            self.drop(old)
            self.put(new)
            return
        for value in values:
            found = self._found[value]
            if isinstance(found, _Many):
                found.replace(old, new)
            else:
                self._found[value] = new

    def drop(self, entry: Entry) -> None:
        values = self._values.pop(entry, ()) if self._place is None else entry.values[self._place]
        for value in (values,) if isinstance(values, str) else values:
            found = self._found[value]
            if isinstance(found, _Many):
                found.remove(entry)
                if found.entries:
                    continue
            del self._found[value]

    def entries(self, value: str) -> tuple[Entry, ...]:
        found = self._found.get(value)
        if found is None:
            return ()
        return tuple(found.entries) if isinstance(found, _Many) else (found,)

    def all(self) -> dict[str, set[Entry]]:
        """Everything, for tests and for inspection."""
        return {value: set(self.entries(value)) for value in self._found}
