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
from aiohttp import web
from msgspec.structs import replace

from kubewright.client import ClusterConfig, HttpRequest, HttpsTransport, TransportError, https_websocket
from kubewright.client.transport import UpgradeRefused, WebSocket
from tests.integration.client.conftest import Connect, Server
from tests.integration.client.listening import listening
from tests.integration.client.test_credentials import Proxy, Socks

FOR_EVER = 3600.0
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
async def endpoint() -> AsyncIterator[Listening]:
    made = Listening()
    async with listening(made.serve) as port:
        made.config = ClusterConfig(server=f"http://127.0.0.1:{port}")
        yield made


@pytest.fixture
def transport(endpoint: Listening, connect: Connect) -> HttpsTransport:
    return connect(endpoint.config, request_timeout=5.0)


async def until_closed(peer: Peer) -> None:
    while (await peer.receive())[0] != 8:
        pass
    await peer.send(8, struct.pack("!H", 1000))


async def received(socket: WebSocket) -> list[bytes]:
    messages = []
    while (message := await socket.receive()) is not None:
        messages.append(message)
    return messages


async def test_much_both_ways_at_once_goes_through(endpoint: Listening, transport: HttpsTransport) -> None:
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

    endpoint.speak = echo
    async with asyncio.timeout(60), transport.websocket(REQUEST, ()) as socket:

        async def send() -> None:
            for _ in range(times):
                await socket.send(part)

        sending = asyncio.create_task(send())
        await asyncio.sleep(0.1)  # all buffers on the way are full then
        for _ in range(times):
            assert await socket.receive() == part
        await sending


async def test_messages_may_come_in_fragments_with_pings_between(
    endpoint: Listening, transport: HttpsTransport
) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"a", fin=False)
        await peer.send(9, b"ping")
        await peer.send(0, b"b", fin=False)
        await peer.send(0, b"c")
        await peer.send(1, "é".encode())
        await peer.send(2, b"")
        assert await peer.receive() == (10, b"ping")
        await peer.send(8, struct.pack("!H", 1000))

    endpoint.speak = speak
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
    endpoint: Listening, transport: HttpsTransport, close: bytes, message: str | None
) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"last")
        await peer.send(8, close)
        await peer.reader.read()  # and does not hang up before the client does

    endpoint.speak = speak
    async with asyncio.timeout(5), transport.websocket(REQUEST, ()) as socket:
        assert await socket.receive() == b"last"
        if message is None:
            assert await socket.receive() is None
        else:
            with pytest.raises(TransportError, match=message):
                await socket.receive()
    await asyncio.wait_for(endpoint.ended.wait(), 5)


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
    endpoint: Listening, transport: HttpsTransport, frame: bytes
) -> None:
    async def speak(peer: Peer) -> None:
        peer.writer.write(frame)
        await peer.reader.read()

    endpoint.speak = speak
    async with asyncio.timeout(5), transport.websocket(REQUEST, ()) as socket:
        with pytest.raises(TransportError, match=r"^GET /exec: \w+"):
            await socket.receive()
        assert not endpoint.ended.is_set()


@pytest.mark.parametrize("abort", [True, False])
async def test_a_peer_that_disappears_is_noticed(endpoint: Listening, transport: HttpsTransport, abort: bool) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"first")
        if abort:
            peer.writer.transport.abort()

    endpoint.speak = speak
    async with asyncio.timeout(5), transport.websocket(REQUEST, ()) as socket:
        assert await socket.receive() == b"first"
        with pytest.raises(TransportError, match="GET /exec: the connection was lost") as caught:
            await socket.receive()
        assert caught.value.may_be_applied


