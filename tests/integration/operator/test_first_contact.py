"""A server that is away when the process starts is waited for, not ready meanwhile, and not without end."""

from __future__ import annotations

import asyncio
import io
import json
import random
from typing import Any

import pytest

from kubewright import Client, Manager, Operator
from kubewright.api import LoopClock
from kubewright.client import CredentialError, HttpRequest, HttpResponse, TransportError
from kubewright.devcluster.cluster import DevCluster
from kubewright.operator.first_contact import FirstContact, Unreachable
from kubewright.operator.health import answer
from kubewright.telemetry import new_log
from kubewright.testing import install, run_in_virtual_time
from tests.integration.operator.guarded import GuardedTransport
from tests.integration.operator.managers import things

HTML = HttpResponse(200, {"content-type": "text/html"}, b"<html>")


def refusal(code: int, reason: str) -> HttpResponse:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "code": code,
        "message": "no",
    }
    return HttpResponse(code, {"content-type": "application/json"}, json.dumps(status).encode())


class Absent(GuardedTransport):
    """Answers ``instead`` until that is None; raises it, where it is an exception; hangs, where it is ``"silence"``."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.instead: HttpResponse | Exception | str | None = TransportError(
            "GET /version: refused", may_be_applied=False
        )
        self.paths: list[str] = []
        self.only = ""

    async def request(self, request: HttpRequest) -> HttpResponse:
        self.paths.append(request.path)
        if self.instead is None or not request.path.startswith(self.only):
            return await super().request(request)
        if isinstance(self.instead, Exception):
            raise self.instead
        if isinstance(self.instead, str):
            await asyncio.Event().wait()
        assert isinstance(self.instead, HttpResponse)
        return self.instead


class World:
    def __init__(self, cluster: DevCluster, operator: Operator[Any], within: float) -> None:
        clock, rng = LoopClock(), random.Random(1)
        self.text = io.StringIO()
        self.transport = Absent(cluster.transport())
        log = new_log("json", stream=self.text)
        client = Client(self.transport, clock=clock, rng=rng)
        contact = FirstContact(
            client, server="https://s:6443", source="./config", within=within, clock=clock, rng=rng, log=log
        )
        self.manager = Manager(
            operator, client, clock=clock, rng=rng, log=log, first_contact=contact, start_checks=True
        )

    def ready(self) -> str:
        return answer("readyz", self.manager.health["readyz"], verbose=True).text

    def lines(self, message: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.text.getvalue().splitlines()]
        return [line for line in lines if line["msg"] == message]


def test_a_server_that_comes_in_time_is_worked_with() -> None:
    async def main() -> None:
        operator = things()
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            await install(Client(cluster.transport()), operator)
            here = World(cluster, operator, 60)
            assert "[-]server failed: the API server did not answer yet" in here.ready()
            running = asyncio.create_task(here.manager.run())
            await asyncio.sleep(20)
            assert "[-]server failed: no API server at https://s:6443 (./config): GET /version: refused; tried for 20 of 60 s" in here.ready()  # fmt: skip
            assert answer("healthz", here.manager.health["healthz"]).status == 200
            assert set(here.transport.paths) == {"/version"}
            for trouble in (refusal(503, "ServiceUnavailable"), refusal(500, "InternalError"), "silence"):
                here.transport.instead = trouble
                await asyncio.sleep(6)
            assert "the API server is not well at https://s:6443 (./config): no" in here.ready()
            here.transport.instead = None
            await asyncio.sleep(20)
            assert "readyz check passed" in here.ready()
            assert len(here.lines("waiting for the API server")) == 3  # one for each trouble
            assert len(here.lines("connected")) == 1
            here.manager.stop()
            await running

    run_in_virtual_time(main)


def test_one_that_does_not_come_ends_it_with_the_reason_when_the_time_is_up() -> None:
    async def main() -> None:
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            for within, instead, said in (
                (60.0, None, "refused; given up after 60 s"),
                (0.0, None, "no API server at https://s:6443 (./config): GET /version: refused"),
                (10.0, "silence", "no answer in time; given up after 10 s"),
            ):
                here = World(cluster, things(), within)
                here.transport.instead = instead or here.transport.instead
                started = asyncio.get_running_loop().time()
                with pytest.raises(Unreachable) as ended:
                    await here.manager.run()
                assert str(ended.value).endswith(said)
                assert within <= asyncio.get_running_loop().time() - started < within + 3.5
                assert len(here.lines("waiting for the API server")) == (1 if within else 0)

    run_in_virtual_time(main)


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        (CredentialError("the token's file is gone"), "the token's file is gone"),
        (refusal(401, "Unauthorized"), "no"),
        (refusal(404, "NotFound"), r"https://s:6443 refused us \(credentials of ./config\): no"),
        (HTML, r"what answers at https://s:6443 \(./config\) is no API server: "),
    ],
)
def test_what_waiting_does_not_mend_ends_it_at_once(instead: HttpResponse | Exception, said: str) -> None:
    async def main() -> None:
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            here = World(cluster, things(), 60)
            here.transport.instead = instead
            started = asyncio.get_running_loop().time()
            with pytest.raises(Unreachable, match=said):
                await here.manager.run()
            assert asyncio.get_running_loop().time() - started < 3

    run_in_virtual_time(main)


def test_a_server_that_just_came_may_not_know_us_yet() -> None:
    async def main() -> None:
        operator = things()
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            await install(Client(cluster.transport()), operator)
            here = World(cluster, operator, 60)
            running = asyncio.create_task(here.manager.run())
            await asyncio.sleep(5)
            here.transport.instead = refusal(401, "Unauthorized")
            await asyncio.sleep(10)
            assert "[-]server failed: no; tried for 15 of 60 s" in here.ready()
            here.transport.instead = None
            await asyncio.sleep(10)
            assert "readyz check passed" in here.ready()
            here.manager.stop()
            await running

    run_in_virtual_time(main)


def test_who_may_not_see_the_version_is_known_nevertheless() -> None:
    async def main() -> None:
        operator = things()
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            await install(Client(cluster.transport()), operator)
            here = World(cluster, operator, 60)
            here.transport.instead, here.transport.only = refusal(403, "Forbidden"), "/version"
            running = asyncio.create_task(here.manager.run())
            await asyncio.sleep(5)
            assert "readyz check passed" in here.ready()
            here.manager.stop()
            await running

    run_in_virtual_time(main)


def test_it_can_be_stopped_while_it_waits() -> None:
    async def main() -> None:
        async with DevCluster(clock=LoopClock(), rng=random.Random(1)) as cluster:
            here = World(cluster, things(), 60)
            running = asyncio.create_task(here.manager.run())
            await asyncio.sleep(7)
            here.manager.stop()
            async with asyncio.timeout(1):
                await running
            assert here.lines("stopped")

    run_in_virtual_time(main)
