"""``kubewright run``: an operator against the cluster that the kubeconfig, or the pod it runs in, points to."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import click
from msgspec import Struct

from kubewright.api import Clock, SystemClock
from kubewright.api.collector import collect_seldom
from kubewright.cli.candidacy import candidacy
from kubewright.cli.ending import end_at_once
from kubewright.cli.failure import Failure
from kubewright.cli.loading import Loaded
from kubewright.cli.log_level_file import following
from kubewright.cli.prepared import prepared
from kubewright.cli.setting_options import OperatorCommand, setting_options
from kubewright.cli.signals import Signals, stop_on_signals
from kubewright.client import Client, Transport
from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.client.metered import MeteredTransport
from kubewright.controller.exits import contain_exits
from kubewright.operator import LeadershipLost, Manager, Settings, StartFailed, watched_namespaces
from kubewright.operator.first_contact import FirstContact, Unreachable
from kubewright.operator.lifecycle import LAST_SECONDS
from kubewright.operator.namespaces import checked_namespaces
from kubewright.telemetry import Log, LogLevel, Metrics, null_metrics

__all__ = ["LEADERSHIP_LOST", "command"]

LEADERSHIP_LOST = 3
"""The exit code where the lease was lost: nothing is wrong with this process but that another one may lead now."""
_ENDED_WITHIN = 4 * LAST_SECONDS
"""Seconds after the manager's own bound until which it must have ended; less than what the Deployment gives it."""


@click.command("run", cls=OperatorCommand)
@click.argument("target")
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="Which kubeconfig file.  [default: as kubectl]")
@click.option("--context", help="Which context of the kubeconfig.  [default: its current one]")
@click.option(
    "--watch-namespace",
    "watched",
    multiple=True,
    help="Where the operator works; repeatable.  [WATCH_NAMESPACE; default: as it declares, else everywhere]",
)
@setting_options()
def command(
    target: str, kubeconfig: str | None, context: str | None, watched: tuple[str, ...], **flags: object
) -> int | None:
    """Run the operator TARGET ("module:attribute" or "file.py:attribute") until it is stopped.

    The cluster is that of --kubeconfig, else of KUBECONFIG, else the one this pod runs in, else ~/.kube/config. What the
    operator lacks there, CRDs or permissions, is told with the commands that give it; it waits until it has them.

    Exit codes: 0 stopped, 1 failed, 2 used wrongly, 3 lease lost, 130 and 143 ended by a second signal.
    """
    with prepared(target, flags) as made:
        try:
            namespaces = (
                checked_namespaces(watched, what="--watch-namespace") if watched else watched_namespaces(os.environ)
            )
        except (TypeError, ValueError) as error:
            raise Failure(str(error), exit_code=2) from error
        try:
            config = load(kubeconfig, context=context)
        except ConfigError as error:
            raise Failure(str(error)) from error
        process = _Process(
            loaded=made.loaded,
            target=target,
            config=config,
            settings=made.settings,
            namespaces=namespaces,
            level=made.level,
            log=made.log,
        )
        return asyncio.run(_run(process))


class _Process(Struct, frozen=True, kw_only=True):
    """All that a process is started with."""

    loaded: Loaded
    target: str
    """As it was named, for commands to be copied."""
    config: ClusterConfig
    settings: Settings
    namespaces: tuple[str, ...] | None
    """None: as the operator declares."""
    level: LogLevel
    log: Log


async def _run(process: _Process) -> int:
    """The exit code."""
    contain_exits(asyncio.get_running_loop())
    stop = asyncio.Event()
    within = process.settings.stop_within + _ENDED_WITHIN
    async with following(process.settings.log_level_file, process.level, process.log) as reload:
        with stop_on_signals(stop.set, log=process.log, within=within, reload=reload) as signals:
            try:
                await _work(process, stop, signals)
            except asyncio.CancelledError:
                if signals.second is None:
                    raise
                process.log.warning("stopped at the second signal; runs in flight were cancelled")
                return signals.exit_code
    return 0


async def _work(process: _Process, stop: asyncio.Event, signals: Signals) -> None:
    clock, rng = SystemClock(), random.Random()
    metrics = null_metrics() if process.settings.metrics_bind_address == "0" else Metrics()
    async with _client(process, metrics, clock, rng) as client:
        manager = _manager(process, client, metrics, clock, rng)
        collect_seldom()
        async with _beside(_stop(manager, stop)):
            try:
                await manager.run()
            except (StartFailed, Unreachable) as error:
                raise Failure(str(error)) from error
            except LeadershipLost as error:
                raise Failure(str(error), exit_code=LEADERSHIP_LOST) from error
            finally:
                if manager.abandoned:
                    end_at_once(signals, process.log)


async def _stop(manager: Manager, stop: asyncio.Event) -> None:
    await stop.wait()
    manager.stop()


def _manager(process: _Process, client: Client, metrics: Metrics, clock: Clock, rng: random.Random) -> Manager:
    name, settings, config = process.loaded.operator.name, process.settings, process.config
    log = process.log.bind(operator=name)
    return Manager(
        process.loaded.operator,
        client,
        clock=clock,
        rng=rng,
        log=log,
        settings=settings,
        namespaces=process.namespaces,
        election=candidacy(client, settings, name=name, namespace=config.namespace, clock=clock, rng=rng, log=log),
        first_contact=FirstContact(
            client,
            server=config.server,
            source=config.source,
            within=settings.wait_for_server,
            clock=clock,
            rng=rng,
            log=log,
        ),
        metrics=metrics,
        start_checks=True,
        target=process.target,
    )


@asynccontextmanager
async def _client(process: _Process, metrics: Metrics, clock: Clock, rng: random.Random) -> AsyncIterator[Client]:
    try:
        transport: Transport = HttpsTransport(process.config, clock=clock, log=process.log)
    except ConfigError as error:
        raise Failure(str(error)) from error
    if metrics.enabled:
        transport = MeteredTransport(transport, metrics, server=process.config.server)
    client = Client(transport, field_manager=process.loaded.operator.name, clock=clock, rng=rng, log=process.log)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, object]) -> AsyncIterator[asyncio.Task[object]]:
    """Has ``work`` go on during the block at most."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
