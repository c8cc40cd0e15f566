"""`Informer`: a typed, indexed view of one resource that is never older than what we wrote."""

from __future__ import annotations

import asyncio
import builtins
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import Generic, NoReturn, TypeVar

from kubewright.api import Clock, DecodeError, ObjectMeta, Resource, resource_info
from kubewright.cache.bodies import Bodies, RecentBodies
from kubewright.cache.delivery import Delivery, Feed
from kubewright.cache.entry import Entry
from kubewright.cache.events import Change, Event
from kubewright.cache.indexers import OWNER, Indexer, Indexers
from kubewright.cache.parsing import EntryParser
from kubewright.cache.part import Part, measure
from kubewright.cache.projection import WHOLE, Projection, decode_metadata, held
from kubewright.cache.reflector import Reflector
from kubewright.cache.scope import Scope, labelled
from kubewright.cache.state import InformerHealth, InformerState, Phase
from kubewright.cache.streaming_lists import StreamingLists
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels, as_selector, selection
from kubewright.telemetry import Log, null_log

__all__ = ["Informer"]

R = TypeVar("R", bound=Resource)

_by_key = attrgetter("namespace", "name")
_WORST_FIRST = (Phase.BROKEN, Phase.MISSING, Phase.STARTING, Phase.STOPPED)


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
        self.cluster = cluster
        self.projection = projection
        self.optional = optional
        self._scope = Scope.of(namespaces, labels, fields)
        if self._scope.namespaces is not None and not self.info.namespaced:
            raise ValueError(f"{self.info.kind} has no namespaces: leave them out")
        self._rest = client.rest
        self._parser = EntryParser(self.info, projection)
        self.bodies = Bodies(self._rest, self.info, projection, RecentBodies() if recent is None else recent)
        """Where the whole objects are, also those of which only a part is cached."""
        self._streaming = streaming or StreamingLists()
        self._clock = clock or client.clock
        self._rng = rng or random.Random()
        self._log = (log or null_log()).bind(
            resource=self.info.qualified_plural, **({"cluster": cluster} if cluster else {})
        )
        self._indexers = Indexers(kind, self._parser, self._log)
        self._delivery: Delivery[R] = Delivery(self._event, self._log)
        self._watchers: list[Callable[[InformerState], None]] = []
        self._state = InformerState(Phase.STARTING)
        self._synced = asyncio.Event()
        self._ready = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[str | None, asyncio.Task[None]] = {}
        names = self._scope.namespaces
        self._parts: dict[str | None, Part[R]] = {
            name: self._part(name) for name in (names if names is not None else (None,))
        }
        for name, indexer in (indexes or {}).items():
            self.add_index(name, indexer)
        if projection != WHOLE:
            self.subscribe(lambda event: self.bodies.heard(event.change))

    def _part(self, namespace: str | None) -> Part[R]:
        log = self._log.bind(namespace=namespace) if namespace else self._log
        query = selection(self._scope.labels, self._scope.fields)

        def reflector(part: Part[R]) -> Reflector:
            return Reflector(
                self._rest,
                self.info,
                part,
                namespace=namespace,
                selection=query,
                parser=self._parser,
                streaming=self._streaming,
                clock=self._clock,
                rng=self._rng,
                log=log,
            )

        return Part(
            self._scope.within(namespace),
            self._indexers.of_entries,
            delivery=self._delivery,
            reflector=reflector,
            turned=self._turned,
            optional=lambda: self.optional,
            clock=self._clock,
            log=log,
        )

    # running

    async def run(self) -> NoReturn:
        """Keeps the view current, for ever; its caller owns the task."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                self._turned()
                group.create_task(self._delivery.run(), name=f"events {self.info.qualified_plural}")
                for namespace in self._parts:
                    self._start(namespace)
        finally:
            self._group = None
            self._tasks.clear()
        raise AssertionError("an informer runs for ever")

    def _start(self, namespace: str | None) -> None:
        if self._group is not None:
            name = f"watch {self.info.qualified_plural} {namespace or ''}".rstrip()
            self._tasks[namespace] = self._group.create_task(self._parts[namespace].run(), name=name)

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """None for all of them."""
        return None if None in self._parts else tuple(sorted(name for name in self._parts if name is not None))

    def add_namespace(self, namespace: str) -> None:
        """Begins to watch one more namespace. Raises ValueError for an informer that watches all of them."""
        if None in self._parts:
            raise ValueError(f"the informer of {self.info.qualified_plural} watches all namespaces")
        if namespace not in self._parts:
            self._parts[namespace] = self._part(namespace)
            self._start(namespace)
            self._turned()

    async def remove_namespace(self, namespace: str) -> None:
        """Lets go of a namespace; subscribers are told that its objects are no longer in view (Deleted)."""
        part = self._parts.pop(namespace, None)
        if part is None:
            return
        task = self._tasks.pop(namespace, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self._turned()
        await part.empty()

    def stop(self) -> None:
        """To be called when `run` has ended for good: nothing is held any more, and nobody told."""
        for part in self._parts.values():
            for change in part.stop():
                self.bodies.heard(change)
        self._turn(InformerState(Phase.STOPPED))

    # how it is

    async def synced(self) -> None:
        """Waits until everything was read once."""
        await self._synced.wait()

    async def ready(self) -> None:
        """As `synced`, but does not wait for an optional kind that is not installed."""
        await self._ready.wait()

    @property
    def has_synced(self) -> bool:
        return self._synced.is_set()

    @property
    def live(self) -> bool:
        """Whether everything was read and a watch keeps it current now."""
        return self._state.phase is Phase.SYNCED

    @property
    def in_step(self) -> bool:
        """Whether it may be relied on: it is live, or optional and not installed."""
        return self.live or (self.optional and self._state.phase is Phase.MISSING)

    @property
    def state(self) -> InformerState:
        return self._state

    def on_state(self, watcher: Callable[[InformerState], None]) -> None:
        """Hears of each change of `state`; one that raises is logged."""
        self._watchers.append(watcher)

    @property
    def health(self) -> InformerHealth:
        """What this informer can say of itself now."""
        return measure(
            self._parts,
            InformerHealth(
                resource=self.info.qualified_plural,
                cluster=self.cluster,
                namespaces=self.namespaces,
                projection=self.projection,
                phase=self._state.phase,
                reason=self._state.reason,
                in_step=self.in_step,
                optional=self.optional,
            ),
            self._clock,
        )

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
            found = self._indexed(*index)
            if namespace is not None:
                found = [entry for entry in found if entry.namespace == namespace]
        else:
            found = [
                entry
                for part in self._reading(namespace)
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

    def _reading(self, namespace: str | None) -> Iterable[Part[R]]:
        if namespace is None or None in self._parts:
            return self._parts.values()
        part = self._parts.get(namespace)
        return () if part is None else (part,)

    def _indexed(self, name: str, value: str) -> builtins.list[Entry]:
        self._indexers.check(name)
        return [entry for part in self._parts.values() for entry in part.store.view.indexed(name, value)]

    def add_index(self, name: str, indexer: Indexer[R]) -> None:
        """Declares one more index: `IndexBy`, or a function that gives an object's values: one, several or none.

        Best before the informer runs. Raises ValueError when another has the name, and where what it needs is not cached.
        """
        made = self._indexers.declare(name, indexer)
        if made is not None:
            for part in self._parts.values():
                part.store.add_index(name, made)

    # being told

    def subscribe(self, handler: Callable[[Event[R]], None]) -> Callable[[], None]:
        """Hears of every change, beginning with what is there (Added, ``initial``); returns what ends it.

        Handlers are called in between two steps of the informer: they must be quick, and must not raise; one that does
        is logged, and disturbs no other. Where that can't be promised, use `feed`.
        """
        return self._delivery.subscribe(handler, [Change(None, entry) for entry in self.entries()])

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
        try:
            entry = self._parser.parse_once(raw.rstrip(b"\n"))  # servers end an answer so, and no watch's object
        except DecodeError as error:  # the writer has its answer; the watch will bring what it meant
            self._log.warning("the answer to a write can't be cached", error=str(error))
            return
        self.bodies.fold(raw)
        for part in self._reading(entry.namespace):
            part.fold(entry, raw)

    def forget(self, namespace: str | None, name: str, uid: str) -> None:
        """Takes an own delete that ended the object at once."""
        for part in self._reading(namespace or ""):
            part.forget(namespace or "", name, uid)

    def _event(self, change: Change, initial: bool) -> Event[R]:
        return Event(self.kind, change, initial, self.cluster, self.projection)

    # what the parts bring

    def _turned(self) -> None:
        parts = self._parts.values()
        _set(self._synced, all(part.has_synced for part in parts))
        trouble = min(
            ((name, part.state) for name, part in self._parts.items() if part.state.phase is not Phase.SYNCED),
            key=lambda found: _WORST_FIRST.index(found[1].phase),
            default=None,
        )
        if trouble is None:
            self._turn(InformerState(Phase.SYNCED))
            return
        name, state = trouble
        reason = f"namespace {name}: {state.reason}" if name and state.reason else state.reason
        self._turn(InformerState(state.phase, reason))

    def _turn(self, state: InformerState) -> None:
        changed = state != self._state
        self._state = state
        _set(self._ready, self.has_synced or self.in_step)
        if not changed:
            return
        if state.phase is Phase.SYNCED:
            self._log.info("synced", objects=len(self))
        elif state.phase in {Phase.BROKEN, Phase.MISSING}:
            level = self._log.info if self.in_step else self._log.warning
            level("not synced", phase=state.phase.value, reason=state.reason)
        for watcher in tuple(self._watchers):
            try:
                watcher(state)
            except Exception:  # whoever is told must not end the watch
                self._log.exception("a watcher of the state failed", phase=state.phase.value)


def _set(event: asyncio.Event, value: bool) -> None:
    (event.set if value else event.clear)()
