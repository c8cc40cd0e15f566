"""``kubewright dev``: an embedded cluster and an operator on it, in one process."""

from __future__ import annotations

import asyncio
import random
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from kubewright.api import ApiError, Clock, NotFound, ResourceInfo, SystemClock, resource_info
from kubewright.api.collector import collect_seldom
from kubewright.cli.applying import Manifest, apply_manifests, read_manifests
from kubewright.cli.candidacy import candidacy
from kubewright.cli.durations import Seconds
from kubewright.cli.ending import end_at_once
from kubewright.cli.failure import Failure
from kubewright.cli.log_level_file import following
from kubewright.cli.prepared import Prepared, prepared
from kubewright.cli.progress import Progress
from kubewright.cli.readiness import Readiness, readiness
from kubewright.cli.setting_options import OperatorCommand, setting_options
from kubewright.cli.signals import Signals, stop_on_signals
from kubewright.client import Client, Transport
from kubewright.client.metered import MeteredTransport
from kubewright.controller.exits import contain_exits
from kubewright.crd import definition
from kubewright.devcluster.cluster import DevCluster, Https
from kubewright.devcluster.errors import ClusterError
from kubewright.kinds import apiextensions_v1
from kubewright.operator import LeadershipLost, Manager, Settings, StartFailed
from kubewright.telemetry import Metrics, null_metrics

__all__ = ["command"]


class _DevCommand(OperatorCommand):
    base = Settings(log_level="warning")  # what comes up is shown as it is


@click.command("dev", cls=_DevCommand)
@click.argument("target")
@click.option(
    "--apply",
    "files",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="YAML to apply; repeatable.",
)
@click.option("--once", is_flag=True, help="Exit when what was applied is ready: 0 then, 1 with the reason if not.")
@click.option(
    "--timeout",
    type=Seconds(positive=True),
    default=60.0,
    show_default=True,
    help="Seconds for --once.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Where the cluster listens.  [default: a free port]"
)
@setting_options(without={"wait_for_server"})  # it comes with one
def command(target: str, files: tuple[Path, ...], once: bool, timeout: float, port: int, **flags: object) -> None:
    """Run the operator TARGET ("module:attribute" or "file.py:attribute") on an embedded cluster of its own.

    Installs its CRDs, applies the given files and shows live how things come up. The cluster is in memory and ends with
    the command; kubectl works on it meanwhile.
    """
    with prepared(target, flags) as made:
        session = _Session(made, read_manifests(files, made.loaded.operator.scheme))
        try:
            asyncio.run(session.run(port=port, timeout=timeout if once else None))
        except ClusterError as error:
            raise Failure(str(error)) from error


