"""An operator on an embedded cluster in process, in virtual time."""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from kubewright import Client, Condition, Manager, Model, ObjectMeta, Operator, Resource, field, resource
from kubewright.api import LoopClock
from kubewright.api.markers import ListMap
from kubewright.devcluster.cluster import DevCluster
from kubewright.telemetry import new_log
from kubewright.testing import RecordingTransport, install


class WidgetSpec(Model):
    size: int = 1


class WidgetStatus(Model):
    seen: int | None = None
    note: str | None = None
    conditions: Annotated[list[Condition], ListMap("type")] = field(default_factory=list)


@resource("example.com/v1")
class Widget(Resource):
    spec: WidgetSpec = field(default_factory=WidgetSpec)
    status: WidgetStatus = field(default_factory=WidgetStatus)


@resource("example.com/v1")
class Strict(Resource):
    """Its spec has no default, while its definition, as Kubebuilder's would, does not require one."""

    spec: WidgetSpec


@dataclass
class World:
    cluster: DevCluster
    client: Client
    """Somebody else: what it sends is not counted."""
    sent: RecordingTransport
    """What the operator sends."""
    manager: Manager
    text: io.StringIO

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.getvalue().splitlines()]

    def said(self, message: str) -> list[dict[str, Any]]:
        return [line for line in self.log() if line["msg"] == message]

    async def widget(self, name: str = "w") -> Widget:
        return await self.client.get(Widget, name, namespace="default")

    async def create(self, name: str = "w", size: int = 1) -> Widget:
        return await self.client.create(
            Widget(metadata=ObjectMeta(name=name, namespace="default"), spec=WidgetSpec(size=size))
        )

    async def resize(self, size: int, name: str = "w") -> None:
        def change(widget: Widget) -> None:
            widget.spec.size = size

        await self.client.edit(Widget, name, change, namespace="default")


@asynccontextmanager
async def world(operator: Operator, seed: int = 1) -> AsyncIterator[World]:
    clock, rng, text = LoopClock(), random.Random(seed), io.StringIO()
    async with DevCluster(clock=clock, rng=rng) as cluster:
        somebody = Client(cluster.transport(), field_manager="somebody", clock=clock, rng=rng)
        await install(somebody, operator)
        sent = RecordingTransport(cluster.transport())
        log = new_log("json", level="debug", stream=text)
        manager = Manager(operator, Client(sent, clock=clock, rng=rng), clock=clock, rng=rng, log=log)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(manager.run())
            yield World(cluster, somebody, sent, manager, text)
            running.cancel()
