"""Events about objects, as ``kubectl describe`` shows them: repeated ones are counted, not repeated.

https://github.com/kubernetes/enhancements/tree/master/keps/sig-instrumentation/383-new-event-api-ga-graduation
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from kubewright.api import AlreadyExists, ApiError, Clock, NotFound, Resource, describe, micro_time, resource_info
from kubewright.client import Client, TransportError
from kubewright.client.media_types import MERGE_PATCH
from kubewright.telemetry import Log

if TYPE_CHECKING:
    from kubewright.kinds import core_v1, events_v1

__all__ = ["EventRecorder", "EventType"]

EventType: TypeAlias = Literal["Normal", "Warning"]

_NOTE = 1024
"""Bytes of a note that a server takes; characters of reason and action: 128."""
_WORD = 128
_BURST, _REFILL = 25, 300.0
"""So many requests about one object at once, and one more in so many seconds, as client-go has it."""
_SERIES_EVERY = 60.0
"""Seconds between two updates of one event's count."""
_REMEMBERED = 4096
"""Events of all objects together; of one object, which may find new words each time, an eighth part of them."""
_WITHIN = 10.0
"""Seconds that a request may take before it is given up."""


class _Seen(msgspec.Struct):
    """An event that was recorded: how often in all, and how often when the server was told last."""

    count: int = 0
    told: int = 0
    told_at: float = 0.0
    known: bool = False
    """Whether the server has it for sure."""
    turn: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    """Whose request is under way: side by side, both would take the other's for one from before a restart."""


class _About(msgspec.Struct):
    """What is known of one object's events."""

    at: float
    left: float = float(_BURST)
    """Requests that were left to it at that time."""
    events: OrderedDict[str, _Seen] = msgspec.field(default_factory=OrderedDict)


