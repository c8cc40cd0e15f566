"""WebSockets whose peers do not behave: they don't read, flood, disappear, refuse, and close in any way."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import re
import struct
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest

from kubewright.client import ClusterConfig, HttpRequest, HttpsTransport, TransportError
from kubewright.client.transport import UpgradeRefused, WebSocket
from tests.integration.client.conftest import Connect

REQUEST = HttpRequest("GET", "/exec")
Speak = Callable[["Peer"], Awaitable[None]]


class Peer:
    """The server's end, which says exactly what a test wants."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, opcode: int, data: bytes = b"", *, fin: bool = True) -> None:
        size = len(data)
        head = bytes([opcode | (0x80 if fin else 0)])
        if size < 126:
            head += bytes([size])
        elif size < 65536:
            head += struct.pack("!BH", 126, size)
        else:
            head += struct.pack("!BQ", 127, size)
        self.writer.write(head + data)
        await self.writer.drain()

    async def receive(self) -> tuple[int, bytes]:
        first, second = await self.reader.readexactly(2)
        size = second & 127
        if size == 126:
            (size,) = struct.unpack("!H", await self.reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", await self.reader.readexactly(8))
        mask = await self.reader.readexactly(4)
        data = await self.reader.readexactly(size)
        key = int.from_bytes((mask * (size // 4 + 1))[:size])
        return first & 15, (int.from_bytes(data) ^ key).to_bytes(size)


class Listening:
    def __init__(self) -> None:
        self.speak: Speak
        self.refusal = b""
        self.heads: list[str] = []
        self.peers: list[Peer] = []
        self.ended = asyncio.Event()
        self.config: ClusterConfig

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            if self.refusal:
                writer.write(self.refusal)
                await reader.read()
                return
            found = re.search(r"(?i)sec-websocket-key: (\S+)", head)
            assert found is not None
            digest = hashlib.sha1(f"{found[1]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
            )
            self.peers.append(Peer(reader, writer))
            await self.speak(self.peers[-1])
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self.ended.set()
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Listening]:
    made = Listening()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    made.config = ClusterConfig(server=f"http://{host}:{port}")
    yield made
    listening.close()


@pytest.fixture
def transport(server: Listening, connect: Connect) -> HttpsTransport:
    return connect(server.config, request_timeout=5.0)


async def until_closed(peer: Peer) -> None:
    while (await peer.receive())[0] != 8:
        pass
    await peer.send(8, struct.pack("!H", 1000))


async def received(socket: WebSocket) -> list[bytes]:
    messages = []
    while (message := await socket.receive()) is not None:
        messages.append(message)
    return messages


async def test_much_both_ways_at_once_goes_through(server: Listening, transport: HttpsTransport) -> None:
    """Each side sends before it reads what the other one has sent, as an echo in a pod does."""
    part, times = bytes(range(256)) * 128, 1000

    async def echo(peer: Peer) -> None:
        await peer.send(9, b"are you there?")
        while True:
            opcode, data = await peer.receive()
            if opcode == 8:
                await peer.send(8, data)
                return
            if opcode == 2:
                await peer.send(2, data)

    server.speak = echo
    async with asyncio.timeout(20), transport.websocket(REQUEST, ()) as socket:

        async def send() -> None:
            for _ in range(times):
                await socket.send(part)

        sending = asyncio.create_task(send())
        await asyncio.sleep(0.1)  # all buffers on the way are full then
        for _ in range(times):
            assert await socket.receive() == part
        await sending


async def test_messages_may_come_in_fragments_with_pings_between(server: Listening, transport: HttpsTransport) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"a", fin=False)
        await peer.send(9, b"ping")
        await peer.send(0, b"b", fin=False)
        await peer.send(0, b"c")
        await peer.send(1, "é".encode())
        await peer.send(2, b"")
        assert await peer.receive() == (10, b"ping")
        await peer.send(8, struct.pack("!H", 1000))

    server.speak = speak
    async with transport.websocket(REQUEST, ()) as socket:
        assert await received(socket) == [b"abc", "é".encode(), b""]
        with pytest.raises(TransportError, match="GET /exec: the connection is closed"):
            await socket.send(b"late")


@pytest.mark.parametrize(
    ("close", "message"),
    [
        (struct.pack("!H", 1000), None),
        (struct.pack("!H", 1001), None),
        (b"", None),
        (struct.pack("!H", 1011) + b"out of memory", "the server closed with code 1011 out of memory"),
        (struct.pack("!H", 4000), "the server closed with code 4000"),
        (b"\x03", "close frame too short"),
    ],
)
async def test_a_close_frame_ends_it_even_where_the_peer_leaves_the_connection_open(
    server: Listening, transport: HttpsTransport, close: bytes, message: str | None
) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"last")
        await peer.send(8, close)
        await peer.reader.read()  # and does not hang up before the client does

    server.speak = speak
    async with asyncio.timeout(1), transport.websocket(REQUEST, ()) as socket:
        assert await socket.receive() == b"last"
        if message is None:
            assert await socket.receive() is None
        else:
            with pytest.raises(TransportError, match=message):
                await socket.receive()
    await asyncio.wait_for(server.ended.wait(), 1)


@pytest.mark.parametrize(
    "frame",
    [
        b"\x82\x7f" + struct.pack("!Q", 65 * 1024 * 1024),  # more than a message may have
        b"\xf2\x00",  # reserved bits
        b"\x80\x00",  # the rest of nothing
        b"\x82\x81\x00\x00\x00\x00\x00",  # masked
    ],
)
async def test_what_is_no_websocket_is_an_error_at_once(
    server: Listening, transport: HttpsTransport, frame: bytes
) -> None:
    async def speak(peer: Peer) -> None:
        peer.writer.write(frame)
        await peer.reader.read()

    server.speak = speak
    async with asyncio.timeout(1), transport.websocket(REQUEST, ()) as socket:
        with pytest.raises(TransportError, match=r"^GET /exec: \w+"):
            await socket.receive()
        assert not server.ended.is_set()


@pytest.mark.parametrize("abort", [True, False])
async def test_a_peer_that_disappears_is_noticed(server: Listening, transport: HttpsTransport, abort: bool) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"first")
        if abort:
            peer.writer.transport.abort()

    server.speak = speak
    async with asyncio.timeout(1), transport.websocket(REQUEST, ()) as socket:
        assert await socket.receive() == b"first"
        with pytest.raises(TransportError, match="GET /exec: the connection was lost") as caught:
            await socket.receive()
        assert caught.value.may_be_applied


