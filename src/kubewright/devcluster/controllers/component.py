"""`Component`: one of the programs that a control plane is made of, built from kubewright's own parts.

Components are told apart on the server as real ones are: by user agent, field manager and the source of their events.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from kubewright.api import Clock, Resource
from kubewright.cache import Cache, Informer
from kubewright.client import Client, Transport
from kubewright.controller import Controller, ControllerSpec
from kubewright.devcluster.controllers.recorder import EventRecorder
from kubewright.telemetry import Log

__all__ = ["Component"]

R = TypeVar("R", bound=Resource)


class Component:
    """Controllers that share a client, a cache and a recorder of events.

    Controllers, and the informers that their mappers read, are declared before `run`.
    """

    def __init__(
        self, name: str, transport: Transport, *, clock: Clock, rng: random.Random, log: Log, host: str | None = None
    ) -> None:
        self.name = name
        self.clock = clock
        self.log = log.bind(component=name)
        self.client = Client(transport, field_manager=name, clock=clock, rng=rng, user_agent=name)
        self.cache = Cache(self.client, clock=clock, rng=rng, log=self.log)
        self.controllers: list[Controller[Any]] = []
        self._rng = rng
        self._host = host
        self._beside: list[Callable[[], Awaitable[None]]] = []

    def recorder(self, source: str | None = None) -> EventRecorder:
        """Writes events as ``source``, the component itself unless given."""
        return EventRecorder(self.client, source or self.name, host=self._host, log=self.log)

    def informer(self, kind: type[R]) -> Informer[R]:
        return self.cache.informer(kind)

    def add(self, spec: ControllerSpec[R]) -> Controller[R]:
        """Adds a controller; mappers of ``spec`` may read any informer that is declared before `run`."""
        controller = Controller(
            msgspec.structs.replace(spec, failure_events=False),  # those of Kubernetes have events of their own
            client=self.client,
            cache=self.cache,
            clock=self.clock,
            rng=self._rng,
            log=self.log,
            field_manager=self.name,
        )
        self.controllers.append(controller)
        return controller

    def beside(self, work: Callable[[], Awaitable[None]]) -> None:
        """Has ``work`` run for as long as the controllers do, or until it returns."""
        self._beside.append(work)

    async def run(self) -> None:
        """Works until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.cache.run(), name=f"{self.name} cache")
            for controller in self.controllers:
                tasks.create_task(controller.run(), name=f"{self.name} {controller.spec.name}")
            for work in self._beside:
                tasks.create_task(_run(work), name=f"{self.name} work")


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()
