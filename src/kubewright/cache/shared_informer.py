"""`SharedInformer`: one resource as bytes, kept current, for all informers and all classes of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from kubewright.api import Clock, DecodeError, Resource, resource_info
from kubewright.api.cancellation import ends_us
from kubewright.cache.bodies import Bodies, RecentBodies
from kubewright.cache.delivery import Delivery
from kubewright.cache.entry import Entry
from kubewright.cache.events import Change, Event
from kubewright.cache.index import Held
from kubewright.cache.parsing import EntryParser
from kubewright.cache.part import Part, measure
from kubewright.cache.projection import WHOLE, Projection
from kubewright.cache.reflector import Reflector
from kubewright.cache.scope import Scope
from kubewright.cache.state import InformerHealth, InformerState, Phase
from kubewright.cache.streaming_lists import StreamingLists
from kubewright.client.requests import selection
from kubewright.client.rest import RestClient
from kubewright.telemetry import Log

__all__ = ["OWNER", "SharedInformer"]

OWNER = "\0owner"
"""The index that is always there: UIDs of owners."""

_WORST_FIRST = (Phase.BROKEN, Phase.MISSING, Phase.STARTING, Phase.STOPPED)


class SharedInformer:
    """The watches, stores and state behind each `Informer` of one kind, scope and projection.

    What is said there of reads, subscribers and time holds; what is decoded, and into which class, is the informers'.
    """

    def __init__(
        self,
        rest: RestClient,
        kind: type[Resource],
        scope: Scope,
        projection: Projection,
        *,
        optional: bool,
        cluster: str | None,
        streaming: StreamingLists,
        recent: RecentBodies,
        clock: Clock,
        rng: random.Random,
        log: Log,
    ) -> None:
        """``kind`` is the class of the events that `delivery` makes."""
        self.kind = kind
        self.info = resource_info(kind)
        self.cluster = cluster
        self.projection = projection
        self.optional = optional
        self._scope = scope
        if scope.namespaces is not None and not self.info.namespaced:
            raise ValueError(f"{self.info.kind} has no namespaces: leave them out")
        self._rest = rest
        self.parser = EntryParser(
            self.info, projection, objects=lambda: sum(part.store.held for part in self.parts.values())
        )
        self.bodies = Bodies(rest, self.info, projection, recent)
        self._streaming = streaming
        self._clock = clock
        self._rng = rng
        self.log = log.bind(resource=self.info.qualified_plural, **({"cluster": cluster} if cluster else {}))
        self.indexes: dict[str, Callable[[Entry], Iterable[str]]] = {OWNER: Held(0)}
        """By the name that the stores have for them."""
        self.delivery: Delivery[Any] = Delivery(self._event, self.log)
        self._watchers: list[Callable[[InformerState], None]] = []
        self.state = InformerState(Phase.STARTING)
        self._synced = asyncio.Event()
        self._ready = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[str | None, asyncio.Task[None]] = {}
        names = scope.namespaces
        self.parts: dict[str | None, Part[Any]] = {
            name: self._part(name) for name in (names if names is not None else (None,))
        }
        """By namespace; None for all of them."""
        if projection != WHOLE:
            self.delivery.subscribe(lambda event: self.bodies.heard(event.change), ())

    def _part(self, namespace: str | None) -> Part[Any]:
        log = self.log.bind(namespace=namespace) if namespace else self.log
        query = selection(self._scope.labels, self._scope.fields)

        def reflector(part: Part[Any]) -> Reflector:
            return Reflector(
                self._rest,
                self.info,
                part,
                namespace=namespace,
                selection=query,
                parser=self.parser,
                streaming=self._streaming,
                clock=self._clock,
                rng=self._rng,
                log=log,
            )

        return Part(
            self._scope.within(namespace),
            self.indexes,
            delivery=self.delivery,
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
                group.create_task(self.delivery.run(), name=f"events {self.info.qualified_plural}")
                for namespace in self.parts:
                    self._start(namespace)
        finally:
            self._group = None
            self._tasks.clear()
        raise AssertionError("an informer runs for ever")

    def _start(self, namespace: str | None) -> None:
        if self._group is not None:
            name = f"watch {self.info.qualified_plural} {namespace or ''}".rstrip()
            self._tasks[namespace] = self._group.create_task(self.parts[namespace].run(), name=name)

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """None for all of them."""
        return None if None in self.parts else tuple(sorted(name for name in self.parts if name is not None))

    def add_namespace(self, namespace: str) -> None:
        """Begins to watch one more namespace. Raises ValueError for an informer that watches all of them."""
        if None in self.parts:
            raise ValueError(f"the informer of {self.info.qualified_plural} watches all namespaces")
        if namespace not in self.parts:
            self.parts[namespace] = self._part(namespace)
            self._start(namespace)
            self._turned()

    async def remove_namespace(self, namespace: str) -> None:
        """Lets go of a namespace; subscribers are told that its objects are no longer in view (Deleted)."""
        part = self.parts.pop(namespace, None)
        if part is None:
            return
        self._turned()
        task = self._tasks.pop(namespace, None)
        if task is not None:
            task.cancel()
        await part.empty()  # at once: what comes back meanwhile is told of after that
        if task is not None:
            await asyncio.wait([task])

    def stop(self) -> None:
        """To be called when `run` has ended for good: nothing is held any more, and nobody told."""
        for part in self.parts.values():
            for change in part.stop():
                self.bodies.heard(change)
        self._turn(InformerState(Phase.STOPPED))

    def add_index(self, name: str, values_of: Callable[[Entry], Iterable[str]]) -> None:
        """``name`` must be new."""
        self.indexes[name] = values_of
        for part in self.parts.values():
            part.store.add_index(name, values_of)

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
        return self.state.phase is Phase.SYNCED

    @property
    def in_step(self) -> bool:
        """Whether it may be relied on: it is live, or optional and not installed."""
        return self.live or (self.optional and self.state.phase is Phase.MISSING)

    def on_state(self, watcher: Callable[[InformerState], None]) -> None:
        """Hears of each change of `state`; one that raises is logged."""
        self._watchers.append(watcher)

    @property
    def health(self) -> InformerHealth:
        """What this informer can say of itself now."""
        return measure(
            self.parts,
            InformerHealth(
                resource=self.info.qualified_plural,
                cluster=self.cluster,
                namespaces=self.namespaces,
                projection=self.projection,
                phase=self.state.phase,
                reason=self.state.reason,
                in_step=self.in_step,
                optional=self.optional,
            ),
            self._clock,
        )

    # what own writes bring

    def fold(self, raw: bytes) -> None:
        """Takes the object in the answer to an own write, if it belongs here; never an older state over a newer."""
        try:
            entry = self.parser.answered(raw.rstrip(b"\n"))  # servers end an answer so, and no watch's object
        except DecodeError as error:  # the writer has its answer; the watch will bring what it meant
            self.log.warning("the answer to a write can't be cached", error=str(error))
            return
        self.bodies.fold(raw)
        for part in self.reading(entry.namespace):
            part.fold(entry, raw)

    def forget(self, namespace: str | None, name: str, uid: str) -> None:
        """Takes an own delete that ended the object at once."""
        for part in self.reading(namespace or ""):
            part.forget(namespace or "", name, uid)

    def reading(self, namespace: str | None) -> Iterable[Part[Any]]:
        """The parts in which objects of the namespace are; of all for None."""
        if namespace is None or None in self.parts:
            return self.parts.values()
        part = self.parts.get(namespace)
        return () if part is None else (part,)

    def _event(self, change: Change, initial: bool) -> Event[Any]:
        return Event(self.kind, change, initial, self.cluster, self.projection)

    # what the parts bring

    def _turned(self) -> None:
        parts = self.parts.values()
        _set(self._synced, all(part.has_synced for part in parts))
        trouble = min(
            ((name, part.state) for name, part in self.parts.items() if part.state.phase is not Phase.SYNCED),
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
        changed = state != self.state
        self.state = state
        _set(self._ready, self.has_synced or self.in_step)
        if not changed:
            return
        if state.phase is Phase.SYNCED:
            self.log.info("synced", objects=sum(len(part.store) for part in self.parts.values()))
        elif state.phase in {Phase.BROKEN, Phase.MISSING}:
            level = self.log.info if self.in_step else self.log.warning
            level("not synced", phase=state.phase.value, reason=state.reason)
        for watcher in tuple(self._watchers):
            try:
                watcher(state)
            except BaseException as error:  # whoever is told must not end the watch
                if ends_us(error):
                    raise
                self.log.exception("a watcher of the state failed", phase=state.phase.value)


def _set(event: asyncio.Event, value: bool) -> None:
    (event.set if value else event.clear)()
