"""`Informer`: a typed, indexed view of one resource that is never older than what we wrote."""

from __future__ import annotations

import builtins
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from operator import attrgetter
from typing import Generic, NoReturn, TypeVar, cast

from kubewright.api import Clock, ObjectMeta, Resource, resource_info
from kubewright.cache.bodies import RecentBodies
from kubewright.cache.delivery import Feed
from kubewright.cache.entry import Entry
from kubewright.cache.events import Change, Event
from kubewright.cache.indexers import Indexer, Indexers
from kubewright.cache.projection import WHOLE, Projection, decode_metadata, held
from kubewright.cache.scope import Scope, labelled
from kubewright.cache.shared_informer import OWNER, SharedInformer
from kubewright.cache.state import InformerHealth, InformerState
from kubewright.cache.streaming_lists import StreamingLists
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels, as_selector
from kubewright.telemetry import Log

__all__ = ["Informer"]

R = TypeVar("R", bound=Resource)
S = TypeVar("S", bound=Resource)

_by_key = attrgetter("namespace", "name")


class Informer(Generic[R]):
    """What the server has of one kind, in some namespaces or all, selected or not.

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
        namespaces: str | Iterable[str] | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        projection: Projection = WHOLE,
        indexes: Mapping[str, Indexer[R]] | None = None,
        optional: bool = False,
        cluster: str | None = None,
        streaming: StreamingLists | None = None,
        recent: RecentBodies | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        """``optional``: the kind may not be installed; the informer is then empty until it is, and in step.

        ``cluster`` is the name by which events and requests tell clusters apart, None for the local one. ``streaming``
        and ``recent`` are what the informers of one server share.
        """
        self.kind = kind
        self.info = resource_info(kind)
        self._shared = SharedInformer(
            client.rest,
            kind,
            Scope.of(namespaces, labels, fields),
            projection,
            optional=optional,
            cluster=cluster,
            streaming=streaming or StreamingLists(),
            recent=RecentBodies() if recent is None else recent,
            clock=clock or client.clock,
            rng=rng or random.Random(),
            log=log or client.rest.log,
        )
        self.cluster = cluster
        self.projection = projection
        self.bodies = self._shared.bodies
        """Where the whole objects are, also those of which only a part is cached."""
        self._parts = self._shared.parts
        self._indexers = Indexers(kind, self._shared)
        for name, indexer in (indexes or {}).items():
            self.add_index(name, indexer)

    def of_class(self, kind: type[S]) -> Informer[S]:
        """The same objects as another class of the same kind: one watch and one store serve both.

        Indexes by functions are each class's own. Raises ValueError for a class of another kind.
        """
        if resource_info(kind).gvk != self.info.gvk:
            raise ValueError(f"{kind.__name__} is a class of {resource_info(kind).gvk}, not of {self.info.gvk}")
        if kind is self.kind:
            return cast("Informer[S]", self)
        another = cast("Informer[S]", copy(self))
        another.kind = kind
        another.info = resource_info(kind)
        another._indexers = Indexers(kind, self._shared)
        return another

    # running

    async def run(self) -> NoReturn:
        """Keeps the view current, for ever; its caller owns the task."""
        await self._shared.run()

    def stop(self) -> None:
        """To be called when `run` has ended for good: nothing is held any more, and nobody told."""
        self._shared.stop()

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """None for all of them."""
        return self._shared.namespaces

    def add_namespace(self, namespace: str) -> None:
        """Begins to watch one more namespace. Raises ValueError for an informer that watches all of them."""
        self._shared.add_namespace(namespace)

    async def remove_namespace(self, namespace: str) -> None:
        """Lets go of a namespace; subscribers are told that its objects are no longer in view (Deleted)."""
        await self._shared.remove_namespace(namespace)

    @property
    def optional(self) -> bool:
        """Whether the kind may not be installed."""
        return self._shared.optional

    @optional.setter
    def optional(self, value: bool) -> None:
        self._shared.optional = value

    # how it is

    async def synced(self) -> None:
        """Waits until everything was read once."""
        await self._shared.synced()

    async def ready(self) -> None:
        """As `synced`, but does not wait for an optional kind that is not installed."""
        await self._shared.ready()

    @property
    def has_synced(self) -> bool:
        return self._shared.has_synced

    @property
    def live(self) -> bool:
        """Whether everything was read and a watch keeps it current now."""
        return self._shared.live

    @property
    def in_step(self) -> bool:
        """Whether it may be relied on: it is live, or optional and not installed."""
        return self._shared.in_step

    @property
    def state(self) -> InformerState:
        return self._shared.state

    def on_state(self, watcher: Callable[[InformerState], None]) -> None:
        """Hears of each change of `state`; one that raises is logged."""
        self._shared.on_state(watcher)

    @property
    def health(self) -> InformerHealth:
        """What this informer can say of itself now."""
        return self._shared.health

    # reading

    def __len__(self) -> int:
        return sum(len(part.store) for part in self._parts.values())

    def get(self, namespace: str | None, name: str) -> R | None:
        """Raises `DecodeError` for an object that does not fit its class, `NotHeld` where only metadata is cached."""
        entry = self.entry(namespace, name)
        return None if entry is None else held(entry, self.kind, self.projection)

    def metadata(self, namespace: str | None, name: str) -> ObjectMeta | None:
        """The object's metadata, decoded anew, without managedFields."""
        entry = self.entry(namespace, name)
        return None if entry is None else decode_metadata(entry)

    def raw(self, namespace: str | None, name: str) -> bytes | None:
        """The object's JSON without managedFields; with a projection, what it keeps."""
        entry = self.entry(namespace, name)
        return None if entry is None else entry.raw

    def entry(self, namespace: str | None, name: str) -> Entry | None:
        """Metadata without decoding the object."""
        part = self._parts.get(None) or self._parts.get(namespace)
        return None if part is None else part.store.view.get((namespace or "", name))

    def list(
        self,
        namespace: str | None = None,
        labels: Labels | None = None,
        index: tuple[str, str] | None = None,
    ) -> builtins.list[R]:
        """Objects in order of namespace and name; decodes only those that match. See `entries` and `get`."""
        return [held(entry, self.kind, self.projection) for entry in self.entries(namespace, labels, index)]

    def entries(
        self,
        namespace: str | None = None,
        labels: Labels | None = None,
        index: tuple[str, str] | None = None,
    ) -> builtins.list[Entry]:
        """Like `list`, without decoding. ``index`` is a declared index and the wanted value."""
        if index is not None:
            name, value = index
            found = self._indexed(self._indexers.place(name), value)
            if namespace is not None:
                found = [entry for entry in found if entry.namespace == namespace]
        else:
            found = [
                entry
                for part in self._shared.reading(namespace)
                for entry in (part.store if namespace is None else part.store.view.in_namespace(namespace))
            ]
        if labels is not None:
            found = labelled(found, as_selector(labels))
        return sorted(found, key=_by_key)

    def by_owner(self, uid: str) -> builtins.list[R]:
        """Objects that name ``uid`` among their owners."""
        return [held(entry, self.kind, self.projection) for entry in self.owned(uid)]

    def owned(self, uid: str) -> builtins.list[Entry]:
        """Like `by_owner`, without decoding."""
        return sorted(self._indexed(OWNER, uid), key=_by_key)

    def _indexed(self, index: str, value: str) -> builtins.list[Entry]:
        return [entry for part in self._parts.values() for entry in part.store.view.indexed(index, value)]

    def add_index(self, name: str, indexer: Indexer[R]) -> None:
        """Declares one more index: `IndexBy`, or a function that gives an object's values: one, several or none.

        Best before the informer runs. Raises ValueError when another has the name, and where what it needs is not cached.
        """
        self._indexers.declare(name, indexer)

    # being told

    def subscribe(self, handler: Callable[[Event[R]], None]) -> Callable[[], None]:
        """Hears of every change, beginning with what is there (Added, ``initial``); returns what ends it.

        Handlers are called in between two steps of the informer: they must be quick, and must not raise; one that does
        is logged, and disturbs no other. Where that can't be promised, use `feed`.
        """
        if self.kind is not self._shared.kind:
            handler = self._retyping(handler)
        return self._shared.delivery.subscribe(handler, [Change(None, entry) for entry in self.entries()])

    def _retyping(self, handler: Callable[[Event[R]], None]) -> Callable[[Event[R]], None]:
        return lambda event: handler(self._event(event.change, event.initial))

    @contextmanager
    def feed(self) -> Iterator[Feed[R]]:
        """Events at the reader's own pace, for ``async for``; several changes of one object become one in between."""
        feed = Feed(self._event)
        stop = self.subscribe(feed.put)
        try:
            yield feed
        finally:
            stop()

    def fold(self, raw: bytes) -> None:
        """Takes the object in the answer to an own write, if it belongs here; never an older state over a newer."""
        self._shared.fold(raw)

    def forget(self, namespace: str | None, name: str, uid: str) -> None:
        """Takes an own delete that ended the object at once."""
        self._shared.forget(namespace, name, uid)

    def _event(self, change: Change, initial: bool) -> Event[R]:
        return Event(self.kind, change, initial, self.cluster, self.projection)
