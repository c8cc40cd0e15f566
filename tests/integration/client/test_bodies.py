"""Bodies and heads of any size and form: compressed, endless, answered before they were sent."""

from __future__ import annotations

import asyncio
import gc
import gzip
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from kubewright.client import ClusterConfig, HttpRequest, HttpsTransport, TransportError
from tests.integration.client.conftest import Connect, sized
from tests.integration.client.listening import listening

GET = HttpRequest("GET", "/api")
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Listening:
    """Lets ``answer`` have each connection once a request's head is there."""

    def __init__(self) -> None:
        self.answer: Answer
        self.connections = 0
        self.config: ClusterConfig

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                await self.answer(reader, writer)
        except (asyncio.IncompleteReadError, OSError):
            pass  # the client has gone
        finally:
            writer.close()

    def sends(self, *parts: bytes) -> None:
        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for part in parts:
                writer.write(part)
                await writer.drain()

        self.answer = answer


@pytest.fixture
async def server() -> AsyncIterator[Listening]:
    made = Listening()
    async with listening(made.serve) as port:
        made.config = ClusterConfig(server=f"http://127.0.0.1:{port}")
        yield made


@pytest.fixture
def transport(server: Listening, connect: Connect) -> HttpsTransport:
    return connect(server.config, request_timeout=20.0)


def compressed(body: bytes) -> bytes:
    return sized(body, "Content-Encoding: gzip")


async def got(transport: HttpsTransport, *, whole: bool) -> bytes:
    if whole:
        return (await transport.request(GET)).body
    async with transport.stream(GET) as response:
        return b"".join([chunk async for chunk in response.chunks])


