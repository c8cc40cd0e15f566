"""`History`: every state of an object that was seen, and how a field or a condition moved."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from kubewright.api import Clock, Resource, decode, resource_info
from kubewright.cache import Cache, Event
from kubewright.client import Client

__all__ = ["History", "Observer", "Seen"]

R = TypeVar("R", bound=Resource)
_Key = tuple[str, str, str]


class Seen(Struct, frozen=True):
    """One state; ``raw`` is its JSON, None when the object was gone."""

    at: datetime
    raw: bytes | None


class History(Generic[R]):
    """The states of one object, oldest first, also of those before it was deleted and made anew."""

    def __init__(self, kind: type[R], seen: list[Seen]) -> None:
        self._kind = kind
        self.seen = seen

    def __iter__(self) -> Iterator[R]:
        return (decode(each.raw, self._kind) for each in self.seen if each.raw is not None)

    def __len__(self) -> int:
        return len(self.seen)

    def values(self, path: str) -> list[Any]:
        """What a field was, one after another, such as ``status.phase``: None where it was absent or the object gone."""
        keys = path.strip(".").split(".")
        return _changes(_at(msgspec.json.decode(each.raw), keys) if each.raw else None for each in self.seen)

    def condition(self, type: str) -> list[str | None]:  # noqa: A002 - the field's own name
        """The condition's status, one after another: ``["False", "True"]``; None where there was none."""
        return _changes(entry.get("status") if entry else None for entry in self._conditions(type))

    def reasons(self, type: str) -> list[str | None]:  # noqa: A002
        """The condition's reasons, one after another."""
        return _changes(entry.get("reason") if entry else None for entry in self._conditions(type))

    def _conditions(self, type: str) -> Iterator[dict[str, Any] | None]:  # noqa: A002
        for each in self.seen:
            entries = _at(msgspec.json.decode(each.raw), ["status", "conditions"]) if each.raw else None
            yield next((entry for entry in entries or () if entry.get("type") == type), None)


def _at(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _changes(values: Iterable[Any]) -> list[Any]:
    """Without those that are as the one before."""
    found: list[Any] = []
    for value in values:
        if not found or found[-1] != value:
            found.append(value)
    return found


class Observer:
    """Watches kinds and keeps every state. Its own client: what it asks is not the operator's traffic."""

    def __init__(
        self,
        client: Client,
        kinds: Iterable[type[Resource]],
        *,
        clock: Clock,
        rng: random.Random,
        namespaces: Collection[str] | None,
    ) -> None:
        self._clock = clock
        self._seen: dict[_Key, list[Seen]] = {}
        self._cache = Cache(client, namespaces=namespaces, clock=clock, rng=rng)
        self.kinds = list(kinds)
        for kind in self.kinds:
            self._cache.informer(kind, optional=True).subscribe(self._saw)

    async def run(self) -> None:
        await self._cache.run()

    async def synced(self) -> None:
        async with asyncio.timeout(60):
            await self._cache.synced()

    def history(self, kind: type[R], namespace: str, name: str) -> History[R]:
        return History(kind, list(self._seen.get((resource_info(kind).qualified_plural, namespace, name), ())))

    def _saw(self, event: Event[Any]) -> None:
        namespace, name = event.key
        key = (resource_info(event.kind).qualified_plural, namespace, name)
        self._seen.setdefault(key, []).append(Seen(self._clock.now(), event.new))
