"""What a manager tells of its health and of what it lacks, how it stops, and that it keeps to itself."""

from __future__ import annotations

import asyncio
import io
import json
import random
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from kubewright import Client, Context, Manager, ObjectMeta, Operator, Resource, resource
from kubewright.api import LoopClock
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import coordination_v1, core_v1
from kubewright.operator import LeadershipLost, Settings, StartFailed
from kubewright.operator.election import LeaderElection
from kubewright.operator.health import answer
from kubewright.telemetry import new_log
from kubewright.testing import install, run_in_virtual_time
from tests.integration.operator.guarded import GuardedTransport


@resource("example.com/v1")
class Thing(Resource):
    spec: dict[str, int] | None = None


def things(**options: Any) -> Operator[Any]:
    operator: Operator[Any] = Operator("things", **options)

    @operator.controller(Thing, owns=[core_v1.ConfigMap])
    async def reconcile(thing: Thing, ctx: Context) -> None:
        await ctx.apply_all(core_v1.ConfigMap(metadata=ObjectMeta(name=thing.name), data={"a": "b"}))

    return operator


@dataclass
class World:
    cluster: DevCluster
    somebody: Client
    guard: GuardedTransport
    manager: Manager
    text: io.StringIO = field(default_factory=io.StringIO)
    """The manager's log."""

    def ready(self) -> str | None:
        """Why it is not ready."""
        found = answer("readyz", self.manager.health["readyz"])
        return None if found.status == 200 else found.text

    def healthy(self) -> bool:
        return answer("healthz", self.manager.health["healthz"]).status == 200

    def said(self, message: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.text.getvalue().splitlines()]
        return [line for line in lines if line["msg"] == message]

    async def until_ready(self, within: float) -> None:
        async with asyncio.timeout(within):
            while self.ready() is not None:  # noqa: ASYNC110 - what is awaited happens in the manager
                await asyncio.sleep(0.1)

    async def appears(self, kind: type[Resource], name: str, within: float = 30) -> None:
        async with asyncio.timeout(within):
            while True:
                if name in [each.name for each in await self.somebody.list(kind, namespace="default")]:
                    return
                await asyncio.sleep(0.1)


@asynccontextmanager
async def world(operator: Operator[Any], *, installed: bool = True, lease: bool = False) -> AsyncIterator[World]:
    clock, rng, text = LoopClock(), random.Random(1), io.StringIO()
    async with DevCluster(clock=clock, rng=rng) as cluster:
        somebody = Client(cluster.transport(), field_manager="somebody", clock=clock, rng=rng)
        if installed:
            await install(somebody, operator)
        guard = GuardedTransport(cluster.transport())
        client = Client(guard, clock=clock, rng=rng)
        log = new_log("json", level="debug", stream=text)
        election = LeaderElection(client, "things", "default", clock=clock, rng=rng, log=log) if lease else None
        manager = Manager(
            operator,
            client,
            clock=clock,
            rng=rng,
            log=log,
            election=election,
            start_checks=True,
            target="things.py:operator",
        )
        yield World(cluster, somebody, guard, manager, text)


@asynccontextmanager
async def running(here: World) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(here.manager.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, LeadershipLost):
            await task


def thing(name: str = "t") -> Thing:
    return Thing(metadata=ObjectMeta(name=name, namespace="default"))


def test_it_is_ready_when_it_has_seen_everything_and_not_before() -> None:
    async def main() -> None:
        async with world(things()) as here:
            assert "[-]caches failed: things.example.com was not read yet" in (here.ready() or "")
            async with running(here):
                await here.until_ready(within=5)
                assert here.healthy()
                here.manager.stop()
                assert "[-]shutdown failed: the operator was asked to stop" in (here.ready() or "")
                assert here.healthy()

    run_in_virtual_time(main)


def test_a_missing_definition_is_told_with_its_remedy_and_waited_for() -> None:
    operator = things()

    async def main() -> None:
        async with world(operator, installed=False) as here, running(here):
            await asyncio.sleep(20)
            assert "the server does not know things.example.com in version v1" in (here.ready() or "")
            assert here.healthy(), "a restart would not help"
            (said,) = here.said("not everything is there that this operator needs")
            assert "the server has no example.com/v1" in said["missing"][0]
            assert said["remedy"] == ["kubewright manifests things.py:operator --no-deployment | kubectl apply -f -"]
            await install(here.somebody, operator)
            await here.until_ready(within=10)
            assert len(here.said("everything is there that this operator needs")) == 1

    run_in_virtual_time(main)


