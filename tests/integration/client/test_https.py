"""`HttpsTransport` against an HTTPS server on loopback."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import Struct
from msgspec.structs import replace

from kubewright.client import (
    BasicAuth,
    ClusterConfig,
    ConfigError,
    HttpRequest,
    HttpsTransport,
    TransportError,
)


class Identity(Struct, frozen=True):
    """A certificate with its key, as PEM."""

    certificate: bytes
    key: bytes


def identity(name: str) -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Identity(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


class Server:
    """Answers through a handler that each test brings."""

    def __init__(self, config: ClusterConfig, mine: Identity, other: Identity) -> None:
        self.config = config
        self.identity = mine
        self.client = other
        self.requests: list[web.Request] = []
        self.handler: Callable[[web.Request], Awaitable[web.StreamResponse]] = self.echo

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        return await self.handler(request)

    @staticmethod
    async def echo(request: web.Request) -> web.StreamResponse:
        certificate = request.transport.get_extra_info("peercert") if request.transport else None
        return web.json_response(
            {
                "path": request.raw_path,
                "query": [list(pair) for pair in request.query.items()],
                "headers": {name.lower(): value for name, value in request.headers.items()},
                "body": await request.text(),
                "client": str(dict(part[0] for part in certificate["subject"])) if certificate else None,
            }
        )


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    mine, other = identity("kubernetes"), identity("someone")
    pem = tmp_path / "server.pem"
    pem.write_bytes(mine.certificate + mine.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    context.load_verify_locations(cadata=other.certificate.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    made = Server(ClusterConfig(server="", ca=mine.certificate, source="the test"), mine, other)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    host, port = runner.addresses[0][:2]
    made.config = replace(made.config, server=f"https://{host}:{port}/prefix/")
    try:
        yield made
    finally:
        await runner.cleanup()


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., HttpsTransport]]:
    made: list[HttpsTransport] = []

    def connect_to(
        config: ClusterConfig, *, request_timeout: float = 60.0, read_timeout: float | None = None
    ) -> HttpsTransport:
        made.append(HttpsTransport(config, request_timeout=request_timeout, read_timeout=read_timeout))
        return made[-1]

    yield connect_to
    for transport in made:
        await transport.close()


Connect = Callable[..., HttpsTransport]


async def get(transport: HttpsTransport, path: str = "/api", **parts: object) -> dict[str, object]:
    import json

    response = await transport.request(HttpRequest("GET", path, **parts))  # type: ignore[arg-type]  # forwarded
    assert response.status == 200
    return dict(json.loads(response.body))


async def test_a_request_arrives_as_it_was_meant(server: Server, connect: Connect) -> None:
    request = HttpRequest(
        "PATCH",
        "/apis/x/v1/roles/system:a%b c/é",
        (("labelSelector", "a in (b,c),d=e"), ("x", "&=?#+ ")),
        {"content-type": "application/json-patch+json", "user-agent": "me/1", "accept": "application/json"},
        b"[]",
    )
    response = await connect(server.config).request(request)
    assert response.headers["content-type"].startswith("application/json")
    assert server.requests[0].path == "/prefix/apis/x/v1/roles/system:a%b c/é"
    assert list(server.requests[0].query.items()) == list(request.query)
    for name, value in request.headers.items():
        assert server.requests[0].headers[name] == value
    assert b'"body": "[]"' in response.body


async def test_any_status_is_an_answer(server: Server, connect: Connect) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=503, headers={"Retry-After": "7"}, text="later")

    server.handler = refuse
    response = await connect(server.config).request(HttpRequest("GET", "/"))
    assert (response.status, response.headers["retry-after"], response.body) == (503, "7", b"later")


async def test_redirects_are_not_followed(server: Server, connect: Connect) -> None:
    async def redirect(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("https://elsewhere.invalid/")

    server.handler = redirect
    assert (await connect(server.config).request(HttpRequest("GET", "/"))).status == 302


async def test_tokens_are_sent_and_read_again_when_refused(server: Server, connect: Connect, tmp_path: Path) -> None:
    async def check(request: web.Request) -> web.StreamResponse:
        return web.Response(status=200 if request.headers["Authorization"] == "Bearer new" else 401)

    token = tmp_path / "token"
    token.write_text("old")
    transport = connect(replace(server.config, token_file=token, token="not this one"))
    server.handler = check
    assert (await transport.request(HttpRequest("GET", "/"))).status == 401
    token.write_text("new")
    assert (await transport.request(HttpRequest("GET", "/"))).status == 200


async def test_every_kind_of_identity_reaches_the_server(server: Server, connect: Connect) -> None:
    async def headers(config: ClusterConfig) -> dict[str, object]:
        return dict((await get(connect(config)))["headers"])  # type: ignore[call-overload,no-any-return]  # from JSON

    assert (await headers(replace(server.config, token="t")))["authorization"] == "Bearer t"
    basic = await headers(replace(server.config, basic=BasicAuth("joe", "pw")))
    assert basic["authorization"] == "Basic am9lOnB3"
    acting = replace(server.config, impersonate={"impersonate-user": ("admin",), "impersonate-group": ("a", "b")})
    await headers(acting)
    assert server.requests[-1].headers.getall("impersonate-group") == ["a", "b"]
    certified = replace(server.config, client_certificate=server.client.certificate, client_key=server.client.key)
    assert "someone" in str((await get(connect(certified)))["client"])


async def test_a_server_with_another_certificate_is_not_trusted(server: Server, connect: Connect) -> None:
    for config in (replace(server.config, ca=server.client.certificate), replace(server.config, ca=None)):
        with pytest.raises(TransportError, match=r"certificate verify failed: [\w -]+$") as caught:
            await connect(config).request(HttpRequest("POST", "/"))
        assert not caught.value.may_be_applied
    assert await get(connect(replace(server.config, ca=None, insecure_skip_tls_verify=True)))


async def test_the_name_to_expect_may_be_given(server: Server, connect: Connect) -> None:
    assert await get(connect(replace(server.config, tls_server_name="kubernetes")))
    with pytest.raises(TransportError, match="certificate verify failed"):
        await get(connect(replace(server.config, tls_server_name="other")))


async def test_certificates_that_cannot_be_used_are_said_to_be(server: Server) -> None:
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    with pytest.raises(ConfigError, match="the test: the certificate authority can't be read"):
        HttpsTransport(replace(server.config, ca=broken))
    mismatched = replace(server.config, client_certificate=server.client.certificate, client_key=server.identity.key)
    with pytest.raises(ConfigError, match="the test: client certificate and key can't be used"):
        HttpsTransport(mismatched)


async def test_nobody_listening_means_that_nothing_was_applied(connect: Connect) -> None:
    transport = connect(ClusterConfig(server="http://127.0.0.1:9"))
    with pytest.raises(TransportError, match=r"^POST http://127\.0\.0\.1:9/api: connection refused$") as caught:
        await transport.request(HttpRequest("POST", "/api", body=b"{}"))
    assert not caught.value.may_be_applied


async def test_a_host_that_nobody_knows_is_said_to_be(connect: Connect) -> None:
    with pytest.raises(TransportError, match=r"GET https://nowhere\.invalid/: (?!cannot connect).*"):
        await connect(ClusterConfig(server="https://nowhere.invalid")).request(HttpRequest("GET", "/"))


async def test_a_connection_lost_before_the_answer_leaves_writes_in_doubt(server: Server, connect: Connect) -> None:
    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    server.handler = hang_up
    for method, in_doubt in (("POST", True), ("GET", False)):
        with pytest.raises(TransportError) as caught:
            await connect(server.config).request(HttpRequest(method, "/"))
        assert caught.value.may_be_applied is in_doubt


async def test_an_answer_that_takes_too_long_is_given_up(server: Server, connect: Connect) -> None:
    async def dawdle(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    server.handler = dawdle
    with pytest.raises(TransportError, match="no answer in time") as caught:
        await connect(server.config, request_timeout=0.05).request(HttpRequest("PUT", "/"))
    assert caught.value.may_be_applied


class Stream:
    """A handler whose chunks the test sends one by one, and that knows when its client has gone."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.ended = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while (chunk := await self.chunks.get()) is not None:
                await response.write(chunk)
        finally:
            self.ended.set()
        return response


