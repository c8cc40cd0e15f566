"""A proxy between operators and an API server that writes down who wrote what, and when.

Each operator gets a kubeconfig of its own, which leads to the proxy over plain HTTP; the proxy has the credentials.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from aiohttp import ClientConnectionResetError, web

from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load_kubeconfig
from kubewright.client.transport import HttpRequest, TransportError

Moment = Literal["asked", "answered"]
_HOP_BY_HOP = {"host", "connection", "content-length", "content-encoding", "transfer-encoding", "accept-encoding"}


class Entrance(NamedTuple):
    """Where one replica reaches the proxy."""

    kubeconfig: Path


@dataclass
class Write:
    """One request that changes something; times are of the monotonic clock, in seconds."""

    replica: int
    agent: str
    method: str
    path: str
    asked: float
    answered: float = float("inf")
    """When the server had answered or broken off, whether or not anybody was there to hear it."""
    status: int = 0
    """0 as long as there is no answer, and for good where the server broke off: then nobody knows whether it was done."""
    holder: str = ""
    """Whom a Lease names since this write."""

    @property
    def done(self) -> bool:
        return 200 <= self.status < 300

    @property
    def kind(self) -> str:
        """Method and resource, with subresource: what a namespaced write is counted as."""
        resource, *rest = self._after_namespace()[1:]
        return "/".join([f"{self.method} {resource}", *rest[1:]])

    @property
    def namespace(self) -> str:
        """ "" where the object has none."""
        return (self._after_namespace() or [""])[0]

    def _after_namespace(self) -> list[str]:
        return self.path.partition("/namespaces/")[2].split("/")


class CountingProxy:
    """``writes`` are in the order in which they came, and ``notice`` hears of each as it comes and as it is answered."""

    def __init__(self, upstream: HttpsTransport) -> None:
        self.writes: list[Write] = []
        self.leases: list[Write] = []
        """Those after which a Lease names a holder."""
        self.entrances: list[Entrance] = []
        self.notice: Callable[[Write, Moment], None] = lambda _write, _moment: None
        self._upstream = upstream
        self._streams: set[asyncio.Task[None]] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """What has come is passed on, whether or not the one that sent it still lives, as an API server would do it."""
        passed = HttpRequest(
            request.method,
            "/" + request.match_info["path"],
            tuple(request.query.items()),
            {name.lower(): value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP},
            await request.read(),
        )
        if "watch" in request.query:
            return await self._stream(request, passed)
        try:
            if request.method == "GET":
                return await self._whole(passed)
            return await self._write(int(request.match_info["replica"]), passed)
        except TransportError:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=502)

    async def _write(self, replica: int, passed: HttpRequest) -> web.Response:
        write = Write(replica, passed.headers.get("user-agent", ""), passed.method, passed.path, time.monotonic())
        self.writes.append(write)
        self.notice(write, "asked")
        try:
            answer = await self._whole(passed)
        finally:
            write.answered = time.monotonic()
        write.status = answer.status
        if "/leases" in write.path and write.done:
            assert isinstance(answer.body, bytes)
            write.holder = json.loads(answer.body)["spec"]["holderIdentity"]
            self.leases.append(write)
        self.notice(write, "answered")
        return answer

    async def _whole(self, passed: HttpRequest) -> web.Response:
        answer = await self._upstream.request(passed)
        kept = {name: value for name, value in answer.headers.items() if name not in _HOP_BY_HOP}
        return web.Response(status=answer.status, headers=kept, body=answer.body)

    async def _stream(self, request: web.Request, passed: HttpRequest) -> web.StreamResponse:
        async with self._upstream.stream(passed) as answer:
            kept = {name: value for name, value in answer.headers.items() if name not in _HOP_BY_HOP}
            response = web.StreamResponse(status=answer.status, headers=kept)
            await response.prepare(request)
            passing = asyncio.ensure_future(_pass(answer.chunks, response))
            self._streams.add(passing)
            passing.add_done_callback(self._streams.discard)
            with suppress(asyncio.CancelledError):
                await passing
            return response

    async def end_streams(self) -> None:
        streams = [*self._streams]
        for each in streams:
            each.cancel()
        await asyncio.gather(*streams, return_exceptions=True)


async def _pass(chunks: AsyncIterator[bytes], response: web.StreamResponse) -> None:
    with suppress(ClientConnectionResetError):  # the reader was killed
        async for chunk in chunks:
            await response.write(chunk)


@asynccontextmanager
async def counting_proxy(kubeconfig: Path, folder: Path, *, replicas: int) -> AsyncIterator[CountingProxy]:
    """Before the server of ``kubeconfig``, with as many entrances as there are ``replicas``."""
    upstream = HttpsTransport(load_kubeconfig([kubeconfig]))
    proxy = CountingProxy(upstream)
    app = web.Application(client_max_size=0)
    app.router.add_route("*", "/{replica}/{path:.*}", proxy.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        _host, port = runner.addresses[0][:2]
        for number in range(replicas):
            server = f"http://127.0.0.1:{port}/{number}"
            entrance = Entrance(folder / f"replica-{number}.kubeconfig")
            entrance.kubeconfig.write_text(json.dumps(_kubeconfig(server)))
            proxy.entrances.append(entrance)
        yield proxy
    finally:
        await proxy.end_streams()
        await runner.cleanup()
        await upstream.close()


def _kubeconfig(server: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