def test_missing_rules_are_told_exactly_and_it_goes_on_when_they_are_there() -> None:
    async def main() -> None:
        async with world(things()) as here:
            here.guard.forbidden = {
                *(("watch", plural) for plural in ("configmaps", "things")),
                ("list", "configmaps"),
                ("update", "things/finalizers"),
            }
            async with running(here):
                await asyncio.sleep(20)
                assert "not allowed: list,watch of configmaps" in (here.ready() or "")
                assert 'User "alice" cannot watch' in (here.ready() or "")
                (said,) = here.said("not everything is there that this operator needs")
                assert said["missing"] == [
                    "not allowed: watch of things.example.com",
                    "not allowed: list,watch of configmaps",
                    "not allowed: update of things.example.com/finalizers",
                ]
                roles = [command for command in said["remedy"] if command.startswith("kubectl create clusterrole ")]
                assert [command.split(maxsplit=4)[4] for command in roles] == [
                    "--verb=watch --resource=things.example.com",
                    "--verb=list,watch --resource=configmaps",
                    "--verb=update --resource=things.example.com/finalizers",
                ]
                here.guard.forbidden = {("update", "things/finalizers")}
                await asyncio.sleep(65)
                assert "caches" not in [
                    line[3:].split()[0] for line in (here.ready() or "").splitlines() if line.startswith("[-]")
                ]
                assert "not allowed: update of things.example.com/finalizers" in (here.ready() or "")
                here.guard.forbidden = set()
                await here.until_ready(within=40)

    run_in_virtual_time(main)


def test_an_operator_of_certain_namespaces_is_told_what_it_lacks_in_each() -> None:
    async def main() -> None:
        async with world(things(namespaces=["default", "red"])) as here:
            here.guard.forbidden = {("watch", "configmaps")}
            async with running(here):
                await asyncio.sleep(5)
                (said,) = here.said("not everything is there that this operator needs")
                assert said["missing"] == [
                    "not allowed: watch of configmaps in namespace default",
                    "not allowed: watch of configmaps in namespace red",
                ]
                roles = [command.split() for command in said["remedy"] if command.startswith("kubectl create role ")]
                assert [words[words.index("-n") + 1] for words in roles] == ["default", "red"]

    run_in_virtual_time(main)


def test_the_remedy_is_for_the_namespaces_that_were_chosen_and_leaves_the_deployment_alone() -> None:
    async def main() -> None:
        async with world(things(namespaces=["default", "red"]), lease=True) as here:
            here.guard.user = "system:serviceaccount:ops:things"
            here.guard.forbidden = {("list", "configmaps"), ("patch", "leases"), ("create", "selfsubjectreviews")}
            async with running(here):
                await asyncio.sleep(5)
                (said,) = here.said("not everything is there that this operator needs")
                assert "not allowed: patch of leases.coordination.k8s.io in namespace default" in said["missing"]
                everything, role, binding = said["remedy"]
                assert everything == (
                    "kubewright manifests things.py:operator --no-deployment --namespace ops --watch-namespace default "
                    "--watch-namespace red | kubectl apply -f -"
                )
                assert role.startswith("kubectl create role things-")
                assert "-n default --verb=patch --resource=leases.coordination.k8s.io" in role
                assert binding.endswith("--serviceaccount=ops:things")

    run_in_virtual_time(main)


