"""`Indexers`: the indexes that were declared of a kind, as functions of what the cache holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeAlias, TypeVar

from kubewright.api import DecodeError, Resource, decode, resource_info
from kubewright.cache.entry import Entry
from kubewright.cache.index import Held
from kubewright.cache.index_by import IndexBy
from kubewright.cache.parsing import EntryParser
from kubewright.telemetry import Log

__all__ = ["OWNER", "Indexer", "Indexers"]

R = TypeVar("R", bound=Resource)
Indexer: TypeAlias = Callable[[R], Iterable[str]] | IndexBy
"""Gives an object's values: one, several or none. A function must depend on nothing but the object."""

OWNER = "\0owner"
"""The index that is always there: UIDs of owners."""

_NAMESPACE = IndexBy.path(".metadata.namespace")


class Indexers(Generic[R]):
    """Functions of objects, by name, and what they become: functions of entries."""

    def __init__(self, kind: type[R], parser: EntryParser, log: Log) -> None:
        self._kind = kind
        self._parser = parser
        self._log = log
        self._declared: dict[str, Indexer[R]] = {}
        self.of_entries: dict[str, Callable[[Entry], Iterable[str]]] = {OWNER: Held(0)}

    def declare(self, name: str, indexer: Indexer[R]) -> Callable[[Entry], Iterable[str]] | None:
        """Returns the function where it is new.

        Raises ValueError when another one has the name, and for what can't be told from what is cached.
        """
        known = self._declared.get(name)
        if known is not None and known != indexer:
            raise ValueError(f"the informer of {self._plural} has another index called {name!r}")
        if known is not None:
            return None
        projection = self._parser.projection
        if isinstance(indexer, IndexBy) and not projection.keeps(indexer.steps):
            raise ValueError(f"{indexer} of {self._plural} is not cached: index {name!r} can't be kept")
        if projection.metadata_only and not isinstance(indexer, IndexBy):
            remedy = "use IndexBy.label, or IndexBy.path within the metadata"
            raise ValueError(f"only the metadata of {self._plural} is cached: index {name!r} can't be kept; {remedy}")
        self._declared[name] = indexer
        made = self.of_entries[name] = self._made(name, indexer)
        return made

    def _made(self, name: str, indexer: Indexer[R]) -> Callable[[Entry], Iterable[str]]:
        if not isinstance(indexer, IndexBy):
            return lambda entry: self._computed(name, indexer, entry)
        if indexer == _NAMESPACE:
            return lambda entry: (entry.namespace,) if entry.namespace else ()
        place = self._parser.read_along(indexer)
        return (lambda entry: indexer.values(entry.raw)) if place is None else Held(place)

    @property
    def _plural(self) -> str:
        return resource_info(self._kind).qualified_plural

    def check(self, name: str) -> None:
        """Raises KeyError for an index that was not declared."""
        if name not in self.of_entries:
            declared = ", ".join(sorted(self._declared)) or "none"
            raise KeyError(f"the informer of {self._plural} has no index {name!r}; declared: {declared}")

    def _computed(self, name: str, indexer: Callable[[R], Iterable[str]], entry: Entry) -> Iterable[str]:
        try:
            return tuple(indexer(decode(entry.raw, self._kind)))
        except DecodeError:
            return ()  # whoever reads the object will hear of it
        except Exception:  # an index that trips over one object must not hide all others
            self._log.exception("an index failed", index=name, name=entry.name)
            return ()
