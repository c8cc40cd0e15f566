"""`Indexers`: the indexes that were declared of one class of a kind, as functions of what the cache holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeAlias, TypeVar

from kubewright.api import DecodeError, Resource, decode
from kubewright.api.cancellation import ends_us
from kubewright.cache.entry import Entry
from kubewright.cache.index import Held
from kubewright.cache.index_by import IndexBy
from kubewright.cache.shared_informer import SharedInformer

__all__ = ["Indexer", "Indexers"]

R = TypeVar("R", bound=Resource)
Indexer: TypeAlias = Callable[[R], str | Iterable[str] | None] | IndexBy
"""Gives an object's values: one (text), several or none. A function must depend on nothing but the object."""

_NAMESPACE = IndexBy.path(".metadata.namespace")


class Indexers(Generic[R]):
    """Functions of objects, by name, and what they become: functions of entries, by a name of their own.

    What `IndexBy` says is the same for all classes, and kept once for all who ask for it, whatever they call it.
    """

    def __init__(self, kind: type[R], shared: SharedInformer) -> None:
        self._kind = kind
        self._shared = shared
        self._declared: dict[str, Indexer[R]] = {}
        self._places: dict[str, str] = {}

    def declare(self, name: str, indexer: Indexer[R]) -> None:
        """Has the stores keep the index, where it is new.

        Raises ValueError when another one has the name, and for what can't be told from what is cached.
        """
        known = self._declared.get(name)
        if known is not None and known != indexer:
            raise ValueError(f"the informer of {self._plural} has another index called {name!r}")
        if known is not None:
            return
        projection = self._shared.projection
        if isinstance(indexer, IndexBy) and not projection.keeps(indexer.steps):
            raise ValueError(f"{indexer} of {self._plural} is not cached: index {name!r} can't be kept")
        if projection.metadata_only and not isinstance(indexer, IndexBy):
            remedy = "use IndexBy.label, or IndexBy.path within the metadata"
            raise ValueError(f"only the metadata of {self._plural} is cached: index {name!r} can't be kept; {remedy}")
        place = repr(indexer.steps) if isinstance(indexer, IndexBy) else f"{name} ({len(self._shared.indexes)})"
        if place not in self._shared.indexes:
            self._shared.add_index(place, self._made(name, indexer))
        self._declared[name] = indexer
        self._places[name] = place

    def place(self, name: str) -> str:
        """What the stores call an index. Raises KeyError for one that was not declared."""
        found = self._places.get(name)
        if found is None:
            declared = ", ".join(sorted(self._declared)) or "none"
            raise KeyError(f"the informer of {self._plural} has no index {name!r}; declared: {declared}")
        return found

    def _made(self, name: str, indexer: Indexer[R]) -> Callable[[Entry], Iterable[str]]:
        if not isinstance(indexer, IndexBy):
            return lambda entry: self._computed(name, indexer, entry)
        if indexer == _NAMESPACE:
            return lambda entry: (entry.namespace,) if entry.namespace else ()
        place = self._shared.parser.read_along(indexer)
        return (lambda entry: indexer.values(entry.raw)) if place is None else Held(place)

    @property
    def _plural(self) -> str:
        return self._shared.info.qualified_plural

    def _computed(self, name: str, indexer: Callable[[R], str | Iterable[str] | None], entry: Entry) -> Iterable[str]:
        try:
            return _values(indexer(decode(entry.raw, self._kind)))
        except DecodeError:
            return ()  # whoever reads the object will hear of it
        except BaseException as error:  # an index that trips over one object must not hide all others
            if ends_us(error):
                raise
            self._shared.log.exception("an index failed", index=name, name=entry.name)
            return ()


def _values(found: str | Iterable[str] | None) -> tuple[str, ...]:
    """Raises TypeError for what nobody could look up."""
    if found is None:
        return ()
    values = (found,) if isinstance(found, str) else tuple(found)
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"the values of an index are text, not {value!r:.60}: give str(…)")
    return values