async def test_much_that_nobody_reads_fills_no_memory_and_is_left_at_once(
    endpoint: Listening, transport: HttpsTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(https_websocket, "_FAREWELL", FOR_EVER)
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

    endpoint.speak = flood
    tracemalloc.start()
    try:
        async with asyncio.timeout(30), transport.websocket(REQUEST, ()) as socket:
            assert await socket.receive() == part
            before = -1
            while sent > before:
                before = sent
                await asyncio.sleep(0.05)
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    finally:
        tracemalloc.stop()
    await asyncio.wait_for(endpoint.ended.wait(), 5)


async def test_who_leaves_by_an_error_does_not_wait_for_a_farewell(
    endpoint: Listening, transport: HttpsTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def speak(peer: Peer) -> None:
        await peer.send(2, b"first")
        await asyncio.Event().wait()

    monkeypatch.setattr(https_websocket, "_FAREWELL", FOR_EVER)
    endpoint.speak = speak
    async with asyncio.timeout(30):
        with suppress(ZeroDivisionError):
            async with transport.websocket(REQUEST, ()) as socket:
                await socket.receive()
                raise ZeroDivisionError


async def test_closing_the_transport_ends_its_websockets(endpoint: Listening, transport: HttpsTransport) -> None:
    endpoint.speak = until_closed
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
async def test_a_refusal_may_have_any_form(endpoint: Listening, transport: HttpsTransport, form: str) -> None:
    body = b'{"kind": "Status"}'
    endpoint.refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
    if form == "sized":
        endpoint.refusal += b"Content-Length: %d\r\n\r\n" % len(body) + body
    elif form == "gzip":
        small = gzip.compress(body)
        endpoint.refusal += b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(small) + small
    else:
        endpoint.refusal += b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    async with asyncio.timeout(4):  # less than a request may take
        with pytest.raises(UpgradeRefused) as caught:
            async with transport.websocket(REQUEST, ()):
                raise AssertionError("it was refused")
    assert (caught.value.response.status, caught.value.response.body) == (403, body)


async def test_a_server_that_does_not_answer_is_given_up(endpoint: Listening, connect: Connect) -> None:
    endpoint.refusal = b"HTTP/1.1 101 Switching Protocols\r\n"
    transport = connect(endpoint.config, request_timeout=0.1)
    with pytest.raises(TransportError, match="no answer in time"):
        async with transport.websocket(REQUEST, ()):
            raise AssertionError("it did not answer")
    await asyncio.wait_for(endpoint.ended.wait(), 5)


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
async def test_a_websocket_goes_through_a_proxy(server: Server, connect: Connect, scheme: str) -> None:
    port = int(server.config.server.split("/")[2].rpartition(":")[2])
    proxy: Proxy | Socks = Socks(port) if scheme == "socks5" else Proxy()

    async def echo(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=("v5",))
        await socket.prepare(request)
        async for message in socket:
            await socket.send_bytes(message.data)
        return socket

    server.handler = echo
    host = "kubernetes" if scheme == "socks5" else "127.0.0.1"
    part = bytes(1_000_000)
    async with listening(proxy.serve, tls=server.tls if scheme == "https" else None) as entrance:
        url = f"{scheme}://127.0.0.1:{entrance}"
        transport = connect(replace(server.config, server=f"https://{host}:{port}/prefix", proxy_url=url))
        async with asyncio.timeout(10), transport.websocket(REQUEST, ("v5",)) as socket:
            assert socket.protocol == "v5"
            for _ in range(4):
                await socket.send(part)
                assert await socket.receive() == part
    assert len(proxy.asked) == 1


async def test_over_plain_http_a_proxy_is_asked_for_the_whole_address(endpoint: Listening, connect: Connect) -> None:
    endpoint.speak = until_closed
    config = ClusterConfig(
        server="http://api.example.com:8080/prefix", proxy_url=endpoint.config.server.replace("//", "//me:pw@")
    )
    async with asyncio.timeout(5), connect(config).websocket(HttpRequest("GET", "/x", (("a", "b"),)), ()):
        (head,) = endpoint.heads
    assert head.startswith("GET http://api.example.com:8080/prefix/x?a=b HTTP/1.1")
    assert "host: api.example.com:8080" in head.lower()
    assert "proxy-authorization: Basic bWU6cHc=" in head
