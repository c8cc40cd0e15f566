"""`World`: what a case can do to a server. Each case has a namespace of its own and takes down every answer."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, Transport
from tests.conformance.transcript import Transcript

__all__ = ["Answer", "Watch", "World"]

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Query = Mapping[str, str]


class Answer:
    """One answer, decoded where it is JSON."""

    def __init__(self, response: HttpResponse) -> None:
        self.status = response.status
        self.headers = dict(response.headers)
        body = response.body
        if body.startswith(b"\x1f\x8b"):  # over HTTPS it is read decompressed
            body = gzip.decompress(body)
        self.text = body.decode("utf-8", "replace")
        self.body = _decoded(self.text)

    def __getitem__(self, key: str) -> Any:
        return self.body[key]

    @property
    def version(self) -> str:
        return str(self.body["metadata"]["resourceVersion"])

    @property
    def uid(self) -> str:
        return str(self.body["metadata"]["uid"])


class World:
    """One case's way to one server.

    Paths may contain ``{ns}``, the case's namespace. ``label`` names the step in the transcript; a step without one is
    preparation and is not compared. Every request is made as user agent ``conformance``, which so becomes the manager.
    """

    WAIT = 120.0
    """Seconds after which what a server does by itself is given up: a real collector may look only every 30 s."""

    def __init__(
        self,
        transport: Transport,
        *,
        namespace: str,
        real: bool,
        compact: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        self.transport = transport
        self.namespace = namespace
        self.real = real
        """Whether another server than the embedded one is asked: slower, and with work of its own going on."""
        self.transcript = Transcript({namespace: "<namespace>", "mini-apiserver": "kube-apiserver"})
        self._compact = compact

    def future(self) -> str:
        """A resource version that the server won't reach; taken down as ``<future>``."""
        version = "9000000000000000"
        self.transcript.name(version, "<future>")
        return version

    async def compact(self, revision: str) -> None:
        """Makes the server forget what was before ``revision``; for cases that are declared with ``forgets``."""
        assert self._compact is not None, "declare the case with forgets=True"
        await self._compact(int(revision))

    def unique(self, stem: str) -> str:
        """A name that no other run has, for what lives in no namespace; taken down as ``<stem>``."""
        name = f"{stem}-{self.namespace.rpartition('-')[2]}"
        self.transcript.name(name, f"<{stem}>")
        return name

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        label: str | None = None,
        query: Query | None = None,
        media_type: str = JSON,
        headers: Query | None = None,
    ) -> Answer:
        """``body``: JSON-like data, or text or bytes as they are."""
        response = await self.transport.request(self._request(method, path, body, query, media_type, headers))
        answer = Answer(response)
        if label is not None:
            self.transcript.add_answer(label, answer.status, answer.headers, answer.body)
        return answer

    def _request(
        self, method: str, path: str, body: Any, query: Query | None, media_type: str, headers: Query | None
    ) -> HttpRequest:
        sent = {"user-agent": "conformance", "accept": JSON}
        data = b""
        if body is not None:
            sent["content-type"] = media_type
            data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        return HttpRequest(
            method,
            path.replace("{ns}", self.namespace),
            tuple((query or {}).items()),
            {**sent, **(headers or {})},
            data,
        )

    async def get(self, path: str, **options: Any) -> Answer:
        return await self.send("GET", path, **options)

    async def create(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.send("POST", path, body, **options)

    async def put(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.send("PUT", path, body, **options)

    async def delete(self, path: str, body: Any = None, **options: Any) -> Answer:
        return await self.send("DELETE", path, body, **options)

    async def merge(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.send("PATCH", path, body, media_type=MERGE_PATCH, **options)

    async def json_patch(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.send("PATCH", path, body, media_type=JSON_PATCH, **options)

    async def strategic(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.send("PATCH", path, body, media_type=STRATEGIC_PATCH, **options)

    async def apply(
        self, path: str, body: Any, *, manager: str = "applier", force: bool = False, **options: Any
    ) -> Answer:
        query = {"fieldManager": manager, **({"force": "true"} if force else {}), **options.pop("query", {})}
        return await self.send("PATCH", path, body, media_type=APPLY_PATCH, query=query, **options)

    @asynccontextmanager
    async def watch(self, path: str, query: Query | None = None, **options: Any) -> AsyncIterator[Watch]:
        """An open watch. Its events are taken down by `Watch.take`."""
        request = self._request("GET", path, None, {"watch": "true", **(query or {})}, JSON, options.get("headers"))
        async with self.transport.stream(request) as response:
            yield Watch(response, self.transcript)

    async def pause(self) -> None:
        """Before asking again for what the server does by itself."""
        await asyncio.sleep(0.05)

    async def eventually(self, path: str, **expected: Any) -> Answer:
        """Reads until the top-level fields, or ``status`` (the HTTP one), are as expected; TimeoutError when they never are."""
        return await self.until(lambda: self.get(path), lambda found: _is(found, expected))

    async def marked(self, path: str) -> None:
        """Reads until the object is being deleted; TimeoutError when it never is."""
        await self.until(lambda: self.get(path), lambda found: "deletionTimestamp" in found["metadata"])

    async def until(self, ask: Callable[[], Awaitable[Answer]], look: Callable[[Answer], bool]) -> Answer:
        """Asks until the answer is as it should be; TimeoutError when it never is."""
        found = await ask()
        async with asyncio.timeout(self.WAIT):
            while not look(found):
                await self.pause()
                found = await ask()
        return found


class Watch:
    """A watch that is open."""

    def __init__(self, response: StreamingResponse, transcript: Transcript) -> None:
        self.status = response.status
        self._response = response
        self._lines = _lines(response)
        self._transcript = transcript

    async def take(self, number: int, *, label: str | None = None) -> list[dict[str, Any]]:
        """The next events, in order. Raises TimeoutError when they don't come."""
        events: list[dict[str, Any]] = []
        async with asyncio.timeout(World.WAIT):
            while len(events) < number:
                events.append(json.loads(await anext(self._lines)))
        if label is not None:
            self._transcript.add(label, status=self.status, events=events)
        return events

    async def rest(self, *, label: str | None = None) -> list[dict[str, Any]]:
        """Everything until the server ends the watch (give it a ``timeoutSeconds``)."""
        async with asyncio.timeout(World.WAIT):
            events = [json.loads(line) async for line in self._lines]
        if label is not None:
            self._transcript.add(label, status=self.status, events=events)
        return events


async def _lines(response: StreamingResponse) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in response.chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line:
                yield line
    if rest.strip():
        yield rest


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is(answer: Answer, expected: Mapping[str, Any]) -> bool:
    return all(
        answer.status == value if key == "status" else isinstance(answer.body, dict) and answer.body.get(key) == value
        for key, value in expected.items()
    )
