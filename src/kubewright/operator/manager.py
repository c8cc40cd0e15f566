"""`Manager`: an operator at work in one process."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from kubewright.api import Clock, SystemClock, resource_info
from kubewright.api.arguments import known_arguments
from kubewright.cache import Cache
from kubewright.cache.readings import readings
from kubewright.client import Client
from kubewright.controller import Controller, LoopWatchdog
from kubewright.operator.access import EVENTS, needs
from kubewright.operator.health import Check
from kubewright.operator.health_checks import PING, Heartbeat, caches_check, leader_check, workers_check
from kubewright.operator.health_endpoint import health_handler
from kubewright.operator.http_server import Address, HttpHandler, serve
from kubewright.operator.lifecycle import Lifecycle
from kubewright.operator.metrics_endpoint import leader_readings, metrics_handler
from kubewright.operator.namespaces import checked_namespaces
from kubewright.operator.operator import Operator
from kubewright.operator.settings import Settings
from kubewright.telemetry import Log, Metrics, Spans, null_log, null_metrics, open_telemetry
from kubewright.telemetry.standard_logging import RUN_LOG

if TYPE_CHECKING:
    from kubewright.operator.election import LeaderElection
    from kubewright.operator.first_contact import FirstContact
    from kubewright.operator.start_checks import StartChecks

__all__ = ["LeadershipLost", "Manager"]


class LeadershipLost(Exception):
    """The process led and does not any more: it must end, so that another one, or its successor, starts afresh."""


class Manager:
    """Runs an operator: HTTP, then caches, then controllers; stops them in reverse.

    Guarantees
        Two managers in one process share nothing. `run` leaves no task behind, however it ends, except of code that
        refuses to be cancelled, which is named in the log. A kind whose CRD is missing, a permission that is, and an API
        server that is away are reported and waited for.
    Errors
        From `run`: `StartFailed` where a part could not start, which it names; `Unreachable` from ``first_contact``;
        `LeadershipLost`.
    """

    @known_arguments
    def __init__(
        self,
        operator: Operator[Any],
        client: Client,
        *,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
        settings: Settings | None = None,
        namespaces: Iterable[str] | None = None,
        election: LeaderElection | None = None,
        first_contact: FirstContact | None = None,
        metrics: Metrics | None = None,
        spans: Callable[[], Spans | None] = open_telemetry,
        start_checks: bool = False,
        target: str | None = None,
    ) -> None:
        """``settings``: default those of the operator. ``namespaces``: where it works; default what it declares.
        ``election``: controllers run, and write, only while it is won; without one, at once, whatever settings say.
        ``first_contact``: nothing else is asked of the server before it is made; without one, a server that is away is
        waited for without end. ``metrics``: where it counts what it does; default its own where they are served, else
        nowhere. ``spans``: asked, when controllers start, for where runs are traced; default as OpenTelemetry was set up.

        With ``start_checks`` the server is asked whether it has and allows what the operator declares, and what it lacks
        is told with the remedy, in which ``target`` is the operator as the command line names it.
        """
        clock = clock or SystemClock()
        rng = rng or random.Random()
        self.operator = operator
        self.client = client
        self.settings = settings or operator.settings
        self._log = (log or null_log()).bind(operator=operator.name)
        self.election = election
        self._first_contact = first_contact
        self.metrics = metrics or (null_metrics() if self.settings.metrics_bind_address == "0" else Metrics())
        self._stopping = asyncio.Event()
        self._writer = client if election is None else client.fenced(election.fence)
        self.namespaces = (
            operator.namespaces if namespaces is None else checked_namespaces(namespaces, what="namespaces")
        )
        self.cache = Cache(self._writer, namespaces=self.namespaces, clock=clock, rng=rng, log=self._log)
        self.controllers: list[Controller[Any]] = [
            Controller(
                spec,
                client=self._writer,
                cache=self.cache,
                clock=clock,
                rng=rng,
                log=self._log,
                field_manager=f"{operator.name}/{spec.name}",
                metrics=self.metrics,
                spans=spans,
            )
            for spec in operator.controllers
        ]
        self.metrics.read_from(lambda: readings(self.cache))
        if election is not None:
            self.metrics.read_from(lambda: leader_readings(election))
        self._heartbeat = Heartbeat()
        self._watchdog = (  # in virtual time the loop's clock stands still while code runs
            LoopWatchdog([each.running for each in self.controllers], self._log)
            if isinstance(clock, SystemClock)
            else None
        )
        self._start_checks = self._checks_of(target, rng) if start_checks else None
        healthy = [PING, self._heartbeat.check, workers_check(self.controllers)]
        ready = [caches_check(self.cache, clock), Check("shutdown", self._why_shut_down)]
        if first_contact is not None:
            ready.insert(0, first_contact.check)
        if election is not None:
            ready.append(leader_check(election))
        self.health: Mapping[str, list[Check]] = {
            "healthz": healthy,
            "readyz": [*healthy, *ready, *([self._start_checks.check] if self._start_checks else [])],
        }
        """What `/healthz` and `/readyz` look at; more may be added before `run`."""
        self.abandoned: list[str] = []
        """Tasks that did not heed their cancellation when `run` ended: the event loop can't be closed while they go on."""
        self.health_port: int | None = None
        """Where they are served, while they are."""
        self.metrics_port: int | None = None
        """Where `/metrics` is served, while it is."""

    def _checks_of(self, target: str | None, rng: random.Random) -> StartChecks:
        from kubewright.operator.start_checks import StartChecks  # noqa: PLC0415 - only deployed processes check

        optional = [resource_info(kind) for spec in self.operator.controllers for kind in spec.optional]
        return StartChecks(
            self.client,
            self.cache,
            needs(self.operator.controllers),
            operator=self.operator.name,
            namespaces=self.namespaces,
            lease=None if self.election is None else (self.election.namespace, self.election.name),
            target=target,
            optional=[EVENTS, *optional],
            in_trouble=lambda: any(controller.queue.failing for controller in self.controllers),
            rng=rng,
            log=self._log,
        )

    def stop(self) -> None:
        """Asks `run` to end well: runs in flight are finished, nothing new starts. May be called before `run`."""
        self._stopping.set()

    async def run(self) -> None:
        """Works until `stop`, or until the lease is lost. Cancellation ends at once, runs in flight included."""
        self._log.info("starting", controllers=[controller.spec.name for controller in self.controllers])
        if self.settings.leader_elect and self.election is None:
            self._log.warning(
                "no leader is elected, although leader_elect is set: every process works",
                remedy="give the manager an election: LeaderElection of kubewright.operator.election",
            )
        lifecycle = Lifecycle(stop_within=self.settings.stop_within, log=self._log)
        well = failed = False
        try:
            await self._start(lifecycle)
            lost = [] if self.election is None else [self.election.lost.wait()]
            await lifecycle.until(self._stopping.wait(), *lost)
            well = self._stopping.is_set()
        except Exception:
            failed = True
            raise
        finally:
            try:
                await lifecycle.close(drain=well)
            finally:
                self.abandoned = lifecycle.abandoned
            if failed and self.election is not None and not lifecycle.abandoned:
                await self.election.release()  # another process may be luckier, and need not wait
        if not well:
            raise LeadershipLost("the lease was lost: the log says why")
        self._log.info("stopped")

    async def _start(self, lifecycle: Lifecycle) -> None:
        """Starts one group after the other, as far as nobody asks to stop."""
        for address, handlers in self._served().items():
            serving = serve(Address.parse(address), handlers, bound=partial(self._bound, address))
            paths = ", ".join(f"/{path}" for path in handlers)
            await lifecycle.enter(f"{paths} at {address}", serving, unless=[self._stopping])
        if self.settings.health_probe_bind_address != "0":
            lifecycle.run("heartbeat", {"heartbeat": self._heartbeat.run()})
        if self._first_contact is not None and not await self._meet(self._first_contact, lifecycle):
            return
        lifecycle.run("caches", {"cache": self.cache.run()})
        if self._start_checks is not None:
            lifecycle.run("start-up checks", {"start-up checks": self._start_checks.run()})
        if self.election is not None and not await self._win(self.election, lifecycle):
            return
        if self.operator.lifespan is not None:
            lost = [] if self.election is None else [self.election.lost]
            await lifecycle.enter("the operator's lifespan", self._heard(), unless=[self._stopping, *lost])
            if any(event.is_set() for event in lost):
                return
        if self._watchdog is not None:
            lifecycle.run("loop watchdog", {"loop watchdog": self._watchdog.run()})
        if not self._stopping.is_set():
            lifecycle.run(
                "controllers",
                {f"controller-{controller.spec.name}": controller.run() for controller in self.controllers},
                drain=self._drain,
            )

    async def _meet(self, contact: FirstContact, lifecycle: Lifecycle) -> bool:
        """Whether the server answered, rather than this process having been asked to stop."""
        lifecycle.run("first contact", {"first contact": contact.make()}, may_end=True)
        await lifecycle.until(self._stopping.wait(), contact.made.wait())
        return not self._stopping.is_set()

    async def _win(self, election: LeaderElection, lifecycle: Lifecycle) -> bool:
        """Campaigns; whether this process leads now, rather than having been asked to stop."""

        async def release() -> None:
            if not lifecycle.abandoned:  # what does not end may still write
                await election.release()

        lifecycle.run(
            "leader election", {"leader election": election.run()}, drain=release, stop_last=True, may_end=True
        )
        await lifecycle.until(self._stopping.wait(), election.wait_until_leading(), election.lost.wait())
        return not (self._stopping.is_set() or election.lost.is_set())

    def _served(self) -> dict[str, dict[str, HttpHandler]]:
        """Handlers by path, by address; health and metrics may be at the same."""
        health, metrics = self.settings.health_probe_bind_address, self.settings.metrics_bind_address
        served: dict[str, dict[str, HttpHandler]] = defaultdict(dict)
        if health != "0":
            served[health] |= {path: health_handler(path, checks) for path, checks in self.health.items()}
        if metrics != "0":
            served[metrics]["metrics"] = metrics_handler(self.metrics)
        return served

    def _bound(self, address: str, port: int) -> None:
        if address == self.settings.health_probe_bind_address:
            self.health_port = port
        if address == self.settings.metrics_bind_address:
            self.metrics_port = port
        self._log.info("listening", address=address, port=port)

    def _why_shut_down(self) -> str | None:
        return "the operator was asked to stop" if self._stopping.is_set() else None

    @asynccontextmanager
    async def sharing(self) -> AsyncIterator[None]:
        """Opens what the operator's ``lifespan`` gives its runs; `run` does it itself."""
        if self.operator.lifespan is None:
            yield
            return
        async with self.operator.lifespan(self._writer) as state:
            for controller in self.controllers:
                controller.share(state)
            yield

    @asynccontextmanager
    async def _heard(self) -> AsyncIterator[None]:
        """`sharing`, in a task of its own: what it starts and logs by other means is of this operator."""
        RUN_LOG.set(self._log)
        async with self.sharing():
            yield

    async def settled(self) -> None:
        """Waits until every cache is in step and no controller has anything to do (delayed retries aside)."""
        await self.cache.synced()
        for controller in self.controllers:
            await controller.settled()

    async def _drain(self) -> None:
        for controller in self.controllers:
            controller.stop()
        for controller in self.controllers:
            await controller.queue.idle()
