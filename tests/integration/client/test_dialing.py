"""What becomes of a connection that does not come about: time-outs, cancellation and refusals in each of its phases."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from msgspec.structs import replace

from kubewright.client import ClusterConfig, HttpRequest, HttpsTransport, TransportError
from kubewright.client.dialing import Dialer
from tests.integration.client.conftest import Connect, Identity, Server, identity
from tests.integration.client.listening import listening
from tests.integration.client.test_credentials import Proxy
from tests.integration.left_open import closed_again, open_files

POST = HttpRequest("POST", "/api", body=b"{}")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
MINE: Identity = identity("kubernetes")

# what a peer says, in turn, each after it heard something; then it is silent
SILENCES = {
    "tls": ("", []),
    "proxy": ("http", []),
    "tls to the proxy": ("https", []),
    "tls in the tunnel": ("http", [b"HTTP/1.1 200 Connection established\r\n\r\n"]),
    "socks greeting": ("socks5", []),
    "socks request": ("socks5", [b"\x05\x00"]),
    "tls behind socks": ("socks5", [b"\x05\x00", b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50"]),
}


class Silent:
    """Says its part and then no more; or hangs up."""

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self.hangs_up = False
        self.heard = asyncio.Semaphore(0)
        self.open = 0
        self.address = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        with suppress(OSError):
            for word in self.words:
                if not await reader.read(4096):
                    break
                writer.write(word)
            while not self.hangs_up and await reader.read(4096):
                self.heard.release()
        self.open -= 1
        writer.close()


@pytest.fixture
async def peer() -> AsyncIterator[Silent]:
    made = Silent()
    async with listening(made.serve) as port:
        made.address = f"127.0.0.1:{port}"
        yield made


def transport_to(peer: Silent, phase: str, *, timeout: float) -> HttpsTransport:
    scheme, words = SILENCES[phase]
    peer.words = words
    server = "https://kubernetes.invalid" if scheme else f"https://{peer.address}"
    proxy = f"{scheme}://{peer.address}" if scheme else None
    config = ClusterConfig(server=server, proxy_url=proxy, ca=MINE.certificate)
    return HttpsTransport(config, connect_timeout=timeout, environ={})


async def ask(transport: HttpsTransport, *, upgrade: bool) -> None:
    if upgrade:
        async with transport.websocket(POST, ()):
            raise AssertionError("there is nobody to talk to")
    await transport.request(POST)


async def all_closed(peer: Silent, files: int) -> None:
    await closed_again(files)
    async with asyncio.timeout(30):
        while peer.open:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("upgrade", [False, True])
@pytest.mark.parametrize("phase", SILENCES)
async def test_a_silent_peer_is_given_up_and_nothing_was_sent(peer: Silent, phase: str, upgrade: bool) -> None:
    files = open_files()
    transport = transport_to(peer, phase, timeout=0.1)
    with pytest.raises(TransportError, match="no connection in time") as caught:
        await ask(transport, upgrade=upgrade)
    assert not caught.value.may_be_applied
    assert ("through the proxy" in str(caught.value)) is bool(SILENCES[phase][0])
    await all_closed(peer, files)
    await transport.close()


@pytest.mark.parametrize("upgrade", [False, True])
@pytest.mark.parametrize("phase", SILENCES)
async def test_who_is_cancelled_leaves_no_connection(peer: Silent, phase: str, upgrade: bool) -> None:
    files = open_files()
    transport = transport_to(peer, phase, timeout=10)
    asking = asyncio.create_task(ask(transport, upgrade=upgrade))
    await asyncio.wait_for(peer.heard.acquire(), 5)
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    await all_closed(peer, files)
    await transport.close()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("phase", SILENCES)
async def test_whenever_that_is(peer: Silent, phase: str) -> None:
    rng = random.Random(1)
    files = open_files()
    transport = transport_to(peer, phase, timeout=10)
    for rounds in range(40):
        asking = asyncio.create_task(ask(transport, upgrade=rng.random() < 0.5))
        for _ in range(rounds):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
    await all_closed(peer, files)
    await transport.close()


@pytest.mark.parametrize("upgrade", [False, True])
@pytest.mark.parametrize("phase", SILENCES)
async def test_a_peer_that_hangs_up_is_said_to(peer: Silent, phase: str, upgrade: bool) -> None:
    files = open_files()
    peer.hangs_up = True
    transport = transport_to(peer, phase, timeout=10)
    for _ in range(5):
        async with asyncio.timeout(5):
            with pytest.raises(TransportError, match=r": .*(disconnected|reset|refused|broken|closed)") as caught:
                await ask(transport, upgrade=upgrade)
        assert not caught.value.may_be_applied
    await all_closed(peer, files)
    await transport.close()


@pytest.mark.parametrize("tunnelled", [False, True])
async def test_a_server_that_hangs_up_as_soon_as_tls_is_agreed_on_is_one_that_was_lost(
    server: Server, connect: Connect, tunnelled: bool
) -> None:
    server.tls.maximum_version = ssl.TLSVersion.TLSv1_2  # in which the server has the last word
    reported: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    class HangUp(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            transport.close()

    def hang_up() -> HangUp:
        return HangUp()

    deaf = await asyncio.get_running_loop().create_server(hang_up, "127.0.0.1", 0, ssl=server.tls)
    address = f"127.0.0.1:{deaf.sockets[0].getsockname()[1]}"
    config = replace(server.config, server=f"https://{address}")
    proxy = Proxy()
    async with listening(proxy.serve) as port:
        if tunnelled:
            config = replace(config, proxy_url=f"http://127.0.0.1:{port}")
        transport = connect(config)
        for upgrade in (False, True) * 10:
            with pytest.raises(TransportError, match="(disconnected|reset|lost|speak)") as caught:
                await ask(transport, upgrade=upgrade)
            assert not caught.value.may_be_applied
        await transport.close()
    deaf.close()
    assert reported == []


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(asyncio.IncompleteReadError, OSError):
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(ANSWER)
    writer.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_localhost_is_wherever_it_listens(connect: Connect, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    resolve(monkeypatch, "::1", "127.0.0.1")
    async with listening(answer, host) as port:
        assert (await connect(ClusterConfig(server=f"http://localhost:{port}")).request(POST)).status == 200


async def test_a_name_that_nobody_listens_at_refuses_in_few_words(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, "::1", "127.0.0.1")
    with pytest.raises(TransportError, match=r"^POST http://localhost:9/api: connection refused$") as caught:
        await connect(ClusterConfig(server="http://localhost:9")).request(POST)
    assert not caught.value.may_be_applied


async def test_an_address_needs_no_thread_to_be_reached(connect: Connect) -> None:
    go_on = threading.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    busy = loop.run_in_executor(None, go_on.wait)
    try:
        async with listening(answer) as port, asyncio.timeout(5):
            assert (await connect(ClusterConfig(server=f"http://127.0.0.1:{port}")).request(POST)).status == 200
    finally:
        go_on.set()
        await busy


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """The name api.example.com has these, and those that begin with 203. answer nothing."""
    loop = asyncio.get_running_loop()
    connected = loop.sock_connect

    async def getaddrinfo(_host: str, port: int, **_: object) -> list[object]:
        families = [socket.AF_INET6 if ":" in each else socket.AF_INET for each in addresses]
        return [
            (family, socket.SOCK_STREAM, 6, "", (each, port)) for family, each in zip(families, addresses, strict=True)
        ]

    async def sock_connect(sock: socket.socket, address: tuple[str, int]) -> None:
        if address[0].startswith("203."):
            await asyncio.Event().wait()
        await connected(sock, address)

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(loop, "sock_connect", sock_connect)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "addresses",
    [
        ("203.0.113.1", "127.0.0.1"),
        ("203.0.113.1", "203.0.113.2", "127.0.0.1"),
        ("127.0.0.9", "127.0.0.1"),
        ("127.0.0.9", "203.0.113.1", "127.0.0.1"),
        ("::1", "203.0.113.1", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.1"),
    ],
)
async def test_addresses_that_are_dead_are_passed_over(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    resolve(monkeypatch, *addresses)
    async with listening(answer) as port:
        transport = connect(ClusterConfig(server=f"http://api.example.com:{port}"))
        async with asyncio.timeout(5):
            assert (await transport.request(POST)).status == 200
        assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("connecting to")]


async def test_a_request_that_nobody_acknowledges_does_not_wait_for_a_quarter_of_an_hour(server: Server) -> None:
    dialer = Dialer(server.config.server.replace("https", "http"), proxy=None, server_name=None, timeout=5)
    connection = await dialer.connect(None)
    opened = connection.transport.get_extra_info("socket")
    assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000
    assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    connection.abort()
