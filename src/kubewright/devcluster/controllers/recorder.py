"""`EventRecorder`: the Events that ``kubectl describe`` shows under an object.

See https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, TypeAlias

from msgspec import Struct

from kubewright.api import AlreadyExists, ApiError, NotFound, ObjectMeta, Resource, resource_info, whole_seconds
from kubewright.client import Client, MergePatch, TransportError
from kubewright.kinds import core_v1
from kubewright.telemetry import Log

__all__ = ["EventRecorder", "EventType"]

EventType: TypeAlias = Literal["Normal", "Warning"]

_REMEMBERED = 1024
"""Events of which another one would be counted: those that repeat do so soon."""
_LONGEST_MESSAGE = 1024
_CLUSTER_EVENTS = "default"
"""Where events about cluster-scoped objects go."""


class _Seen(Struct, frozen=True):
    name: str
    count: int


class EventRecorder:
    """Writes events; the same one again raises the count of the first.

    Guarantees: never raises. Nobody's work may fail because there was no way to tell of it.
    """

    def __init__(self, client: Client, component: str, *, log: Log, host: str | None = None) -> None:
        self._client = client
        self._component = component
        self._host = host
        self._log = log
        self._seen: OrderedDict[tuple[str | None, ...], _Seen] = OrderedDict()
        self._last_stamp = 0

    async def record(
        self, obj: Resource, kind: EventType, reason: str, message: str, *, field_path: str | None = None
    ) -> None:
        """Says what happened to ``obj``; ``field_path`` narrows it down (``spec.containers{db}``)."""
        key = (obj.metadata.uid, field_path, kind, reason, message)
        try:
            await self._write(key, obj, kind, reason, message)
        except (ApiError, TransportError) as error:  # a namespace that ends takes no more events
            self._log.debug("event was not written", reason=reason, error=str(error))

    async def _write(
        self, key: tuple[str | None, ...], obj: Resource, kind: EventType, reason: str, message: str
    ) -> None:
        namespace = obj.namespace or _CLUSTER_EVENTS
        seen = self._seen.get(key)
        if seen is not None and await self._count(namespace, seen):
            self._remember(key, _Seen(seen.name, seen.count + 1))
            return
        name = await self._create(obj, kind, reason, message, namespace=namespace, field_path=key[1])
        self._remember(key, _Seen(name, 1))

    async def _create(
        self,
        obj: Resource,
        kind: EventType,
        reason: str,
        message: str,
        *,
        namespace: str,
        field_path: str | None,
    ) -> str:
        now = whole_seconds(self._client.clock.now())
        info = resource_info(type(obj))
        event = core_v1.Event(
            metadata=ObjectMeta(namespace=namespace),
            involved_object=core_v1.ObjectReference(
                api_version=info.api_version,
                kind=info.kind,
                namespace=obj.namespace,
                name=obj.name,
                uid=obj.metadata.uid,
                resource_version=obj.metadata.resource_version,
                field_path=field_path,
            ),
            type=kind,
            reason=reason,
            message=message[:_LONGEST_MESSAGE],
            count=1,
            first_timestamp=now,
            last_timestamp=now,
            source=core_v1.EventSource(component=self._component, host=self._host),
            reporting_component=self._component,
            reporting_instance=self._host or "",
        )
        while True:
            event.metadata.name = name = f"{obj.name}.{self._stamp():x}"
            try:
                await self._client.create(event)
            except AlreadyExists:  # another component had something to say at the same moment
                continue
            return name

    async def _count(self, namespace: str, seen: _Seen) -> bool:
        now = whole_seconds(self._client.clock.now()).strftime("%Y-%m-%dT%H:%M:%SZ")
        change = MergePatch({"count": seen.count + 1, "lastTimestamp": now})
        try:
            await self._client.patch(core_v1.Event, seen.name, change, namespace=namespace)
        except NotFound:
            return False
        return True

    def _remember(self, key: tuple[str | None, ...], seen: _Seen) -> None:
        self._seen[key] = seen
        self._seen.move_to_end(key)
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    def _stamp(self) -> int:
        """Nanoseconds, as real event names have them; never the same twice."""
        self._last_stamp = max(self._last_stamp + 1, int(self._client.clock.now().timestamp() * 1_000_000) * 1000)
        return self._last_stamp
