"""A `WebSocket` over a connection: the library websockets knows the protocol, here are its bytes carried."""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import WebSocketURI

from kubewright.client.connection import BrokenConnectionError
from kubewright.client.inflating import Inflating
from kubewright.client.transport import HttpResponse, TransportError, UpgradeRefused

__all__ = ["HttpsWebSocket", "shake_hands"]

_AT_ONCE = 64 * 1024
_LARGEST_MESSAGE = 64 * 1024 * 1024
_MOST_UNSENT = _LARGEST_MESSAGE + 1024 * 1024
_FAREWELL = 2.0
"""Seconds that the peer has to say goodbye."""
_ENDS = frozenset({1000, 1001, 1005})


async def shake_hands(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    target: str,
    headers: Sequence[tuple[str, str]],
    host: str,
    protocols: Sequence[str],
    where: str,
) -> HttpsWebSocket:
    """``target`` is the path with its query, ``where`` what messages call it.

    Raises `UpgradeRefused` where the server answers with anything else, and OSError where the connection breaks.
    """
    path, _, query = target.partition("?")
    protocol = ClientProtocol(
        WebSocketURI(secure=True, host="", port=0, path=path, query=query),
        subprotocols=[Subprotocol(each) for each in protocols],
        max_size=_LARGEST_MESSAGE,
    )
    request = protocol.connect()
    del request.headers["Host"]
    request.headers["Host"] = host
    for name, value in headers:
        request.headers[name] = value
    protocol.send_request(request)
    socket = HttpsWebSocket(reader, writer, protocol, where)
    await socket.shake_hands()
    return socket


class HttpsWebSocket:
    """Satisfies `kubewright.client.transport.WebSocket`; closed on leaving its block."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol, where: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = protocol
        self._where = where
        self._frames: deque[Frame] = deque()
        self._message: list[bytes] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, exception: type[BaseException] | None, *_: object) -> None:
        """The peer's farewell says that it has all that was sent. Who leaves by an exception does not wait for it."""
        try:
            if exception is None and self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                self._send_out()
                async with asyncio.timeout(_FAREWELL):
                    while not self._is_over:
                        await self._read()
                        self._frames.clear()
        except (OSError, RuntimeError):
            pass  # it is gone already, is silent, or is being read from
        finally:
            self._writer.transport.abort()

    @property
    def protocol(self) -> str:
        return self._protocol.subprotocol or ""

    async def shake_hands(self) -> None:
        """Waits for the server's answer to the request. Raises as the function of this name."""
        await self._flush()
        response: Response | None = None
        while response is None and self._protocol.handshake_exc is None:
            response = await self._read()
        if response is not None and response.status_code != 101:
            headers = {name.lower(): value for name, value in response.headers.raw_items()}
            body = bytes(response.body)
            if headers.get("content-encoding") == "gzip":
                with suppress(zlib.error):
                    body = Inflating().step(body)
            raise UpgradeRefused(HttpResponse(response.status_code, headers, body))
        if self._protocol.handshake_exc is not None:
            raise BrokenConnectionError(
                f"the server does not speak WebSocket as it should: {self._protocol.handshake_exc}"
            )

    async def send(self, message: bytes) -> None:
        try:
            self._protocol.send_binary(message)
            await self._flush()
        except InvalidState as error:
            raise self._broken("the connection is closed") from error
        except OSError as error:
            raise self._broken(str(error)) from error

    async def receive(self) -> bytes | None:
        while True:
            while self._frames:
                frame = self._frames.popleft()
                if frame.opcode in {Opcode.TEXT, Opcode.BINARY, Opcode.CONT}:
                    self._message.append(bytes(frame.data))
                    if frame.fin:
                        whole, self._message = b"".join(self._message), []
                        return whole
            if self._is_over:
                self._must_be_a_goodbye()
                return None
            try:
                await self._read()
            except OSError as error:
                raise self._broken(str(error)) from error

    @property
    def _is_over(self) -> bool:
        """Whether nothing more comes. The peer should end the connection then, and is not waited for."""
        protocol = self._protocol
        return protocol.state is State.CLOSED or protocol.close_rcvd is not None or protocol.parser_exc is not None

    def _must_be_a_goodbye(self) -> None:
        error = self._protocol.parser_exc
        if error is not None and not isinstance(error, EOFError):
            raise self._broken(str(error))
        close = self._protocol.close_rcvd
        if close is None:
            raise self._broken("the connection was lost")
        if close.code not in _ENDS:
            raise self._broken(f"the server closed with code {close.code} {close.reason}".rstrip())

    async def _read(self) -> Response | None:
        """Takes in what has come: frames, or the answer to the handshake, which is returned."""
        data = await self._reader.read(_AT_ONCE)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        response = None
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._frames.append(event)
            elif isinstance(event, Response):
                response = event
        self._send_out()  # and go on, even where the peer does not read: it may be waiting for us to read
        if self._writer.transport.get_write_buffer_size() > _MOST_UNSENT:
            raise BrokenConnectionError("the server asks for answers and does not read them")
        return response

    def _send_out(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)

    async def _flush(self) -> None:
        self._send_out()
        if not self._writer.is_closing():
            await self._writer.drain()

    def _broken(self, why: str) -> TransportError:
        return TransportError(f"{self._where}: {why or 'the connection was lost'}", may_be_applied=True)
