"""`HttpsTransport`: requests to an API server over TLS.

aiohttp is imported when a transport is made, not before: it is the slowest import we have.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from kubewright.api import Clock, SystemClock
from kubewright.client.authentication import Authentication
from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.exec_credentials import Credential
from kubewright.client.https_websocket import HttpsWebSocket, refusals_have_bodies
from kubewright.client.proxies import proxy_for
from kubewright.client.tls import TlsContexts
from kubewright.client.transport import (
    CredentialError,
    HttpRequest,
    HttpResponse,
    NotLeading,
    StreamingResponse,
    TransportError,
    UpgradeRefused,
    WebSocket,
)
from kubewright.telemetry import Log, null_log

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import ClientHandlerType
    from aiohttp.client import _RequestContextManager

__all__ = ["HttpsTransport"]

_PATH_SAFE = "/!$&'()*+,;=:@~"
_is_plain = re.compile(r"[A-Za-z0-9/._~-]*").fullmatch
_READS = frozenset({"GET", "HEAD"})
_AGAIN_UNASKED = frozenset({"PUT", "DELETE"})
"""aiohttp repeats them on a fresh connection when a kept one breaks: they may then be done twice."""
_LARGEST_MESSAGE = 64 * 1024 * 1024


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
        import aiohttp  # noqa: PLC0415 - see the module's docstring
        from yarl import URL  # noqa: PLC0415 - comes with aiohttp

        from kubewright.client.https_connector import (  # noqa: PLC0415 - loads aiohttp
            LiveConnector,
            payload,
        )

        self._config = config
        self._clock = clock or SystemClock()
        self._base = config.server.rstrip("/")
        self._authentication = Authentication(config, clock=self._clock)
        secure = self._base.startswith("https:")
        self._tls = TlsContexts(config, now=self._clock.monotonic()) if secure else None
        if secure and config.insecure_skip_tls_verify:
            (log or null_log()).warning(
                "the server's certificate is not verified (insecure-skip-tls-verify): anybody may pose as the server",
                server=self._base,
                source=config.source,
            )
        base = URL(self._base, encoded=True)
        scheme, authority, prefix = base.scheme, base.raw_authority, base.raw_path.rstrip("/")

        def url(path: str, query: tuple[tuple[str, str], ...]) -> URL:
            """Put together rather than parsed, which takes a fifth of the time; there are as many as objects."""
            whole = prefix + (path if _is_plain(path) else quote(path, safe=_PATH_SAFE))
            return URL.build(scheme=scheme, authority=authority, path=whole, query_string=_encoded(query), encoded=True)

        self._url = url
        self._acting_as = [(name, value) for name, values in config.impersonate.items() for value in values]
        if config.disable_compression:
            self._acting_as.append(("accept-encoding", "identity"))
        whole = aiohttp.ClientTimeout(total=request_timeout, sock_connect=connect_timeout)
        self._streamed = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout, sock_read=read_timeout)
        self._closing = aiohttp.ClientWSTimeout(ws_close=2.0)
        self._connection_lost: tuple[type[Exception], ...] = (aiohttp.ClientError, TimeoutError, OSError)
        self._never_sent: tuple[type[Exception], ...] = (
            aiohttp.ClientConnectorError,
            aiohttp.ConnectionTimeoutError,
            aiohttp.ClientHttpProxyError,
        )
        self._broken_off = (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)
        self._options: dict[str, Any] = {"server_hostname": config.tls_server_name, "ssl": False}
        proxy = proxy_for(
            self._base, config.proxy_url, os.environ if environ is None else environ, source=config.source
        )
        self._through = f" (through the proxy {proxy.url})" if proxy else ""
        if proxy is not None:
            self._options["proxy"] = proxy.url
            if proxy.authorization:
                self._options["proxy_headers"] = {"Proxy-Authorization": proxy.authorization}
        self._payload = payload
        connector = LiveConnector()
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=True,
            trust_env=False,
            timeout=whole,
        )
        self._websockets = aiohttp.ClientSession(
            connector=connector,
            connector_owner=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            middlewares=(refusals_have_bodies,),
            timeout=whole,
        )

    async def request(self, request: HttpRequest) -> HttpResponse:
        credential, renewals = await self._authentication.credential(), self._renewals
        answer = await self._exchange(request, credential)
        if answer.status != 401:
            return answer
        renewed = await self._renewed(credential, renewals)
        if renewed is not None:
            answer = await self._exchange(request, renewed)
        return answer if answer.status != 401 else _blamed(answer, self._refused())

    async def _exchange(self, request: HttpRequest, credential: Credential) -> HttpResponse:
        try:
            async with self._send(request, credential) as response:
                body = await response.read()
        except self._connection_lost as error:
            if isinstance(error.__cause__, NotLeading):
                raise error.__cause__ from None
            raise self._failure(request, error) from error
        return HttpResponse(response.status, _headers(response), body)

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        credential, renewals = await self._authentication.credential(), self._renewals
        response = await self._opened(request, credential)
        if response.status == 401:
            try:
                renewed = await self._renewed(credential, renewals)
            except BaseException:
                _hang_up(response)
                raise
            if renewed is not None:
                _hang_up(response)
                response = await self._opened(request, renewed)
        try:
            refused = self._refused() if response.status == 401 else ""
            yield StreamingResponse(response.status, _headers(response), self._chunks(request, response), refused)
        finally:
            _hang_up(response)

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
            yield HttpsWebSocket(opened, request)

    async def close(self) -> None:
        await self._authentication.close()
        await self._websockets.close()
        await self._session.close()
        await asyncio.sleep(0)  # sockets are closed in the loop's next round, which may be its last

    async def _opened(self, request: HttpRequest, credential: Credential) -> aiohttp.ClientResponse:
        try:
            return await self._send(request, credential, timeout=self._streamed)
        except self._connection_lost as error:
            raise self._failure(request, error) from error

    async def _chunks(self, request: HttpRequest, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.content.iter_any():
                yield chunk
        except self._connection_lost as error:
            raise self._failure(request, error) from error

    async def _upgraded(
        self, request: HttpRequest, protocols: Sequence[str], credential: Credential
    ) -> aiohttp.ClientWebSocketResponse:
        try:
            opened: aiohttp.ClientWebSocketResponse = await self._websockets.ws_connect(
                self._url(request.path, request.query),
                protocols=protocols,
                headers=self._all_headers(request, credential),
                timeout=self._closing,
                max_msg_size=_LARGEST_MESSAGE,
                **self._connection(credential),
            )
        except self._connection_lost as error:
            raise self._failure(request, error) from error
        return opened

    def _send(self, request: HttpRequest, credential: Credential, **options: Any) -> _RequestContextManager:
        if request.method in _AGAIN_UNASKED:
            options["middlewares"] = (self._once,)
        if request.body:
            options["data"] = self._payload(request.body)
        return self._session.request(
            request.method,
            self._url(request.path, request.query),
            headers=self._all_headers(request, credential),
            allow_redirects=False,
            **self._connection(credential),
            **options,
        )

    def _all_headers(self, request: HttpRequest, credential: Credential) -> list[tuple[str, str]]:
        headers = [*request.headers.items(), *self._acting_as]
        if credential.authorization is not None:
            headers.append(("authorization", credential.authorization))
        return headers

    def _connection(self, credential: Credential) -> dict[str, Any]:
        """How to connect. A connection is used again only by who would make it alike, with the same TLS context."""
        if self._tls is not None:
            try:
                self._options["ssl"] = self._tls.context(credential, self._clock.monotonic())
            except ConfigError as error:
                raise CredentialError(str(error)) from error
        return self._options

    async def _once(self, request: aiohttp.ClientRequest, send: ClientHandlerType) -> aiohttp.ClientResponse:
        """A middleware that keeps aiohttp from sending a write again."""
        try:
            return await send(request)
        except self._broken_off as error:
            if isinstance(error, self._never_sent):
                raise
            raise _BrokenOffError(str(error) or "the server disconnected") from error

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

    def _failure(self, request: HttpRequest, error: Exception) -> TransportError:
        sent = not isinstance(error, self._never_sent)
        if isinstance(error, TimeoutError):
            what = "no answer in time" if sent else "no connection in time"
        else:
            what = _words(error)
        if not sent:
            what += self._through
            if isinstance(error.__cause__ or error, ssl.SSLCertVerificationError) and self._tls is not None:
                with suppress(ConfigError):
                    self._tls.reread(self._clock.monotonic())  # the authority may be a new one
        in_doubt = sent and request.method not in _READS
        if in_doubt:
            what += "; it may have been done all the same"
        return TransportError(f"{request.method} {self._base}{request.path}: {what}", may_be_applied=in_doubt)


class _BrokenOffError(OSError):
    """A connection that broke under a write, which may have arrived."""


def _blamed(answer: HttpResponse, whom: str) -> HttpResponse:
    return HttpResponse(answer.status, answer.headers, answer.body, whom)


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


@lru_cache(maxsize=256)
def _encoded(query: tuple[tuple[str, str], ...]) -> str:
    return urlencode(query, quote_via=quote)


def _headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    """Of a header that is sent several times (``Warning``), all values, as one that says them all."""
    found: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found
