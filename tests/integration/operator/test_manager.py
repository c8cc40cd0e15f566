"""What a manager tells of its health, its standbys, and that it keeps to itself."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any

from kubewright import Client, Context, Manager, Operator
from kubewright.api import LoopClock
from kubewright.kinds import core_v1
from kubewright.operator import Settings
from kubewright.operator.election import LeaderElection
from kubewright.operator.health import answer
from kubewright.testing import install, run_in_virtual_time
from tests.integration.operator.managers import Thing, World, running, thing, things, world


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


def test_settings_alone_elect_nobody_and_that_is_said() -> None:
    async def main() -> None:
        async with world(things(settings=Settings(leader_elect=True))) as here, running(here):
            await here.until_ready(within=5)
            assert here.said("no leader is elected, although leader_elect is set: every process works")
        async with world(things(settings=Settings(leader_elect=True)), lease=True) as here, running(here):
            await here.until_ready(within=5)
            assert not here.said("no leader is elected, although leader_elect is set: every process works")

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
