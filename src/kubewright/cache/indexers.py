"""`Indexers`: the indexes that were declared of a kind, as functions of what the cache holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Generic, TypeAlias, TypeVar

from kubewright.api import DecodeError, Resource, decode, resource_info
from kubewright.cache.entry import Entry
from kubewright.telemetry import Log

__all__ = ["OWNER", "Indexer", "Indexers"]

R = TypeVar("R", bound=Resource)
Indexer: TypeAlias = Callable[[R], Iterable[str]]
"""Gives an object's values: one, several or none. It must depend on nothing but the object."""

OWNER = "\0owner"
"""The index that is always there: UIDs of owners."""


class Indexers(Generic[R]):
    """Functions of objects, by name, and what they become: functions of entries."""

    def __init__(self, kind: type[R], log: Log) -> None:
        self._kind = kind
        self._log = log
        self._declared: dict[str, Indexer[R]] = {}
        self.of_entries: dict[str, Callable[[Entry], Iterable[str]]] = {OWNER: attrgetter("owners")}

    def declare(self, name: str, indexer: Indexer[R]) -> Callable[[Entry], Iterable[str]] | None:
        """Returns the function where it is new. Raises ValueError when another one has the name."""
        known = self._declared.setdefault(name, indexer)
        if known is not indexer:
            raise ValueError(
                f"the informer of {resource_info(self._kind).qualified_plural} has another index called {name!r}"
            )
        if name in self.of_entries:
            return None
        made = self.of_entries[name] = lambda entry: self._values(name, entry)
        return made

    def check(self, name: str) -> None:
        """Raises KeyError for an index that was not declared."""
        if name not in self.of_entries:
            declared = ", ".join(sorted(self._declared)) or "none"
            plural = resource_info(self._kind).qualified_plural
            raise KeyError(f"the informer of {plural} has no index {name!r}; declared: {declared}")

    def _values(self, name: str, entry: Entry) -> Iterable[str]:
        try:
            return tuple(self._declared[name](decode(entry.raw, self._kind)))
        except DecodeError:
            return ()  # whoever reads the object will hear of it
        except Exception:  # an index that trips over one object must not hide all others
            self._log.exception("an index failed", index=name, name=entry.name)
            return ()
