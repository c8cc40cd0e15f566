"""`Cache`: the informers of one process against one API server, sharing a client whose writes they all see."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import msgspec
from msgspec import Struct

from kubewright.api import ApiError, Clock, GroupVersionKind, NotFound, Resource, ResourceInfo, resource_info
from kubewright.cache.bodies import RecentBodies
from kubewright.cache.indexers import Indexer
from kubewright.cache.informer import Informer
from kubewright.cache.projection import WHOLE, Projection
from kubewright.cache.scope import Scope
from kubewright.cache.state import InformerHealth
from kubewright.cache.streaming_lists import StreamingLists
from kubewright.client import Client, TransportError
from kubewright.client.requests import Fields, Labels
from kubewright.telemetry import Log

__all__ = ["Cache"]

R = TypeVar("R", bound=Resource)


class _What(NamedTuple):
    """What there is one watch and one store for, whatever class its objects are read as."""

    kind: GroupVersionKind
    plural: str
    namespaced: bool
    scope: Scope
    projection: Projection

    @classmethod
    def of(cls, kind: type[Resource], scope: Scope, projection: Projection) -> _What:
        info = resource_info(kind)
        return cls(info.gvk, info.plural, info.namespaced, scope, projection)


class Cache:
    """One informer per kind, namespaces, selection and projection; who asks for the same gets the same.

    Classes of the same kind share what is watched and held: see `Informer.of_class`.

    Nothing is ever watched behind one's back: `informer` declares before `run`, `add` and `remove` do so while it runs.
    """

    def __init__(
        self,
        client: Client,
        *,
        cluster: str | None = None,
        namespaces: str | Iterable[str] | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        """``namespaces`` are those of all informers that name none (None: all); they can be added to and removed from.

        ``cluster`` goes into every event and request, None for the local one.
        """
        self.cluster = cluster
        self._client = client
        names = (namespaces,) if isinstance(namespaces, str) else namespaces
        self._namespaces = None if names is None else set(names)
        self._clock = clock or client.clock
        self._rng = rng or random.Random()
        self._log = log or client.rest.log
        self._streaming = StreamingLists()
        self._recent = RecentBodies()
        self._informers: dict[_What, dict[type[Resource], Informer[Any]]] = {}
        """By class; all of one entry share the same."""
        self._declared: set[_What] = set()
        self._users: Counter[Informer[Any]] = Counter()
        self._tasks: dict[_What, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    def informer(
        self,
        kind: type[R],
        *,
        namespaces: str | Iterable[str] | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        projection: Projection = WHOLE,
        indexes: Mapping[str, Indexer[R]] | None = None,
        optional: bool = False,
    ) -> Informer[R]:
        """Declares, or finds, the informer of ``kind``, for as long as the cache lives.

        ``indexes`` are added to those it has; it is ``optional`` if all who declare it say so. Raises RuntimeError for a new
        one once the cache runs, and ValueError for a second index of the same name.
        """
        what = _What.of(kind, Scope.of(namespaces, labels, fields), projection)
        if self._group is not None and what not in self._informers:
            raise RuntimeError(
                f"{kind.__name__} is not among the kinds that were declared before the cache ran; see Cache.add"
            )
        self._declared.add(what)
        return self._found(kind, what, indexes, optional=optional)

    def add(
        self,
        kind: type[R],
        *,
        namespaces: str | Iterable[str] | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        projection: Projection = WHOLE,
        indexes: Mapping[str, Indexer[R]] | None = None,
        optional: bool = False,
    ) -> Informer[R]:
        """As `informer`, also while the cache runs: a new one starts at once. `remove` it when it is needed no more.

        Wait for `Informer.synced` under a time-out: the kind may not be installed, or not be allowed.
        """
        what = _What.of(kind, Scope.of(namespaces, labels, fields), projection)
        found = self._found(kind, what, indexes, optional=optional)
        self._users[found] += 1
        self._start(what)
        return found

    async def remove(self, informer: Informer[Any]) -> None:
        """Ends one `add`. With the last one, the watch is closed and what it held is let go of."""
        if self._users[informer] == 0:
            raise ValueError(f"this informer of {informer.info.qualified_plural} was not added, or removed already")
        self._users[informer] -= 1
        what = next(what for what, classes in self._informers.items() if classes.get(informer.kind) is informer)
        if what in self._declared or any(self._users[each] for each in self._informers[what].values()):
            return
        for each in self._informers.pop(what).values():
            del self._users[each]
        task = self._tasks.pop(what, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        informer.stop()

    def add_namespace(self, namespace: str) -> None:
        """Has all informers that name no namespaces watch one more."""
        for informer in self._following():
            informer.add_namespace(namespace)
        self._followed().add(namespace)

    async def remove_namespace(self, namespace: str) -> None:
        """The reverse of `add_namespace`; subscribers are told that what was there is no longer in view."""
        self._followed().discard(namespace)
        for informer in self._following():
            if namespace not in self._followed():  # or it was added again while others let go of it
                await informer.remove_namespace(namespace)

    def _followed(self) -> set[str]:
        if self._namespaces is None:
            raise ValueError("this cache watches all namespaces: give it namespaces=[…] when it is made")
        return self._namespaces

    def _following(self) -> list[Informer[Any]]:
        """The informers that watch the cache's namespaces."""
        self._followed()
        return [
            _first(classes)
            for what, classes in self._informers.items()
            if what.scope.namespaces is None and what.namespaced
        ]

    def _found(
        self, kind: type[R], what: _What, indexes: Mapping[str, Indexer[R]] | None, *, optional: bool
    ) -> Informer[R]:
        classes = self._informers.get(what)
        if classes is None:
            follows = what.scope.namespaces is None and what.namespaced
            informer = Informer(
                self._client,
                kind,
                namespaces=self._namespaces if follows else what.scope.namespaces,
                labels=what.scope.labels,
                fields=what.scope.fields,
                projection=what.projection,
                optional=optional,
                cluster=self.cluster,
                streaming=self._streaming,
                recent=self._recent,
                clock=self._clock,
                rng=self._rng,
                log=self._log,
            )
            self._informers[what] = {kind: informer}
        elif kind not in classes:
            classes[kind] = _first(classes).of_class(kind)
        found = cast("Informer[R]", self._informers[what][kind])
        found.optional = found.optional and optional
        for name, indexer in (indexes or {}).items():
            found.add_index(name, indexer)
        return found

    def __iter__(self) -> Iterator[Informer[Any]]:
        """One of each, whatever its class."""
        return iter([_first(classes) for classes in self._informers.values()])

    async def run(self) -> NoReturn:
        """Runs all informers for ever and folds the client's writes into them; its caller owns the task."""
        stop = self._client.observe(self._written, self._deleted)
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                group.create_task(
                    asyncio.Event().wait(), name="cache"
                )  # kinds may be added, so it does not end without
                for what in self._informers:
                    self._start(what)
        finally:
            stop()
            self._group = None
            self._tasks.clear()
        raise AssertionError("informers run for ever")

    def _start(self, what: _What) -> None:
        if self._group is not None and what not in self._tasks:
            informer = _first(self._informers[what])
            self._tasks[what] = self._group.create_task(
                informer.run(), name=f"informer {informer.info.qualified_plural}"
            )

    async def synced(self) -> None:
        """Waits until every informer has read everything once; optional kinds that are not installed aside."""
        for informer in self:
            await informer.ready()

    @property
    def in_step(self) -> bool:
        """Whether every informer may be relied on now."""
        return all(informer.in_step for informer in self)

    def health(self) -> list[InformerHealth]:
        """What each informer can say of itself now, for readiness and metrics."""
        return [informer.health for informer in self]

    def _written(self, info: ResourceInfo, raw: bytes) -> Awaitable[None] | None:
        others = []
        for classes in tuple(self._informers.values()):
            informer = _first(classes)
            if informer.info is info or informer.info.gvk == info.gvk:
                informer.fold(raw)
            elif _same_resource(informer.info, info):
                others.append(informer)
        return self._fold_as_others_have_it(raw, others) if others else None

    async def _fold_as_others_have_it(self, raw: bytes, informers: list[Informer[Any]]) -> None:
        """An object that was written in one version of its API, for informers that hold another: only the server can
        convert it.
        """
        try:
            written = _identity.decode(raw).metadata
        except msgspec.DecodeError as error:  # the writer has its answer
            self._log.warning("the answer to a write can't be cached", error=str(error))
            return
        concerned = [each for each in informers if each.namespaces is None or written.namespace in each.namespaces]
        for info in dict.fromkeys(informer.info for informer in concerned):
            holding = [informer for informer in concerned if informer.info == info]
            try:
                found = await self._client.rest.get(info, written.name, namespace=written.namespace)
            except NotFound:
                for informer in holding:
                    informer.forget(written.namespace, written.name, written.uid)
            except (ApiError, TransportError) as error:  # it is written all the same, and the watch will bring it
                self._log.warning("what was written can't be read", api_version=info.api_version, error=str(error))
            else:
                for informer in holding:
                    informer.fold(found)

    def _deleted(self, info: ResourceInfo, namespace: str, name: str, uid: str) -> None:
        for informer in self:
            if _same_resource(informer.info, info):
                informer.forget(namespace, name, uid)


class _Metadata(Struct):
    name: str
    namespace: str | None = None
    uid: str = ""


class _Object(Struct):
    metadata: _Metadata


_identity = msgspec.json.Decoder(_Object)


def _same_resource(one: ResourceInfo, other: ResourceInfo) -> bool:
    """Whether these are the same objects, in whatever version of their API."""
    return one.group == other.group and one.plural == other.plural


def _first(classes: Mapping[type[Resource], Informer[Any]]) -> Informer[Any]:
    return next(iter(classes.values()))
