"""`HttpsTransport`: requests to an API server over TLS."""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from kubewright.api import Clock, SystemClock
from kubewright.client.authentication import Authentication
from kubewright.client.connection import Connection
from kubewright.client.connections import Connections
from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.dialing import Dialer
from kubewright.client.exec_credentials import Credential
from kubewright.client.fence import PERMIT
from kubewright.client.proxies import proxy_for
from kubewright.client.tls import TlsContexts
from kubewright.client.transport import (
    SAFE_METHODS,
    CredentialError,
    HttpRequest,
    HttpResponse,
    StreamingResponse,
    TransportError,
    UpgradeRefused,
    WebSocket,
)
from kubewright.telemetry import Log, null_log

if TYPE_CHECKING:
    from kubewright.client.https_websocket import HttpsWebSocket

__all__ = ["HttpsTransport"]

_PATH_SAFE = "/!$&'()*+,;=:@~"
_is_plain = re.compile(r"[A-Za-z0-9/._~-]*").fullmatch
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class HttpsTransport:
    """Carries requests to one API server, with connections kept open and credentials added.

    Must be made, used and closed in one event loop. ``connect_timeout`` and ``request_timeout`` are seconds, the latter
    for a whole answer; a stream has no limit in total, and ``read_timeout`` bounds the silence within one (None: none,
    TCP keep-alive notices a dead peer within a minute). ``environ`` is where proxies are looked up. Raises `ConfigError`
    for certificates and proxies that can't be used.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        connect_timeout: float = 10.0,
        request_timeout: float = 60.0,
        read_timeout: float | None = None,
        clock: Clock | None = None,
        log: Log | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._base = config.server.rstrip("/")
        self._authentication = Authentication(config, clock=self._clock)
        self._request_timeout = request_timeout
        self._read_timeout = read_timeout
        secure = self._base.startswith("https:")
        self._tls = TlsContexts(config, now=self._clock.monotonic()) if secure else None
        if secure and config.insecure_skip_tls_verify:
            (log or null_log()).warning(
                "the server's certificate is not verified (insecure-skip-tls-verify): anybody may pose as the server",
                server=self._base,
                source=config.source,
            )
        proxy = proxy_for(
            self._base, config.proxy_url, os.environ if environ is None else environ, source=config.source
        )
        self._through = f" (through the proxy {proxy.url})" if proxy else ""
        self._connections = Connections(
            Dialer(self._base, proxy=proxy, server_name=config.tls_server_name, timeout=connect_timeout)
        )
        parts = urlsplit(self._base)
        self._prefix = parts.path
        self._authority = parts.netloc.rpartition("@")[2]
        always = [("host", self._authority)]
        if proxy is not None and not secure and proxy.scheme in {"http", "https"}:  # which is asked for whole URLs
            self._prefix = f"{parts.scheme}://{self._authority}{parts.path}"
            if proxy.authorization:
                always.append(("proxy-authorization", proxy.authorization))
        always += [(name, value) for name, values in config.impersonate.items() for value in values]
        self._acting_as = always[1:]
        self._always = _lines(always)
        self._compression = _lines([("accept-encoding", "identity" if config.disable_compression else "gzip")])

    async def request(self, request: HttpRequest) -> HttpResponse:
        credential, renewals = await self._authentication.credential(), self._renewals
        answer = await self._exchange(request, credential)
        if answer.status != 401:
            return answer
        renewed = await self._renewed(credential, renewals)
        if renewed is not None:
            answer = await self._exchange(request, renewed)
        return answer if answer.status != 401 else _blamed(answer, self._refused())

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        credential, renewals = await self._authentication.credential(), self._renewals
        connection = await self._opened(request, credential)
        try:
            if connection.status == 401:
                renewed = await self._renewed(credential, renewals)
                if renewed is not None:
                    again = await self._opened(request, renewed)
                    self._connections.give_back(connection)
                    connection = again
            refused = self._refused() if connection.status == 401 else ""
            chunks = self._chunks(request, connection, connection.requests)
            yield StreamingResponse(connection.status, connection.headers, chunks, refused)
        finally:
            self._connections.give_back(connection)

    @asynccontextmanager
    async def websocket(self, request: HttpRequest, protocols: Sequence[str]) -> AsyncIterator[WebSocket]:
        credential, renewals = await self._authentication.credential(), self._renewals
        try:
            opened = await self._upgraded(request, protocols, credential)
        except UpgradeRefused as refusal:
            if refusal.response.status != 401:
                raise
            renewed = await self._renewed(credential, renewals)
            if renewed is None:
                raise UpgradeRefused(_blamed(refusal.response, self._refused())) from None
            opened = await self._upgraded(request, protocols, renewed)
        async with opened:
            yield opened

    async def close(self) -> None:
        await self._authentication.close()
        self._connections.close()
        for _ in range(3):  # sockets are closed in the loop's next rounds, which may be its last
            await asyncio.sleep(0)

    async def _exchange(self, request: HttpRequest, credential: Credential) -> HttpResponse:
        message, bodiless = self._message(request, credential), request.method == "HEAD"
        while True:
            connection = await self._sendable(request, credential)
            try:
                body = await connection.whole(message, timeout=self._request_timeout, bodiless=bodiless)
            except OSError as error:
                if _may_come_again(request, connection, error):
                    continue
                raise self._failure(request, error, sent=True) from error
            finally:
                self._connections.give_back(connection)
            return HttpResponse(connection.status, connection.headers, body)

    async def _opened(self, request: HttpRequest, credential: Credential) -> Connection:
        message = self._message(request, credential)
        while True:
            connection = await self._sendable(request, credential)
            try:
                await connection.begin(message, silence=self._read_timeout)
            except BaseException as error:
                self._connections.give_back(connection)
                if not isinstance(error, OSError):
                    raise
                if not _may_come_again(request, connection, error):
                    raise self._failure(request, error, sent=True) from error
            else:
                return connection

    async def _chunks(self, request: HttpRequest, connection: Connection, number: int) -> AsyncIterator[bytes]:
        try:
            while True:
                if connection.requests != number:
                    raise RuntimeError(f"{request.method} {request.path}: read after its block was left")
                chunk = await connection.chunk(silence=self._read_timeout)
                if not chunk:
                    return
                yield chunk
        except OSError as error:
            raise self._failure(request, error, sent=True) from error

    async def _upgraded(self, request: HttpRequest, protocols: Sequence[str], credential: Credential) -> HttpsWebSocket:
        from kubewright.client.https_websocket import shake_hands  # noqa: PLC0415 - few need it

        headers = [*request.headers.items(), *self._acting_as]
        if credential.authorization is not None:
            headers.append(("authorization", credential.authorization))
        context = self._context(credential)
        try:
            reader, writer = await self._connections.open_stream(context)
        except OSError as error:
            raise self._failure(request, error, sent=False) from error
        try:
            _ask_permit()
            async with asyncio.timeout(self._request_timeout):
                return await shake_hands(
                    reader,
                    writer,
                    target=self._target(request),
                    headers=headers,
                    host=self._authority,
                    protocols=protocols,
                    where=f"{request.method} {request.path}",
                )
        except BaseException as error:
            writer.transport.abort()
            if isinstance(error, OSError):
                raise self._failure(request, error, sent=True) from error
            raise

    async def _sendable(self, request: HttpRequest, credential: Credential) -> Connection:
        """A connection on which the request may leave at once: nothing is waited for after it was asked whether it may."""
        try:
            connection = await self._connections.take(
                self._context(credential), writes=request.method not in SAFE_METHODS
            )
        except OSError as error:
            raise self._failure(request, error, sent=False) from error
        try:
            _ask_permit()
        except BaseException:
            self._connections.give_back(connection)
            raise
        return connection

    def _context(self, credential: Credential) -> ssl.SSLContext | None:
        if self._tls is None:
            return None
        try:
            return self._tls.context(credential, self._clock.monotonic())
        except ConfigError as error:
            raise CredentialError(str(error)) from error

    def _target(self, request: HttpRequest) -> str:
        path = request.path if _is_plain(request.path) else quote(request.path, safe=_PATH_SAFE)
        return f"{self._prefix}{path}?{_encoded(request.query)}" if request.query else f"{self._prefix}{path}"

    def _message(self, request: HttpRequest, credential: Credential) -> bytes:
        """The request as it is sent. Raises ValueError where a header would be more than one."""
        body = request.body
        always = self._always if "accept-encoding" in request.headers else self._always + self._compression
        head = f"{request.method} {self._target(request)} HTTP/1.1\r\n{always}" + "".join(
            [f"{name}: {value}\r\n" for name, value in request.headers.items()]
        )
        lines = 1 + always.count("\n") + len(request.headers)
        if credential.authorization is not None:
            head += f"authorization: {credential.authorization}\r\n"
            lines += 1
        if head.count("\n") != lines or head.count("\r") != lines:
            raise ValueError(f"{request.method} {request.path}: a header's value has more than one line")
        if body or request.method in _WITH_BODY:
            return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        return f"{head}\r\n".encode()

    @property
    def _renewals(self) -> int:
        return self._tls.renewals if self._tls is not None else 0

    async def _renewed(self, refused: Credential, renewals: int) -> Credential | None:
        """What to send a refused request with once more; None where nothing but the same is there.

        ``renewals``: of the certificate files, as they were when the request was sent.
        """
        renewed = await self._authentication.renewed(refused)
        if renewed is None and self._tls is not None:
            self._tls.reread(self._clock.monotonic())
            if self._tls.renewals != renewals:
                return refused  # with another client certificate, that is
        return renewed

    def _refused(self) -> str:
        return f"{self._config.identity} is not known to {self._base}: {self._authentication.remedy}"

    def _failure(self, request: HttpRequest, error: OSError, *, sent: bool) -> TransportError:
        if isinstance(error, TimeoutError):
            what = "no answer in time" if sent else "no connection in time"
        else:
            what = _words(error)
        if not sent:
            what += self._through
            if isinstance(error, ssl.SSLCertVerificationError) and self._tls is not None:
                with suppress(ConfigError):
                    self._tls.reread(self._clock.monotonic())  # the authority may be a new one
        in_doubt = sent and request.method not in SAFE_METHODS
        if in_doubt:
            what += "; it may have been done all the same"
        return TransportError(f"{request.method} {self._base}{request.path}: {what}", may_be_applied=in_doubt)


def _blamed(answer: HttpResponse, whom: str) -> HttpResponse:
    return HttpResponse(answer.status, answer.headers, answer.body, whom)


def _may_come_again(request: HttpRequest, connection: Connection, error: OSError) -> bool:
    """Whether the server had closed a kept connection before it saw a request that changes nothing."""
    return (
        request.method in SAFE_METHODS
        and connection.kept
        and connection.unanswered
        and not isinstance(error, TimeoutError)
    )


def _ask_permit() -> None:
    permit = PERMIT.get()
    if permit is not None:
        permit()


def _words(error: OSError) -> str:
    """What went wrong, without the host, which the message has already."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return str(error.reason or error).replace("_", " ").lower()
    if error.errno is not None:
        # a failed look-up has a negative number, and its own words
        return os.strerror(error.errno).lower() if error.errno > 0 else str(error.strerror).lower()
    return str(error) or "the server disconnected"  # during the handshake, of which asyncio says no more


def _lines(headers: Sequence[tuple[str, str]]) -> str:
    return "".join([f"{name}: {value}\r\n" for name, value in headers])


@lru_cache(maxsize=64)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query, quote_via=quote)