class _Session:
    """One run of ``kubewright dev``."""

    def __init__(self, made: Prepared, wanted: list[Manifest]) -> None:
        self._operator = made.loaded.operator
        self._settings = made.settings
        self._level = made.level
        self._wanted = wanted
        self._log = made.log
        self._stop = asyncio.Event()
        self._broken: OSError | None = None
        self._abandoned: list[str] = []

    async def run(self, *, port: int, timeout: float | None) -> None:
        """Until Ctrl-C; with a ``timeout``, until what was applied is ready. Raises `Failure` when that takes longer."""
        contain_exits(asyncio.get_running_loop())
        async with following(self._settings.log_level_file, self._level, self._log) as reload:
            with self._stopped_by_signals(reload if self._settings.log_level_file else None) as signals:
                try:
                    await self._run(port, timeout)
                finally:
                    if self._abandoned:
                        end_at_once(signals, self._log)

    async def _run(self, port: int, timeout: float | None) -> None:
        clock, rng = SystemClock(), random.Random()
        started = clock.monotonic()
        async with DevCluster(https=Https(port=port), clock=clock, rng=rng, log=self._log) as cluster:
            click.echo(f"embedded cluster at {cluster.server_url} in {clock.monotonic() - started:.2f} s")
            metrics = null_metrics() if self._settings.metrics_bind_address == "0" else Metrics()
            transport: Transport = cluster.transport()
            if metrics.enabled:
                transport = MeteredTransport(transport, metrics, server=str(cluster.server_url))
            client = Client(transport, field_manager=self._operator.name, clock=clock, rng=rng, log=self._log)
            await self._install(client)
            manager = self._manager(client, metrics, clock, rng)
            collect_seldom()
            failure: Failure | None = None
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(_managed(manager), name="manager")
                    try:
                        await self._follow(manager, client, cluster, timeout=timeout)
                    except Failure as error:  # raised through the group it would come out wrapped
                        failure = error
                    finally:
                        manager.stop()
            finally:
                self._abandoned = manager.abandoned
            if wrong := self._broken or failure:
                raise wrong

    def _manager(self, client: Client, metrics: Metrics, clock: Clock, rng: random.Random) -> Manager:
        settings, log, name = self._settings, self._log, self._operator.name
        return Manager(
            self._operator,
            client,
            clock=clock,
            rng=rng,
            log=log,
            settings=settings,
            metrics=metrics,
            election=candidacy(client, settings, name=name, namespace=None, clock=clock, rng=rng, log=log),
        )

    @contextmanager
    def _stopped_by_signals(self, reload: Callable[[], None] | None) -> Iterator[Signals]:
        """Without a log level's file SIGHUP ends it, as of a terminal that is closed."""
        with stop_on_signals(self._stop.set, log=self._log, reload=reload) as signals:
            try:
                yield signals
            except asyncio.CancelledError as error:
                if signals.second is None:
                    raise
                raise Failure("stopped at the second signal", exit_code=signals.exit_code) from error

    def _unread(self, error: OSError) -> None:
        self._broken = error
        self._stop.set()

    async def _install(self, client: Client) -> None:
        info = resource_info(apiextensions_v1.CustomResourceDefinition)
        for kind in self._operator.custom_kinds:
            body = definition(kind)
            name = body["metadata"]["name"]
            try:
                await client.apply_raw(info, body, force=True)
            except ApiError as error:
                raise Failure(f"the CRD {name} was refused: {error}") from error
            click.echo(f"installed {name}")

    async def _follow(self, manager: Manager, client: Client, cluster: DevCluster, *, timeout: float | None) -> None:
        progress = Progress(manager, gone=self._unread)
        with progress.shown():
            await apply_manifests(client, self._wanted)
            await self._all_ready(client, timeout)
            if timeout is None and not self._stop.is_set():
                for line in self._invitation(cluster):
                    progress.say(line)
                await self._stop.wait()

    async def _all_ready(self, client: Client, timeout: float | None) -> None:
        """Waits until everything applied is ready or the user has had enough."""
        try:
            async with asyncio.timeout(timeout):
                while not self._stop.is_set():
                    if all([(await self._readiness(client, manifest)).ready for manifest in self._wanted]):
                        return
                    await asyncio.sleep(0.1)
        except TimeoutError as error:
            reasons = [
                f"{manifest.info.kind} {manifest.name} is not ready after {timeout:g} s: {found.reason}"
                for manifest in self._wanted
                if not (found := await self._readiness(client, manifest)).ready
            ]
            raise Failure("; ".join(reasons)) from error

    async def _readiness(self, client: Client, manifest: Manifest) -> Readiness:
        try:
            raw = await client.rest.get(manifest.info, manifest.name, namespace=manifest.namespace)
        except NotFound:
            return Readiness(False, "it was deleted")
        return readiness(msgspec.json.decode(raw))

    def _invitation(self, cluster: DevCluster) -> list[str]:
        """What to try next, in another terminal."""
        kinds = [resource_info(kind) for spec in self._operator.controllers for kind in (spec.kind, *spec.owns)]
        names = ",".join(dict.fromkeys(_shortest(info) for info in kinds))
        commands = [f"kubectl get {names}"]
        for manifest in self._wanted[:1]:
            one = f"{_shortest(manifest.info)} {manifest.name}"
            if manifest.namespace:
                one += f" -n {manifest.namespace}"
            commands.append(f"kubectl describe {one}")
            commands.append(f"kubectl scale {one} --replicas=5" if manifest.info.scale else f"kubectl delete {one}")
        return [
            "",
            "Try, in another terminal:",
            "",
            f"  export KUBECONFIG={shlex.quote(str(cluster.kubeconfig))}",
            *(f"  {command}" for command in commands),
            "",
            "Ctrl-C stops the operator and the cluster.",
            "",
        ]


async def _managed(manager: Manager) -> None:
    try:
        await manager.run()
    except (StartFailed, LeadershipLost) as error:
        raise Failure(str(error)) from error


def _shortest(info: ResourceInfo) -> str:
    return info.short_names[0] if info.short_names else info.plural
