"""What is large, and who is slow, over real sockets."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from kubewright.client import HttpRequest
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load_kubeconfig
from kubewright.devcluster.cluster import DevCluster, Https

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
JSON = {"content-type": "application/json"}


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[DevCluster]:
    async with DevCluster(https=Https(), controllers=lambda _: [], rng=random.Random(1)) as cluster:
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: DevCluster) -> AsyncIterator[HttpsTransport]:
    transport = HttpsTransport(load_kubeconfig([cluster.kubeconfig]))
    yield transport
    await transport.close()


async def create(client: HttpsTransport, name: str, size: int) -> None:
    body = json.dumps({"metadata": {"name": name}, "data": {"text": "x" * size}}).encode()
    answer = await client.request(HttpRequest("POST", CONFIG_MAPS, (), JSON, body))
    assert answer.status == 201


async def test_a_large_answer_is_compressed_on_its_way(client: HttpsTransport) -> None:
    await create(client, "large", 200_000)
    for accepted, encoding in (("gzip", "gzip"), ("identity", None)):
        answer = await client.request(HttpRequest("GET", CONFIG_MAPS, (), {"accept-encoding": accepted}))
        assert answer.headers.get("content-encoding") == encoding
        assert json.loads(answer.body)["items"][0]["data"]["text"] == "x" * 200_000


async def test_a_client_that_does_not_read_its_watch_is_dropped_and_holds_nobody_up(
    cluster: DevCluster, client: HttpsTransport
) -> None:
    watch = HttpRequest("GET", CONFIG_MAPS, (("watch", "1"),))
    async with client.stream(watch) as slow, client.stream(watch) as quick:
        names = _names(quick.chunks)
        for number in range(200):  # far more than sockets and buffers hold
            await create(client, f"c{number}", 100_000)
            async with asyncio.timeout(30):
                assert (await anext(names))["metadata"]["name"] == f"c{number}"
        cluster.server.store.compact(cluster.server.store.revision)
        events = [event async for event in _events(slow.chunks)]
    assert events[-1]["type"] == "ERROR"
    assert events[-1]["object"]["code"] == 410
    assert 0 < len(events) < 200


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield json.loads(line)


async def _names(chunks: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    async for event in _events(chunks):
        yield event["object"]
