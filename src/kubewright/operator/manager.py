"""`Manager`: an operator at work in one process."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from kubewright.api import Clock, SystemClock
from kubewright.cache import Cache
from kubewright.client import Client
from kubewright.controller import Controller
from kubewright.operator.namespaces import checked_namespaces
from kubewright.operator.operator import Operator
from kubewright.telemetry import Log, null_log

__all__ = ["STOP_WITHIN", "Manager"]

STOP_WITHIN = 25.0
"""Seconds that runs in flight are given to end; the generated Deployment's grace period follows it."""


class Manager:
    """Runs an operator's caches, then its controllers; stops them in reverse.

    Guarantees: two managers in one process share nothing; `run` leaves no task behind. A kind whose CRD is missing, or
    an API server that is away, is reported and waited for.
    """

    def __init__(
        self,
        operator: Operator[Any],
        client: Client,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
        stop_within: float = STOP_WITHIN,
        namespaces: Iterable[str] | None = None,
    ) -> None:
        """``stop_within``: seconds that runs in flight are given to end when the manager is asked to stop.

        ``namespaces``: where the operator works; default what it declares.
        """
        clock = clock or SystemClock()
        rng = rng or random.Random()
        log = log or null_log()
        self.operator = operator
        self.client = client
        self._log = log.bind(operator=operator.name)
        self._stop_within = stop_within
        self._stopping = asyncio.Event()
        self.namespaces = (
            operator.namespaces if namespaces is None else checked_namespaces(namespaces, what="namespaces")
        )
        self.cache = Cache(client, namespaces=self.namespaces, clock=clock, rng=rng, log=self._log)
        self.controllers: list[Controller[Any]] = [
            Controller(
                spec,
                client=client,
                cache=self.cache,
                clock=clock,
                rng=rng,
                log=self._log,
                field_manager=f"{operator.name}/{spec.name}",
            )
            for spec in operator.controllers
        ]

    def stop(self) -> None:
        """Asks `run` to end well: runs in flight are finished, nothing new starts."""
        self._stopping.set()

    async def run(self) -> None:
        """Works until `stop`. Cancellation ends at once, runs in flight included."""
        self._log.info("starting", controllers=[controller.spec.name for controller in self.controllers])
        async with self.sharing():
            await self._work()
        self._log.info("stopped")

    @asynccontextmanager
    async def sharing(self) -> AsyncIterator[None]:
        """Opens what the operator's ``lifespan`` gives its runs; `run` does it itself."""
        if self.operator.lifespan is None:
            yield
            return
        async with self.operator.lifespan(self.client) as state:
            for controller in self.controllers:
                controller.share(state)
            yield

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            running: list[asyncio.Task[None]] = [tasks.create_task(self.cache.run(), name="cache")]
            running += [
                tasks.create_task(controller.run(), name=f"controller-{controller.spec.name}")
                for controller in self.controllers
            ]
            await self._stopping.wait()
            await self._drain()
            for task in reversed(running):
                task.cancel()

    async def settled(self) -> None:
        """Waits until every cache is in step and no controller has anything to do (delayed retries aside)."""
        await self.cache.synced()
        for controller in self.controllers:
            await controller.settled()

    async def _drain(self) -> None:
        for controller in self.controllers:
            controller.stop()
        try:
            async with asyncio.timeout(self._stop_within):
                for controller in self.controllers:
                    await controller.settled()
        except TimeoutError:
            self._log.warning("runs in flight did not end in time and were cancelled", seconds=self._stop_within)