def test_events_about_what_has_no_namespace_are_asked_for_where_they_are() -> None:
    operator: Operator[Any] = Operator("nodes", namespaces=["red"])

    @operator.controller(core_v1.Node)
    async def reconcile(node: core_v1.Node, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            here.guard.forbidden = {("patch", "events")}
            async with running(here):
                await asyncio.sleep(5)
                (said,) = here.said("not everything is there that this operator needs")
                assert said["missing"] == [
                    "not allowed: patch of events.events.k8s.io in namespace default",
                    "not allowed: patch of events.events.k8s.io in namespace red",
                ]

    run_in_virtual_time(main)


def test_a_role_that_names_the_lease_is_enough_for_it() -> None:
    async def main() -> None:
        async with world(things(), lease=True) as here, running(here):
            here.guard.named = {("get", "leases"): "things", ("patch", "leases"): "things"}
            await here.until_ready(within=5)
            here.guard.named = {("get", "leases"): "another", ("create", "leases"): "things"}
            await asyncio.sleep(400)
            assert "not allowed: create,get of leases.coordination.k8s.io in namespace default" in (here.ready() or "")

    run_in_virtual_time(main)


def test_permissions_are_asked_for_together_at_the_start_and_one_by_one_when_nobody_waits_for_it() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            assert here.guard.together > 1
            here.guard.together = here.guard.reviews = 0
            await asyncio.sleep(400)
            assert here.guard.reviews > 4
            assert here.guard.together == 1  # more at a time would be more connections each time

    run_in_virtual_time(main)


def test_a_permission_that_is_taken_away_is_noticed() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            here.guard.forbidden = {("watch", "configmaps"), ("list", "configmaps")}
            here.guard.break_connections()
            await asyncio.sleep(30)
            told = here.ready() or ""
            assert "configmaps is broken for" in told
            assert "not allowed: list,watch of configmaps" in told
            here.guard.forbidden = set()
            await here.until_ready(within=70)

    run_in_virtual_time(main)


def test_a_write_that_is_forbidden_without_a_sign_is_noticed_in_time() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            here.guard.forbidden = {("patch", "configmaps")}
            await asyncio.sleep(360)
            assert "not allowed: patch of configmaps" in (here.ready() or "")
            here.guard.forbidden = set()
            await here.until_ready(within=60)
            here.guard.forbidden = {("apply", "configmaps"), ("patch", "configmaps")}
            await here.somebody.create(thing())
            await asyncio.sleep(40)
            assert "not allowed: patch of configmaps" in (here.ready() or ""), "sooner when a run fails"

    run_in_virtual_time(main)


def test_a_watch_that_falls_silent_is_told() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            here.guard.silent = True
            await asyncio.sleep(260)
            assert here.said("the watch fell silent: opening it anew")
            assert "no route to host" in (here.ready() or "")
            here.guard.silent = False
            await here.until_ready(within=70)

    run_in_virtual_time(main)


def test_a_run_that_does_not_heed_its_time_out_is_unhealthy_and_the_controller_is_named() -> None:
    free = asyncio.Event()
    operator: Operator[Any] = Operator("things")

    @operator.controller(Thing, timeout=30)
    async def reconcile(thing: Thing, ctx: Context) -> None:
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()

    async def main() -> None:
        async with world(operator) as here, running(here):
            await here.somebody.create(thing())
            await asyncio.sleep(35)
            assert here.healthy(), "it may be cleaning up after itself"
            await asyncio.sleep(10)
            told = answer("healthz", here.manager.health["healthz"])
            assert told.status == 500
            assert "a run of controller thing goes on for 4" in told.text
            assert "its time-out is 30 s" in told.text
            free.set()
            await asyncio.sleep(1)
            assert here.healthy()

    run_in_virtual_time(main)


def test_runs_in_flight_are_finished_and_nothing_new_starts() -> None:
    begun, ended = [], []
    operator: Operator[Any] = Operator("things", settings=Settings(stop_within=25))

    @operator.controller(Thing, workers=2)
    async def reconcile(thing: Thing, ctx: Context) -> None:
        begun.append(thing.name)
        await asyncio.sleep(10)
        ended.append(thing.name)

    async def main() -> None:
        async with world(operator) as here, running(here) as task:
            for number in range(5):
                await here.somebody.create(thing(f"t{number}"))
            await asyncio.sleep(2)
            started = asyncio.get_running_loop().time()
            here.manager.stop()
            await task
            assert 7 < asyncio.get_running_loop().time() - started < 11
            assert sorted(begun) == sorted(ended)
            assert len(begun) == 2

    run_in_virtual_time(main)


def test_a_stop_takes_no_longer_than_its_bound() -> None:
    operator: Operator[Any] = Operator("things", settings=Settings(stop_within=5))

    @operator.controller(Thing)
    async def reconcile(thing: Thing, ctx: Context) -> None:
        await asyncio.sleep(1000)

    async def main() -> None:
        async with world(operator) as here, running(here) as task:
            await here.somebody.create(thing())
            await asyncio.sleep(2)
            started = asyncio.get_running_loop().time()
            here.manager.stop()
            await task
            assert asyncio.get_running_loop().time() - started == pytest.approx(5, abs=0.1)
            assert here.said("did not end in time and is cancelled")[0]["part"] == "controllers"

    run_in_virtual_time(main)


@pytest.mark.parametrize("moment", [0.0, 0.001, 0.01, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("installed", [True, False])
def test_it_stops_at_any_moment_at_once_when_nothing_is_in_flight(moment: float, installed: bool) -> None:
    async def main() -> None:
        async with world(things(), installed=installed, lease=True) as here:
            await asyncio.sleep(2)
            before = asyncio.all_tasks()
            async with running(here) as task:
                await asyncio.sleep(moment)
                started = asyncio.get_running_loop().time()
                here.manager.stop()
                await task
                assert asyncio.get_running_loop().time() - started < 1
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == before

    run_in_virtual_time(main)


def test_a_standby_is_ready_has_warm_caches_and_takes_over_when_the_leader_stops() -> None:
    async def main() -> None:
        operator = things()
        async with world(operator, lease=True) as first:
            clock, rng = LoopClock(), random.Random(2)
            client = Client(first.cluster.transport(), clock=clock, rng=rng)
            second = Manager(
                operator,
                client,
                clock=clock,
                rng=rng,
                election=LeaderElection(client, "things", "default", clock=clock, rng=rng),
            )
            async with running(first) as leading:
                await first.until_ready(within=5)
                async with running(World(first.cluster, first.somebody, first.guard, second)):
                    await asyncio.sleep(5)
                    assert answer("readyz", second.health["readyz"]).status == 200
                    assert second.cache.in_step
                    assert second.election is not None
                    assert not second.election.is_leader
                    first.manager.stop()
                    await leading
                    started = asyncio.get_running_loop().time()
                    await first.somebody.create(thing())
                    await first.appears(core_v1.ConfigMap, "t")
                    assert asyncio.get_running_loop().time() - started < 6

    run_in_virtual_time(main)


def test_who_loses_the_lease_ends_without_finishing_its_runs() -> None:
    operator: Operator[Any] = Operator("things")
    ended = []

    @operator.controller(Thing)
    async def reconcile(thing: Thing, ctx: Context) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append(asyncio.get_running_loop().time())

    async def main() -> None:
        async with world(operator, lease=True) as here, running(here) as task:
            await here.somebody.create(thing())
            await asyncio.sleep(5)
            here.guard.forbidden = {("get", "leases"), ("patch", "leases")}
            started = asyncio.get_running_loop().time()
            with pytest.raises(LeadershipLost):
                await task
            assert asyncio.get_running_loop().time() - started < 11
            assert len(ended) == 1

    run_in_virtual_time(main)


def test_two_managers_in_one_process_do_not_meet() -> None:
    async def main() -> None:
        operator = things()
        async with world(operator) as red, world(operator) as blue, running(red), running(blue) as stopped:
            await red.until_ready(within=5)
            await blue.until_ready(within=5)
            blue.guard.forbidden = {("watch", "configmaps"), ("list", "configmaps")}
            blue.guard.break_connections()
            await asyncio.sleep(20)
            assert blue.ready() is not None
            assert red.ready() is None
            blue.manager.stop()
            await stopped
            await red.somebody.create(thing())
            await asyncio.sleep(2)
            assert [each.name for each in red.manager.cache.informer(Thing).list()] == ["t"]
            assert await red.somebody.get(core_v1.ConfigMap, "t", namespace="default")
            assert blue.manager.cache.informer(Thing).list() == []

    run_in_virtual_time(main)


def test_a_lifespan_that_fails_is_named_and_leaves_nothing() -> None:
    @asynccontextmanager
    async def broken(client: Client) -> AsyncIterator[int]:
        raise ConnectionError("the cloud does not answer")
        yield 1

    async def main() -> None:
        async with world(things(lifespan=broken)) as here:
            await asyncio.sleep(2)
            before, threads = asyncio.all_tasks(), threading.active_count()
            with pytest.raises(Exception, match="the operator's lifespan did not start: the cloud does not answer"):
                await here.manager.run()
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == before
            assert threading.active_count() == threads

    run_in_virtual_time(main)


@pytest.mark.parametrize(
    "error", [ConnectionError("the cloud does not answer"), SystemExit("the cloud does not answer")]
)
def test_a_leader_that_fails_lets_go_of_its_lease(error: BaseException) -> None:
    @asynccontextmanager
    async def broken(client: Client) -> AsyncIterator[int]:
        raise error
        yield 1

    async def main() -> None:
        async with world(things(lifespan=broken), lease=True) as here:
            with pytest.raises(StartFailed, match="the operator's lifespan did not start: .*the cloud does not answer"):
                await here.manager.run()
            lease = await here.somebody.get(coordination_v1.Lease, "things", namespace="default")
            assert lease.spec.holder_identity == ""

    run_in_virtual_time(main)


def test_a_lifespan_that_asks_for_an_exit_when_it_is_left_does_not_disturb_the_stop() -> None:
    @asynccontextmanager
    async def leaves(client: Client) -> AsyncIterator[int]:
        yield 1
        raise SystemExit(7)

    async def main() -> None:
        async with world(things(lifespan=leaves), lease=True) as here, running(here) as task:
            await here.until_ready(within=5)
            here.manager.stop()
            await task
            assert here.said("failed while stopping")[0]["error"].endswith("it asked for the process to exit: 7")
            assert here.said("stopped")
            lease = await here.somebody.get(coordination_v1.Lease, "things", namespace="default")
            assert lease.spec.holder_identity == ""

    run_in_virtual_time(main)
