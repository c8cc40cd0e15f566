"""An HTTPS server on loopback whose answers each test brings, and connections to it."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
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

from kubewright.api import Clock
from kubewright.client import ClusterConfig, HttpsTransport
from kubewright.telemetry import Log


class Identity(Struct, frozen=True):
    """A certificate with its key, as PEM."""

    certificate: bytes
    key: bytes


def load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def identity(name: str, *, issuer: Identity | None = None) -> Identity:
    """Signed by itself, or by ``issuer``."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(x509.load_pem_x509_certificate(issuer.certificate).subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(load_key(issuer.key) if issuer else key, hashes.SHA256())
    )
    return Identity(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


class Server:
    """Answers through a handler that each test brings."""

    def __init__(self, config: ClusterConfig, mine: Identity, other: Identity, tls: ssl.SSLContext) -> None:
        self.config = config
        self.tls = tls
        self.identity = mine
        self.client = other
        self.requests: list[web.Request] = []
        self.handler: Callable[[web.Request], Awaitable[web.StreamResponse]] = self.echo

    def cut_off_unseen(self) -> None:
        """Ends the kept connections; the client's loop has not heard of it, as if it had been busy."""
        for transport in {request.transport for request in self.requests}:
            if transport is not None:
                idle = transport.get_extra_info("socket")
                with suppress(OSError):
                    idle.shutdown(socket.SHUT_WR)
        time.sleep(0.02)  # until the end has arrived; nothing else may run

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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # not strict, as API servers are not
    context.load_cert_chain(pem)
    context.load_verify_locations(cadata=other.certificate.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    made = Server(ClusterConfig(server="", ca=mine.certificate, source="the test"), mine, other, context)
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
        config: ClusterConfig,
        *,
        request_timeout: float = 60.0,
        read_timeout: float | None = None,
        clock: Clock | None = None,
        log: Log | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> HttpsTransport:
        made.append(
            HttpsTransport(
                config,
                connect_timeout=60.0,  # a hundred handshakes at once take a busy machine long
                request_timeout=request_timeout,
                read_timeout=read_timeout,
                clock=clock,
                log=log,
                environ=environ or {},
            )
        )
        return made[-1]

    yield connect_to
    for transport in made:
        await transport.close()


Connect = Callable[..., HttpsTransport]


def sized(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer as it is sent, whose length is said."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body
