"""`View`: entries by namespace and name, and by the values of the indexes, which are kept with every change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kubewright.cache.entry import Entry, Key
from kubewright.cache.index import Index

__all__ = ["View"]


class View:
    """What is known at one moment. A view of the same indexes can be filled beside it, and take its place."""

    def __init__(self, indexes: Mapping[str, Callable[[Entry], Iterable[str]]] | None = None) -> None:
        self._rows: dict[str, dict[str, Entry]] = {}
        self._indexes = {name: Index(values_of) for name, values_of in (indexes or {}).items()}
        self._count = 0
        self.bytes = 0
        """How long what is kept of the objects' JSON is in all."""

    def beside(self) -> View:
        """An empty view with the same indexes."""
        return View({name: index.values_of for name, index in self._indexes.items()})

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Entry]:
        for row in self._rows.values():
            yield from row.values()

    def get(self, key: Key) -> Entry | None:
        row = self._rows.get(key[0])
        return None if row is None else row.get(key[1])

    def of(self, entry: Entry) -> Entry | None:
        """The entry of the same key."""
        row = self._rows.get(entry.namespace)
        return None if row is None else row.get(entry.name)

    def in_namespace(self, namespace: str) -> Iterable[Entry]:
        return self._rows.get(namespace, {}).values()

    def indexed(self, index: str, value: str) -> tuple[Entry, ...]:
        """Raises KeyError for an index that was not declared."""
        return self._indexes[index].entries(value)

    def index(self, name: str) -> Index:
        return self._indexes[name]

    def add_index(self, name: str, values_of: Callable[[Entry], Iterable[str]]) -> None:
        index = self._indexes[name] = Index(values_of)
        for entry in self:
            index.put(entry)

    def put(self, entry: Entry) -> None:
        """Adds the entry, in place of the one of the same key."""
        self._put_one(entry)

    def put_all(self, entries: Sequence[Entry]) -> list[Entry | None]:
        """As `put`, in order; returns for each entry in whose place it came."""
        if len(entries) == 1:
            return [self._put_one(entries[0])]
        rows = self._rows
        before: list[Entry | None] = []
        for entry in entries:
            row = rows.get(entry.namespace)
            if row is None:
                row = rows[entry.namespace] = {}
            known = len(row)
            old = row.setdefault(entry.name, entry)
            if len(row) > known:
                before.append(None)
            else:
                before.append(old)
                row[entry.name] = entry
        self._count += before.count(None)
        self.bytes += sum([len(entry.text) for entry in entries]) - sum([len(old.text) for old in before if old])
        for index in self._indexes.values():
            index.put_all(entries, before)
        return before

    def _put_one(self, entry: Entry) -> Entry | None:
        """As `put_all`, which is made for many."""
        row = self._rows.get(entry.namespace)
        if row is None:
            row = self._rows[entry.namespace] = {}
        old = row.get(entry.name)
        row[entry.name] = entry
        self.bytes += len(entry.text)
        if old is None:
            self._count += 1
            for index in self._indexes.values():
                index.put(entry)
        else:
            self.bytes -= len(old.text)
            for index in self._indexes.values():
                index.replace(old, entry)
        return old

    def take_over(self, entry: Entry, other: View) -> None:
        """As `put`, for an entry of ``other``, whose indexes need not be asked for its values again."""
        old = self.of(entry)
        if old is not None:
            self.drop(old)
        self._rows.setdefault(entry.namespace, {})[entry.name] = entry
        self._count += 1
        self.bytes += len(entry.text)
        for name, index in self._indexes.items():
            index.take_over(entry, other._indexes[name])

    def drop(self, entry: Entry) -> None:
        """Removes an entry that is here."""
        row = self._rows[entry.namespace]
        del row[entry.name]
        if not row:
            del self._rows[entry.namespace]
        self._count -= 1
        self.bytes -= len(entry.text)
        for index in self._indexes.values():
            index.drop(entry)
