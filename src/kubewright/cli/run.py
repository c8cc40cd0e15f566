"""``kubewright run``: an operator against the cluster that the kubeconfig, or the pod it runs in, points to."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from kubewright.api import ApiError, Clock, SystemClock, Unauthorized
from kubewright.cli.collector import collect_seldom
from kubewright.cli.failure import Failure
from kubewright.cli.loading import Loaded, load_operator
from kubewright.cli.log_level_file import LogLevelFile
from kubewright.cli.setting_options import OperatorCommand, resolved, setting_options
from kubewright.cli.signals import Signals, stop_on_signals
from kubewright.client import Client, CredentialError, Transport, TransportError
from kubewright.client.credentials import ClusterConfig, ConfigError
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.client.metered import MeteredTransport
from kubewright.operator import LeadershipLost, Manager, Settings, StartFailed, watched_namespaces
from kubewright.operator.lifecycle import LAST_SECONDS
from kubewright.telemetry import Log, Metrics, new_log, null_metrics
from kubewright.telemetry.logs import LogLevel
from kubewright.telemetry.standard_logging import heard_by

if TYPE_CHECKING:
    from kubewright.operator.election import LeaderElection

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
@setting_options
def command(
    target: str, kubeconfig: str | None, context: str | None, watched: tuple[str, ...], **flags: object
) -> int | None:
    """Run the operator TARGET ("module:attribute" or "file.py:attribute") until it is stopped.

    The cluster is that of --kubeconfig, else of KUBECONFIG, else the one this pod runs in, else ~/.kube/config. What the
    operator lacks there, CRDs or permissions, is told with the commands that give it; it waits until it has them.

    Exit codes: 0 stopped, 1 failed, 2 used wrongly, 3 lease lost, 130 and 143 ended by a second signal.
    """
    loaded = load_operator(target)
    known = resolved(loaded.operator.settings, flags)
    try:
        namespaces = watched or watched_namespaces(os.environ)
    except (TypeError, ValueError) as error:
        raise Failure(str(error), exit_code=2) from error
    try:
        config = load(kubeconfig, context=context)
    except ConfigError as error:
        raise Failure(str(error)) from error
    level = LogLevel(known.settings.log_level)
    log = new_log(known.settings.log_format, level=level)
    if known.origins:
        chosen = {name: getattr(known.settings, name) for name in known.origins}
        log.debug("settings that are no defaults", values=chosen, origins=known.origins)
    process = _Process(
        loaded=loaded,
        target=target,
        config=config,
        settings=known.settings,
        namespaces=namespaces,
        level=level,
        log=log,
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
    stop = asyncio.Event()
    level_file = process.settings.log_level_file
    reload = LogLevelFile(Path(level_file), process.level, process.log) if level_file else None
    within = process.settings.stop_within + _ENDED_WITHIN
    with (
        heard_by(process.log, process.level),
        stop_on_signals(stop.set, within=within, reload=reload.reload if reload else _nothing) as signals,
    ):
        try:
            async with AsyncExitStack() as beside:
                if reload is not None:
                    await beside.enter_async_context(_beside(reload.follow()))
                await _work(process, stop, signals)
        except asyncio.CancelledError:
            process.log.warning("stopped at the second signal; runs in flight were cancelled")
            return signals.exit_code
    return 0


def _nothing() -> None:
    """Credentials and certificates are read again by themselves; SIGHUP must not end the process."""


async def _work(process: _Process, stop: asyncio.Event, signals: Signals) -> None:
    clock, rng = SystemClock(), random.Random()
    metrics = null_metrics() if process.settings.metrics_bind_address == "0" else Metrics()
    async with _client(process, metrics, clock, rng) as client:
        if not await _unless(stop, _greet(client, process.config, process.log)):
            return
        manager = _manager(process, client, metrics, clock, rng)
        collect_seldom()
        async with _beside(_stop(manager, stop)):
            try:
                await manager.run()
            except StartFailed as error:
                raise Failure(str(error)) from error
            except LeadershipLost as error:
                raise Failure(str(error), exit_code=LEADERSHIP_LOST) from error
            finally:
                if manager.abandoned:
                    _end(signals.exit_code if signals.first else LEADERSHIP_LOST)


def _end(code: int) -> None:
    """Without waiting for what does not end, as Python would."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


async def _stop(manager: Manager, stop: asyncio.Event) -> None:
    await stop.wait()
    manager.stop()


def _manager(process: _Process, client: Client, metrics: Metrics, clock: Clock, rng: random.Random) -> Manager:
    try:
        election = _election(process, client, clock, rng) if process.settings.leader_elect else None
    except ValueError as error:
        raise Failure(f"leader election: {error}", exit_code=2) from error
    return Manager(
        process.loaded.operator,
        client,
        clock=clock,
        rng=rng,
        log=process.log,
        settings=process.settings,
        namespaces=process.namespaces,
        election=election,
        metrics=metrics,
        start_checks=True,
        target=process.target,
    )


def _election(process: _Process, client: Client, clock: Clock, rng: random.Random) -> LeaderElection:
    from kubewright.operator.election import LeaderElection  # noqa: PLC0415 - only who has rivals needs it

    settings = process.settings
    return LeaderElection(
        client,
        settings.leader_elect_resource_name or process.loaded.operator.name,
        settings.leader_elect_resource_namespace or process.config.namespace or "default",
        lease_duration=settings.leader_elect_lease_duration,
        renew_deadline=settings.leader_elect_renew_deadline,
        retry_period=settings.leader_elect_retry_period,
        clock=clock,
        rng=rng,
        log=process.log,
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


async def _greet(client: Client, config: ClusterConfig, log: Log) -> None:
    """Fails at once where no API server answers, instead of retrying a typo for ever."""
    try:
        version = await client.rest.version()
        await client.rest.authenticate()
    except (CredentialError, Unauthorized) as error:  # which say whose credentials they are
        raise Failure(str(error)) from error
    except TransportError as error:
        raise Failure(f"no API server at {config.server} ({config.source}): {error}") from error
    except ApiError as error:
        raise Failure(f"{config.server} refused us (credentials of {config.source}): {error}") from error
    log.info("connected", server=config.server, version=version)


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Does ``work``; False where it was given up because of ``stop``."""
    async with _beside(stop.wait()) as stopped, _beside(work) as working:
        await asyncio.wait([stopped, working], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        return working.done()


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, object]) -> AsyncIterator[asyncio.Task[object]]:
    """Has ``work`` go on during the block at most."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
