"""`OperatorProcess`: an operator that runs, crashes and starts anew, as a Deployment's pod does."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection
from typing import Any, cast

from msgspec.structs import replace

from kubewright.api import Clock
from kubewright.client import Client, Transport
from kubewright.controller import ControllerSpec
from kubewright.operator import Manager, Operator, Settings
from kubewright.telemetry import Log
from kubewright.testing.transport import FaultyTransport, Traffic

__all__ = ["OperatorProcess"]


class OperatorProcess:
    """Keeps one operator running over one cluster.

    Guarantees: each start has a client, caches and memory of its own; after a crash the next start follows
    ``restart_after`` seconds later. With ``working`` false the manager runs and its caches fill, but no worker does.
    """

    def __init__(
        self,
        operator: Operator[Any],
        transport: Callable[[], Transport],
        traffic: Traffic,
        *,
        clock: Clock,
        seed: int,
        log: Log,
        restart_after: float,
        working: bool,
        namespaces: Collection[str] | None = None,
    ) -> None:
        """``namespaces``: where the operator works, whatever it declares; None: what it declares."""
        self._operator = operator if working else cast("Operator[Any]", _WithoutWorkers(operator))
        self._transport = transport
        self._traffic = traffic
        self._clock = clock
        self._seed = seed
        self._log = log
        self._restart_after = restart_after
        self._namespaces = namespaces
        self._task: asyncio.Task[None] | None = None
        self._manager_task: asyncio.Task[None] | None = None
        self._crashed = False
        self.working = working
        self.manager: Manager | None = None
        """None while there is none, between a crash and the next start."""
        self.starts = 0
        self.crashes = 0

    def start(self, number: int) -> None:
        """``number``: how many starts there were before, of this operator."""
        self.starts = number
        self._task = asyncio.create_task(self._keep_running(), name=f"operator {self._operator.name}")

    async def stop(self) -> None:
        """Ends the process well: runs in flight are finished."""
        if self.manager is not None and self._manager_task is not None and not self._manager_task.done():
            self.manager.stop()
            await asyncio.wait([self._manager_task])
        await self.kill()

    async def kill(self) -> None:
        """Ends the process at once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def check(self) -> None:
        """Raises what the operator died of, if it did."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    def crash(self) -> None:
        """Ends the running process at once, as a lost machine does; another one starts later."""
        self._crashed = True
        self.crashes += 1
        if self._manager_task is not None:
            self._manager_task.cancel()

    async def _keep_running(self) -> None:
        while True:
            self.starts += 1
            await self._run_once(self.starts)
            if not self._crashed:
                return
            self._crashed = False
            self._traffic.trace.add("operator", f"has crashed and starts again in {self._restart_after:g} s")
            await asyncio.sleep(self._restart_after)

    async def _run_once(self, number: int) -> None:
        rng = random.Random(f"{self._seed}/{number}")
        transport = FaultyTransport(self._transport(), self._traffic, process=number, crash=self.crash)
        client = Client(transport, field_manager=self._operator.name, clock=self._clock, rng=rng, log=self._log)
        manager = self.manager = Manager(
            self._operator,
            client,
            clock=self._clock,
            rng=rng,
            log=self._log,
            settings=_out_of_reach(self._operator.settings),
            namespaces=self._namespaces,
        )
        task = self._manager_task = asyncio.create_task(manager.run(), name=f"{self._operator.name} start {number}")
        try:
            await asyncio.wait([task])
        finally:
            self.manager = None
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
            await client.close()
        if not task.cancelled() and not self._crashed:
            task.result()


def _out_of_reach(settings: Settings) -> Settings:
    """Without what the operator would have of the machine: it has no sockets in virtual time, and no rival."""
    return replace(settings, health_probe_bind_address="0", metrics_bind_address="0", leader_elect=False)


class _WithoutWorkers:
    """An operator whose controllers wait for `Controller.reconcile` instead of events; in all else it is the same."""

    def __init__(self, operator: Operator[Any]) -> None:
        self._operator = operator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operator, name)

    @property
    def controllers(self) -> list[ControllerSpec[Any]]:
        return [replace(spec, workers=0) for spec in self._operator.controllers]
