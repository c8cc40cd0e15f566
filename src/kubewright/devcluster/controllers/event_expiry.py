"""`EventExpiry`: forgets Events an hour after they were last written, as a real cluster's database does by itself."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from kubewright.api import Clock
from kubewright.devcluster.objects import name_of, namespace_of
from kubewright.devcluster.store import Change, Compacted, GroupResource, Store

__all__ = ["EVENT_SECONDS", "EventExpiry"]

EVENT_SECONDS = 3600.0
"""How long an Event is kept."""

_EVENTS = GroupResource("", "events")
_TOLERANCE = 1e-6


class EventExpiry:
    """Removes what is due, without a word but the watchers' DELETED."""

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._due: OrderedDict[tuple[str, str], float] = OrderedDict()
        """Namespace and name → when it goes. All are kept for the same time, so the first one is the next to go."""

    async def run(self) -> None:
        """Works until cancelled."""
        news = asyncio.Event()
        unsubscribe = self._store.subscribe(news.set, resource=_EVENTS)
        try:
            seen = self._take_all()
            while True:
                seen = self._take(seen)
                self._remove_due()
                await self._news(news)
        finally:
            unsubscribe()

    async def _news(self, news: asyncio.Event) -> None:
        """Waits for a write, or for the next Event to be due."""
        first = next(iter(self._due.values()), None)
        try:
            async with asyncio.timeout(None if first is None else max(first - self._clock.monotonic(), 0)):
                await news.wait()
        except TimeoutError:
            return
        news.clear()

    def _take_all(self) -> int:
        present = {(namespace_of(event), name_of(event)) for event in self._store.list(_EVENTS)}
        for key in [key for key in self._due if key not in present]:
            del self._due[key]
        for key in sorted(present.difference(self._due)):
            self._due[key] = self._clock.monotonic() + EVENT_SECONDS
        return self._store.revision

    def _take(self, seen: int) -> int:
        """Takes in what was written after the revision ``seen``; returns the one that is seen now."""
        try:
            changes = self._store.changes(seen, resource=_EVENTS)
        except Compacted:
            return self._take_all()
        for change in changes:
            self._note(change)
        return self._store.revision

    def _note(self, change: Change) -> None:
        key = change.namespace, change.name
        self._due.pop(key, None)
        if change.type != "DELETED":
            self._due[key] = self._clock.monotonic() + EVENT_SECONDS

    def _remove_due(self) -> None:
        now = self._clock.monotonic() + _TOLERANCE
        while self._due:
            key, due = next(iter(self._due.items()))
            if due > now:
                return
            del self._due[key]
            self._store.delete(_EVENTS, *key)
