"""Operators at work on a server, in a namespace of their own, and what they write there."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, Any

from kubewright import Client, Condition, Manager, Model, NotFound, ObjectMeta, Operator, Resource, field, resource
from kubewright.api import SystemClock
from kubewright.api.markers import ListMap
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.kinds import core_v1
from kubewright.telemetry import new_log
from kubewright.testing import RecordingTransport, install
from tests.conformance.clients.servers import Server, eventually

__all__ = ["Gadget", "World", "Zone", "config_map", "try_out"]


class GadgetSpec(Model):
    size: int = 1


class GadgetStatus(Model):
    observed_generation: int | None = None
    seen: int | None = None
    note: str | None = None
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


@resource("operators.kubewright.dev/v1")
class Gadget(Resource):
    spec: GadgetSpec = field(default_factory=GadgetSpec)
    status: GadgetStatus = field(default_factory=GadgetStatus)


@resource("operators.kubewright.dev/v1", scope="Cluster")
class Zone(Resource):
    spec: GadgetSpec = field(default_factory=GadgetSpec)
    status: GadgetStatus = field(default_factory=GadgetStatus)


def config_map(name: str, **data: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name), data=data)


class World:
    """``client`` is somebody else: what it sends is not counted."""

    def __init__(self, server: Server, namespace: str, stack: AsyncExitStack) -> None:
        self.namespace = namespace
        self._config = load(server.kubeconfig)
        self._stack = stack
        self.client = self._client("somebody")[0]

    def _client(self, manager: str) -> tuple[Client, RecordingTransport]:
        sent = RecordingTransport(HttpsTransport(self._config, clock=SystemClock()))
        client = Client(sent, field_manager=manager)
        self._stack.push_async_callback(client.close)
        return client, sent

    @asynccontextmanager
    async def at_work(self, operator: Operator) -> AsyncIterator[Working]:
        client, sent = self._client("kubewright")
        text = io.StringIO()
        manager = Manager(
            operator, client, namespaces=[self.namespace], log=new_log("json", level="debug", stream=text)
        )
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(manager.run())
            await manager.cache.synced()
            try:
                yield Working(manager, sent, text)
            finally:
                running.cancel()

    async def gadget(self, name: str = "g") -> Gadget:
        return await self.client.get(Gadget, name, namespace=self.namespace)

    async def create(self, name: str = "g", size: int = 1) -> Gadget:
        metadata = ObjectMeta(name=name, namespace=self.namespace)
        return await self.client.create(Gadget(metadata=metadata, spec=GadgetSpec(size=size)))

    async def resize(self, size: int, name: str = "g") -> Gadget:
        def change(gadget: Gadget) -> None:
            gadget.spec.size = size

        return await self.client.edit(Gadget, name, change, namespace=self.namespace)

    async def is_there(self, kind: type[Resource], name: str, namespace: str | None = None) -> bool:
        try:
            found = await self.client.get(kind, name, namespace=namespace or self.namespace)
        except NotFound:
            return False
        return found.metadata.deletion_timestamp is None

    async def until(self, look: Callable[[Gadget], bool], name: str = "g") -> Gadget:
        """The gadget once it is so."""
        found: Gadget

        async def so() -> bool:
            nonlocal found
            found = await self.gadget(name)
            return look(found)

        await eventually(so)
        return found


class Working:
    """An operator at work."""

    def __init__(self, manager: Manager, sent: RecordingTransport, text: io.StringIO) -> None:
        self.manager = manager
        self.sent = sent
        self._text = text

    def said(self, message: str) -> list[dict[str, Any]]:
        return [line for line in map(json.loads, self._text.getvalue().splitlines()) if line["msg"] == message]

    async def quiet(self, seconds: float = 0.5) -> None:
        """Until nothing was sent that changes something, and no run went on, for that long."""
        seen = -1
        while seen != len(self.sent.writes) or not all(each.is_idle for each in self.manager.controllers):
            await self.manager.settled()
            seen = len(self.sent.writes)
            await asyncio.sleep(seconds)

    @property
    def writes(self) -> list[str]:
        return [f"{request.method} {request.path.partition('/namespaces/')[2]}" for request in self.sent.writes]


def try_out(server: Server, namespace: str, test: Callable[[World], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            here = World(server, namespace, stack)
            await install(here.client, Gadget, Zone)
            async with asyncio.timeout(180):
                await test(here)

    asyncio.run(main())


async def gone(look: Callable[[], Awaitable[bool]]) -> None:
    async def not_there() -> bool:
        return not await look()

    await eventually(not_there)