class EventRecorder:
    """Records the events of one controller.

    Guarantees
        The same event about the same object (type, reason, message, action and related object) is one Event with a
        count, also after a restart, as its name follows from what it says. An object's events are limited in their
        rate. `record` never raises: an event that can't be written is logged, loudly where the reason is a new one.
    Assumptions
        Who hears that an object is gone says so to `forget`.
    Caveats
        Counts reach the server at most once a minute; what a process counted after that goes with it.
    """

    def __init__(self, client: Client, *, controller: str, instance: str, clock: Clock) -> None:
        """``controller`` is the ``<operator>/<controller>`` that reports, ``instance`` its process."""
        self._client = client
        self._controller = controller
        self._instance = instance[:_WORD] or controller
        self._clock = clock
        self._about: OrderedDict[str, _About] = OrderedDict()
        self._remembered = 0
        self._complaint = ""

    def __len__(self) -> int:
        """How many events are remembered."""
        return self._remembered

    def forget(self, uid: str) -> None:
        """The object is gone."""
        about = self._about.pop(uid, None)
        if about is not None:
            self._remembered -= len(about.events)

    async def record(
        self,
        regarding: Resource,
        type: EventType,  # noqa: A002 - the field's own name
        reason: str,
        message: str,
        *,
        action: str,
        related: Resource | None,
        log: Log,
        same: str | None = None,
    ) -> None:
        """``same``: what tells it from other events, in place of a message that differs each time; the first one stays."""
        try:
            async with asyncio.timeout(_WITHIN):
                await self._record(regarding, type, reason, message, action, related, same)
        except (ApiError, TransportError, TimeoutError, ValueError) as error:
            words = str(error) or "it took too long"
            say = log.debug if words == self._complaint else log.warning
            self._complaint = words
            say("event not recorded", event_reason=reason, error=words)
        else:
            self._complaint = ""

    async def _record(
        self,
        regarding: Resource,
        type_: EventType,
        reason: str,
        message: str,
        action: str,
        related: Resource | None,
        same: str | None,
    ) -> None:
        if type_ not in {"Normal", "Warning"}:
            raise ValueError(f"an event's type is Normal or Warning, not {type_!r}")
        for what, word in (("reason", reason), ("action", action)):
            if not word or len(word) > _WORD:
                raise ValueError(f"an event's {what} has 1 to {_WORD} characters, {word!r} has not")
        from kubewright.kinds import events_v1  # noqa: PLC0415 - only who records events needs them

        about = _reference(regarding)
        event = events_v1.Event(
            event_time=micro_time(self._clock.now()),
            type=type_,
            reason=reason,
            note=_shortened(message),
            action=action,
            regarding=about,
            related=None if related is None else _reference(related),
            reporting_controller=self._controller,
            reporting_instance=self._instance,
        )
        other = event.related.uid if event.related else None
        told_apart = same if same is not None else event.note
        name = _name(regarding, [about.uid, type_, reason, told_apart, action, self._controller, other])
        event.metadata.name, event.metadata.namespace = name, regarding.namespace or "default"
        known = self._known(about.uid or describe(regarding))
        seen = self._seen(known, name)
        seen.count += 1
        async with seen.turn:
            now = self._clock.monotonic()
            if seen.told == seen.count or (seen.told > 1 and now - seen.told_at < _SERIES_EVERY):
                return
            if _is_allowed(known, now):
                await self._tell(event, seen)
                seen.known, seen.told, seen.told_at = True, seen.count, now

    async def _tell(self, event: events_v1.Event, seen: _Seen) -> None:
        namespace = event.metadata.namespace or ""
        if seen.known:
            try:
                await self._tell_count(event.name, namespace, seen.count)
            except NotFound:  # events do not live long: it begins anew
                seen.count, seen.known = 1, False
            else:
                return
        try:
            await self._client.create(event, field_manager=self._controller)
        except AlreadyExists:  # told before this process began, or forgot
            live = await self._client.get(type(event), event.name, namespace=namespace)
            seen.count += live.series.count if live.series else 1
        if seen.count > 1:
            await self._tell_count(event.name, namespace, seen.count)

    async def _tell_count(self, name: str, namespace: str, count: int) -> None:
        from kubewright.kinds import events_v1  # noqa: PLC0415 - as above

        series = {"count": count, "lastObservedTime": micro_time(self._clock.now())}
        await self._client.rest.patch(
            resource_info(events_v1.Event),
            name,
            msgspec.json.encode({"series": series}),
            content_type=MERGE_PATCH,
            namespace=namespace,
            query=(("fieldManager", self._controller),),
        )

    def _known(self, key: str) -> _About:
        known = self._about.get(key)
        if known is None:
            known = self._about[key] = _About(self._clock.monotonic())
        self._about.move_to_end(key)
        return known

    def _seen(self, known: _About, name: str) -> _Seen:
        seen = known.events.get(name)
        if seen is None:
            seen = known.events[name] = _Seen()
            self._remembered += 1
            if len(known.events) > _REMEMBERED // 8:
                known.events.popitem(last=False)
                self._remembered -= 1
            while self._remembered > _REMEMBERED:
                self.forget(next(iter(self._about)))
        known.events.move_to_end(name)
        return seen


def _is_allowed(about: _About, now: float) -> bool:
    about.left = min(float(_BURST), about.left + (now - about.at) / _REFILL)
    about.at = now
    if about.left < 1:
        return False
    about.left -= 1
    return True


def _reference(obj: Resource) -> core_v1.ObjectReference:
    from kubewright.kinds import core_v1  # noqa: PLC0415 - as above

    info = resource_info(type(obj))
    return core_v1.ObjectReference(
        api_version=info.api_version,
        kind=info.kind,
        name=obj.name,
        namespace=obj.namespace,
        uid=obj.metadata.uid,
        resource_version=obj.metadata.resource_version,
    )


def _name(regarding: Resource, what: list[str | None]) -> str:
    """The same for the same event. An object's name may have what an Event's may not."""
    stem = re.sub(r"[^a-z0-9.-]+|\.(?=[.-])|(?<=-)\.", "-", regarding.name.lower())[:200].strip("-.")
    return f"{stem or 'event'}.{blake2b(msgspec.json.encode(what), digest_size=8).hexdigest()}"


def _shortened(message: str) -> str:
    raw = message.encode()
    return message if len(raw) <= _NOTE else raw[: _NOTE - 3].decode(errors="ignore") + "…"
