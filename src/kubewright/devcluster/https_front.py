"""`HttpsFront`: an API server on a loopback port, for kubectl and everything else that speaks HTTPS.

Guarantees
    Whatever the core answers goes out as it is: status, headers, body. A stream's headers and each of its chunks leave
    at once. A client that goes away ends the core's stream; so does stopping the front, with a clean end of a watch's
    or log's answer. A list is then finished, or breaks off.
    Of a stream whose client does not read no more than a chunk is held, and its connection ends after a while.
Assumptions
    The core may be cancelled at any await. Nobody is told apart: whoever has the cluster's token, or one that the core
    has issued, may do everything.
Errors
    `ClusterError` when the port is in use. An exception of the core is logged and answered with 500.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, Self

import msgspec
from aiohttp import web
from yarl import URL

from kubewright.client.transport import HttpRequest, HttpResponse, StreamingResponse
from kubewright.devcluster.bodies import LARGEST_BODY
from kubewright.devcluster.documents import PUBLIC_PATHS
from kubewright.devcluster.errors import ClusterError
from kubewright.devcluster.protobuf_objects import PROTOBUF, load_protobuf
from kubewright.devcluster.routing import route
from kubewright.devcluster.service_account_tokens import token_of
from kubewright.devcluster.statuses import status_body
from kubewright.telemetry import Log, null_log

if TYPE_CHECKING:
    from types import TracebackType

    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.http_parser import RawRequestMessage
    from aiohttp.streams import StreamReader
    from aiohttp.web_protocol import RequestHandler

    from kubewright.devcluster.credentials import Credentials

__all__ = ["Core", "HttpsFront"]

_LONGEST_LINE = 64 * 1024
_STOP_SECONDS = 2.0
_NEVER_WAITS = 16 * 1024
"""So many bytes are taken at once by a connection that has nothing left to send."""
_PATIENCE = 10.0  # seconds
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})
"""Headers that are this front's own business."""


class Core(Protocol):
    """What answers: one request in, one answer out."""

    async def handle(self, request: HttpRequest) -> HttpResponse | StreamingResponse: ...

    def knows(self, token: str) -> bool:
        """Whether it has issued this token, and the token is still good."""
        ...


class _NotReadError(Exception):
    """A client has not read what was sent to it for too long."""


