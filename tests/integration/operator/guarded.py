"""A transport that stands for a server with RBAC, and for a network that dies without a word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, Transport, TransportError, WebSocket
from kubewright.testing.calls import Call

_REVIEW = "selfsubjectaccessreviews.authorization.k8s.io"


class GuardedTransport:
    """Refuses what is in ``forbidden``: verb and resource, as in ``("watch", "pods")`` or ``("patch", "pods/status")``."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.forbidden: set[tuple[str, str]] = set()
        self.user = "alice"
        self.named: dict[tuple[str, str], str] = {}
        """What is allowed only for the object of that name, as by a role's ``resourceNames``."""
        self.silent = False
        """Open watches say nothing any more, as when a firewall forgot them, and new ones are not reached."""
        self.garbled = ""
        """The end of a path for which somebody answers who is no API server."""
        self.reviews = 0
        self.together = 0
        """The most reviews that were asked for at the same time."""
        self._asked = 0
        self._cut = asyncio.Event()

    def break_connections(self) -> None:
        """Ends every watch that is open."""
        self._cut.set()
        self._cut = asyncio.Event()

    async def request(self, request: HttpRequest) -> HttpResponse:
        if self.garbled and request.path.endswith(self.garbled):
            return HttpResponse(200, {"content-type": "text/html"}, b"<p>Back soon!")
        call = Call.of(request)
        if call.resource == _REVIEW:
            self.reviews += 1
            self._asked += 1
            self.together = max(self.together, self._asked)
            await asyncio.sleep(0.001)
            self._asked -= 1
            return self._reviewed(await self._inner.request(request), msgspec.json.decode(request.body))
        if self._forbids(call):
            return HttpResponse(403, {"content-type": "application/json"}, self._refusal(call))
        return await self._inner.request(request)

    def _reviewed(self, answer: HttpResponse, review: dict[str, Any]) -> HttpResponse:
        asked = review["spec"]["resourceAttributes"]
        resource = asked["resource"] + (f"/{asked['subresource']}" if asked.get("subresource") else "")
        body = msgspec.json.decode(answer.body)
        asked_for = asked["verb"], resource
        fits = self.named.get(asked_for) in {None, asked.get("name")}
        body["status"] = {"allowed": fits and asked_for not in self.forbidden}
        return replace(answer, body=msgspec.json.encode(body))

    def _forbids(self, call: Call) -> bool:
        resource = call.resource.partition(".")[0] + (f"/{call.subresource}" if call.subresource else "")
        return (call.verb, resource) in self.forbidden

    def _refusal(self, call: Call) -> bytes:
        message = f'{call.resource} is forbidden: User "{self.user}" cannot {call.verb} resource "{call.resource}"'
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
        return msgspec.json.encode({**status, "message": message})

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[StreamingResponse]:
        return self._stream(request)

    @asynccontextmanager
    async def _stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        call = Call.of(request)
        if self.silent:
            raise TransportError(f"{call}: no route to host", may_be_applied=False)
        if self._forbids(call):
            yield StreamingResponse(403, {"content-type": "application/json"}, _one(self._refusal(call)))
            return
        async with self._inner.stream(request) as response:
            yield replace(response, chunks=self._heard(response.chunks, self._cut))

    async def _heard(self, chunks: AsyncIterator[bytes], cut: asyncio.Event) -> AsyncIterator[bytes]:
        broken = asyncio.create_task(cut.wait())
        try:
            while True:
                step = asyncio.ensure_future(anext(chunks, None))
                try:
                    await asyncio.wait([step, broken], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not step.done():
                        step.cancel()
                        await asyncio.wait([step])
                if broken.done():
                    raise TransportError("the connection broke", may_be_applied=False)
                if self.silent:
                    await asyncio.Event().wait()
                if (chunk := step.result()) is None:
                    return
                yield chunk
        finally:
            broken.cancel()

    def websocket(self, request: HttpRequest, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        return self._inner.websocket(request, protocols)

    async def close(self) -> None:
        await self._inner.close()


async def _one(chunk: bytes) -> AsyncIterator[bytes]:
    yield chunk
