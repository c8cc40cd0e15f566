"""`MeteredTransport`: how many requests there are, how they end, how long they take and how large they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

from kubewright.client.transport import (
    HttpRequest,
    HttpResponse,
    StreamingResponse,
    Transport,
    TransportError,
    UpgradeRefused,
    WebSocket,
)
from kubewright.telemetry import Metrics, catalog

__all__ = ["MeteredTransport"]

_NO_ANSWER = "<error>"
_SWITCHED = 101


class MeteredTransport:
    """Counts each attempt that passes. A request that is sent again with a renewed credential counts once."""

    def __init__(self, inner: Transport, metrics: Metrics, *, server: str) -> None:
        """``server`` is the URL of the API server; its host and port become a label."""
        self._inner = inner
        self._metrics = metrics
        parts = urlsplit(server)
        self._host = parts.netloc.rpartition("@")[2]

    async def request(self, request: HttpRequest) -> HttpResponse:
        started = asyncio.get_running_loop().time()
        try:
            response = await self._inner.request(request)
        except TransportError:
            self._count(request, _NO_ANSWER, started)
            raise
        self._count(request, str(response.status), started)
        self._metrics.histogram(catalog.RESPONSE_SIZE, request.method, self._host).observe(len(response.body))
        return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        started = asyncio.get_running_loop().time()
        async with AsyncExitStack() as stack:
            try:
                response = await stack.enter_async_context(self._inner.stream(request))
            except TransportError:
                self._count(request, _NO_ANSWER, started)
                raise
            self._count(request, str(response.status), started)
            yield response

    @asynccontextmanager
    async def websocket(self, request: HttpRequest, protocols: Sequence[str]) -> AsyncIterator[WebSocket]:
        started = asyncio.get_running_loop().time()
        async with AsyncExitStack() as stack:
            try:
                socket = await stack.enter_async_context(self._inner.websocket(request, protocols))
            except UpgradeRefused as refusal:
                self._count(request, str(refusal.response.status), started)
                raise
            except TransportError:
                self._count(request, _NO_ANSWER, started)
                raise
            self._count(request, str(_SWITCHED), started)
            yield socket

    async def close(self) -> None:
        await self._inner.close()

    def _count(self, request: HttpRequest, code: str, started: float) -> None:
        metrics, method, host = self._metrics, request.method, self._host
        metrics.counter(catalog.REQUESTS, code, method, host).inc()
        metrics.histogram(catalog.REQUEST_SECONDS, method, host).observe(asyncio.get_running_loop().time() - started)
        metrics.histogram(catalog.REQUEST_SIZE, method, host).observe(len(request.body))
