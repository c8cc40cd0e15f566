"""A fenced client on real connections: the fence is asked when all waiting is over, right before bytes leave."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from kubewright import Client, ObjectMeta
from kubewright.api import SystemClock
from kubewright.client import Fence, HttpRequest, NotLeading
from kubewright.client.fence import PERMIT
from kubewright.kinds import core_v1
from tests.integration.client.conftest import Connect, Server
from tests.integration.client.test_credentials import OnlyToken, plugin

LARGE = "x" * 700_000
"""A body that no socket takes at once."""


class FewChecks(Fence):
    """Open for a given number of checks."""

    def __init__(self, checks: int) -> None:
        super().__init__(identity="me", lease="default/operator", write_timeout=5.0, clock=SystemClock())
        self.extend(SystemClock().monotonic() + 1000)
        self._checks = checks
        self.asked = 0

    def check(self) -> None:
        self.asked += 1
        if self.asked > self._checks:
            self.close()
        super().check()


def config_map(text: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"text": text})


@pytest.mark.parametrize("text", ["small", LARGE])
async def test_each_moment_at_which_it_closes_keeps_the_bytes_here(server: Server, connect: Connect, text: str) -> None:
    transport = connect(server.config)
    await Client(transport).rest.read("/warm")  # the connection is kept
    sent = len(server.requests)
    for checks in range(2):  # before all, and with a connection
        fence = FewChecks(checks)
        client = Client(transport).fenced(fence)
        with pytest.raises(NotLeading, match="me does not hold the lease default/operator"):
            await client.create(config_map(text))
        assert fence.asked == checks + 1
        await fence.settled()
    assert len(server.requests) == sent
    fence = FewChecks(2)
    await Client(transport).fenced(fence).create(config_map(text))
    assert fence.asked == 2
    assert len(server.requests) == sent + 1


async def test_a_delete_without_a_body_is_held_back_too(server: Server, connect: Connect) -> None:
    transport = connect(server.config)
    fence = FewChecks(1)
    with pytest.raises(NotLeading):
        await Client(transport).fenced(fence).delete(core_v1.ConfigMap, "a", namespace="default")
    assert fence.asked == 2
    assert server.requests == []


async def test_a_throttled_write_does_not_come_again_when_it_is_too_late(server: Server, connect: Connect) -> None:
    transport = connect(server.config)
    fence = FewChecks(3)

    async def refuse(_: web.Request) -> web.StreamResponse:
        fence.close()
        return web.json_response(
            {"kind": "Status", "apiVersion": "v1", "code": 429}, status=429, headers={"retry-after": "0"}
        )

    server.handler = refuse
    with pytest.raises(NotLeading):
        await Client(transport).fenced(fence).create(config_map("a"))
    assert len(server.requests) == 1


async def test_a_stream_that_may_not_come_again_leaves_its_connection_to_one_request_only(
    server: Server, connect: Connect, tmp_path: Path
) -> None:
    server.handler = OnlyToken(server, "new")
    transport = connect(replace(server.config, exec=plugin(tmp_path, "old", "new")))
    fence = FewChecks(1)
    before = PERMIT.set(fence.check)
    try:
        with pytest.raises(NotLeading):
            async with transport.stream(HttpRequest("GET", "/")):
                raise AssertionError("its second try was allowed")
    finally:
        PERMIT.reset(before)
    paths = [f"/{number}" for number in range(4)]
    answers = await asyncio.gather(*[transport.request(HttpRequest("POST", path)) for path in paths])
    assert [json.loads(answer.body)["path"] for answer in answers] == [f"/prefix{path}" for path in paths]
