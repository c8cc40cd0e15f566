"""`RecordingTransport`: which requests were sent, counted where they leave."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, Transport, WebSocket
from kubewright.client.transport import SAFE_METHODS

__all__ = ["RecordingTransport"]


class RecordingTransport:
    """Passes requests on to ``inner`` and remembers them."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.requests: list[HttpRequest] = []

    @property
    def writes(self) -> list[HttpRequest]:
        """The requests that may change something."""
        return [request for request in self.requests if request.method not in SAFE_METHODS]

    def clear(self) -> None:
        self.requests.clear()

    async def request(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        return await self._inner.request(request)

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[StreamingResponse]:
        self.requests.append(request)
        return self._inner.stream(request)

    def websocket(self, request: HttpRequest, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        self.requests.append(request)
        return self._inner.websocket(request, protocols)

    async def close(self) -> None:
        await self._inner.close()
