"""`RestClient`: the verbs of the Kubernetes API on raw JSON, with retries and errors as exceptions."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import msgspec

from kubewright.api import Clock, DecodeError, Forbidden, ResourceInfo, SystemClock
from kubewright.client.answers import (
    FIRST_REFUSAL,
    body_or_error,
    is_status,
    refused_upgrade,
    removed_uid,
    stream_error,
)
from kubewright.client.requests import Query, resource_path
from kubewright.client.retries import Retries
from kubewright.client.server_warnings import ServerWarnings
from kubewright.client.transport import (
    HttpRequest,
    HttpResponse,
    Transport,
    TransportError,
    UpgradeRefused,
    WebSocket,
)
from kubewright.client.watch import WatchEvents
from kubewright.telemetry import Log, null_log

__all__ = ["Deleted", "RestClient", "Written"]

Written = Callable[[ResourceInfo, bytes], Awaitable[None] | None]
"""Called with the object that a write's answer holds, before the caller has it; what it returns is waited for."""
Deleted = Callable[[ResourceInfo, str, str, str], None]
"""Called with namespace (empty for cluster-scoped kinds), name and UID of an object that a DELETE removed at once."""

_JSON = "application/json"
_ANSWERED_WITH_THE_OBJECT = frozenset({None, "status", "ephemeralcontainers", "resize", "approval", "finalize"})
"""Subresources whose answer is the whole object; a scale or an eviction is another kind."""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class RestClient:
    """Sends requests to one API server and turns its refusals into `ApiError`.

    Guarantees
        A GET is tried again when the connection fails and when the server asks for patience. A write is sent again
        only when it certainly did not arrive, or the server refused it with 429 and said when to come back. Every
        write of an object passes `_write`, and who observes hears of its result before the caller does. What the
        server warns of is logged, once.
    Assumptions
        Deadlines are the caller's, by `asyncio.timeout`: whatever goes on here ends with them, waits between attempts
        included. The server is not told of them, as they can't be read.
    Errors
        `ApiError` for what the server refuses, `TransportError` when it was not reached.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        user_agent: str = "kubewright",
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        self.transport = transport
        self._headers = {"user-agent": user_agent, "accept": _JSON}
        self.log = log or null_log()
        self._warnings = ServerWarnings(self.log)
        self._retries = Retries(transport, clock=clock or SystemClock(), rng=rng or random.Random())
        self._observers: list[tuple[Written, Deleted | None]] = []

    def observe(self, written: Written, deleted: Deleted | None = None) -> Callable[[], None]:
        """Hears of every write's result; returns what ends it. Callbacks must be quick and must not raise."""
        observer = (written, deleted)
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    async def get(
        self,
        info: ResourceInfo,
        name: str,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        query: Query = (),
    ) -> bytes:
        path = resource_path(info, namespace=namespace, name=name, subresource=subresource)
        return await self._read(HttpRequest("GET", path, tuple(query), self._headers))

    async def list(
        self, info: ResourceInfo, *, namespace: str | None = None, query: Query = (), accept: str = _JSON
    ) -> bytes:
        """One page; ``query`` holds selectors, limit and continue, ``accept`` names the form of the answer."""
        path = resource_path(info, namespace=namespace)
        return await self._read(HttpRequest("GET", path, tuple(query), self._headers | {"accept": accept}))

    async def create(
        self,
        info: ResourceInfo,
        body: bytes,
        *,
        namespace: str | None = None,
        name: str | None = None,
        subresource: str | None = None,
        query: Query = (),
    ) -> bytes:
        """POST; ``name`` and ``subresource`` are for subresources that are created, such as an eviction."""
        if info.namespaced and namespace is None:
            raise ValueError(f"{info.kind}: creating one needs a namespace")
        path = resource_path(info, namespace=namespace, name=name, subresource=subresource)
        headers = self._headers | {"content-type": _JSON}
        request = HttpRequest("POST", path, tuple(query), headers, body)
        return await self._write(info, request, namespace=namespace, name=name or "", subresource=subresource)

    async def update(
        self,
        info: ResourceInfo,
        name: str,
        body: bytes,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        query: Query = (),
    ) -> bytes:
        """PUT: replaces the object whole, so ``body`` must hold every field that is to stay."""
        path = resource_path(info, namespace=namespace, name=name, subresource=subresource)
        headers = self._headers | {"content-type": _JSON}
        request = HttpRequest("PUT", path, tuple(query), headers, body)
        return await self._write(info, request, namespace=namespace, name=name, subresource=subresource)

    async def patch(
        self,
        info: ResourceInfo,
        name: str,
        body: bytes,
        *,
        content_type: str,
        namespace: str | None = None,
        subresource: str | None = None,
        query: Query = (),
    ) -> bytes:
        path = resource_path(info, namespace=namespace, name=name, subresource=subresource)
        headers = self._headers | {"content-type": content_type}
        request = HttpRequest("PATCH", path, tuple(query), headers, body)
        return await self._write(info, request, namespace=namespace, name=name, subresource=subresource)

    async def delete(
        self,
        info: ResourceInfo,
        name: str,
        body: bytes = b"",
        *,
        namespace: str | None = None,
        query: Query = (),
    ) -> bytes:
        """DELETE; the answer is a Status when the object is gone, the object when something still holds it."""
        path = resource_path(info, namespace=namespace, name=name)
        headers = self._headers | {"content-type": _JSON} if body else self._headers
        request = HttpRequest("DELETE", path, tuple(query), headers, body)
        return await self._write(info, request, namespace=namespace, name=name, subresource=None)

    async def delete_collection(
        self, info: ResourceInfo, body: bytes = b"", *, namespace: str | None = None, query: Query = ()
    ) -> bytes:
        """DELETE of all objects that ``query`` selects.

        Observers hear nothing: the answer lists the objects as they were, not which of them are gone.
        """
        path = resource_path(info, namespace=namespace)
        headers = self._headers | {"content-type": _JSON} if body else self._headers
        return body_or_error(await self._sent(HttpRequest("DELETE", path, tuple(query), headers, body)))

    @asynccontextmanager
    async def watch(
        self, info: ResourceInfo, *, namespace: str | None = None, query: Query = (), accept: str = _JSON
    ) -> AsyncIterator[WatchEvents]:
        """Opens one watch and closes it on leaving the block; it ends when the server ends it. Never tried again."""
        path = resource_path(info, namespace=namespace)
        async with self.stream(path, (("watch", "true"), *query), accept=accept) as chunks:
            yield WatchEvents(chunks)

    @asynccontextmanager
    async def stream(self, path: str, query: Query = (), *, accept: str = _JSON) -> AsyncIterator[AsyncIterator[bytes]]:
        """A GET whose answer's body is read as it arrives, until the block is left. Never tried again."""
        request = HttpRequest("GET", path, tuple(query), self._headers | {"accept": accept})
        async with self.transport.stream(request) as response:
            if (warning := response.headers.get("warning")) is not None:
                self._warnings.note(warning)
            if response.status >= FIRST_REFUSAL:
                raise await stream_error(response)
            yield response.chunks

    @asynccontextmanager
    async def websocket(self, path: str, query: Query, protocols: Sequence[str]) -> AsyncIterator[WebSocket]:
        """A WebSocket that speaks one of ``protocols``, until the block is left.

        Raises `ApiError` where the server refuses, `TransportError` where it agreed to none of the protocols.
        """
        request = HttpRequest("GET", path, tuple(query), {"user-agent": self._headers["user-agent"]})
        async with AsyncExitStack() as stack:
            try:
                socket = await stack.enter_async_context(self.transport.websocket(request, protocols))
            except UpgradeRefused as refusal:
                raise refused_upgrade(refusal.response) from None
            if socket.protocol not in protocols:
                known = ", ".join(protocols)
                raise TransportError(f"GET {path}: the server speaks none of {known}", may_be_applied=False)
            yield socket

    async def read(self, path: str, query: Query = (), *, accept: str = _JSON) -> bytes:
        """A GET of what is neither object nor collection, such as discovery."""
        return await self._read(HttpRequest("GET", path, tuple(query), self._headers | {"accept": accept}))

    async def version(self) -> str:
        """The server's version, such as ``v1.36.4``, which it tells everybody. Raises `DecodeError` for what tells none."""
        answer = await self._read(HttpRequest("GET", "/version", (), self._headers))
        try:
            return msgspec.json.decode(answer, type=_Version).git_version
        except msgspec.DecodeError as error:
            raise DecodeError(f"not a version: {error}") from error

    async def authenticate(self) -> None:
        """Asks for something that only the authenticated may see. Raises `Unauthorized` where the server does not know us."""
        with suppress(Forbidden):  # then it knows us, and we may not list its API, which is another matter
            await self._read(HttpRequest("GET", "/api", (), self._headers))

    async def _read(self, request: HttpRequest) -> bytes:
        return body_or_error(await self._sent(request))

    async def _sent(self, request: HttpRequest) -> HttpResponse:
        response = await self._retries.send(request)
        if (warning := response.headers.get("warning")) is not None:
            self._warnings.note(warning)
        return response

    async def _write(
        self, info: ResourceInfo, request: HttpRequest, *, namespace: str | None, name: str, subresource: str | None
    ) -> bytes:
        """The one way by which anything changes on the server."""
        body = body_or_error(await self._sent(request))
        dry = "dryRun" in [parameter for parameter, _ in request.query]
        if subresource in _ANSWERED_WITH_THE_OBJECT and not dry:
            if request.method == "DELETE" and (uid := removed_uid(body)):
                self._tell_removed(info, namespace or "", name, uid)
            elif not is_status(body):
                for waiting in [written(info, body) for written, _ in self._observers]:
                    if waiting is not None:
                        await waiting
        return body

    def _tell_removed(self, info: ResourceInfo, namespace: str, name: str, uid: str) -> None:
        for _, deleted in self._observers:
            if deleted is not None:
                deleted(info, namespace, name, uid)
