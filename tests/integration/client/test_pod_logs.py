"""Logs of pods on the embedded cluster, and lines wherever their bytes are cut."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from kubewright.api import ApiError, BadRequest, NotFound, ObjectMeta
from kubewright.client import Client
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.testing import RecordingTransport
from tests.integration.client.conftest import Connect, Server

SAID = "started: a simulated container runs nothing"


@pytest.fixture
async def pod(client: Client) -> str:
    spec = core_v1.PodSpec(containers=[core_v1.Container(name="app", image="app")])
    await client.create(core_v1.Pod(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
    async with aclosing(client.watch(core_v1.Pod, namespace="default")) as events:
        async for event in events:
            conditions = {each.type: each.status for each in event.object.status.conditions or []}
            if conditions.get("Ready") == "True":
                break
    return "web"


async def test_a_log_is_read_line_by_line(client: Client, pod: str) -> None:
    lines = client.logs(pod, namespace="default", container="app")
    assert [line async for line in lines] == [SAID, "ready"]
    last = client.logs(pod, namespace="default", tail_lines=1, timestamps=True)
    ((stamp, _, text),) = [line.partition(" ") async for line in last]
    assert text == "ready"
    assert datetime.fromisoformat(stamp)
    later = client.logs(pod, namespace="default", since_time=datetime(2100, 1, 1, tzinfo=UTC))
    assert [line async for line in later] == []
    assert [line async for line in client.logs(pod, namespace="default", limit_bytes=7)] == ["started"]


async def test_a_log_is_followed_until_the_pod_goes(client: Client, pod: str) -> None:
    got = []
    async with aclosing(client.logs(pod, namespace="default", follow=True)) as lines:
        async for line in lines:
            got.append(line)
            if line == "ready":
                await client.delete(core_v1.Pod, pod, namespace="default", grace_period=0)
    assert got == [SAID, "ready"]


async def test_what_has_no_log_is_said_to_have_none(client: Client, pod: str) -> None:
    with pytest.raises(NotFound, match='pods "nope" not found'):
        await anext(client.logs("nope", namespace="default"))
    with pytest.raises(BadRequest, match="container side is not valid for pod web"):
        await anext(client.logs(pod, namespace="default", container="side"))
    with pytest.raises(BadRequest, match='previous terminated container "app" in pod "web" not found'):
        await anext(client.logs(pod, namespace="default", previous=True))


async def test_a_pod_is_named(client: Client) -> None:
    with pytest.raises(ValueError, match="log of which pod"):
        await anext(client.logs("", namespace="default"))
    with pytest.raises(ValueError, match="Pod: 'web/exec' is no name"):
        await anext(client.logs("web/exec", namespace="default"))
    with pytest.raises(ValueError, match="since_time needs a time zone"):
        await anext(client.logs("web", namespace="default", since_time=datetime(2100, 1, 1)))


async def test_nothing_runs_in_the_pods_of_the_embedded_cluster(client: Client, cluster: DevCluster, pod: str) -> None:
    with pytest.raises(ApiError, match="its containers are simulated"):
        async with client.exec(pod, ["ls"], namespace="default"):
            pytest.fail("there is nothing to run it in")
    with pytest.raises(NotFound):
        async with client.open_port("nope", 80, namespace="default"):
            pytest.fail("there is nothing to connect to")


async def test_a_websocket_is_recorded_as_what_was_sent(cluster: DevCluster) -> None:
    recording = RecordingTransport(cluster.transport())
    with pytest.raises(NotFound):
        async with Client(recording).exec("nope", ["ls"], namespace="default"):
            pytest.fail("there is nothing to run it in")
    assert [request.path for request in recording.requests] == ["/api/v1/namespaces/default/pods/nope/exec"]


async def test_lines_are_whole_wherever_chunks_end(server: Server, connect: Connect) -> None:
    from aiohttp import web

    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        async for piece in pieces():
            await response.write(piece)
        return response

    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"o", b"ne\n", b"\ntwo\nth", b"ree\xff\r\n", b"unfinished"):
            yield piece

    server.handler = trickle
    lines = Client(connect(server.config)).logs("web", namespace="ns", follow=True)
    assert [line async for line in lines] == ["one", "", "two", "three\ufffd\r", "unfinished"]
    assert list(server.requests[0].query.items()) == [("follow", "true")]
