"""`Waking`: from what happens, to objects of the server and elsewhere, to requests in a controller's queue."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from kubewright.api import Clock, Resource, decode, resource_info
from kubewright.api.callables import is_async
from kubewright.api.cancellation import ends_us, failure_of
from kubewright.cache import Cache, Entry, Event, Feed, Informer
from kubewright.controller.backoff import Backoff
from kubewright.controller.environment import RunEnvironment
from kubewright.controller.failures import from_the_users_code
from kubewright.controller.pausing import pause_turned
from kubewright.controller.predicates import Predicate, default_predicate, deletion
from kubewright.controller.queue import Priority, WorkQueue
from kubewright.controller.request import Request
from kubewright.controller.sources import Source, SourceContext, Wake, follow, source_name
from kubewright.controller.spec import ControllerSpec
from kubewright.controller.watches import MetadataMapper, Watch, owner
from kubewright.controller.writes import AppliedIntents
from kubewright.telemetry import Log, shown
from kubewright.telemetry.standard_logging import RUN_LOG

__all__ = ["Waking"]

_TRIES = 5
"""How often an asynchronous mapper is called for one event before the event is given up."""


class Waking:
    """What wakes one controller.

    Guarantees: whatever a predicate, a mapper or a source raises is logged, and keeps nothing else from being heard of.
    A request that fails because of what its object said is forgiven its failures once somebody edits the object.
    """

    def __init__(
        self,
        spec: ControllerSpec[Any],
        env: RunEnvironment,
        *,
        cache: Cache,
        queue: WorkQueue,
        applied: AppliedIntents,
        clock: Clock,
        rng: random.Random,
        log: Log,
    ) -> None:
        self._spec = spec
        self._info = resource_info(spec.kind)
        self._finalizers = {finalizer.name for finalizer in spec.finalizers}
        self._cluster = cache.cluster
        self._queue = queue
        self._applied = applied
        self._rng = rng
        self._log = log
        self._clock = clock
        self._primary = env.informer(spec.kind)
        self._causes = env.causes
        self._releases = env.releases
        self._events = env.events
        self._later: list[tuple[Watch[Any], Informer[Any]]] = []
        self._feeds: list[Feed[Any]] = []
        self._mapping = 0
        self.informers: list[Informer[Any]] = [env.informer(kind) for kind in spec.kinds]
        """All that the controller relies on."""
        self._subscribe(env)

    def _subscribe(self, env: RunEnvironment) -> None:
        self._primary.subscribe(self._primary_changed(self._spec.when or default_predicate(self._info)))
        for kind in self._spec.owns:
            informer = env.informer(kind)
            informer.subscribe(self._related_changed(Watch(kind, to=owner(self._spec.kind))))
            informer.subscribe(self._forget_deleted(resource_info(kind).qualified_plural))
        for kind in self._spec.kinds:
            env.informer(kind).subscribe(self._gone_or_released(resource_info(kind).qualified_plural))
        for watch in self._spec.watches:
            watched = env.informer(watch.kind)
            if is_async(watch.to):
                self._later.append((watch, watched))
            else:
                watched.subscribe(self._related_changed(watch))

    async def run(self) -> None:
        """Follows sources, and calls mappers that take their time, for ever."""
        around = SourceContext(clock=self._clock, log=self._log, requests=self._all)
        async with asyncio.TaskGroup() as tasks:
            for source in self._spec.sources:
                tasks.create_task(self._follow(source, around), name=f"{self._spec.name}-source")
            for watch, informer in self._later:
                tasks.create_task(self._map(watch, informer), name=f"{self._spec.name}-mapper")

    @property
    def idle(self) -> bool:
        """Whether all that was seen has been mapped."""
        return not self._mapping and not any(self._feeds)

    # objects of the kind itself

    def _primary_changed(self, predicate: Predicate) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            if not (self._passes(predicate, event) or pause_turned(event) or self._is_to_be_cleaned_up(event)):
                return
            entry, old, new = event.entry, event.change.old, event.change.new
            request = Request(event.cluster, entry.namespace or None, entry.name)
            if old is None or new is None or old.generation != new.generation:
                self._queue.forget(request)
            self._causes.note(request, event)
            self._queue.add(request, Priority.BACKGROUND if event.initial else Priority.EDIT)

        return handle

    def _passes(self, predicate: Predicate, event: Event[Any]) -> bool:
        """One that fails lets the change pass: a run too many does no harm, and one too few may."""
        try:
            return predicate(event)
        except BaseException as error:
            if ends_us(error):
                raise
            error.__traceback__ = from_the_users_code(error)
            self._log.exception(
                "a predicate failed; the change is taken for one that matters",
                changed=event.kind.__name__,
                name=event.key[1],
            )
            return True

    def _is_to_be_cleaned_up(self, event: Event[Any]) -> bool:
        """Whether the object began to go and waits for us; that must be seen whatever else is filtered out."""
        new = event.new_entry if self._finalizers else None
        return new is not None and not self._finalizers.isdisjoint(new.finalizers) and deletion(event)

    def _all(self) -> list[Request]:
        return [Request(self._cluster, entry.namespace or None, entry.name) for entry in self._primary.entries()]

    # objects of other kinds

    def _related_changed(self, watch: Watch[Any]) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            if not self._passes(watch.predicate, event):
                return
            for entry in _states(event):
                try:
                    self._take(_mapped(watch.to(_shown(watch, entry))), event)
                except BaseException as error:  # whom the other state wakes is to be heard of all the same
                    if ends_us(error):
                        raise
                    error.__traceback__ = from_the_users_code(error)
                    self._log.exception("a mapper failed; its event is given up", watched=event.key[1])

        return handle

    async def _map(self, watch: Watch[Any], informer: Informer[Any]) -> None:
        RUN_LOG.set(self._log)
        with informer.feed() as feed:
            self._feeds.append(feed)
            async for event in feed:
                self._mapping += 1
                try:
                    await self._map_one(watch, event)
                finally:
                    self._mapping -= 1

    async def _map_one(self, watch: Watch[Any], event: Event[Any]) -> None:
        backoff = Backoff(first=0.1, longest=10)
        for failures in range(1, _TRIES + 1):
            error = await failure_of(partial(self._map_states, watch, event))
            if error is None:
                return
            if ends_us(error):
                raise error
            if failures == _TRIES:
                self._log.exception("a mapper failed; its event is given up", watched=event.key[1], exc_info=error)
                return
            delay = backoff.delay(failures, self._rng)  # it is often the server's; the next try may go well
            self._log.warning("a mapper failed", watched=event.key[1], retry_in=round(delay, 3), exc_info=error)
            await asyncio.sleep(delay)

    async def _map_states(self, watch: Watch[Any], event: Event[Any]) -> None:
        if not self._passes(watch.predicate, event):
            return
        failure: BaseException | None = None
        for entry in _states(event):
            try:
                requests = watch.to(_shown(watch, entry))
                self._take(_mapped(await requests if isinstance(requests, Awaitable) else requests), event)
            except BaseException as error:  # as for a mapper that is called at once
                if ends_us(error):
                    raise
                failure = error
        if failure is not None:
            raise failure

    def _take(self, requests: Iterable[object], event: Event[Any]) -> None:
        priority = Priority.BACKGROUND if event.initial else Priority.NORMAL
        for found in requests:
            request = self._checked(found, "a watch's mapper").of_cluster(event.cluster)
            self._causes.note(request, event)
            self._queue.add(request, priority)

    def _forget_deleted(self, plural: str) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            if event.new is None:
                namespace, name = event.key
                self._applied.forget((plural, namespace, name))

        return handle

    def _gone_or_released(self, plural: str) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            new = event.new_entry
            if new is None:
                self._events.forget(event.entry.uid)
            if not self._releases:
                return
            old = event.old_entry
            if new is None or (old is not None and old.controller != new.controller):
                namespace, name = event.key
                for request in self._releases.take((plural, namespace, name)):
                    self._causes.note(request, event)
                    self._queue.add(request)

        return handle

    # what does not come from the server

    async def _follow(self, source: Source, around: SourceContext) -> None:
        def wake(item: object) -> None:
            wanted: object = item
            if isinstance(item, Wake):
                wanted = item.request
            elif isinstance(item, self._spec.kind):
                wanted = Request.of(item)
            try:
                request = self._checked(wanted, "a source")
            except (TypeError, ValueError) as error:  # what else it gives is worth hearing of
                self._log.error("a source gave what is no request", source=source_name(source), error=str(error))
                return
            priority = item.priority if isinstance(item, Wake) else Priority.NORMAL
            self._queue.add(request.of_cluster(self._cluster), priority)

        await follow(source, around, wake, rng=self._rng)

    def _checked(self, request: object, giver: str) -> Request:
        if not isinstance(request, Request):
            raise TypeError(f"{giver} gave {shown(request)}: it must give Requests")
        if self._info.namespaced:
            if not request.namespace:
                raise ValueError(f"{giver} gave {request!r} without a namespace, and {self._info.kind} has namespaces")
            return request
        return request if request.namespace is None else Request(request.cluster, None, request.name)


def _states(event: Event[Any]) -> list[Entry]:
    """The object before and after."""
    return [entry for entry in (event.change.old, event.change.new) if entry is not None]


def _shown(watch: Watch[Any], entry: Entry) -> Resource:
    """What the mapper is promised to get of it."""
    if isinstance(watch.to, MetadataMapper):
        shown: type[Resource] = Resource
    else:
        shown = _Metadata if watch.shows_metadata else watch.kind
    return decode(entry.raw, shown)


class _Metadata(Resource):
    """What is shown of an object of which only metadata is wanted."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(
            f"only the metadata of this object is watched, so it has no {name!r}: say Watch(…, metadata_only=False) to have "
            "it whole"
        )


def _mapped(requests: object) -> Iterable[object]:
    if isinstance(requests, Awaitable):
        if asyncio.iscoroutine(requests):
            requests.close()
        raise TypeError("a watch's mapper gave something to await: define it with `async def`")
    if not isinstance(requests, Iterable):
        raise TypeError(f"a watch's mapper gave {shown(requests)}: it must give a list of Requests")
    return requests
