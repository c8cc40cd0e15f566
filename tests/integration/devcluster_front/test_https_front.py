"""The HTTPS front over a scripted core, with real sockets and real TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import aiohttp
import pytest

from kubewright.client.transport import HttpRequest, HttpResponse, StreamingResponse
from kubewright.devcluster.bodies import LARGEST_BODY
from kubewright.devcluster.certificates import new_credentials
from kubewright.devcluster.credentials import Credentials
from kubewright.devcluster.errors import ClusterError
from kubewright.devcluster.https_front import HttpsFront
from tests.integration.passing_time import time_passes

CREDENTIALS = new_credentials(datetime.now(UTC))

Answer = HttpResponse | StreamingResponse


class ScriptedCore:
    """Answers with what a test says, and keeps the requests."""

    def __init__(self, answer: Callable[[HttpRequest], Awaitable[Answer]]) -> None:
        self.answer = answer
        self.requests: list[HttpRequest] = []

    async def handle(self, request: HttpRequest) -> Answer:
        self.requests.append(request)
        return await self.answer(request)

    def knows(self, token: str) -> bool:
        return token == "issued"


async def hello(_request: HttpRequest) -> Answer:
    return HttpResponse(200, {"content-type": "text/plain"}, b"hello")


def trusting(credentials: Credentials = CREDENTIALS) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=credentials.ca.decode())


@asynccontextmanager
async def session(front: HttpsFront, token: str = CREDENTIALS.token) -> AsyncIterator[aiohttp.ClientSession]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connector = aiohttp.TCPConnector(ssl=trusting(), limit=0)
    async with aiohttp.ClientSession(front.url, headers=headers, connector=connector) as client:
        yield client


@asynccontextmanager
async def served(
    answer: Callable[[HttpRequest], Awaitable[Answer]], token: str = CREDENTIALS.token
) -> AsyncIterator[aiohttp.ClientSession]:
    async with HttpsFront(ScriptedCore(answer), CREDENTIALS) as front, session(front, token) as client:
        yield client


class Watch:
    """A stream that a test feeds, and that knows whether it was ended."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[bytes] = asyncio.Queue()
        self.opened = 0
        self.ended = asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        self.opened += 1
        try:
            while True:
                yield await self.events.get()
        finally:
            self.ended.set()

    async def answer(self, _request: HttpRequest) -> Answer:
        return StreamingResponse(200, {"content-type": "application/json"}, self.chunks())


async def test_an_answer_passes_through_with_its_status_and_headers() -> None:
    async def teapot(_request: HttpRequest) -> Answer:
        return HttpResponse(418, {"content-type": "application/json", "warning": '299 - "old"'}, b'{"a":1}')

    async with served(teapot) as client, client.get("/api") as response:
        assert response.status == 418
        assert response.headers["warning"] == '299 - "old"'
        assert response.headers["content-type"] == "application/json"
        assert await response.read() == b'{"a":1}'


async def test_the_core_sees_the_request_decoded_and_without_credentials() -> None:
    core = ScriptedCore(hello)
    async with HttpsFront(core, CREDENTIALS) as front, session(front) as client:
        query = [("labelSelector", "a in (b,c)"), ("x", ""), ("x", "2")]
        await client.post("/api/v1/namespaces/a b", params=query, data=b"body", headers={"Content-Type": "text/x"})
    (request,) = core.requests
    assert (request.method, request.path, request.body) == ("POST", "/api/v1/namespaces/a b", b"body")
    assert request.query == (("labelSelector", "a in (b,c)"), ("x", ""), ("x", "2"))
    assert request.headers["content-type"] == "text/x"
    assert "authorization" not in request.headers


@pytest.mark.parametrize("token", ["", "wrong"])
async def test_a_request_without_the_token_is_unauthorized(token: str) -> None:
    core = ScriptedCore(hello)
    front = HttpsFront(core, CREDENTIALS)
    async with front, session(front, token) as client, client.get("/api/v1/pods") as response:
        body: dict[str, Any] = await response.json()
    assert response.status == 401
    assert body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }
    assert not core.requests


async def test_a_token_that_the_core_issued_is_let_in_and_handed_to_it() -> None:
    core = ScriptedCore(hello)
    async with (
        HttpsFront(core, CREDENTIALS) as front,
        session(front, "issued") as client,
        client.get("/api") as response,
    ):
        assert response.status == 200
    assert core.requests[0].headers["authorization"] == "Bearer issued"


async def test_health_needs_no_token() -> None:
    async with served(hello, "") as client, client.get("/readyz") as response:
        assert response.status == 200


async def test_a_client_that_does_not_trust_the_authority_is_not_served() -> None:
    async with HttpsFront(ScriptedCore(hello), CREDENTIALS) as front, aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await client.get(front.url)


async def test_a_body_larger_than_a_real_server_takes_is_refused() -> None:
    async with served(hello) as client, client.post("/api", data=BytesIO(b"x" * (LARGEST_BODY + 1))) as response:
        assert response.status == 413
        assert (await response.json())["message"] == f"Request entity too large: limit is {LARGEST_BODY}"
        async with client.post("/api", data=BytesIO(b"x" * LARGEST_BODY)) as largest:
            assert largest.status == 200


async def test_a_streams_headers_arrive_before_its_first_event() -> None:
    watch = Watch()
    async with served(watch.answer) as client, asyncio.timeout(5), client.get("/watch") as response:
        assert response.status == 200


async def test_each_event_arrives_when_it_is_sent() -> None:
    watch = Watch()
    async with served(watch.answer) as client, asyncio.timeout(5), client.get("/watch") as response:
        for event in (b"one\n", b"two\n"):
            watch.events.put_nowait(event)
            assert await response.content.readline() == event


