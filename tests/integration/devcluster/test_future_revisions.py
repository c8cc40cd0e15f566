"""Reads as of a revision that this server has not reached: they wait for it, three seconds at most."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kubewright.api import LoopClock
from kubewright.client.transport import HttpRequest, HttpResponse, StreamingResponse
from kubewright.devcluster.api_server import ApiServer
from kubewright.testing.virtual_time import run_in_virtual_time

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
STREAM = (("watch", "true"), ("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"))


def at(revision: int, path: str = CONFIG_MAPS, *query: tuple[str, str], method: str = "GET") -> HttpRequest:
    return HttpRequest(method, path, (*query, ("resourceVersion", str(revision))), {"user-agent": "test/1.0"})


def create(server: ApiServer, name: str) -> None:
    body = json.dumps({"metadata": {"name": name}}).encode()
    answer = server.answer(HttpRequest("POST", CONFIG_MAPS, (), {"content-type": "application/json"}, body))
    assert isinstance(answer, HttpResponse)
    assert answer.status == 201


def run(script: Callable[[ApiServer], Coroutine[Any, Any, None]]) -> None:
    async def with_server() -> None:
        await script(ApiServer(clock=LoopClock(), rng=random.Random(1)))

    run_in_virtual_time(with_server)


async def whole(server: ApiServer, request: HttpRequest) -> tuple[int, dict[str, str], Any]:
    answer = await server.handle(request)
    assert isinstance(answer, HttpResponse)
    return answer.status, dict(answer.headers), json.loads(answer.body)


@pytest.mark.parametrize("path", [CONFIG_MAPS, f"{CONFIG_MAPS}/a"])
def test_it_is_refused_after_three_seconds_with_the_revision_of_then(path: str) -> None:
    async def script(server: ApiServer) -> None:
        create(server, "a")
        future, started = server.store.revision + 10, asyncio.get_running_loop().time()
        asyncio.get_running_loop().call_later(1, create, server, "b")
        status, headers, body = await whole(server, at(future, path))
        assert asyncio.get_running_loop().time() - started == pytest.approx(3)
        assert (status, headers["retry-after"], body["reason"]) == (504, "1", "Timeout")
        assert body["message"].endswith(f"{future}, current: {server.store.revision}")

    run(script)


def test_it_is_answered_as_soon_as_the_revision_is_there() -> None:
    async def script(server: ApiServer) -> None:
        started = asyncio.get_running_loop().time()
        asyncio.get_running_loop().call_later(1, create, server, "a")
        status, _, body = await whole(server, at(server.store.revision + 1))
        assert asyncio.get_running_loop().time() - started == pytest.approx(1)
        assert (status, [item["metadata"]["name"] for item in body["items"]]) == (200, ["a"])

    run(script)


def test_others_are_answered_meanwhile() -> None:
    async def script(server: ApiServer) -> None:
        waiting = asyncio.ensure_future(server.handle(at(server.store.revision + 10)))
        await asyncio.sleep(0.1)
        status, _, _ = await whole(server, at(0))
        assert (status, waiting.done()) == (200, False)
        waiting.cancel()

    run(script)


def test_a_streaming_list_waits_and_then_tells_or_ends_with_an_error() -> None:
    async def script(server: ApiServer) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(1, create, server, "a")
        answer = await server.handle(at(server.store.revision + 1, CONFIG_MAPS, *STREAM))
        assert isinstance(answer, StreamingResponse)
        assert json.loads(await anext(answer.chunks))["object"]["metadata"]["name"] == "a"
        await answer.chunks.aclose()  # type: ignore[attr-defined]  # it is a generator
        started = loop.time()
        answer = await server.handle(at(server.store.revision + 1, CONFIG_MAPS, *STREAM))
        assert isinstance(answer, StreamingResponse)
        (line,) = [chunk async for chunk in answer.chunks]
        assert loop.time() - started == pytest.approx(3)
        assert json.loads(line)["object"]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"

    run(script)


def test_a_watch_waits_for_what_comes_after_it() -> None:
    async def script(server: ApiServer) -> None:
        answer = await server.handle(at(server.store.revision + 1, CONFIG_MAPS, ("watch", "true")))
        assert isinstance(answer, StreamingResponse)
        first = asyncio.ensure_future(anext(answer.chunks))
        await asyncio.sleep(10)
        create(server, "seen-already")
        create(server, "new")
        assert json.loads(await first)["object"]["metadata"]["name"] == "new"
        await answer.chunks.aclose()  # type: ignore[attr-defined]  # as above

    run(script)
