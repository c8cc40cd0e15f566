"""A transport that answers from a script and keeps what it was asked."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from kubewright.api import JSON, Model, Resource, field, resource
from kubewright.client import (
    Client,
    HttpRequest,
    HttpResponse,
    StreamingResponse,
    TransportError,
    UpgradeRefused,
    WebSocket,
)


class Item(Model):
    name: str
    size: int | None = None


class WidgetSpec(Model):
    size: int | None = None
    items: list[Item] | None = None


class WidgetStatus(Model):
    ready: int | None = None


@resource("example.com/v1")
class Widget(Resource):
    spec: WidgetSpec = field(default_factory=WidgetSpec)
    status: WidgetStatus = field(default_factory=WidgetStatus)


@resource("v1", scope="Cluster")
class Node(Resource):
    spec: dict[str, JSON] | None = None


Answer = HttpResponse | TransportError | list[bytes]


class Script:
    """Answers in order; a list of chunks is a stream. Asking for more than was scripted fails the test."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.requests: list[HttpRequest] = []
        self.open_streams = 0
        self.closed = False

    def will_answer(self, *answers: Answer) -> None:
        self.answers.extend(answers)

    @property
    def last(self) -> HttpRequest:
        return self.requests[-1]

    def sent(self) -> Any:
        return msgspec.json.decode(self.last.body)

    async def request(self, request: HttpRequest) -> HttpResponse:
        answer = self._next(request)
        assert isinstance(answer, HttpResponse)
        return answer

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        answer = self._next(request)
        self.open_streams += 1
        try:
            if isinstance(answer, HttpResponse):
                chunks = _each([answer.body])
                yield StreamingResponse(answer.status, answer.headers, chunks, answer.refused_identity)
            else:
                yield StreamingResponse(200, {}, _each(answer))
        finally:
            self.open_streams -= 1

    @asynccontextmanager
    async def websocket(self, request: HttpRequest, protocols: Sequence[str], /) -> AsyncIterator[WebSocket]:
        answer = self._next(request)
        assert isinstance(answer, HttpResponse)
        raise UpgradeRefused(answer)
        yield

    def _next(self, request: HttpRequest) -> HttpResponse | list[bytes]:
        self.requests.append(request)
        assert self.answers, f"nothing scripted for {request.method} {request.path}"
        answer = self.answers.pop(0)
        if isinstance(answer, TransportError):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


async def _each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def answer(body: object, status: int = 200, **headers: str) -> HttpResponse:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status, sent, body if isinstance(body, bytes) else msgspec.json.encode(body))


def refusal(code: int, reason: str, message: str = "no", **headers: str) -> HttpResponse:
    status = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason, "message": message}
    return answer({**status, "code": code}, code, **headers)


def widget(name: str = "a", version: str = "7", **parts: object) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": "u1", "resourceVersion": version}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": {"size": 1}, **parts}


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waits


@pytest.fixture
def client(script: Script) -> Client:
    return Client(script, field_manager="tests", rng=random.Random(0))


@pytest.fixture
def make() -> Callable[..., Widget]:
    """A widget as a user makes it."""

    def make_widget(name: str = "a", size: int | None = 1, **metadata: Any) -> Widget:
        from kubewright.api import ObjectMeta

        return Widget(metadata=ObjectMeta(name=name, namespace="ns", **metadata), spec=WidgetSpec(size=size))

    return make_widget
