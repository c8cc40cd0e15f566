"""An embedded cluster with its control plane, in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import pytest

from kubewright.api import ApiError, LoopClock, NotFound, ObjectMeta, Resource
from kubewright.client import Client, HttpRequest, Transport
from kubewright.devcluster.api_server import ApiServer
from kubewright.devcluster.controllers import ControlPlane, Simulation
from kubewright.devcluster.in_process import InProcessTransport
from kubewright.kinds import core_v1
from kubewright.testing.recording import RecordingTransport
from kubewright.testing.virtual_time import run_in_virtual_time
from tests.complaints import Complaints

R = TypeVar("R", bound=Resource)


class World:
    """The cluster of one test."""

    def __init__(self, simulation: Simulation | None = None) -> None:
        self.clock = LoopClock()
        rng = random.Random(7)
        self.server = ApiServer(clock=self.clock, rng=rng)
        self.store = self.server.store
        self.complaints = Complaints()
        self._recordings: list[RecordingTransport] = []
        self.control_plane = ControlPlane(
            store=self.store,
            catalog=self.server.catalog,
            transport=self._transport,
            clock=self.clock,
            rng=rng,
            log=self.complaints,
            simulation=simulation,
            authority="the authority",
        )
        self.client = Client(InProcessTransport(self.server), clock=self.clock, rng=rng, field_manager="test")

    def _transport(self) -> Transport:
        recording = RecordingTransport(InProcessTransport(self.server))
        self._recordings.append(recording)
        return recording

    @property
    def writes(self) -> list[HttpRequest]:
        """What the control plane wrote since `forget_requests`."""
        return [write for recording in self._recordings for write in recording.writes]

    @property
    def requests(self) -> list[HttpRequest]:
        return [request for recording in self._recordings for request in recording.requests]

    def forget_requests(self) -> None:
        for recording in self._recordings:
            recording.clear()

    async def after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def find(self, kind: type[R], name: str, namespace: str | None = "default") -> R | None:
        with suppress(NotFound):
            return await self.client.get(kind, name, namespace=namespace)
        return None

    async def names(self, kind: type[Resource], namespace: str | None = "default") -> list[str]:
        return [each.name for each in await self.client.list(kind, namespace=namespace)]

    async def annotate(self, pod: str, key: str, value: str | None, namespace: str = "default") -> None:
        def change(obj: core_v1.Pod) -> None:
            annotations = dict(obj.metadata.annotations or {})
            annotations.pop(key, None)
            if value is not None:
                annotations[key] = value
            obj.metadata.annotations = annotations or None

        await self.client.edit(core_v1.Pod, pod, change, namespace=namespace)

    async def events(self, about: str, namespace: str = "default") -> list[tuple[str | None, str | None]]:
        """Reasons and messages of an object's events, oldest first."""
        found = [
            event
            for event in await self.client.list(core_v1.Event, namespace=namespace)
            if event.involved_object.name == about
        ]
        return [
            (event.reason, event.message)
            for event in sorted(found, key=lambda event: (event.name.rpartition(".")[2], event.name))
        ]

    async def namespace(self, name: str) -> None:
        await self.client.create(core_v1.Namespace(metadata=ObjectMeta(name=name)))

    def trace(self) -> list[tuple[str, str, str, str]]:
        return [
            (change.type, str(change.resource), change.namespace, change.name)
            for change in self.store.changes(self.store.oldest)
        ]


Scenario = Callable[[World], Coroutine[Any, Any, None]]
InCluster = Callable[..., World]


@pytest.fixture
def in_cluster() -> InCluster:
    """Runs a scenario in a cluster that has settled, in virtual time, and checks that nothing went wrong in it."""

    def run(scenario: Scenario, *, simulation: Simulation | None = None, quiet: bool = True) -> World:
        async def main() -> World:
            world = World(simulation)
            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(world.control_plane.run())
                await asyncio.sleep(0.1)
                try:
                    await scenario(world)
                finally:
                    running.cancel()
            return world

        world = run_in_virtual_time(main)
        if quiet:
            assert world.complaints.lines == []
        return world

    return run


__all__ = ["ApiError", "InCluster", "World", "in_cluster"]
