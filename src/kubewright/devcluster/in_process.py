"""`InProcessTransport`: an API server in the same process, without sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kubewright.client.transport import (
    HttpRequest,
    HttpResponse,
    StreamingResponse,
    TransportError,
    UpgradeRefused,
    WebSocket,
)

if TYPE_CHECKING:
    from kubewright.devcluster.api_server import ApiServer

__all__ = ["InProcessTransport"]


class InProcessTransport:
    """Carries requests to an `ApiServer` by calling it. Satisfies `kubewright.client.transport.Transport`."""

    def __init__(self, server: ApiServer) -> None:
        self._server: ApiServer | None = server

    def _reach(self) -> ApiServer:
        if self._server is None:
            raise TransportError("this transport was closed", may_be_applied=False)
        return self._server

    async def request(self, request: HttpRequest) -> HttpResponse:
        answer = await self._reach().handle(request)
        if isinstance(answer, HttpResponse):
            return answer
        body = b"".join([chunk async for chunk in answer.chunks])
        return HttpResponse(answer.status, answer.headers, body)

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        answer = await self._reach().handle(request)
        if isinstance(answer, HttpResponse):
            answer = StreamingResponse(answer.status, answer.headers, _whole(answer.body))
        try:
            yield answer
        finally:
            close = getattr(answer.chunks, "aclose", None)
            if close is not None:
                await close()

    @asynccontextmanager
    async def websocket(self, request: HttpRequest, _protocols: Sequence[str]) -> AsyncIterator[WebSocket]:
        """The embedded cluster's pods run nothing to connect to: the server says so, and no WebSocket is opened."""
        raise UpgradeRefused(await self.request(request))
        yield  # a generator, like every transport's

    async def close(self) -> None:
        self._server = None


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body
