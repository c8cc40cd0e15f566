"""Managers of an operator of `Thing`s on a guarded embedded cluster, and what can be seen of them."""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from kubewright import Client, Context, Manager, ObjectMeta, Operator, Resource, resource
from kubewright.api import LoopClock
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.operator import LeadershipLost
from kubewright.operator.election import LeaderElection
from kubewright.operator.health import answer
from kubewright.telemetry import new_log
from kubewright.testing import install
from tests.integration.operator.guarded import GuardedTransport

__all__ = ["Thing", "World", "running", "thing", "things", "world"]


@resource("example.com/v1")
class Thing(Resource):
    spec: dict[str, int] | None = None


def things(**options: Any) -> Operator[Any]:
    operator: Operator[Any] = Operator("things", **options)

    @operator.controller(Thing, owns=[core_v1.ConfigMap])
    async def reconcile(thing: Thing, ctx: Context) -> None:
        await ctx.apply_all(core_v1.ConfigMap(metadata=ObjectMeta(name=thing.name), data={"a": "b"}))

    return operator


@dataclass
class World:
    cluster: DevCluster
    somebody: Client
    guard: GuardedTransport
    manager: Manager
    text: io.StringIO = field(default_factory=io.StringIO)
    """The manager's log."""

    def ready(self) -> str | None:
        """Why it is not ready."""
        found = answer("readyz", self.manager.health["readyz"])
        return None if found.status == 200 else found.text

    def healthy(self) -> bool:
        return answer("healthz", self.manager.health["healthz"]).status == 200

    def said(self, message: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.text.getvalue().splitlines()]
        return [line for line in lines if line["msg"] == message]

    async def until_ready(self, within: float) -> None:
        async with asyncio.timeout(within):
            while self.ready() is not None:  # noqa: ASYNC110 - what is awaited happens in the manager
                await asyncio.sleep(0.1)

    async def appears(self, kind: type[Resource], name: str, within: float = 30) -> None:
        async with asyncio.timeout(within):
            while True:
                if name in [each.name for each in await self.somebody.list(kind, namespace="default")]:
                    return
                await asyncio.sleep(0.1)


@asynccontextmanager
async def world(operator: Operator[Any], *, installed: bool = True, lease: bool = False) -> AsyncIterator[World]:
    clock, rng, text = LoopClock(), random.Random(1), io.StringIO()
    async with DevCluster(clock=clock, rng=rng) as cluster:
        somebody = Client(cluster.transport(), field_manager="somebody", clock=clock, rng=rng)
        if installed:
            await install(somebody, operator)
        guard = GuardedTransport(cluster.transport())
        client = Client(guard, clock=clock, rng=rng)
        log = new_log("json", level="debug", stream=text)
        election = LeaderElection(client, "things", "default", clock=clock, rng=rng, log=log) if lease else None
        manager = Manager(
            operator,
            client,
            clock=clock,
            rng=rng,
            log=log,
            election=election,
            start_checks=True,
            target="things.py:operator",
        )
        yield World(cluster, somebody, guard, manager, text)


@asynccontextmanager
async def running(here: World) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(here.manager.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, LeadershipLost):
            await task


def thing(name: str = "t") -> Thing:
    return Thing(metadata=ObjectMeta(name=name, namespace="default"))
