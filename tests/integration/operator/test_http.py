"""Health over real HTTP, and that nothing of a manager is left when it has stopped: no task, socket or thread."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import Any

import aiohttp
import pytest

from kubewright import Client, Context, Manager, Operator
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.devcluster.cluster import DevCluster, Https
from kubewright.operator import Settings, StartFailed
from kubewright.operator.health_checks import Heartbeat
from kubewright.operator.http_server import Address, HttpAnswer, serve
from kubewright.testing import VirtualTimeLoop, install, run_in_virtual_time
from tests.integration.left_open import closed_again, ended_again, open_files
from tests.integration.operator.managers import Thing, thing


async def nothing(thing: Thing, ctx: Context) -> None: ...


async def get(session: aiohttp.ClientSession, port: int | None, path: str) -> tuple[int, str]:
    async with session.get(f"http://127.0.0.1:{port}{path}") as response:
        return response.status, await response.text()


async def test_health_is_served_and_nothing_is_left_of_a_manager_that_was_stopped() -> None:
    operator: Operator[Any] = Operator("things")

    @operator.controller(Thing, threads=True)
    def reconcile(thing: Thing, ctx: Any) -> None:
        ctx.get(Thing, thing.name, namespace=thing.namespace)

    async with DevCluster(https=Https(port=0)) as cluster, aiohttp.ClientSession() as session:
        somebody = Client(cluster.transport())
        await install(somebody, operator)
        await somebody.create(thing())
        await asyncio.sleep(0.5)
        tasks, threads, files = asyncio.all_tasks(), set(threading.enumerate()), open_files()
        for _ in range(2):
            client = Client(HttpsTransport(load(cluster.kubeconfig)))
            settings = Settings(health_probe_bind_address="127.0.0.1:0", metrics_bind_address="127.0.0.1:0")
            manager = Manager(operator, client, settings=settings, start_checks=True, rng=random.Random(1))
            running = asyncio.create_task(manager.run())
            async with asyncio.timeout(60):
                while True:
                    await asyncio.sleep(0.02)
                    if manager.health_port and (await get(session, manager.health_port, "/readyz"))[0] == 200:
                        break
            port = manager.health_port
            assert await get(session, port, "/healthz") == (200, "ok")
            status, text = await get(session, port, "/readyz?verbose&exclude=access")
            assert status == 200
            assert "[+]access excluded: ok\n" in text
            assert "[+]caches ok\n" in text
            assert await get(session, port, "/readyz/caches") == (200, "ok")
            assert (await get(session, port, "/readyz/nope"))[0] == 404
            assert (await get(session, port, "/"))[0] == 404
            assert manager.metrics_port == port, "one address is one server"
            assert "workqueue_depth" in (await get(session, port, "/metrics"))[1]
            async with session.post(f"http://127.0.0.1:{port}/healthz") as response:
                assert response.status == 405
            manager.stop()
            await running
            await client.close()
            with pytest.raises(aiohttp.ClientConnectionError):
                await get(session, port, "/healthz")
            await closed_again(files)
        left = {task.get_name() for task in asyncio.all_tasks() - tasks}
        assert not left & {
            "cache",
            "heartbeat",
            "start-up checks",
            "controller-thing",
            "/healthz, /readyz, /metrics at 127.0.0.1:0",
        }
        await ended_again(threads)


async def test_an_address_that_is_taken_is_named_and_nothing_is_left() -> None:
    ports: list[int] = []

    def answer(_rest: str, _query: Any) -> HttpAnswer:
        return HttpAnswer(200, b"taken")

    async with serve(Address("127.0.0.1", 0), {"healthz": answer}, bound=ports.append), DevCluster() as cluster:
        await asyncio.sleep(0.2)
        before = asyncio.all_tasks()
        operator: Operator[Any] = Operator("things")
        operator.controller(Thing)(nothing)
        manager = Manager(
            operator,
            Client(cluster.transport()),
            settings=Settings(health_probe_bind_address=f"127.0.0.1:{ports[0]}"),
        )
        with pytest.raises(StartFailed, match=rf"^/healthz, /readyz at 127.0.0.1:{ports[0]} did not start: .*in use"):
            await manager.run()
        left = {task.get_name() for task in asyncio.all_tasks() - before}
        assert not left & {"cache", "heartbeat", f"/healthz, /readyz at 127.0.0.1:{ports[0]}"}


async def test_what_is_no_http_is_answered_and_not_logged_while_mistakes_of_ours_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ports: list[int] = []

    def broken(_rest: str, _query: Any) -> HttpAnswer:
        raise RuntimeError("a mistake of ours")

    async def ask(path: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", ports[0])
        writer.write(f"GET {path} HTTP/1.1\r\nHost: us\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer

    async with serve(Address("127.0.0.1", 0), {"healthz": broken}, bound=ports.append):
        assert (await ask("/" + "a" * 9000)).startswith(b"HTTP/1.0 400 ")
        assert (await ask("not a path")).startswith(b"HTTP/1.0 400 ")
        assert caplog.records == []
        assert (await ask("/healthz")).startswith(b"HTTP/1.1 500 ")
        assert "a mistake of ours" in caplog.text


def test_a_blocked_event_loop_is_told_afterwards() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        heart = Heartbeat()
        beating = asyncio.create_task(heart.run())
        await asyncio.sleep(3600.1)
        assert heart.check.look() is None
        loop.pass_(7.0)  # in which nothing else had a turn
        assert "the event loop was blocked for 7 s" in (heart.check.look() or "")
        await asyncio.sleep(25)
        assert "blocked for 7 s" in (heart.check.look() or ""), "told for a while, so that somebody sees it"
        await asyncio.sleep(10)
        assert heart.check.look() is None
        beating.cancel()

    run_in_virtual_time(main)
