"""Kubewright: a cache with its informer, its two own indexes and one more, handlers, relists and own writes folded in."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from statistics import median
from typing import Any

from benchmarks.cache.resources import SENT, Resource
from benchmarks.cache.told import Told
from kubewright.api import Condition, Int32, Model, field, resource
from kubewright.api import Resource as Kind
from kubewright.cache import METADATA, WHOLE, Cache, Event, IndexBy, Indexer, Informer
from kubewright.client import Client, ClusterConfig, HttpRequest, HttpsTransport, StreamingResponse
from kubewright.kinds import core_v1

__all__ = ["Kubewright"]

_GROUPS = 500
"""Values of the index, so that 100 of 50,000 objects have each."""
_BATCHES = 7


class WidgetSpec(Model):
    replicas: Int32 | None = None
    image: str = ""
    size: str = ""
    ports: list[Int32] = field(default_factory=list)
    selector: dict[str, str] = field(default_factory=dict)
    paused: bool = False


class WidgetStatus(Model):
    observed_generation: int | None = None
    ready_replicas: Int32 | None = None
    phase: str | None = None
    conditions: list[Condition] = field(default_factory=list)


@resource("example.com/v1")
class Widget(Kind):
    spec: WidgetSpec
    status: WidgetStatus = field(default_factory=WidgetStatus)


class _WithoutStreamingLists(HttpsTransport):
    """As if the server had none, so that everything is listed in pages."""

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        if ("sendInitialEvents", "true") in request.query:
            yield StreamingResponse(422, {"content-type": "application/json"}, _refusal())
            return
        async with super().stream(request) as response:
            yield response


async def _refusal() -> AsyncIterator[bytes]:
    yield b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"no streams"}'


class Kubewright:
    """``form``: ``list`` (pages), ``stream``, or streams: ``function`` (the index is one), ``metadata`` (is all that is kept)."""

    def __init__(self, server: str, kind: Resource, form: str) -> None:
        transport = _WithoutStreamingLists if form == "list" else HttpsTransport
        self._client = Client(transport(ClusterConfig(server=server)))
        self._resource = kind
        self._kind: type[Any] = Widget if kind.group else core_v1.Pod
        self._cache = Cache(self._client)
        self._informer: Informer[Any] = self._cache.informer(
            self._kind,
            projection=METADATA if form == "metadata" else WHOLE,
            indexes=_INDEXES.get(form, {"label": IndexBy.label("tier" if kind.group else "team")}),
        )

    async def warm(self) -> None:
        await self.get(0)

    async def follow(self, told: Told) -> None:
        def changed(event: Event[Any]) -> None:
            told(lambda: event.entry.annotations[SENT])

        self._informer.subscribe(changed)
        await self._cache.run()

    async def get(self, number: int) -> object:
        namespace, name = self._resource.address(number)
        return await self._client.get(self._kind, name, namespace=namespace)

    def key_seconds(self, objects: int) -> float:
        order = random.Random(1).sample(range(objects), min(objects, 5000))
        keys = [self._resource.address(number) for number in order]

        def read() -> None:
            for namespace, name in keys:
                self._informer.get(namespace, name)

        return _seconds(read) / len(keys)

    def index_seconds(self, objects: int) -> float:
        values = [str(number) for number in range(min(objects, 50))]

        def read() -> None:
            for value in values:
                self._informer.list(index=("group", value))

        return _seconds(read) / len(values)


def _group(each: Any) -> list[str]:
    return [str(int(each.metadata.labels["idx"]) % _GROUPS)]


_INDEXES: dict[str, dict[str, Indexer[Any]]] = {"function": {"group": _group}}
"""Of the forms that are not what a user would start with."""


def _seconds(action: Callable[[], None]) -> float:
    """Processor time, the median of several times."""

    def once() -> float:
        begin = time.process_time()
        action()
        return time.process_time() - begin

    return median(once() for _ in range(_BATCHES))