class HttpsFront:
    """Serves a core while its block runs: ``async with HttpsFront(core, credentials) as front: front.url``."""

    def __init__(
        self,
        core: Core,
        credentials: Credentials,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        patience: float = _PATIENCE,
        log: Log | None = None,
    ) -> None:
        """``port`` 0 takes a free one. ``patience`` is how many seconds a stream waits for a client that does not read."""
        self._core = core
        self._credentials = credentials
        self._token = credentials.token.encode()
        self._host = host
        self._port = port
        self._patience = patience
        self._log = log or null_log()
        self._streams: set[asyncio.Timeout] = set()
        self._stopping = False

    @property
    def port(self) -> int:
        """Where it listens; known inside the block."""
        return self._port

    @property
    def url(self) -> str:
        return f"https://{self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = web.Server(
            self._answer,
            request_factory=_request,
            handler_cancellation=True,
            access_log=None,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        try:
            self._listener = await loop.create_server(
                self._server,
                self._host,
                self._port,
                ssl=self._credentials.server_context(),
                ssl_shutdown_timeout=_STOP_SECONDS / 2,
                backlog=512,
                reuse_address=True,
            )
        except OSError as error:
            raise ClusterError(_why_not(error, self._host, self._port)) from error
        except OverflowError as error:
            raise ClusterError(f"{self._port} is no port: use a number from 1 to 65535") from error
        self._port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self._stopping = True
        now = asyncio.get_running_loop().time()
        for stream in tuple(self._streams):
            stream.reschedule(now)
        await self._server.shutdown(_STOP_SECONDS)
        await self._listener.wait_closed()

    async def _answer(self, incoming: web.BaseRequest) -> web.StreamResponse:
        """Never raises for anything that the core or the client does."""
        path = incoming.rel_url.path
        token = token_of(incoming.headers.get("Authorization", ""))
        own = hmac.compare_digest(token.encode(), self._token)
        if path not in PUBLIC_PATHS and not own and not self._core.knows(token):
            return _refusal(401, "Unauthorized", "Unauthorized")
        try:
            body = await incoming.read()
        except web.HTTPRequestEntityTooLarge:
            message = f"Request entity too large: limit is {LARGEST_BODY}"
            return _refusal(413, "RequestEntityTooLarge", message)
        headers = {name.lower(): value for name, value in incoming.headers.items()}
        if own:
            headers.pop("authorization")
        body = _as_json(body, headers)
        request = HttpRequest(incoming.method, path, _query(incoming), headers, body)
        try:
            answer = await self._core.handle(request)
        except Exception:
            self._log.exception("the API server failed on a request", method=request.method, path=path)
            return _refusal(500, "InternalError", "Internal error occurred: see the cluster's log")
        if isinstance(answer, StreamingResponse):
            return await self._stream(incoming, answer)
        return web.Response(status=answer.status, headers=_headers(answer.headers), body=answer.body)

    async def _stream(self, incoming: web.BaseRequest, answer: StreamingResponse) -> web.StreamResponse:
        outgoing = web.StreamResponse(status=answer.status, headers=_headers(answer.headers))
        try:
            await outgoing.prepare(incoming)
            incoming.writer.send_headers()  # otherwise they would wait for the first chunk
            try:
                async with self._until_stopped() if _is_endless(incoming) else nullcontext():
                    async for chunk in answer.chunks:
                        await self._send(incoming, outgoing, chunk)
            except TimeoutError:
                if not self._stopping:
                    raise
            await outgoing.write_eof()
        except ConnectionError:
            pass  # the client went away
        except _NotReadError:
            self._log.info("a client does not read and is dropped", path=incoming.rel_url.path)
            _abort(incoming)
        except Exception:
            self._log.exception("the API server failed while streaming", path=incoming.rel_url.path)
            _abort(incoming)
        finally:
            await _close(answer.chunks)
        return outgoing

    async def _send(self, incoming: web.BaseRequest, outgoing: web.StreamResponse, chunk: bytes) -> None:
        transport = incoming.transport
        if transport is None or transport.is_closing():  # writing to it would be no error, and no end
            raise ConnectionResetError
        if len(chunk) <= _NEVER_WAITS and not transport.get_write_buffer_size():
            await outgoing.write(chunk)  # without a timer, which for an event to a thousand watchers adds up
            return
        await asyncio.sleep(0)  # a source that always has more must hold up nobody, nor hide that its reader went
        try:
            async with asyncio.timeout(self._patience):
                await outgoing.write(chunk)
        except TimeoutError as error:
            raise _NotReadError from error

    @asynccontextmanager
    async def _until_stopped(self) -> AsyncIterator[None]:
        """A block that ends with TimeoutError when the front stops."""
        now = asyncio.get_running_loop().time()
        async with asyncio.timeout_at(now if self._stopping else None) as limit:
            self._streams.add(limit)
            try:
                yield
            finally:
                self._streams.discard(limit)


def _is_endless(incoming: web.BaseRequest) -> bool:
    """Whether an answer may end anywhere, as watches and logs may; of a list half would be taken for the whole."""
    where = route(incoming.method, incoming.rel_url.path, _query(incoming))
    return where is not None and (where.verb == "watch" or where.subresource == "log")


def _query(incoming: web.BaseRequest) -> tuple[tuple[str, str], ...]:
    return _parsed(incoming.rel_url.raw_query_string)


@lru_cache(256)
def _parsed(query: str) -> tuple[tuple[str, str], ...]:
    """Its pairs. Most clients have a few queries, which they send again and again."""
    return tuple(URL.build(query_string=query, encoded=True).query.items())


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=LARGEST_BODY)


def _as_json(body: bytes, headers: dict[str, str]) -> bytes:
    """A protobuf body as JSON, which is what the core reads; any other, or a broken one, as it is."""
    if headers.get("content-type") == PROTOBUF and body:
        try:
            body = msgspec.json.encode(load_protobuf(body))
        except ValueError:
            return body  # the core refuses it
        headers["content-type"] = "application/json"
    return body


def _abort(incoming: web.BaseRequest) -> None:
    """Ends the connection so that the client does not take what it has for the whole."""
    if incoming.transport is not None:
        incoming.transport.abort()


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in headers.items() if name.lower() not in _FRAMING}
    return {**kept, "server": "kubewright"}


def _refusal(code: int, reason: str, message: str) -> web.Response:
    body = msgspec.json.encode(status_body(code, reason, message))
    return web.Response(status=code, headers=_headers({"content-type": "application/json"}), body=body)


async def _close(chunks: AsyncIterator[bytes]) -> None:
    """Ends the core's stream where it is a generator, which would otherwise linger until it is collected."""
    close = getattr(chunks, "aclose", None)
    if close is not None:
        await close()


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {host} is in use: choose another one, or stop what listens there"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} may not be opened: choose one above 1023"
    return f"can't listen on {host}:{port}: {error.strerror or error}"
