"""A loop whose time jumps, and a small API server for one resource that can be made to misbehave."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Literal, Protocol, TypeVar

import msgspec
import pytest
from structlog.testing import LogCapture
from structlog.typing import FilteringBoundLogger

from kubewright.api import JSON, LoopClock, Model, Resource, Selector, field, resource
from kubewright.cache import Cache
from kubewright.client import Client, HttpRequest, HttpResponse, StreamingResponse, TransportError
from kubewright.client.transport import WebSocket

T = TypeVar("T")
Object = dict[str, Any]


class WidgetSpec(Model):
    size: int = 0


@resource("example.com/v1")
class Widget(Resource):
    spec: WidgetSpec = field(default_factory=WidgetSpec)
    status: dict[str, JSON] | None = None


class _Jumping(selectors.SelectSelector):
    """Never waits: time goes to the next timer."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing can ever wake this loop")
        self.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._jumping.now


class RunVirtually(Protocol):
    def __call__(self, main: Coroutine[Any, Any, T]) -> T: ...


@pytest.fixture
def run() -> RunVirtually:
    """Runs a coroutine in virtual time: hours cost nothing, and waiting for nothing is an error."""

    def run_virtually(main: Coroutine[Any, Any, T]) -> T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(main)

    return run_virtually


class FakeServer:
    """Lists, watches and a few writes of widgets. Not a Kubernetes: just enough to be read from, and to fail."""

    def __init__(self) -> None:
        self.version = 100
        self.objects: dict[tuple[str, str], Object] = {}
        self.log: list[tuple[int, str, Object]] = []
        self.oldest = 100
        self.requests: list[HttpRequest] = []
        self.reachable = True
        self.crd = True
        self.refusal: tuple[int, str] | None = None
        self.refused_namespace = ""
        self.expired_continues = 0
        self.streaming: Literal["no", "yes", "endless"] = "no"
        """Whether there are streaming lists; the end of endless ones is not told."""
        self.plain = False
        """Whether only whole objects are to be had."""
        self.answer_delay: Callable[[], float] = lambda: 0.0
        self.opening_delay = 0.001
        """Seconds until a watch is answered at all."""
        self.refuse_the_future = False
        """Whether a version that is yet to come is refused, as real servers do."""
        self._uids = 0
        self._streams: dict[asyncio.Queue[bytes | Exception | None], HttpRequest] = {}

    # what tests do to it

    def put(self, name: str, *, namespace: str = "ns", size: object = 0, **metadata: object) -> Object:
        key = (namespace, name)
        old = self.objects.get(key)
        if old is None:
            self._uids += 1
        self.version += 1
        identity = {
            "name": name,
            "namespace": namespace,
            "uid": old["metadata"]["uid"] if old else f"uid-{self._uids}",
            "resourceVersion": str(self.version),
        }
        obj = {"metadata": {**metadata, **identity}, "spec": {"size": size}}
        self.objects[key] = obj
        self._record("MODIFIED" if old else "ADDED", obj)
        return obj

    def put_silently(self, name: str) -> None:
        """As `put`, and no watch hears of it."""
        streams, self._streams = self._streams, {}
        self.put(name)
        self._streams = streams

    def remove(self, name: str, *, namespace: str = "ns") -> Object:
        self.version += 1
        obj = self.objects.pop((namespace, name))
        last = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        self._record("DELETED", last)
        return last

    def bookmark(self, version: int | None = None) -> None:
        self.send("BOOKMARK", _bookmark(version or self.version))

    def send(self, kind: str, obj: Object) -> None:
        for stream, request in self._streams.items():
            if kind == "BOOKMARK" or _selected(request, obj):
                line = msgspec.json.encode({"type": kind, "object": self._shown(request, obj)}) + b"\n"
                half = len(line) // 2
                stream.put_nowait(line[:half])  # lines never come in one piece
                stream.put_nowait(line[half:])

    def say(self, text: bytes) -> None:
        """Sends what is no event, perhaps."""
        for stream in self._streams:
            stream.put_nowait(text)

    def end_watches(self, error: Exception | None = None) -> None:
        for stream in self._streams:
            stream.put_nowait(error)

    def deafen_watches(self) -> None:
        """Open watches hear nothing any more, as when a connection dies without a word."""
        self._streams.clear()

    def compact(self) -> None:
        self.log.clear()
        self.oldest = self.version

    def restart_empty(self, *, version: int) -> None:
        self.end_watches(TransportError("connection reset", may_be_applied=False))
        self.objects.clear()
        self.log.clear()
        self.version = self.oldest = version
        self.crd = False

    def _end_in_time(self, stream: asyncio.Queue[bytes | Exception | None]) -> None:
        """A watch lasts as long as was asked for; one that nothing comes through any more doesn't even end."""
        if stream in self._streams:
            stream.put_nowait(None)

    @property
    def watching(self) -> int:
        return len(self._streams)

    def calls(self, kind: Literal["list", "watch", "stream", "probe"]) -> list[dict[str, str]]:
        """The queries of all lists, watches from a version, streaming lists, or questions for the newest version."""
        queries = [dict(request.query) for request in self.requests if request.method == "GET"]
        return [query for query in queries if _kind_of(query) == kind]

    def _record(self, kind: str, obj: Object) -> None:
        self.log.append((self.version, kind, obj))
        self.send(kind, obj)

    # what the client does to it

    async def request(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        await asyncio.sleep(0.001)
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        if request.method != "GET":
            answer = self._write(request)
            await asyncio.sleep(self.answer_delay())
            return answer
        if request.path.count("/") > 6:
            key = (request.path.split("/")[5], request.path.split("/")[7])
            found = self.objects.get(key)
            return _json(found) if found else _failure(404, "NotFound", f'widgets.example.com "{key[1]}" not found')
        return await self._list(request)

    async def _list(self, request: HttpRequest) -> HttpResponse:
        query = dict(request.query)
        start = int(query.get("continue", "0"))
        if start and self.expired_continues:
            self.expired_continues -= 1
            return _failure(410, "Expired", "The provided continue parameter is too old")
        found = [self._shown(request, obj) for _, obj in sorted(self.objects.items()) if _selected(request, obj)]
        limit = int(query.get("limit", len(found) or 1))
        meta = {"resourceVersion": str(self.version)}
        if start + limit < len(found):
            meta["continue"] = str(start + limit)
        answer = _json({"kind": "WidgetList", "metadata": meta, "items": found[start : start + limit]})
        await asyncio.sleep(self.answer_delay())
        return answer

    def _write(self, request: HttpRequest) -> HttpResponse:
        parts = request.path.split("/")
        namespace = parts[5]
        if request.method == "DELETE":
            found = self.objects.get((namespace, parts[7]))
            if found is None:
                return _failure(404, "NotFound", f'widgets.example.com "{parts[7]}" not found')
            wanted = msgspec.json.decode(request.body or b"{}").get("preconditions", {}).get("uid")
            if wanted not in {None, found["metadata"]["uid"]}:
                return _failure(409, "Conflict", "the UID in the precondition does not match")
            gone = self.remove(parts[7], namespace=namespace)["metadata"]
            details = {"name": gone["name"], "uid": gone["uid"]}
            return _json({"apiVersion": "v1", "kind": "Status", "status": "Success", "details": details})
        body = msgspec.json.decode(request.body)
        if len(parts) > 8 and parts[8] == "scale":
            scaled = self.put(parts[7], namespace=namespace, size=body["spec"]["replicas"])
            return _json({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": scaled["metadata"]})
        if ("dryRun", "All") in request.query:
            return _json({**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version + 1)}})
        labels = {"labels": body["metadata"]["labels"]} if "labels" in body["metadata"] else {}
        return _json(
            self.put(body["metadata"]["name"], namespace=namespace, size=body.get("spec", {}).get("size", 0), **labels)
        )

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        self.requests.append(request)
        await asyncio.sleep(self.opening_delay)
        refusal = self._refusal(request)
        if refusal is not None:
            yield StreamingResponse(refusal.status, refusal.headers, _once(refusal.body))
            return
        query = dict(request.query)
        initial = "sendInitialEvents" in query
        if initial and self.streaming == "no":
            refused = _failure(422, "Invalid", "sendInitialEvents is forbidden for watch")
            yield StreamingResponse(refused.status, refused.headers, _once(refused.body))
            return
        version = self.version if initial else int(query["resourceVersion"])
        if version > self.version and self.refuse_the_future:
            refused = _failure(504, "Timeout", f"Too large resource version: {version}", "ResourceVersionTooLarge")
            yield StreamingResponse(refused.status, refused.headers, _once(refused.body))
            return
        present = [obj for _, obj in sorted(self.objects.items())] if initial else []
        queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self._streams[queue] = request
        end = asyncio.get_running_loop().call_later(float(query["timeoutSeconds"]), self._end_in_time, queue)
        try:
            yield StreamingResponse(200, {}, self._chunks(request, queue, present, version))
        finally:
            end.cancel()
            self._streams.pop(queue, None)

    def websocket(self, request: HttpRequest, protocols: Sequence[str], /) -> AbstractAsyncContextManager[WebSocket]:
        raise NotImplementedError("a cache opens none")

    def _shown(self, request: HttpRequest, obj: Object) -> Object:
        """The object in the form that was asked for."""
        if self.plain or "PartialObjectMetadata" not in request.headers["accept"]:
            return obj
        return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}

    async def _chunks(
        self,
        request: HttpRequest,
        queue: asyncio.Queue[bytes | Exception | None],
        present: list[Object],
        version: int,
    ) -> AsyncIterator[bytes]:
        initial = "sendInitialEvents" in dict(request.query)
        for obj in present:
            if _selected(request, obj):
                yield msgspec.json.encode({"type": "ADDED", "object": self._shown(request, obj)}) + b"\n"
            await asyncio.sleep(self.answer_delay())
        if initial and self.streaming == "yes":
            end = _bookmark(version, annotations={"k8s.io/initial-events-end": "true"})
            yield msgspec.json.encode({"type": "BOOKMARK", "object": end}) + b"\n"
        if not initial and version < self.oldest:
            status = msgspec.json.decode(_failure(410, "Expired", f"too old resource version: {version}").body)
            yield msgspec.json.encode({"type": "ERROR", "object": status}) + b"\n"
            return
        if not initial:
            backlog = [
                {"type": kind, "object": self._shown(request, obj)}
                for at, kind, obj in self.log
                if at > version and _selected(request, obj)
            ]
            yield b"".join(msgspec.json.encode(event) + b"\n" for event in backlog)
        while (chunk := await queue.get()) is not None:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk

    def _refusal(self, request: HttpRequest) -> HttpResponse | None:
        if not self.reachable:
            raise TransportError("connection refused", may_be_applied=False)
        if not self.crd:
            return HttpResponse(404, {"content-type": "text/plain"}, b"404 page not found\n")
        if self.refused_namespace and f"/namespaces/{self.refused_namespace}/" in request.path:
            return _failure(403, "Forbidden", "not here")
        if self.refusal is not None:
            return _failure(self.refusal[0], "", self.refusal[1])
        return None

    async def close(self) -> None:
        pass