async def test_much_that_nobody_reads_fills_no_memory_and_is_left_at_once(
    server: Listening, transport: HttpsTransport
) -> None:
    part = bytes(30_000)
    sent = 0

    async def flood(peer: Peer) -> None:
        nonlocal sent
        hearing = asyncio.create_task(until_closed(peer))
        try:
            while not hearing.done():
                await peer.send(2, part)
                sent += len(part)
        finally:
            hearing.cancel()

    server.speak = flood
    tracemalloc.start()
    try:
        async with asyncio.timeout(10), transport.websocket(REQUEST, ()) as socket:
            assert await socket.receive() == part
            before = -1
            while sent > before:
                before = sent
                await asyncio.sleep(0.05)
            left = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - left < 1
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    finally:
        tracemalloc.stop()
    await asyncio.wait_for(server.ended.wait(), 1)


async def test_who_leaves_by_an_error_does_not_wait_for_a_farewell(
    server: Listening, transport: HttpsTransport
) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"first")
        await asyncio.sleep(10)

    server.speak = speak
    begin = asyncio.get_running_loop().time()
    with suppress(ZeroDivisionError):
        async with transport.websocket(REQUEST, ()) as socket:
            await socket.receive()
            raise ZeroDivisionError
    assert asyncio.get_running_loop().time() - begin < 1


async def test_closing_the_transport_ends_its_websockets(server: Listening, transport: HttpsTransport) -> None:
    server.speak = until_closed
    async with asyncio.timeout(5), transport.websocket(REQUEST, ()) as socket:
        receiving = asyncio.create_task(socket.receive())
        await asyncio.sleep(0)
        await transport.close()
        with pytest.raises(TransportError, match="the connection was lost"):
            await receiving
    with pytest.raises(RuntimeError, match="the transport is closed"):
        async with transport.websocket(REQUEST, ()):
            raise AssertionError("it is closed")


@pytest.mark.parametrize("form", ["sized", "chunked", "until the end", "gzip"])
async def test_a_refusal_may_have_any_form(server: Listening, transport: HttpsTransport, form: str) -> None:
    body = b'{"kind": "Status"}'
    server.refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
    if form == "sized":
        server.refusal += b"Content-Length: %d\r\n\r\n" % len(body) + body
    elif form == "gzip":
        small = gzip.compress(body)
        server.refusal += b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(small) + small
    else:
        server.refusal += b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    async with asyncio.timeout(2):
        with pytest.raises(UpgradeRefused) as caught:
            async with transport.websocket(REQUEST, ()):
                raise AssertionError("it was refused")
    assert (caught.value.response.status, caught.value.response.body) == (403, body)


async def test_a_server_that_does_not_answer_is_given_up(server: Listening, connect: Connect) -> None:
    server.refusal = b"HTTP/1.1 101 Switching Protocols\r\n"
    transport = connect(server.config, request_timeout=0.1)
    with pytest.raises(TransportError, match="no answer in time"):
        async with transport.websocket(REQUEST, ()):
            raise AssertionError("it did not answer")
    await asyncio.wait_for(server.ended.wait(), 1)
