"""`DevCluster`: the embedded Kubernetes put together: API server, controllers, and a port if wanted.

    async with DevCluster(https=Https()) as cluster:
        cluster.transport()   # for clients in this process
        cluster.kubeconfig    # for kubectl

Guarantees
    Inside the block the server answers and the controllers run. Leaving it stops the port first, then the controllers.
    A controller that fails ends the block with its error; a cluster of which a part is dead would only mislead.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

from kubewright.api import Clock, SystemClock
from kubewright.devcluster.api_server import ApiServer
from kubewright.devcluster.errors import ClusterError
from kubewright.devcluster.in_process import InProcessTransport
from kubewright.telemetry import Log, null_log

if TYPE_CHECKING:
    from types import TracebackType

    from kubewright.client.transport import Transport
    from kubewright.devcluster.controllers.settings import Simulation
    from kubewright.devcluster.credentials import Credentials
    from kubewright.devcluster.https_front import HttpsFront

__all__ = ["Controllers", "DevCluster", "Https", "Runnable", "standard_controllers"]


class Runnable(Protocol):
    """Something that runs for as long as the cluster does; it is cancelled when the cluster stops."""

    async def run(self) -> None: ...


Controllers: TypeAlias = "Callable[[DevCluster], Sequence[Runnable]]"
"""Makes the controllers of one cluster, from its server, clock and random numbers."""


def standard_controllers(cluster: DevCluster) -> Sequence[Runnable]:
    """What every cluster runs unless told otherwise: controller manager, scheduler and kubelet."""
    from kubewright.devcluster.controllers import ControlPlane  # noqa: PLC0415 - costs as much as all the rest

    return [
        ControlPlane(
            store=cluster.server.store,
            catalog=cluster.server.catalog,
            transport=cluster.transport,
            clock=cluster.clock,
            rng=cluster.rng,
            log=cluster.log,
            simulation=cluster.simulation,
            authority=cluster.authority,
        )
    ]


@dataclass(frozen=True, kw_only=True)
class Https:
    """How a cluster listens. What is not given is made anew and forgotten with the cluster."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    port_is_a_wish: bool = False
    """Take a free port when this one is in use, rather than fail."""
    credentials: Credentials | None = None
    kubeconfig: Path | None = None
    """Where to write it."""


class DevCluster:
    """One cluster, in memory. It starts empty, but for the namespaces that every cluster has."""

    def __init__(
        self,
        *,
        https: Https | None = None,
        controllers: Controllers = standard_controllers,
        simulation: Simulation | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        """Without ``https`` it is reached in process only. ``rng`` makes uids and names; give a seeded one to repeat a run.

        ``simulation`` says how the simulated machine behaves: how soon pods are ready, and so on.
        """
        self.clock = clock or SystemClock()
        self.rng = rng or random.Random()
        self.log = log or null_log()
        self.simulation = simulation
        self.server = ApiServer(clock=self.clock, rng=self.rng)
        self._https = https
        self._credentials = https and (https.credentials or _new_credentials(self.clock.now()))
        self._controllers = controllers
        self._front: HttpsFront | None = None
        self._kubeconfig: Path | None = None
        self._running: AsyncExitStack | None = None

    def transport(self) -> Transport:
        """A way in for clients of this process."""
        return InProcessTransport(self.server)

    @property
    def authority(self) -> str:
        """The certificate of its authority in PEM; empty for a cluster that does not listen."""
        return self._credentials.ca.decode() if self._credentials else ""

    @property
    def server_url(self) -> str:
        """Where it listens. Raises `ClusterError` when it does not."""
        if self._front is None:
            raise ClusterError("this cluster does not listen: give DevCluster(https=Https()) and enter its block")
        return self._front.url

    @property
    def kubeconfig(self) -> Path:
        """The file that lets kubectl in. Raises `ClusterError` when the cluster does not listen."""
        if self._kubeconfig is None:
            raise ClusterError("this cluster does not listen: give DevCluster(https=Https()) and enter its block")
        return self._kubeconfig

    async def __aenter__(self) -> Self:
        stack = AsyncExitStack()
        try:
            group = await stack.enter_async_context(asyncio.TaskGroup())
            tasks = [group.create_task(each.run()) for each in self._controllers(self)]
            stack.callback(_cancel, tasks)
            if self._https and self._credentials:
                await self._listen(self._https, self._credentials, stack)
        except BaseException:
            await stack.aclose()
            raise
        self._running = stack
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running is not None:
            await self._running.aclose()  # not told of the block's own error, which the task group would wrap

    async def _listen(self, https: Https, credentials: Credentials, stack: AsyncExitStack) -> None:
        from kubewright.devcluster.kubeconfig_file import write_kubeconfig  # noqa: PLC0415

        self._front = await self._open_front(https, credentials, stack)
        self.server.address = f"{https.host}:{self._front.port}"
        self._kubeconfig = https.kubeconfig or Path(stack.enter_context(tempfile.TemporaryDirectory()), "kubeconfig")
        write_kubeconfig(self._kubeconfig, self._front.url, credentials)

    async def _open_front(self, https: Https, credentials: Credentials, stack: AsyncExitStack) -> HttpsFront:
        from kubewright.devcluster.https_front import HttpsFront  # noqa: PLC0415 - aiohttp, which costs as much as all the rest

        front = HttpsFront(self.server, credentials, host=https.host, port=https.port, log=self.log)
        try:
            return await stack.enter_async_context(front)
        except ClusterError:
            if not https.port_is_a_wish:
                raise
        front = HttpsFront(self.server, credentials, host=https.host, log=self.log)
        return await stack.enter_async_context(front)


def _new_credentials(now: datetime) -> Credentials:
    from kubewright.devcluster.certificates import new_credentials  # noqa: PLC0415 - not for a cluster in process

    return new_credentials(now)


def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
