"""The server as a whole: namespaces, determinism, transports, start-up."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from kubewright.client.transport import HttpRequest, TransportError
from kubewright.devcluster.api_server import ApiServer
from kubewright.devcluster.in_process import InProcessTransport

NAMESPACES = "/api/v1/namespaces"


def test_a_new_cluster_has_the_namespaces_of_every_cluster(api: Any) -> None:
    assert api.names(NAMESPACES) == ["default", "kube-node-lease", "kube-public", "kube-system"]
    refused = api.delete(f"{NAMESPACES}/default")
    assert (refused.status, refused.message) == (
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
    )


def test_a_namespace_goes_when_its_finalizer_is_taken_off(api: Any) -> None:
    api.post(NAMESPACES, {"metadata": {"name": "team"}})
    path = f"{NAMESPACES}/team"
    terminating = api.delete(path).body
    assert terminating["status"]["phase"] == "Terminating"
    assert terminating["metadata"]["deletionTimestamp"]
    refused = api.post(f"{path}/configmaps", {"metadata": {"name": "a"}})
    assert refused.status == 403
    assert refused.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert "because it is being terminated" in refused.message
    assert api.put(f"{path}/finalize", {**terminating, "spec": {"finalizers": []}}).status == 200
    assert api.get(path).status == 404


def test_the_same_requests_get_the_same_answers(make_server: Any, samples: Any) -> None:
    def trace() -> list[Any]:
        api = make_server()
        replies = [
            api.post(samples.definitions, samples.definition()),
            api.post(samples.databases, {**samples.database(""), "metadata": {"generateName": "x-"}}),
            api.post(samples.databases, samples.database("a")),
            api.post(samples.databases, samples.database("a")),
            api.patch(f"{samples.databases}/a", {"spec": {"replicas": 3}}),
            api.get(samples.databases),
        ]
        return [(reply.status, reply.headers, reply.body) for reply in replies]

    assert trace() == trace()


def test_servers_share_nothing_that_changes(make_server: Any, samples: Any) -> None:
    one, other = make_server(), make_server()
    one.post(samples.definitions, samples.definition())
    assert one.get(samples.databases).status == 200
    assert other.get(samples.databases).status == 404
    assert other.get("/apis/apps.example.com").status == 404


class Still:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


async def test_writes_of_many_clients_do_not_interleave() -> None:
    server = ApiServer(clock=Still(), rng=random.Random(1))
    transport = InProcessTransport(server)
    path = "/api/v1/namespaces/default/configmaps"
    await transport.request(HttpRequest("POST", path, (), {}, b'{"metadata":{"name":"a"},"data":{}}'))
    kind = {"content-type": "application/merge-patch+json"}

    async def write(number: int) -> int:
        body = f'{{"data":{{"k{number}":"v"}}}}'.encode()
        return (await transport.request(HttpRequest("PATCH", f"{path}/a", (), kind, body))).status

    assert set(await asyncio.gather(*(write(number) for number in range(50)))) == {200}
    read = await transport.request(HttpRequest("GET", f"{path}/a"))
    assert read.body.count(b'"v"') == 50


async def test_leaving_a_stream_ends_its_watch(api: Any) -> None:
    transport = InProcessTransport(api.server)
    request = HttpRequest(
        "GET", "/api/v1/pods", (("watch", "1"), ("resourceVersion", "0"), ("allowWatchBookmarks", "1"))
    )
    async with transport.stream(request) as answer:
        assert answer.status == 200
        assert b"BOOKMARK" in await anext(answer.chunks)
    with pytest.raises(StopAsyncIteration):
        await anext(answer.chunks)


async def test_a_refused_watch_is_a_stream_with_a_status(api: Any) -> None:
    transport = InProcessTransport(api.server)
    request = HttpRequest("GET", "/api/v1/nope", (("watch", "1"),))
    async with transport.stream(request) as answer:
        assert answer.status == 404
        assert b"could not find the requested resource" in b"".join([chunk async for chunk in answer.chunks])


async def test_a_closed_transport_reaches_nobody(api: Any) -> None:
    transport = InProcessTransport(api.server)
    await transport.close()
    with pytest.raises(TransportError, match="closed") as error:
        await transport.request(HttpRequest("GET", "/api/v1/pods"))
    assert error.value.may_be_applied is False
