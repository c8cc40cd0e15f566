"""`FaultyTransport`: an operator's way to the API server, on which everything is traced and anything can go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from typing import Any, Literal, TypeVar

import msgspec

from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, Transport, TransportError, WebSocket
from kubewright.client.answers import REASONS
from kubewright.testing.calls import WATCHES, Call
from kubewright.testing.events import WatchFaults
from kubewright.testing.faults import Crash, Delay, Faults, LoseAnswer, LoseRequest, Refuse, RequestFault, StaleView
from kubewright.testing.stale import exactly_at, starting_at
from kubewright.testing.trace import Sent, Trace

__all__ = ["FaultyTransport", "Traffic"]

F = TypeVar("F")
Latency = tuple[float, float]
_NONE: Latency = (0.0, 0.0)


class Traffic:
    """What all starts of one operator share: numbers, trace, faults, and what is on its way."""

    def __init__(self, trace: Trace, faults: Faults, *, latency: Latency = _NONE) -> None:
        """``latency``: from and to how many seconds a request takes to the server, and its answer back."""
        self.trace = trace
        self.faults = faults
        self.latency = latency
        self.events = 0
        """Events that have arrived on watches."""
        self.held = 0
        """Events that are held back now."""
        self._numbers = 0

    def number(self) -> int:
        self._numbers += 1
        return self._numbers


class FaultyTransport:
    """Passes requests of one process of the operator on to ``inner``. ``crash`` ends that process.

    A process that has crashed is not heard of again: whatever it still tries is cancelled, and reaches nobody.
    """

    def __init__(self, inner: Transport, traffic: Traffic, *, process: int, crash: Callable[[], None]) -> None:
        self._inner = inner
        self._traffic = traffic
        self._process = process
        self._crash = crash
        self._dead = False

    async def request(self, request: HttpRequest) -> HttpResponse:
        sent, faults = self._leaves(request)
        await self._way(self._pause(sent, faults, "before"))
        crash, lost = _first(faults, Crash), _first(faults, LoseRequest)
        if crash is not None and (crash.when == "before" or lost is not None):
            await self._die(sent)
        if lost is not None:
            self._say(sent, "! the request is lost")
            raise TransportError(f"{sent.call}: the connection broke (a test's fault)", may_be_applied=lost.unsure)
        refusal, stale = _first(faults, Refuse), _first(faults, StaleView)
        if refusal is not None:
            answer = _refusal(refusal)
        else:
            answer = await self._inner.request(request if stale is None else exactly_at(request, stale.revision))
        if crash is not None:
            await self._die(sent)
        if _first(faults, LoseAnswer) is not None:
            self._say(sent, f"! its answer is lost: {answer.status}", answer.body)
            raise TransportError(f"{sent.call}: the connection broke (a test's fault)", may_be_applied=True)
        sent.status, sent.answer = answer.status, answer.body
        await self._way(self._pause(sent, faults, "after"))
        self._say(sent, f"-> {answer.status}", answer.body)
        return answer

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        sent, faults = self._leaves(request)
        await self._way(self._pause(sent, faults, "before"))
        if _first(faults, Crash) is not None:
            await self._die(sent)
        if _first(faults, LoseRequest) is not None or _first(faults, LoseAnswer) is not None:
            self._say(sent, "! the request is lost")
            raise TransportError(f"{sent.call}: the connection broke (a test's fault)", may_be_applied=False)
        refusal, stale = _first(faults, Refuse), _first(faults, StaleView)
        if refusal is not None:
            answer = _refusal(refusal)
            sent.status = answer.status
            self._say(sent, f"-> {answer.status}", answer.body)
            yield StreamingResponse(answer.status, answer.headers, _whole(answer.body))
            return
        head = b""
        if stale is not None:
            request, head = await starting_at(self._inner, request, stale.revision)
        async with self._inner.stream(request) as response:
            sent.status = response.status
            await self._way(self._pause(sent, faults, "after"))
            self._say(sent, f"-> {response.status}")
            if sent.call.verb != "watch" or response.status != 200:
                yield response
                return
            hold = 0.0 if stale is None else stale.lag
            watch = WatchFaults(response.chunks, self._traffic, sent, hold=hold, head=head)
            try:
                yield StreamingResponse(response.status, response.headers, self._while_alive(watch.chunks()))
            finally:
                await watch.close()

    def websocket(self, request: HttpRequest, protocols: Sequence[str], /) -> AbstractAsyncContextManager[WebSocket]:
        self._leaves(request)
        return self._inner.websocket(request, protocols)

    async def close(self) -> None:
        await self._inner.close()

    def _leaves(self, request: HttpRequest) -> tuple[Sent, list[RequestFault]]:
        if self._dead:
            raise asyncio.CancelledError("this process has crashed")
        traffic = self._traffic
        sent = Sent(
            number=traffic.number(),
            at=asyncio.get_running_loop().time(),
            process=self._process,
            call=Call.of(request),
            body=request.body,
        )
        traffic.trace.sent.append(sent)
        query = "&".join(f"{key}={value}" for key, value in request.query)
        self._say(sent, f"{request.method} {request.path}{'?' if query else ''}{query}", request.body)
        faults = traffic.faults.of_request(sent.number, sent.call)
        for fault in faults:
            self._say(sent, f"! {fault}")
        if sent.call.verb not in WATCHES:
            faults = [fault for fault in faults if not isinstance(fault, StaleView)]
        return sent, faults

    def _pause(self, sent: Sent, faults: list[RequestFault], leg: Literal["before", "after"]) -> float:
        """Seconds to the server, or back from it."""
        traffic = self._traffic
        seconds = 0.0
        if traffic.latency != _NONE:
            seconds = traffic.faults.latency(sent.number, traffic.latency)[0 if leg == "before" else 1]
        delays = [fault for fault in faults if isinstance(fault, Delay)]
        return seconds + sum(fault.before if leg == "before" else fault.after for fault in delays)

    async def _way(self, seconds: float) -> None:
        if seconds > 0:
            await asyncio.sleep(seconds)
        if self._dead:
            raise asyncio.CancelledError("this process has crashed")

    async def _die(self, sent: Sent) -> None:
        self._say(sent, "! the process ends here")
        self._dead = True
        self._crash()
        await asyncio.Event().wait()  # until the crash, which cancels everything, has reached us

    async def _while_alive(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            if self._dead:
                raise asyncio.CancelledError("this process has crashed")
            yield chunk

    def _say(self, sent: Sent, what: str, body: bytes = b"") -> None:
        self._traffic.trace.add(f"#{sent.number}", what, body)


def _first(faults: list[RequestFault], kind: type[F]) -> F | None:
    return next((fault for fault in faults if isinstance(fault, kind)), None)


def _refusal(fault: Refuse) -> HttpResponse:
    headers = {"content-type": "application/json"}
    details: dict[str, Any] = {}
    if fault.retry_after is not None:
        headers["retry-after"] = str(fault.retry_after)
        details = {"details": {"retryAfterSeconds": fault.retry_after}}
    reason = fault.reason or REASONS.get(fault.status) or HTTPStatus(fault.status).phrase.replace(" ", "")
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": fault.status}
    body = msgspec.json.encode({**status, "reason": reason, "message": fault.message, **details})
    return HttpResponse(fault.status, headers, body)


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    yield body
