"""`WatchFaults`: one watch, whose events may be held back, lost, made fewer or cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubewright.client import TransportError
from kubewright.testing.faults import Coalesce, Disconnect, DropEvent, Expire, HoldEvent
from kubewright.testing.lines import Lines
from kubewright.testing.trace import Sent

if TYPE_CHECKING:
    from kubewright.testing.transport import Traffic

__all__ = ["WatchFaults"]

_EXPIRED = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":'
    b'"too old resource version: a fault of a test","reason":"Expired","code":410}}'
)


class _Metadata(Struct):
    name: str = ""
    namespace: str = ""


class _Object(Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Ended(Exception):
    """The server has ended the watch."""


class _Event(Struct):
    type: str
    object: msgspec.Raw


_event = msgspec.json.Decoder(_Event)
_object = msgspec.json.Decoder(_Object)


class WatchFaults:
    """Takes the lines of one watch from ``chunks`` and gives out what of them arrives.

    ``head`` comes first; what comes after it is held back for ``hold`` seconds from now.
    """

    def __init__(
        self, chunks: AsyncIterator[bytes], traffic: Traffic, sent: Sent, *, hold: float = 0.0, head: bytes = b""
    ) -> None:
        self._lines = Lines(chunks)
        self._traffic = traffic
        self._sent = sent
        self._until = asyncio.get_running_loop().time() + hold
        self._head = head
        self._count = 0
        self._stalled = False

    async def close(self) -> None:
        self._free()
        await self._lines.close()

    async def chunks(self) -> AsyncIterator[bytes]:
        for first in self._head.splitlines():
            yield self._arrives(first)
        loop = asyncio.get_running_loop()
        while (line := await self._lines.next()) is not None:
            if loop.time() < self._until:
                await self._hold(self._until - loop.time())
            event = _event.decode(line)
            if event.type in {"BOOKMARK", "ERROR"}:
                yield self._arrives(line)
                continue
            try:
                through = await self._through(line, event)
            except _Ended:
                return
            for out in through:
                yield self._arrives(out)

    async def _through(self, line: bytes, event: _Event) -> list[bytes]:
        """What arrives instead of one event. Raises what ends the watch."""
        self._count += 1
        faults = self._traffic.faults
        if not faults.on_events:
            return [line]
        metadata = _object.decode(event.object).metadata
        call = replace(self._sent.call, namespace=metadata.namespace, name=metadata.name)
        out = [line]
        for fault in faults.of_event(self._sent.number, self._count, call):
            self._say(f"! {fault} of event {self._count}, {event.type} {metadata.namespace}/{metadata.name}")
            match fault:
                case DropEvent():
                    return []
                case HoldEvent(seconds):
                    await self._hold(seconds)
                case Coalesce(seconds):
                    out = await self._gathered(line, seconds)
                case Disconnect(cleanly=True):
                    raise _Ended
                case Disconnect():
                    raise TransportError("the watch's connection broke (a test's fault)", may_be_applied=False)
                case Expire():
                    return [_EXPIRED]
        return out

    async def _gathered(self, first: bytes, seconds: float) -> list[bytes]:
        """The last state of each object that the next ``seconds`` bring, in the order in which they were first seen."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        lines = [first]
        self._stall()
        while (left := deadline - loop.time()) > 0:
            try:
                line = await self._lines.next(left)
            except TimeoutError:
                break
            if line is None:
                break
            lines.append(line)
        self._free()
        return list(_last_states(lines))

    async def _hold(self, seconds: float) -> None:
        self._stall()
        await asyncio.sleep(seconds)
        self._free()

    def _stall(self) -> None:
        if not self._stalled:
            self._stalled = True
            self._traffic.held += 1

    def _free(self) -> None:
        if self._stalled:
            self._stalled = False
            self._traffic.held -= 1

    def _arrives(self, line: bytes) -> bytes:
        if not line.startswith(b'{"type":"BOOKMARK"'):
            self._traffic.events += 1
        self._say("event", line)
        return line + b"\n"

    def _say(self, what: str, body: bytes = b"") -> None:
        self._traffic.trace.add(f"#{self._sent.number}", what, body)


def _last_states(lines: list[bytes]) -> list[bytes]:
    first: dict[tuple[str, str], str] = {}
    last: dict[tuple[str, str], _Event] = {}
    rest: list[bytes] = []
    for line in lines:
        event = _event.decode(line)
        if event.type in {"BOOKMARK", "ERROR"}:
            rest.append(line)
            continue
        metadata = _object.decode(event.object).metadata
        key = (metadata.namespace, metadata.name)
        first.setdefault(key, event.type)
        last[key] = event
    out = []
    for key, event in last.items():
        if first[key] == "ADDED" and event.type == "DELETED":
            continue
        kind = "ADDED" if first[key] == "ADDED" else event.type
        out.append(msgspec.json.encode(_Event(kind, event.object)))
    return out + rest
