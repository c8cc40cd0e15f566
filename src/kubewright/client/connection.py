"""`Connection`: one HTTP/1.1 connection, and one request at a time on it.

llhttp (by httptools) reads what the server sends; here is only what becomes of it.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import zlib
from contextlib import suppress
from functools import lru_cache
from socket import socket
from typing import cast

import httptools

from kubewright.client.inflating import Inflating

__all__ = ["BrokenConnectionError", "Connection"]

_UNREAD = 512 * 1024
"""Bytes of a stream that wait to be read before the server is kept waiting, too."""
_AT_ONCE = 64 * 1024
"""Bytes of a request that the system takes without waiting for the server."""
_LONGEST_HEAD = 512 * 1024
"""Bytes that may come without any of a body: heads are 1 KB, and one that never ends must not fill the memory."""


class BrokenConnectionError(OSError):
    """The connection ended, or what came is not HTTP."""


class Connection(asyncio.BufferedProtocol):
    """Carries a request, then its answer: `begin`, and `chunk` until it is empty; or `whole`, which does both.

    Guarantees
        Whoever waits and is cancelled leaves a connection that is closed. What is sent leaves in the call that sends it.
    Errors
        `BrokenConnectionError`; ``TimeoutError`` where the server was silent for too long. Both leave it closed.
    """

    def __init__(self, context: ssl.SSLContext | None, buffer: memoryview) -> None:
        """``buffer`` is where what comes is put for a moment: all connections of one event loop may have the same."""
        self.context = context
        """What it was made with: another context is another identity, or another opinion of whom to trust."""
        self.kept = False
        """Whether it was idle before the present request: the server may have closed it meanwhile."""
        self.idle_since = 0.0
        self.requests = 0
        """How many were sent on it."""
        self.status = 0
        self.reason = ""
        self.headers: dict[str, str] = {}
        """Of the present answer; names are lower-case. Of what is sent several times, all values."""
        self.transport: asyncio.Transport
        """The socket, once it is connected, to go on with as something else."""
        self._loop = asyncio.get_running_loop()
        self._buffer = buffer
        self._parser = httptools.HttpResponseParser(self)
        self._waiter: asyncio.Future[bool] | None = None
        """Its result: whether there is more of the answer, and no error."""
        self._error: Exception | None = None
        self._asked = self._streamed = self._bodiless = False
        self._head_came = self._bounded = self._complete = self._lasts = False
        self._parts: list[bytes] = []
        self._unread = 0
        self._connected = self._paused = self._large = False
        self._fruitless = 0
        self._inflating: Inflating | None = None
        self._expires = float("inf")
        self._timer: asyncio.TimerHandle | None = None
        self._socket: socket | None = None
        self._poll = select.poll()
        """Asks the system for news of the socket."""

    # -- for whoever sends requests

    @property
    def reusable(self) -> bool:
        """Whether the server waits for a request: the last answer came whole, and is not the last one."""
        return self._error is None and (not self._asked or (self._complete and self._lasts))

    @property
    def unanswered(self) -> bool:
        """Whether nothing of an answer has come."""
        return not self._head_came

    def must_be_open(self) -> None:
        """Raises what ended it, if anything has."""
        if self._error is not None:
            raise _anew(self._error)

    def has_news(self) -> bool:
        """Whether something arrived that nobody asked for: on an idle connection that is its end.

        The loop notices it in its next round, and while a reconciler computes that is a while.
        """
        if self._error is not None:
            return True
        # TLS closes the socket before it tells of that, and then its number may be another one's already
        return self._socket is None or self._socket.fileno() < 0 or bool(self._poll.poll(0))

    async def whole(self, message: bytes, *, timeout: float, bodiless: bool = False) -> bytes:
        """Sends a request and waits for its answer's end, ``timeout`` seconds at most; the body.

        ``bodiless``: the answer has no body whatever it says, as it has for HEAD.
        """
        self._start(message, streamed=False, bodiless=bodiless)
        self._expire_in(timeout)
        while not self._complete:
            await self._news()
        self._expires = float("inf")
        if self._inflating is None:
            return self._taken()
        inflated = []
        while part := self._step(self._inflating):
            inflated.append(part)
            if self._inflating.left:
                await asyncio.sleep(0)
        return b"".join(inflated)

    async def begin(self, message: bytes, *, silence: float | None) -> None:
        """Sends a request and waits for its answer's head; ``silence`` is how many seconds may pass without a byte."""
        self._start(message, streamed=True, bodiless=False)
        while not self._head_came:
            self._expire_in(silence)
            await self._news()
        self._expires = float("inf")

    async def chunk(self, *, silence: float | None) -> bytes:
        """What has come of the body since the last time, once there is something; empty at its end."""
        while True:
            while not (self._parts or self._complete or (self._inflating is not None and self._inflating.left)):
                self._expire_in(silence)
                await self._news()
            self._expires = float("inf")
            if self._inflating is None:
                return self._taken()
            if self._inflating.left:
                await asyncio.sleep(0)  # or who reads on and on would keep all others waiting
            inflated = self._step(self._inflating)
            if inflated or (self._complete and not self._parts):
                return inflated

    def abort(self) -> None:
        """Drops it, without waiting for the peer's farewell."""
        self._fail(BrokenConnectionError("the connection was closed"))

    # -- asyncio.BufferedProtocol: a buffer for each reading costs more than all that is done with what was read

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._connected = True
        self._socket = transport.get_extra_info("socket")
        if self._socket is not None and self._socket.fileno() >= 0:
            self._poll.register(self._socket.fileno(), select.POLLIN)

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(self._buffer[:nbytes])

    def data_received(self, data: bytes | memoryview) -> None:
        """Takes what has come, of which nothing is kept."""
        if self._error is not None:
            return
        if not self._asked or self._complete:
            self._fail(BrokenConnectionError("the server sent what nobody asked for"))
            return
        self._fruitless += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail(BrokenConnectionError("the server switched to another protocol, unasked"))
        except httptools.HttpParserError as error:
            if not self._complete:
                self._fail(BrokenConnectionError(f"the answer can't be read: {error}"))
        if self._fruitless > _LONGEST_HEAD and not self._complete:
            self._fail(BrokenConnectionError("the answer can't be read: its headers do not end"))
        if self._complete or (self._streamed and self._head_came):
            self._wake()
        if self._connected and self._streamed and self._unread > _UNREAD and not (self._paused or self._complete):
            self._paused = True
            self.transport.pause_reading()

    def eof_received(self) -> None:
        """Who sends no more answers no more: nothing is gained by what asyncio does, which is to send the rest first."""
        self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        until_now = self._asked and self._head_came and not self._bounded and not self._complete
        if until_now and exc is None and self._error is None:
            self.on_message_complete()  # its end is the connection's
            self._wake()
        if isinstance(exc, ssl.SSLError):
            exc = BrokenConnectionError(exc.reason or str(exc))
        self._fail(exc or BrokenConnectionError("the server disconnected"))

    # -- httptools

    def on_message_begin(self) -> None:
        if self._complete:  # the server answers more than it was asked
            self._lasts = False

    def on_status(self, reason: bytes) -> None:
        if not self._complete:
            self.reason += reason.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._complete or self._head_came:  # of another answer, or below this one's body
            return
        key, text, headers = _lower(name), value.decode("latin-1"), self.headers
        headers[key] = f"{headers[key]}, {text}" if key in headers else text

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        self.status = self._parser.get_status_code()
        if self.status < 200:
            return
        headers = self.headers
        self._head_came = True
        self._bounded = "content-length" in headers or "transfer-encoding" in headers or self.status in {204, 304}
        if headers.get("content-encoding", "").lower() == "gzip":
            self._inflating = Inflating()
        if self._bodiless:
            self._complete = True  # and the parser waits for a body: the connection ends with this

    def on_body(self, body: bytes) -> None:
        if self._complete:
            return
        self._parts.append(body)
        self._unread += len(body)
        self._fruitless = 0

    def on_message_complete(self) -> None:
        if self.status < 200:  # the server says that it goes on
            self.headers, self.reason = {}, ""
            return
        if not self._complete:
            # who answers before it has all may never read the rest, and what would come after that
            unsent = self._large and self.transport.get_write_buffer_size() > 0
            self._lasts = self._parser.should_keep_alive() and not unsent
            self._complete = True

    # -- between them

    def _start(self, message: bytes, *, streamed: bool, bodiless: bool) -> None:
        self.must_be_open()
        self.requests += 1
        self._large = len(message) > _AT_ONCE
        self._asked, self._streamed, self._bodiless = True, streamed, bodiless
        self._complete = self._head_came = self._bounded = self._lasts = False
        self.status, self.reason, self.headers = 0, "", {}
        self._parts, self._unread, self._fruitless, self._inflating = [], 0, 0, None
        self.transport.write(message)

    def _taken(self) -> bytes:
        parts = self._parts
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        self._parts = []
        self._unread = 0
        if self._paused and self._connected:
            self._paused = False
            self.transport.resume_reading()
        return data

    def _step(self, inflating: Inflating) -> bytes:
        """The next part of a compressed body; empty where more has to come first, or at its end."""
        try:
            inflated = inflating.step(b"" if inflating.left else self._taken())
            if not inflated and self._complete and not self._parts:
                inflating.end()
        except zlib.error as error:
            self._fail(BrokenConnectionError(f"the answer can't be read: {error}"))
            raise _anew(cast("Exception", self._error)) from error
        return inflated

    async def _news(self) -> None:
        """Waits for more of the answer; until its end where nobody reads it in parts."""
        self.must_be_open()
        waiter = self._waiter = self._loop.create_future()
        try:
            if not await waiter:
                self.must_be_open()
        except asyncio.CancelledError:
            self.abort()
            raise
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(True)

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error = error.with_traceback(None)
            del self._parser  # which knows this connection: neither would go before garbage is looked for
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_result(False)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._connected:  # what is tunnelled may end before
            self._connected = False
            with suppress(RuntimeError):  # the loop is closed
                self.transport.abort()
            del self.transport  # which may know this connection for ever, as may the parser

    def _expire_in(self, seconds: float | None) -> None:
        """One timer serves many requests: it is set anew when it rings too early."""
        if seconds is None:
            self._expires = float("inf")
            return
        self._expires = self._loop.time() + seconds
        if self._timer is not None:
            if self._timer.when() <= self._expires:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(self._expires, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._expires == float("inf"):
            return
        if self._loop.time() >= self._expires:
            self._fail(TimeoutError())
        else:
            self._timer = self._loop.call_at(self._expires, self._ring)


@lru_cache(maxsize=256)
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _anew(error: Exception) -> Exception:
    """One that knows nothing of who raised it: of this connection, that is, which keeps the original."""
    return type(error)(*error.args)