@pytest.mark.parametrize("whole", [True, False])
async def test_a_compressed_body_may_have_several_members(
    server: Listening, transport: HttpsTransport, whole: bool
) -> None:
    server.sends(compressed(gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two")))
    for _ in range(2):
        assert await got(transport, whole=whole) == b"one two"
    server.sends(compressed(b""))
    assert await got(transport, whole=whole) == b""
    assert server.connections == 1


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("missing", [1, 8, 20])
async def test_a_compressed_body_that_breaks_off_is_an_error(
    server: Listening, transport: HttpsTransport, whole: bool, missing: int
) -> None:
    server.sends(compressed(gzip.compress(b"first") + gzip.compress(b"abc" * 100)[:-missing]))
    with pytest.raises(TransportError, match="the answer can't be read: the compressed body breaks off"):
        await got(transport, whole=whole)


async def test_what_a_compressed_stream_holds_is_there_at_once(server: Listening, transport: HttpsTransport) -> None:
    deflating = zlib.compressobj(wbits=31)
    go_on = asyncio.Semaphore(0)
    events = [b'{"type":"ADDED"}\n', b'{"type":"MODIFIED"}\n' * 1000, b"\n"]

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        for event in events:
            part = deflating.compress(event) + deflating.flush(zlib.Z_SYNC_FLUSH)
            for start in range(len(part)):
                writer.write(part[start : start + 1])
                await asyncio.sleep(0)
            await go_on.acquire()
        writer.write(deflating.flush())
        writer.close()

    server.answer = answer
    async with asyncio.timeout(30), transport.stream(GET) as response:
        for event in events:
            read = b""
            while len(read) < len(event):
                read += await anext(response.chunks)
            assert read == event
            go_on.release()
        assert [chunk async for chunk in response.chunks] == []


async def test_a_few_bytes_that_stand_for_many_fill_no_memory_and_stop_nobody(
    server: Listening, transport: HttpsTransport
) -> None:
    size = 200 * 1024 * 1024
    deflating = zlib.compressobj(wbits=31, level=1)
    zeroes = bytes(1024 * 1024)
    bomb = b"".join([*[deflating.compress(zeroes) for _ in range(size // len(zeroes))], deflating.flush()])
    server.sends(compressed(bomb))
    longest = 0.0
    read = 0

    async def watch_the_clock() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    watching = asyncio.create_task(watch_the_clock())
    gc.disable()  # what other tests left takes long to look through
    tracemalloc.start()
    try:
        async with transport.stream(GET) as response:
            async for chunk in response.chunks:
                read += len(chunk)
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    finally:
        tracemalloc.stop()
        gc.enable()
        watching.cancel()
    assert read == size
    assert longest < 0.1


@pytest.mark.parametrize(
    "part",
    [
        b"X-Endless: " + b"x" * 65536,
        b"x" * 65536,
        b"X-Other: x\r\n" * 5000,
        b"X-Empty:\r\nX-Other: x\r\n" * 2500,
        b"\r\n\r\nHTTP/1.1 100 Continue\r\nX-Other: x" * 1500,
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X-Trailer: x\r\n" * 5000,
        b"Transfer-Encoding: chunked\r\n\r\n1;" + b"extension" * 5000,
    ],
)
async def test_a_head_without_an_end_is_given_up(server: Listening, transport: HttpsTransport, part: bytes) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 100 Continue\r\n")
        writer.write(part if b"chunked" not in part else b"\r\nHTTP/1.1 200 OK\r\n" + part)
        again = part[-9 * 5000 :] if b"extension" in part else part.rpartition(b"0\r\n")[2]
        for _again in range(1000):
            writer.write(again)
            await writer.drain()

    server.answer = answer
    with pytest.raises(TransportError, match="the answer can't be read: its headers do not end"):
        await transport.request(GET)


async def test_many_and_long_headers_are_read(server: Listening, transport: HttpsTransport) -> None:
    lines = [f"X-{number}: {number}" for number in range(300)]
    server.sends(sized(b"ok", *lines, "X-Long: " + "x" * 100_000, "X-Empty:", "X-Latin: \xe9".replace("\xe9", "e")))
    for _ in range(2):
        response = await transport.request(GET)
        assert response.body == b"ok"
        assert len(response.headers) == 304
        assert len(response.headers["x-long"]) == 100_000
        assert response.headers["x-empty"] == ""


async def test_what_stands_below_a_body_is_no_header(server: Listening, transport: HttpsTransport) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Mine: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    server.sends(head + b"2\r\nok\r\n0\r\nX-Mine: b\r\nX-Other: c\r\n\r\n")
    for _ in range(2):
        response = await transport.request(GET)
        assert dict(response.headers) == {"x-mine": "a", "transfer-encoding": "chunked"}
    assert server.connections == 1


async def test_an_answer_to_a_body_that_was_not_read_is_seen(server: Listening, transport: HttpsTransport) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sized(b"too much", "Connection: close", status="413 Request Entity Too Large"))
        await asyncio.sleep(0)
        writer.close()
        raise ConnectionError

    server.answer = refuse
    for _ in range(20):
        response = await transport.request(HttpRequest("POST", "/api", body=bytes(3_000_000)))
        assert (response.status, response.body) == (413, b"too much")


async def test_a_connection_on_which_a_body_is_still_to_be_sent_takes_no_other_request(
    server: Listening, transport: HttpsTransport
) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sized(b"no", status="403 Forbidden"))
        await asyncio.Event().wait()

    server.answer = refuse
    response = await transport.request(HttpRequest("POST", "/api", body=bytes(20_000_000)))
    assert response.status == 403
    server.sends(sized(b"ok"))
    assert (await transport.request(GET)).body == b"ok"
    assert server.connections == 2


async def test_who_ends_their_half_is_not_waited_for(server: Listening, transport: HttpsTransport) -> None:
    async def end(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write_eof()
        await asyncio.Event().wait()

    server.answer = end
    for method in ("POST", "GET"):
        async with asyncio.timeout(15):
            with pytest.raises(TransportError, match="the server disconnected") as caught:
                await transport.request(HttpRequest(method, "/api", body=bytes(20_000_000)))
        assert caught.value.may_be_applied is (method == "POST")


async def test_a_stream_is_not_read_any_more_once_its_block_is_left(
    server: Listening, transport: HttpsTransport
) -> None:
    server.sends(sized(b"first"))
    async with transport.stream(GET) as response:
        stale = response.chunks
        assert await anext(stale) == b"first"
    server.sends(sized(b"second"))
    async with transport.stream(GET) as response:
        with pytest.raises(RuntimeError, match="GET /api: read after its block was left"):
            await anext(stale)
        assert await anext(response.chunks) == b"second"
