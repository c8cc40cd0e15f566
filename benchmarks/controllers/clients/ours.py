"""Kubewright: an operator with one controller, with its log and its metrics, as ``kubewright run`` runs it."""

from __future__ import annotations

import msgspec

from benchmarks.cache.resources import SENT
from benchmarks.controllers.access import Access
from benchmarks.controllers.handled import READY, Handled
from benchmarks.controllers.widgets import Widget
from kubewright import Context, Operator
from kubewright.api import ResourceInfo
from kubewright.api.collector import collect_seldom
from kubewright.client import Client, HttpRequest, HttpResponse, HttpsTransport
from kubewright.operator import Manager
from kubewright.telemetry import Metrics, new_log

__all__ = ["Kubewright"]


class _Operation(msgspec.Struct):
    path: str
    value: msgspec.Raw


_operations = msgspec.json.Decoder(list[_Operation])
_encode = msgspec.json.Encoder().encode


class _MergePatches(HttpsTransport):
    """The stub knows no JSON Patch, so the status' is sent as a merge patch. What that costs is counted as ours."""

    async def request(self, request: HttpRequest) -> HttpResponse:
        if request.headers.get("content-type") == "application/json-patch+json":
            version, *fields = _operations.decode(request.body)
            status = {each.path.removeprefix("/status/"): each.value for each in fields}
            body = _encode({"metadata": {"resourceVersion": version.value}, "status": status})
            request = HttpRequest(request.method, request.path, request.query, request.headers, body)
        return await super().request(request)


class Kubewright:
    def __init__(self, access: Access, workers: int) -> None:
        transport = _MergePatches if access.is_stub else HttpsTransport
        self._client = Client(transport(access.config))
        self._workers = workers

    async def reconcile(self, handled: Handled) -> None:
        operator = Operator("bench")

        @operator.controller(Widget, workers=self._workers)
        async def reconcile(_widget: Widget, _ctx: Context) -> None:
            handled.began()
            handled()

        await self._run(operator)

    async def hear(self, handled: Handled) -> None:
        operator = Operator("bench")

        @operator.controller(Widget, workers=self._workers)
        async def reconcile(widget: Widget, _: Context) -> None:
            annotations = widget.metadata.annotations or {}
            handled.delayed(lambda: annotations[SENT])

        await self._run(operator)

    async def write(self, handled: Handled) -> None:
        def written(_info: ResourceInfo, _body: bytes) -> None:
            handled()

        self._client.observe(written)
        operator = Operator("bench")

        @operator.controller(Widget, workers=self._workers)
        async def reconcile(widget: Widget, _: Context) -> None:
            handled.began()
            if widget.status.phase != READY:
                widget.status.observed_generation = 1
                widget.status.ready_replicas = 3
                widget.status.phase = READY

        await self._run(operator)

    async def _run(self, operator: Operator[object]) -> None:
        manager = Manager(operator, self._client, log=new_log("json"), metrics=Metrics())
        collect_seldom()  # as `kubewright run` does
        await manager.run()