async def test_a_client_that_goes_away_ends_the_stream_though_nothing_happens() -> None:
    watch = Watch()
    async with served(watch.answer) as client, client.get("/watch") as response:
        watch.events.put_nowait(b"one\n")
        await response.content.readline()
        response.close()
        async with asyncio.timeout(5):
            await watch.ended.wait()


async def test_stopping_ends_the_answer_cleanly_and_the_stream_with_it() -> None:
    watch = Watch()
    front = HttpsFront(ScriptedCore(watch.answer), CREDENTIALS)
    await front.__aenter__()
    async with session(front) as client, client.get("/api/v1/pods?watch=true") as response:
        watch.events.put_nowait(b"one\n")
        assert await response.content.readline() == b"one\n"
        async with asyncio.timeout(5):
            await front.__aexit__(None, None, None)
            assert await response.content.read() == b""
    assert watch.ended.is_set()


@pytest.mark.parametrize("in_time", [True, False])
async def test_stopping_never_ends_a_list_in_its_middle(in_time: bool) -> None:
    go_on = asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield b"half "
        await go_on.wait()
        yield b"and half"

    async def listed(_request: HttpRequest) -> Answer:
        return StreamingResponse(200, {}, chunks())

    front = HttpsFront(ScriptedCore(listed), CREDENTIALS)
    await front.__aenter__()
    async with session(front) as client, client.get("/api/v1/pods") as response:
        assert await response.content.read(5) == b"half "
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(front.__aexit__(None, None, None))
            await asyncio.sleep(0)
            if in_time:
                go_on.set()
                assert await response.content.read() == b"and half"
            else:
                with pytest.raises(aiohttp.ClientError):
                    await response.content.read()


async def test_many_watches_run_at_once() -> None:
    opened = 0
    everybody = asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal opened
        opened += 1
        if opened == 100:
            everybody.set()
        await everybody.wait()
        yield b"event\n"

    async def watch(_request: HttpRequest) -> Answer:
        return StreamingResponse(200, {}, chunks())

    async with HttpsFront(ScriptedCore(watch), CREDENTIALS) as front, session(front) as client:

        async def one() -> bytes:
            async with client.get("/watch") as response:
                return await response.content.readline()

        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            tasks = [group.create_task(one()) for _ in range(100)]
    assert [task.result() for task in tasks] == [b"event\n"] * 100


async def test_a_failing_core_is_answered_with_an_internal_error_and_the_next_request_works() -> None:
    answers = iter([RuntimeError("boom"), None])

    async def failing(request: HttpRequest) -> Answer:
        if error := next(answers):
            raise error
        return await hello(request)

    async with served(failing) as client, client.get("/api") as response:
        assert response.status == 500
        assert (await response.json())["reason"] == "InternalError"
        async with client.get("/api") as second:
            assert await second.read() == b"hello"


async def test_a_stream_that_fails_is_cut_off_rather_than_ended() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"one\n"
        raise RuntimeError("boom")

    async def failing(_request: HttpRequest) -> Answer:
        return StreamingResponse(200, {}, chunks())

    async with served(failing) as client, client.get("/watch") as response:
        with pytest.raises(aiohttp.ClientError):
            await response.content.read()


async def test_a_port_in_use_is_named_with_the_remedy() -> None:
    async with HttpsFront(ScriptedCore(hello), CREDENTIALS) as first:
        second = HttpsFront(ScriptedCore(hello), CREDENTIALS, port=first.port)
        with pytest.raises(ClusterError, match=rf"port {first.port} on 127\.0\.0\.1 is in use: choose another one"):
            await second.__aenter__()


async def test_a_number_that_is_no_port_is_told() -> None:
    with pytest.raises(ClusterError, match="70000 is no port"):
        await HttpsFront(ScriptedCore(hello), CREDENTIALS, port=70000).__aenter__()


async def test_the_core_gets_a_protobuf_body_as_json() -> None:
    core = ScriptedCore(hello)
    body = b"k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x06\x0a\x04\x0a\x02x2"
    async with HttpsFront(core, CREDENTIALS) as front, session(front) as client:
        await client.post("/x", data=body, headers={"Content-Type": "application/vnd.kubernetes.protobuf"})
        await client.post("/x", data=b"broken", headers={"Content-Type": "application/vnd.kubernetes.protobuf"})
    known, broken = core.requests
    assert known.body == b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x2"}}'
    assert known.headers["content-type"] == "application/json"
    assert (broken.body, broken.headers["content-type"]) == (b"broken", "application/vnd.kubernetes.protobuf")


async def test_a_client_that_stops_reading_is_dropped_and_the_cores_stream_ends() -> None:
    ended, chunk = asyncio.Event(), b"x" * 100_000 + b"\n"
    sent = 0

    async def endless(_request: HttpRequest) -> Answer:
        async def chunks() -> AsyncIterator[bytes]:
            nonlocal sent
            try:
                while True:
                    yield chunk
                    sent += 1
            finally:
                ended.set()

        return StreamingResponse(200, {"content-type": "application/json"}, chunks())

    async with HttpsFront(ScriptedCore(endless), CREDENTIALS, patience=10) as front, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", front.port, ssl=trusting(), server_hostname="127.0.0.1", limit=1024
        )
        writer.write(f"GET /watch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {CREDENTIALS.token}\r\n\r\n".encode())
        while not ended.is_set():
            before = sent
            await asyncio.sleep(0.01)
            if sent == before > 0:  # all buffers on the way are full
                await time_passes(11)
        held = sent
        async with session(front) as client, client.get("/watch") as response:
            for _ in range(held + 10):  # who reads gets more than what was held for who does not
                assert await response.content.readexactly(len(chunk)) == chunk
            response.close()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly((held + 10) * len(chunk))
        writer.close()
    assert held * len(chunk) < 16_000_000
