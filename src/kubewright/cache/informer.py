"""`Informer`: a typed, indexed view of one resource that is never older than what we wrote."""

from __future__ import annotations

import asyncio
import builtins
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NoReturn, TypeVar

from kubewright.api import Clock, DecodeError, Resource, decode, resource_info
from kubewright.cache.entry import Entry, parse_entry
from kubewright.cache.events import Change, Event, EventType
from kubewright.cache.index import Index
from kubewright.cache.reflector import Reflector
from kubewright.cache.scope import Scope
from kubewright.cache.state import InformerState, Phase
from kubewright.cache.store import ListBegun, Store
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels, as_selector
from kubewright.telemetry import Log, null_log

__all__ = ["Indexer", "Informer"]

R = TypeVar("R", bound=Resource)
Indexer = Callable[[R], Iterable[str]]

_OWNER = "\0owner"
_NAMESPACE = "\0namespace"


class Informer(Generic[R]):
    """What the server has of one kind, in one namespace or all, selected or not.

    Guarantees
        Reads see own writes: once a write through the same client has returned, no read gives an older state (the
        informer must `fold` the writes; one made by a `Cache` does). Each read gives a fresh object; editing it
        changes nothing here. Subscribers see every key's steps in order, after the informer has taken them.
    Caveats
        Before `synced` reads find what came so far, which may be nothing. While `live` is false, what is cached may be
        old. An object that does not fit its class is held and announced all the same; reading it raises `DecodeError`.
    """

    def __init__(
        self,
        client: Client,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        indexes: Mapping[str, Indexer[R]] | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        self.kind = kind
        self.info = resource_info(kind)
        self.namespace = namespace
        self._store = Store(Scope.of(namespace, labels, fields))
        self._indexers: dict[str, Indexer[R]] = dict(indexes or {})
        self._indexes = {name: Index() for name in (_OWNER, _NAMESPACE, *self._indexers)}
        self._subscribers: list[Callable[[Event[R]], None]] = []
        self._watchers: list[Callable[[InformerState], None]] = []
        self._state = InformerState(Phase.STARTING)
        self._synced = asyncio.Event()
        self._log = (log or null_log()).bind(
            resource=self.info.qualified_plural, **({"namespace": namespace} if namespace else {})
        )
        self._reflector = Reflector(
            client.rest,
            self.info,
            _InformerSink(self),
            namespace=namespace,
            labels=labels,
            fields=fields,
            clock=clock or client.clock,
            rng=rng or random.Random(),
            log=self._log,
        )

    # running

    async def run(self) -> NoReturn:
        """Keeps the view current, for ever; its caller owns the task."""
        await self._reflector.run()

    async def synced(self) -> None:
        """Waits until everything was read once."""
        await self._synced.wait()

    @property
    def has_synced(self) -> bool:
        return self._synced.is_set()

    @property
    def live(self) -> bool:
        """Whether everything was read and a watch keeps it current now."""
        return self._state.phase is Phase.SYNCED

    @property
    def state(self) -> InformerState:
        return self._state

    def on_state(self, watcher: Callable[[InformerState], None]) -> None:
        """Hears of each change of `state`."""
        self._watchers.append(watcher)

    # reading

    def __len__(self) -> int:
        return len(self._store)

    def get(self, namespace: str | None, name: str) -> R | None:
        entry = self.entry(namespace, name)
        return None if entry is None else decode(entry.raw, self.kind)

    def raw(self, namespace: str | None, name: str) -> bytes | None:
        """The object's JSON without managedFields."""
        entry = self.entry(namespace, name)
        return None if entry is None else entry.raw

    def entry(self, namespace: str | None, name: str) -> Entry | None:
        """Metadata without decoding the object."""
        return self._store.get((namespace or "", name))

    def list(
        self,
        namespace: str | None = None,
        labels: Labels | None = None,
        index: tuple[str, str] | None = None,
    ) -> builtins.list[R]:
        """Objects in order of namespace and name; decodes only those that match. See `entries`."""
        return [decode(entry.raw, self.kind) for entry in self.entries(namespace, labels, index)]

    def entries(
        self,
        namespace: str | None = None,
        labels: Labels | None = None,
        index: tuple[str, str] | None = None,
    ) -> builtins.list[Entry]:
        """Like `list`, without decoding. ``index`` is a declared index and the wanted value."""
        selector = None if labels is None else as_selector(labels)
        if index is not None:
            found = self._indexed(*index)
        elif namespace is not None:
            found = self._indexed(_NAMESPACE, namespace)
        else:
            found = list(self._store)
        matching = [
            entry
            for entry in found
            if (namespace is None or entry.namespace == namespace)
            and (selector is None or selector.matches(entry.labels))
        ]
        return sorted(matching, key=lambda entry: entry.key)

    def by_owner(self, uid: str) -> builtins.list[R]:
        """Objects that name ``uid`` among their owners."""
        return [decode(entry.raw, self.kind) for entry in self.owned(uid)]

    def owned(self, uid: str) -> builtins.list[Entry]:
        """Like `by_owner`, without decoding."""
        return sorted(self._indexed(_OWNER, uid), key=lambda entry: entry.key)

    def _indexed(self, name: str, value: str) -> builtins.list[Entry]:
        index = self._indexes.get(name)
        if index is None:
            declared = ", ".join(sorted(self._indexers)) or "none"
            raise KeyError(f"the informer of {self.info.qualified_plural} has no index {name!r}; declared: {declared}")
        return [entry for key in index.keys(value) if (entry := self._store.get(key)) is not None]

    def add_index(self, name: str, indexer: Indexer[R]) -> None:
        """Declares one more index. Raises ValueError when another one has the name."""
        if self._indexers.setdefault(name, indexer) is not indexer:
            raise ValueError(f"the informer of {self.info.qualified_plural} has another index called {name!r}")
        index = self._indexes[name] = Index()
        for entry in self._store:
            index.put(entry.key, self._values(name, entry))

    # being told

    def subscribe(self, handler: Callable[[Event[R]], None]) -> Callable[[], None]:
        """Hears of every change, beginning with what is there (Added, ``initial``); returns what ends it.

        Handlers are called in between two steps of the informer: they must be quick, and must not raise; one that does
        is logged, and disturbs no other.
        """
        self._subscribers.append(handler)
        for entry in sorted(self._store, key=lambda entry: entry.key):
            self._call(handler, Event(self.kind, Change(None, entry), initial=True))
        return lambda: self._subscribers.remove(handler)

    def fold(self, raw: bytes) -> None:
        """Takes the object in the answer to an own write, if it belongs here; never an older state over a newer."""
        self._publish(self._store.fold(parse_entry(raw, self.info)))

    def forget(self, namespace: str | None, name: str, uid: str) -> None:
        """Takes an own delete that ended the object at once."""
        self._publish(self._store.forget((namespace or "", name), uid))

    # what the reflector brings

    def _publish(self, changes: Iterable[Change], *, initial: bool = False) -> None:
        taken = list(changes)
        for change in taken:
            self._index(change)
        for change in taken:
            first = initial and change.type is EventType.ADDED
            event = Event(self.kind, change, initial=first)
            for handler in tuple(self._subscribers):
                self._call(handler, event)

    def _call(self, handler: Callable[[Event[R]], None], event: Event[R]) -> None:
        try:
            handler(event)
        except Exception:  # one subscriber's bug must not keep the event from the others, nor end the watch
            self._log.exception("a subscriber failed", name=event.key[1], event_type=event.type.value)

    def _index(self, change: Change) -> None:
        for name, index in self._indexes.items():
            if change.new is not None:
                index.put(change.new.key, self._values(name, change.new))
            elif change.old is not None:
                index.drop(change.old.key)

    def _values(self, name: str, entry: Entry) -> Iterable[str]:
        if name == _OWNER:
            return entry.owners
        if name == _NAMESPACE:
            return (entry.namespace,)
        try:
            return tuple(self._indexers[name](decode(entry.raw, self.kind)))
        except DecodeError:
            return ()  # whoever reads the object will hear of it
        except Exception:  # an index that trips over one object must not hide all others
            self._log.exception("an index failed", index=name, name=entry.name)
            return ()

    def _turn(self, state: InformerState) -> None:
        if state == self._state:
            return
        self._state = state
        if state.phase is Phase.SYNCED:
            self._log.info("synced", objects=len(self._store))
        else:
            self._log.warning("not synced", phase=state.phase.value, reason=state.reason)
        for watcher in tuple(self._watchers):
            watcher(state)


class _InformerSink(Generic[R]):
    """The informer's other side, for its reflector only."""

    def __init__(self, informer: Informer[R]) -> None:
        self._informer = informer

    def begin_list(self) -> ListBegun:
        return self._informer._store.begin_list()

    def replace(self, entries: Iterable[Entry], version: int, begun: ListBegun) -> None:
        first = not self._informer.has_synced
        changes = self._informer._store.replace(entries, version, begun)
        self._informer._publish(changes, initial=first)
        self._informer._synced.set()

    def upsert(self, entry: Entry) -> None:
        self._informer._publish(self._informer._store.upsert(entry))

    def remove(self, entry: Entry) -> None:
        self._informer._publish(self._informer._store.remove(entry))

    def advance(self, version: int) -> None:
        self._informer._store.advance(version)

    def turn(self, state: InformerState) -> None:
        self._informer._turn(state)
