"""`Connections`: those to one API server, kept open for the requests to come."""

from __future__ import annotations

import asyncio
import ssl
from weakref import WeakSet

from kubewright.client.connection import Connection
from kubewright.client.dialing import Dialer

__all__ = ["Connections"]

_IDLE = 50.0
"""Seconds that an idle connection is kept. API servers keep it 90, load balancers 60: who closes first is never surprised."""


class Connections:
    """Hands out a connection to one at a time, and as many as are asked for: each watch holds one.

    The one that was used last goes first, so that those that are not needed grow old and are closed.
    """

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._streams: WeakSet[asyncio.StreamWriter] = WeakSet()
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def take(self, context: ssl.SSLContext | None, *, writes: bool) -> Connection:
        """One that is made with ``context``. For ``writes``, none that the server has closed, as far as can be known.

        A write on such a one fails, and may not come again, as nobody can tell then whether it arrived. Raises OSError
        as `Dialer.connect`, and RuntimeError once this is closed.
        """
        if self._closed:
            raise RuntimeError("the transport is closed")
        while self._idle:
            kept = self._idle.pop()
            if kept.reusable and kept.context is context and not (writes and kept.has_news()):
                kept.kept = True
                self._busy.add(kept)
                return kept
            kept.abort()
        made = await self._dialer.connect(context)
        if self._closed:
            made.abort()
            raise RuntimeError("the transport was closed meanwhile")
        self._busy.add(made)
        return made

    async def open_stream(self, context: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection that becomes something else than HTTP and is closed by whoever asked. Raises as `take`."""
        if self._closed:
            raise RuntimeError("the transport is closed")
        reader, writer = await self._dialer.connect_stream(context)
        if self._closed:
            writer.transport.abort()
            raise RuntimeError("the transport was closed meanwhile")
        self._streams.add(writer)
        return reader, writer

    def give_back(self, connection: Connection) -> None:
        """Keeps it where it can carry another request, and closes it where not."""
        self._busy.discard(connection)
        if self._closed or not connection.reusable:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.append(connection)
        if self._sweeping is None:
            self._sweeping = loop.call_later(_IDLE, self._sweep, loop)

    def close(self) -> None:
        """Whoever waits for an answer gets an error."""
        self._closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connection in (*self._idle, *self._busy):
            connection.abort()
        for stream in self._streams:
            stream.transport.abort()
        self._idle.clear()
        self._busy.clear()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        old = loop.time() - _IDLE
        for connection in self._idle:
            if connection.idle_since <= old:
                connection.abort()
        self._idle = [each for each in self._idle if each.idle_since > old]
        self._sweeping = (
            loop.call_at(min(each.idle_since for each in self._idle) + _IDLE, self._sweep, loop) if self._idle else None
        )
