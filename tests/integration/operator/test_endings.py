"""How a manager stops, and what is left when a part of it fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kubewright import Client, Context, Operator
from kubewright.kinds import coordination_v1
from kubewright.operator import LeadershipLost, Settings, StartFailed
from kubewright.testing import run_in_virtual_time
from tests.integration.operator.managers import Thing, running, thing, things, world


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


def test_who_loses_the_lease_while_its_lifespan_begins_ends_too() -> None:
    async def main() -> None:
        begun = asyncio.Event()

        @asynccontextmanager
        async def patient(client: Client) -> AsyncIterator[int]:
            begun.set()
            await asyncio.sleep(3600)
            yield 1

        async with world(things(lifespan=patient), lease=True) as here, running(here) as task:
            await begun.wait()
            here.guard.forbidden = {("get", "leases"), ("patch", "leases")}
            started = asyncio.get_running_loop().time()
            with pytest.raises(LeadershipLost):
                await task
            assert asyncio.get_running_loop().time() - started < 12

    run_in_virtual_time(main)


def test_a_lifespan_that_fails_is_named_and_leaves_nothing() -> None:
    @asynccontextmanager
    async def broken(client: Client) -> AsyncIterator[int]:
        raise ConnectionError("the cloud does not answer")
        yield 1

    async def main() -> None:
        async with world(things(lifespan=broken)) as here:
            await asyncio.sleep(2)
            before, threads = asyncio.all_tasks(), set(threading.enumerate())
            with pytest.raises(Exception, match="the operator's lifespan did not start: the cloud does not answer"):
                await here.manager.run()
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == before
            assert set(threading.enumerate()) <= threads

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
