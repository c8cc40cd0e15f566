"""`HttpsTransport`: requests to an API server over TLS.

aiohttp is imported when a transport is made, not before: it is the slowest import we have.
"""

from __future__ import annotations

import asyncio
import base64
import io
import os
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from kubewright.api import Clock, SystemClock
from kubewright.client.credentials import ClusterConfig, ConfigError, TokenFile
from kubewright.client.transport import HttpRequest, HttpResponse, StreamingResponse, TransportError

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.client import _RequestContextManager
    from aiohttp.connector import AddrInfoType
    from yarl import URL

__all__ = ["HttpsTransport", "tls_context"]

_PATH_SAFE = "/!$&'()*+,;=:@~"


_LARGE = 512 * 1024


class HttpsTransport:
    """Carries requests to one API server, with connections kept open and credentials added.

    Must be made, used and closed in one event loop. ``connect_timeout`` and ``request_timeout`` are seconds, the latter
    for a whole answer; a stream has no limit in total, and ``read_timeout`` bounds the silence within one (None: none,
    TCP keep-alive notices a dead peer within a minute). Raises `ConfigError` for certificates that can't be used.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        connect_timeout: float = 10.0,
        request_timeout: float = 60.0,
        read_timeout: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        import aiohttp  # noqa: PLC0415 - see the module's docstring
        from yarl import URL  # noqa: PLC0415 - comes with aiohttp

        self._config = config
        self._url_class = URL
        self._base = config.server.rstrip("/")
        self._clock = clock or SystemClock()
        self._token_file = TokenFile(config.token_file) if config.token_file else None
        self._whole = aiohttp.ClientTimeout(total=request_timeout, sock_connect=connect_timeout)
        self._streamed = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout, sock_read=read_timeout)
        self._connection_lost: tuple[type[Exception], ...] = (aiohttp.ClientError, TimeoutError, OSError)
        self._never_sent: tuple[type[Exception], ...] = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # each watch holds a connection
                ssl=tls_context(config) if self._base.startswith("https:") else False,
                socket_factory=_kept_alive,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=True,
            trust_env=False,
            skip_auto_headers=("user-agent",),
        )

    async def request(self, request: HttpRequest) -> HttpResponse:
        try:
            async with self._send(request, self._whole) as response:
                body = await response.read()
        except self._connection_lost as error:
            raise self._failure(request, error) from error
        return self._answer(response, body)

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        try:
            response = await self._send(request, self._streamed)
        except self._connection_lost as error:
            raise self._failure(request, error) from error
        try:
            self._note(response.status)
            yield StreamingResponse(response.status, _headers(response), self._chunks(request, response))
        finally:
            _hang_up(response)

    async def close(self) -> None:
        await self._session.close()
        await asyncio.sleep(0)  # sockets are closed in the loop's next round, which may be its last

    async def _chunks(self, request: HttpRequest, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except self._connection_lost as error:
            raise self._failure(request, error) from error

    def _send(self, request: HttpRequest, timeout: aiohttp.ClientTimeout) -> _RequestContextManager:
        return self._session.request(
            request.method,
            self._url(request),
            headers=[*request.headers.items(), *self._credentials()],
            data=_payload(request.body),
            timeout=timeout,
            allow_redirects=False,
            server_hostname=self._config.tls_server_name,
        )

    def _url(self, request: HttpRequest) -> URL:
        text = self._base + quote(request.path, safe=_PATH_SAFE)
        if request.query:
            text += "?" + urlencode(request.query, quote_via=quote)
        return self._url_class(text, encoded=True)

    def _credentials(self) -> list[tuple[str, str]]:
        config = self._config
        headers = [(name, value) for name, values in config.impersonate.items() for value in values]
        if self._token_file is not None:
            headers.append(("authorization", f"Bearer {self._token_file.token(self._clock.monotonic())}"))
        elif config.token:
            headers.append(("authorization", f"Bearer {config.token}"))
        elif config.basic is not None:
            pair = f"{config.basic.username}:{config.basic.password}".encode()
            headers.append(("authorization", f"Basic {base64.b64encode(pair).decode()}"))
        return headers

    def _answer(self, response: aiohttp.ClientResponse, body: bytes) -> HttpResponse:
        self._note(response.status)
        return HttpResponse(response.status, _headers(response), body)

    def _note(self, status: int) -> None:
        if status == 401 and self._token_file is not None:
            self._token_file.refused()

    def _failure(self, request: HttpRequest, error: Exception) -> TransportError:
        sent = not isinstance(error, self._never_sent)
        if isinstance(error, TimeoutError):
            what = "no answer in time" if sent else "no connection in time"
        else:
            what = _words(error)
        return TransportError(
            f"{request.method} {self._base}{request.path}: {what}", may_be_applied=sent and request.method != "GET"
        )


def _hang_up(response: aiohttp.ClientResponse) -> None:
    """Drops a connection that has half a stream left in it, without waiting for the peer's farewell."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()


def _words(error: Exception) -> str:
    """What went wrong, without the host, which the message has already."""
    cause = error.__cause__ or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {cause.verify_message}"
    if isinstance(cause, OSError) and cause.errno is not None:
        # a failed look-up has a negative number, and its own words
        return os.strerror(cause.errno).lower() if cause.errno > 0 else str(cause.strerror).lower()
    return str(error) or type(error).__name__


def _payload(body: bytes) -> io.BytesIO | bytes | None:
    """Large bodies are sent piece by piece."""
    return io.BytesIO(body) if len(body) > _LARGE else body or None


def _headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    """Of a header that is sent several times (``Warning``), all values, as one that says them all."""
    found: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def _kept_alive(address: AddrInfoType) -> socket.socket:
    """A socket that notices within a minute that its peer is gone, also while it waits for a watch's next event."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):  # not every system has them all
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


def tls_context(config: ClusterConfig) -> ssl.SSLContext:
    """What the configuration says about certificates. Raises `ConfigError`."""
    context = ssl.create_default_context()
    if config.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif config.ca is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=config.ca.decode("ascii"))
        except (ssl.SSLError, UnicodeDecodeError) as error:
            raise ConfigError(f"{config.source}: the certificate authority can't be read: {error}") from error
    if config.client_certificate is not None and config.client_key is not None:
        _load_identity(context, config, config.client_certificate, config.client_key)
    return context


def _load_identity(context: ssl.SSLContext, config: ClusterConfig, certificate: bytes, key: bytes) -> None:
    """OpenSSL takes them from files only: they exist for this moment, readable by us alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "identity.pem")
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(certificate.rstrip() + b"\n" + key)
        try:
            context.load_cert_chain(path, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(f"{config.source}: client certificate and key can't be used: {error}") from error


def _no_password() -> str:
    raise ValueError("the key is encrypted")
