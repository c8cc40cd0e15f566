"""The servers that cases run against: the embedded cluster always, others as given on the command line."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp

from kubewright.client import HttpRequest, Transport
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load_kubeconfig
from kubewright.devcluster.cluster import DevCluster
from kubewright.devcluster.controllers import Simulation
from tests.conformance.resources import definitions
from tests.conformance.world import World

__all__ = ["EMBEDDED", "Server", "Target", "open_server"]

EMBEDDED = "embedded"


@dataclass(frozen=True)
class Target:
    """A server to open: ``embedded``, or ``1.20`` or ``1.36`` with a kubeconfig.

    ``etcd`` is the URL of the server's etcd, for the cases in which it forgets its history.
    """

    name: str
    kubeconfig: Path | None = None
    etcd: str = ""

    @property
    def real(self) -> bool:
        return self.kubeconfig is not None


class Server:
    """An open target with the suite's own definitions in it."""

    def __init__(self, target: Target, transport: Transport, compact: Callable[[int], Awaitable[None]] | None) -> None:
        self.target = target
        self.transport = transport
        self._compact = compact
        self._random = random.Random()

    @asynccontextmanager
    async def world(self) -> AsyncIterator[World]:
        """A namespace for one case, deleted afterwards."""
        namespace = f"case-{self._random.getrandbits(40):010x}"
        world = World(self.transport, namespace=namespace, real=self.target.real, compact=self._compact)
        created = await world.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        assert created.status == 201, created.body
        if self.target.name == "1.20":  # its admission wants an account with a token for every pod
            while "secrets" not in (await world.get("/api/v1/namespaces/{ns}/serviceaccounts/default")).body:
                await world.pause()
        yield world
        await world.delete("/api/v1/namespaces/{ns}")


@asynccontextmanager
async def open_server(target: Target) -> AsyncIterator[Server]:
    if target.kubeconfig is None:
        quick = Simulation(ready_after=0.05, stop_after=0.02)
        async with DevCluster(rng=random.Random(), simulation=quick) as cluster:

            async def forget(revision: int) -> None:
                cluster.server.store.compact(revision)

            await _prepare(cluster.transport())
            yield Server(target, cluster.transport(), forget)
        return
    transport = HttpsTransport(load_kubeconfig([target.kubeconfig]))
    try:
        await _prepare(transport)
        yield Server(target, transport, partial(_compact, target.etcd) if target.etcd else None)
    finally:
        await transport.close()


async def _compact(etcd: str, revision: int) -> None:
    """Tells etcd, which has a JSON API beside its own."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{etcd}/v3/kv/compaction", json={"revision": str(revision), "physical": True}) as answer,
    ):
        answer.raise_for_status()


async def _prepare(transport: Transport) -> None:
    """Installs the definitions and waits until every one is served."""
    for definition in definitions():
        spec = definition["spec"]
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        body = json.dumps(definition).encode()
        await transport.request(HttpRequest("POST", path, (), {"content-type": "application/json"}, body))
        for version in spec["versions"]:
            if version["served"]:
                await _served(transport, f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}")


async def _served(transport: Transport, path: str) -> None:
    """A real server serves a definition some time after accepting it."""
    async with asyncio.timeout(30):
        while (await transport.request(HttpRequest("GET", path))).status != 200:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
