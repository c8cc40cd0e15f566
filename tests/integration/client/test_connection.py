"""HTTP/1.1 as servers really speak it, and as broken ones do, against a server that sends what each test says."""

from __future__ import annotations

import asyncio
import gzip
import random
import re
import socket
from collections.abc import AsyncIterator

import pytest

from kubewright.client import ClusterConfig, HttpRequest, HttpsTransport, TransportError
from kubewright.client.connection import Connection
from tests.integration.client.conftest import Connect, sized
from tests.integration.client.listening import listening

GET = HttpRequest("GET", "/api")


class Raw:
    """Answers each request with the next of ``answers``, as it is; an empty one hangs up."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.heads: list[str] = []
        self.asked = asyncio.Semaphore(0)
        self.writers: list[asyncio.StreamWriter] = []
        self.address = ""

    @property
    def connections(self) -> int:
        return len(self.writers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                self.heads.append(head)
                self.asked.release()
                length = re.search(r"content-length: (\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                answer = self.answers.pop(0)
                writer.write(answer)
                await writer.drain()
                if not answer or b"until the end" in answer:
                    return
        except asyncio.IncompleteReadError:
            pass  # the client has gone
        finally:
            writer.close()


@pytest.fixture
async def raw() -> AsyncIterator[Raw]:
    made = Raw()
    async with listening(made.serve) as port:
        made.address = f"http://127.0.0.1:{port}"
        yield made


@pytest.fixture
def transport(raw: Raw, connect: Connect) -> HttpsTransport:
    return connect(ClusterConfig(server=raw.address))


def chunked(*chunks: bytes) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body


async def streamed(transport: HttpsTransport) -> bytes:
    async with transport.stream(GET) as response:
        return b"".join([chunk async for chunk in response.chunks])


@pytest.mark.parametrize(
    ("answer", "body", "kept"),
    [
        (sized(b"whole"), b"whole", True),
        (sized(b""), b"", True),
        (chunked(b"in ", b"parts"), b"in parts", True),
        (chunked(), b"", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", b"until the end", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold", b"old", False),
        (sized(b"last", "Connection: close"), b"last", False),
        (sized(gzip.compress(b"small" * 100), "Content-Encoding: gzip"), b"small" * 100, True),
        (
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + sized(b"at last"),
            b"at last",
            True,
        ),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_an_answer_ends_where_it_says(
    raw: Raw, transport: HttpsTransport, answer: bytes, body: bytes, kept: bool, whole: bool
) -> None:
    raw.answers = [answer, sized(b"next")]
    assert (await transport.request(GET)).body == body if whole else await streamed(transport) == body
    assert (await transport.request(GET)).body == b"next"
    assert raw.connections == (1 if kept else 2)


async def test_headers_that_come_twice_are_joined_and_names_are_lower_case(raw: Raw, transport: HttpsTransport) -> None:
    raw.answers = [sized(b"", 'Warning: 299 - "a"', "X-Other: \xe9", 'WARNING: 299 - "b"')]
    headers = (await transport.request(GET)).headers
    assert headers["warning"] == '299 - "a", 299 - "b"'
    assert list(headers) == ["warning", "x-other", "content-length"]


async def test_an_answer_to_head_has_no_body(raw: Raw, transport: HttpsTransport) -> None:
    raw.answers = [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", sized(b"next")]
    response = await transport.request(HttpRequest("HEAD", "/api"))
    assert (response.status, response.headers["content-length"], response.body) == (200, "5", b"")
    assert (await transport.request(GET)).body == b"next"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        sized(b"not gzip at all", "Content-Encoding: gzip"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_what_is_not_http_is_said_to_be(raw: Raw, transport: HttpsTransport, answer: bytes, whole: bool) -> None:
    raw.answers = [answer, sized(b"next")]
    with pytest.raises(TransportError, match=r"^GET http://127.*: (the answer can't be read|the server switched)"):
        await (transport.request(GET) if whole else streamed(transport))
    assert (await transport.request(GET)).body == b"next"


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nuntil the end", b"HTTP/1.1 200", b""]
)
async def test_an_answer_that_breaks_off_is_an_error(raw: Raw, transport: HttpsTransport, answer: bytes) -> None:
    raw.answers = [answer if b"until" in answer else b"", sized(b"next")]
    with pytest.raises(TransportError, match="the server disconnected; it may have been done all the same") as caught:
        await transport.request(HttpRequest("POST", "/api", body=b"{}"))
    assert caught.value.may_be_applied
    assert (await transport.request(GET)).body == b"next"


async def test_an_answer_too_many_is_not_the_next_requests(raw: Raw, transport: HttpsTransport) -> None:
    raw.answers = [sized(b"first") + sized(b"smuggled", status="500 No"), sized(b"second")]
    assert (await transport.request(GET)).body == b"first"
    response = await transport.request(GET)
    assert (response.status, response.body) == (200, b"second")
    assert raw.connections == 2


async def test_what_comes_unasked_ends_a_connection(raw: Raw, transport: HttpsTransport) -> None:
    raw.answers = [sized(b"first"), sized(b"second")]
    await transport.request(GET)
    raw.writers[0].write(sized(b"smuggled"))
    await asyncio.sleep(0.01)
    assert (await transport.request(GET)).body == b"second"
    assert raw.connections == 2


@pytest.mark.parametrize("value", ["a\r\nx-other: b", "a\nb", "a\rb"])
async def test_a_header_can_not_bring_another_one(raw: Raw, transport: HttpsTransport, value: str) -> None:
    with pytest.raises(ValueError, match="a header's value has more than one line"):
        await transport.request(HttpRequest("GET", "/api", headers={"x-mine": value}))
    assert raw.heads == []


async def test_a_request_says_itself_how_its_answer_may_be_compressed(raw: Raw, transport: HttpsTransport) -> None:
    raw.answers = [sized(b"")] * 2
    await transport.request(GET)
    await transport.request(HttpRequest("GET", "/api", headers={"accept-encoding": "identity"}))
    assert [re.findall(r"accept-encoding: (.*)\r", head) for head in raw.heads] == [["gzip"], ["identity"]]


async def test_a_body_has_its_length_and_nothing_else_has_one(raw: Raw, transport: HttpsTransport) -> None:
    raw.answers = [sized(b"")] * 4
    for method, body in (("POST", b"{}"), ("POST", b""), ("GET", b""), ("DELETE", b"")):
        await transport.request(HttpRequest(method, "/api", body=body))
    lengths = [re.findall(r"content-length: (\d+)", head) for head in raw.heads]
    assert lengths == [["2"], ["0"], [], []]


async def test_a_stream_that_nobody_reads_keeps_the_server_waiting(raw: Raw, transport: HttpsTransport) -> None:
    sent = random.Random(7).randbytes(32 * 1024 * 1024)
    raw.answers = [sized(sent)]
    async with transport.stream(GET) as response:
        first = await anext(response.chunks)
        for _ in range(20):
            await asyncio.sleep(0.005)
        second = await anext(response.chunks)
        assert len(second) < 2 * 1024 * 1024
        rest = [chunk async for chunk in response.chunks]
    assert first + second + b"".join(rest) == sent


async def test_closing_ends_what_is_under_way(raw: Raw, connect: Connect) -> None:
    transport = connect(ClusterConfig(server=raw.address))
    raw.answers = [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"]
    under_way = asyncio.create_task(transport.request(GET))
    await raw.asked.acquire()
    await transport.close()
    with pytest.raises(TransportError, match="the connection was closed"):
        await under_way
    with pytest.raises(RuntimeError, match="the transport is closed"):
        await transport.request(GET)


async def test_plain_http_is_asked_of_a_proxy_by_its_whole_address(raw: Raw, connect: Connect) -> None:
    raw.answers = [sized(b"through")]
    address = raw.address.removeprefix("http://")
    config = ClusterConfig(server="http://api.example.com:8080/prefix", proxy_url=f"http://me:pw@{address}")
    assert (await connect(config).request(GET)).body == b"through"
    (head,) = raw.heads
    assert head.startswith("GET http://api.example.com:8080/prefix/api HTTP/1.1\r\nhost: api.example.com:8080\r\n")
    assert "proxy-authorization: Basic bWU6cHc=\r\n" in head


async def test_a_connection_whose_socket_is_closed_has_news_also_when_another_socket_got_its_number() -> None:
    ours, theirs = socket.socketpair()

    class Closed(asyncio.Transport):
        """As below TLS, which is told of the end in the loop's next round."""

        def get_extra_info(self, name: str, default: object = None) -> object:
            return ours if name == "socket" else default

    connection = Connection(None, memoryview(bytearray(1)))
    connection.connection_made(Closed())
    assert not connection.has_news()
    number = ours.fileno()
    ours.close()
    others = socket.socketpair()
    assert number in [each.fileno() for each in others]
    assert connection.has_news()
    for each in (theirs, *others):
        each.close()