def _kind_of(query: dict[str, str]) -> str:
    if "watch" not in query:
        return "probe" if query.get("limit") == "1" else "list"
    return "stream" if "sendInitialEvents" in query else "watch"


def _selected(request: HttpRequest, obj: Object) -> bool:
    """Whether the object is in the namespace and the selection that was asked for; leaving it is not told of."""
    parts = request.path.split("/")
    if "namespaces" in parts and obj["metadata"]["namespace"] != parts[parts.index("namespaces") + 1]:
        return False
    selector = Selector.parse(dict(request.query).get("labelSelector", ""))
    return selector.matches(obj["metadata"].get("labels"))


def _bookmark(version: int, **metadata: object) -> Object:
    return {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": str(version), **metadata}}


def _json(body: object) -> HttpResponse:
    return HttpResponse(200, {"content-type": "application/json"}, msgspec.json.encode(body))


def _failure(code: int, reason: str, message: str, cause: str = "") -> HttpResponse:
    status: Object = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "message": message}
    if reason:
        status["reason"] = reason
    if cause:
        status["details"] = {"causes": [{"reason": cause, "message": message}]}
    return HttpResponse(code, {}, msgspec.json.encode(status))


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


class World:
    """A server, a client and a cache over it, and what was logged."""

    def __init__(self, log: FilteringBoundLogger, logged: LogCapture) -> None:
        self.server = FakeServer()
        self.clock = LoopClock()
        self.client = Client(self.server, clock=self.clock, rng=random.Random(1))
        self.log = log
        self.cache = self.new_cache()
        self.logged = logged

    def new_cache(self, **options: Any) -> Cache:
        return Cache(self.client, clock=self.clock, rng=random.Random(2), log=self.log, **options)

    @asynccontextmanager
    async def running(self, *, synced: bool = True) -> AsyncIterator[None]:
        """The cache runs within the block."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.cache.run())
            if synced:
                await self.cache.synced()
                await asyncio.sleep(0.01)
            yield
            task.cancel()

    def messages(self, level: str) -> list[str]:
        return [str(entry["event"]) for entry in self.logged.entries if entry["log_level"] == level]


@pytest.fixture
def world() -> World:
    import structlog

    logged = LogCapture()
    log: FilteringBoundLogger = structlog.wrap_logger(
        None, processors=[logged], wrapper_class=structlog.make_filtering_bound_logger(0)
    )
    return World(log, logged)


@pytest.fixture
def widget() -> type[Widget]:
    return Widget