async def test_chunks_arrive_as_they_are_sent(server: Server, connect: Connect) -> None:
    stream = server.handler = Stream()
    async with connect(server.config).stream(HttpRequest("GET", "/", (("watch", "true"),))) as response:
        assert response.status == 200
        for chunk in (b"a", b"b" * 100_000):
            stream.chunks.put_nowait(chunk)
            got = b""
            while len(got) < len(chunk):
                got += await anext(response.chunks)
            assert got == chunk
        stream.chunks.put_nowait(None)
        assert [rest async for rest in response.chunks] == []


async def test_leaving_a_stream_hangs_up(server: Server, connect: Connect) -> None:
    stream = server.handler = Stream()
    transport = connect(server.config)
    async with transport.stream(HttpRequest("GET", "/")) as response:
        stream.chunks.put_nowait(b"a")
        assert await anext(response.chunks) == b"a"
    server.handler = server.echo
    assert await get(transport)
    stream.chunks.put_nowait(b"b")
    stream.chunks.put_nowait(b"c")
    await asyncio.wait_for(stream.ended.wait(), 5)


async def test_a_cancelled_watcher_hangs_up(server: Server, connect: Connect) -> None:
    server.handler = Stream()
    started = asyncio.Event()

    async def watch() -> None:
        async with connect(server.config).stream(HttpRequest("GET", "/")) as response:
            started.set()
            async for _ in response.chunks:
                pass

    async with asyncio.TaskGroup() as group:
        task = group.create_task(watch())
        await asyncio.wait_for(started.wait(), 5)
        task.cancel()
    assert task.cancelled()


async def test_a_broken_stream_is_a_transport_error(server: Server, connect: Connect) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"a")
        assert request.transport is not None
        request.transport.abort()
        return response

    server.handler = break_off
    with pytest.raises(TransportError):
        async with connect(server.config).stream(HttpRequest("GET", "/")) as response:
            assert [chunk async for chunk in response.chunks]


async def test_silence_in_a_stream_can_be_bounded(server: Server, connect: Connect) -> None:
    server.handler = Stream()
    with pytest.raises(TransportError, match="no answer in time"):
        async with connect(server.config, read_timeout=0.05).stream(HttpRequest("GET", "/")) as response:
            await anext(response.chunks)


async def test_many_streams_do_not_keep_requests_from_going_out(server: Server, connect: Connect) -> None:
    stream = Stream()
    transport = connect(server.config)

    async def watch(opened: asyncio.Semaphore) -> None:
        async with transport.stream(HttpRequest("GET", "/")) as response:
            opened.release()
            async for _ in response.chunks:
                pass

    server.handler = stream
    opened = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(watch(opened)) for _ in range(105)]
        for _ in tasks:
            await opened.acquire()
        server.handler = server.echo
        assert await get(transport)
        for task in tasks:
            task.cancel()
