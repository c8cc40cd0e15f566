"""`LiveConnector`: connections that are still open at the other end. Loads aiohttp."""

from __future__ import annotations

import asyncio
import io
import select
import socket
from typing import TYPE_CHECKING
from weakref import WeakSet

import aiohttp
from aiohttp.payload import BytesIOPayload, BytesPayload, Payload

from kubewright.client.fence import PERMIT

if TYPE_CHECKING:
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import AddrInfoType, Connection
    from aiohttp.tracing import Trace

__all__ = ["LiveConnector", "payload"]

_READS = frozenset({"GET", "HEAD"})
_LARGE = 512 * 1024
_IDLE = 90.0
"""Seconds that an idle connection is kept: less than load balancers and API servers keep it."""


class LiveConnector(aiohttp.TCPConnector):
    """Gives no write a kept connection that the server has closed, and none to who may not write any more.

    The loop notices such an end in its next round, and while a reconciler computes that is a while. A write on it fails,
    and may not come again, as nobody can tell then whether it arrived. (A read comes again at once.)
    """

    def __init__(self) -> None:
        super().__init__(
            limit=0,  # each watch holds a connection
            keepalive_timeout=_IDLE,
            socket_factory=_kept_alive,
        )
        self._used: WeakSet[ResponseHandler] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        while True:
            connection = await super().connect(req, traces, timeout)
            try:
                _ask_permit()
            except BaseException:
                connection.release()
                raise
            protocol = connection.protocol
            if protocol is None or protocol not in self._used:
                if protocol is not None:
                    self._used.add(protocol)
                return connection
            if req.method in _READS or not _has_news(connection.transport):
                return connection
            connection.close()


def payload(body: bytes) -> Payload:
    """A body that leaves, with the headers before it, only if it still may: the loop may have been busy meanwhile."""
    return _LargeBody(io.BytesIO(body)) if len(body) > _LARGE else _Body(body)


class _Body(BytesPayload):
    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        _ask_permit()
        await super().write_with_length(writer, content_length)


class _LargeBody(BytesIOPayload):
    """In pieces; asks before the first."""

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        _ask_permit()
        await super().write_with_length(writer, content_length)


def _ask_permit() -> None:
    permit = PERMIT.get()
    if permit is not None:
        permit()


def _has_news(transport: asyncio.Transport | None) -> bool:
    """Whether something arrived that nobody asked for: on an idle connection that is its end."""
    idle = transport.get_extra_info("socket") if transport is not None else None
    if idle is None or idle.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(idle.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _kept_alive(address: AddrInfoType) -> socket.socket:
    """A socket that notices within a minute that its peer is gone, also while it waits for a watch's next event."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):  # not every system has them all
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made
