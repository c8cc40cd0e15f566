"""`Part`: what an informer holds of one namespace, or of all of them at once; its reflector's sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from kubewright.api import Clock, Resource
from kubewright.cache.delivery import Delivery
from kubewright.cache.entry import Entry
from kubewright.cache.events import Change
from kubewright.cache.reflector import Reflector
from kubewright.cache.scope import Scope
from kubewright.cache.state import InformerHealth, InformerState, Phase
from kubewright.cache.store import Incoming, Store
from kubewright.telemetry import Log

__all__ = ["Part", "measure"]

R = TypeVar("R", bound=Resource)

_MANY, _MUCH = 25_000, 100_000_000
"""Objects, and bytes of JSON, of which people should know that they hold them in memory."""


class Part(Generic[R]):
    """A store and the reflector that fills it. ``turned`` hears of each change of its state."""

    def __init__(
        self,
        scope: Scope,
        indexes: Mapping[str, Callable[[Entry], Iterable[str]]],
        *,
        delivery: Delivery[R],
        reflector: Callable[[Part[R]], Reflector],
        turned: Callable[[], None],
        optional: Callable[[], bool],
        clock: Clock,
        log: Log,
    ) -> None:
        self.store = Store(scope, indexes)
        self.state = InformerState(Phase.STARTING)
        self.since: datetime | None = None
        self.has_synced = False
        self._delivery = delivery
        self._turned = turned
        self._optional = optional
        self._clock = clock
        self._log = log
        self._large = False
        self.reflector = reflector(self)

    async def run(self) -> None:
        """Keeps the part current, for ever."""
        self.since = self.since or self._clock.now()
        await self.reflector.run()

    # own writes

    def fold(self, entry: Entry, whole: bytes) -> None:
        self._delivery.tell(self.store.fold(entry, whole))

    def forget(self, namespace: str, name: str, uid: str) -> None:
        self._delivery.tell(self.store.forget((namespace, name), uid))

    # the reflector's side

    def begin_list(self) -> Incoming:
        return self.store.begin_list()

    async def replace(self, incoming: Incoming, version: int) -> None:
        await self._delivery.tell_all(self.store.replace(incoming, version), initial=not self.has_synced)
        self.has_synced = True
        self._turned()
        self._mind_the_size()

    def upsert(self, *entries: Entry) -> None:
        self._delivery.tell(self.store.upsert(*entries))

    def remove(self, entry: Entry) -> None:
        self._delivery.tell(self.store.remove(entry))

    def advance(self, version: int) -> None:
        self.store.advance(version)
        self._mind_the_size()

    def turn(self, state: InformerState) -> None:
        if state.phase is Phase.MISSING and self._optional() and self.has_synced:
            # those who rely on an optional kind go on without it, and must not do so with what was
            self.has_synced = False
            self._delivery.tell(self.store.clear())
        if state != self.state:
            self.state = state
            self.since = self._clock.now()
        self._turned()

    async def empty(self) -> None:
        """Lets go of everything, with Deleted events."""
        await self._delivery.tell_all(iter(self.store.clear()), initial=False)

    def stop(self) -> list[Change]:
        """Lets go of everything, tells nobody, and returns what would be to tell."""
        self.has_synced = False
        self.state = InformerState(Phase.STOPPED)
        return self.store.clear()

    def _mind_the_size(self) -> None:
        """Said once: this is how operators come to be killed for their memory."""
        if self._large or (len(self.store) < _MANY and self.store.view.bytes < _MUCH):
            return
        self._large = True
        self._log.warning(
            "many objects are held in memory",
            objects=len(self.store),
            megabytes=round(self.store.view.bytes / 1e6),
            remedy="watch fewer with a label selector or chosen namespaces, or keep less of each: projection=METADATA",
        )


def measure(parts: Mapping[str | None, Part[Any]], health: InformerHealth, clock: Clock) -> InformerHealth:
    """``health`` with the parts' figures."""
    reflectors = [part.reflector for part in parts.values()]
    heard = [reflector.heard_at for reflector in reflectors if reflector.heard_at is not None]
    return replace(
        health,
        since=max((part.since for part in parts.values() if part.since is not None), default=None),
        objects=sum(len(part.store) for part in parts.values()),
        bytes=sum(part.store.view.bytes for part in parts.values()),
        resource_version=max((reflector.version for reflector in reflectors), default=0),
        last_event_age=clock.monotonic() - min(heard) if heard else None,
        relists=sum(max(reflector.lists - 1, 0) for reflector in reflectors),
        reconnects=sum(max(reflector.watches - 1, 0) for reflector in reflectors),
        unreadable=sum(reflector.unreadable for reflector in reflectors),
    )
