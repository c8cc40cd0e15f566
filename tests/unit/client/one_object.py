"""The smallest server that can tell a lost update: one object, JSON Patch, resource versions."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, UpgradeRefused, WebSocket
from kubewright.patch import json_patch
from tests.unit.client.conftest import answer, refusal

Change = Callable[[dict[str, Any]], None]


class OneObject:
    """A transport. ``others`` are changes that somebody else makes, one before each PATCH that arrives."""

    def __init__(self, document: dict[str, Any], others: Sequence[Change] = ()) -> None:
        self.document = copy.deepcopy(document)
        self.version = 1
        self.others = list(others)
        self.patches: list[list[dict[str, Any]]] = []

    @property
    def stored(self) -> dict[str, Any]:
        metadata = {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": str(self.version)}
        head = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata}
        return {**head, **copy.deepcopy(self.document)}

    async def request(self, request: HttpRequest) -> HttpResponse:
        if request.method == "GET":
            return answer(self.stored)
        assert request.headers["content-type"] == "application/json-patch+json"
        if self.others:
            self.others.pop(0)(self.document)
            self.version += 1
        operations = msgspec.json.decode(request.body)
        self.patches.append(operations)
        patched: Any = json_patch.apply(self.stored, operations)
        if patched["metadata"]["resourceVersion"] != str(self.version):
            return refusal(409, "Conflict", "the object has been modified")
        if request.path.endswith("/status"):
            patched = {**self.stored, "status": patched.get("status")}
        self.document = {key: value for key, value in patched.items() if key not in {"apiVersion", "kind", "metadata"}}
        self.version += 1
        return answer(self.stored)

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        raise AssertionError(f"nobody streams here: {request.path}")
        yield

    @asynccontextmanager
    async def websocket(self, request: HttpRequest, protocols: Sequence[str], /) -> AsyncIterator[WebSocket]:
        raise UpgradeRefused(refusal(404, "NotFound"))
        yield

    async def close(self) -> None: ...
