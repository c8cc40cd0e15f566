"""`serve_foreground`: a cluster that takes up this process until a signal ends it."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from kubewright.api import Clock, SystemClock
from kubewright.api.collector import collect_seldom
from kubewright.devcluster.cluster import DevCluster, Https
from kubewright.devcluster.cluster_files import ClusterFiles, ClusterStatus
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.devcluster.credentials import load_or_create
from kubewright.devcluster.process import ClusterOptions
from kubewright.telemetry import Log, null_log

__all__ = ["serve_foreground"]

_POLL_SECONDS = 0.02


async def serve_foreground(
    home: Path,
    options: ClusterOptions | None = None,
    *,
    ready: Callable[[ClusterStatus], None] = lambda _: None,
    clock: Clock | None = None,
    log: Log | None = None,
) -> None:
    """Runs a cluster until SIGINT or SIGTERM; ``ready`` is called once it listens and its kubeconfig is written.

    Raises `ClusterError` where another cluster has the home, or its files can't be written.
    """
    files = ClusterFiles(home)
    files.prepare()
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        with files.written():
            stack.enter_context(files.held(pause=lambda: time.sleep(_POLL_SECONDS)))
            stopped = stack.enter_context(_signals())
            cluster = _cluster(files, options or ClusterOptions(), clock, log or null_log())
            await stack.enter_async_context(cluster)
            files.announce(cluster.server_url, clock.now())
        collect_seldom()
        ready(files.status())
        await stopped.wait()


def _cluster(files: ClusterFiles, options: ClusterOptions, clock: Clock, log: Log) -> DevCluster:
    credentials = load_or_create(files.credentials, clock.now())
    https = Https(
        port=files.last_port() if options.port is None else options.port,
        port_is_a_wish=options.port is None,
        credentials=credentials,
        kubeconfig=files.kubeconfig,
    )
    simulation = Simulation() if options.ready_after is None else Simulation(ready_after=options.ready_after)
    return DevCluster(https=https, simulation=simulation, clock=clock, log=log)


@contextmanager
def _signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set while the block runs."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        yield stopped
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
