"""Events: what fails leaves one, whatever it says and however long it goes on. In virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubewright import Client, Conflict, Context, Manager, ObjectMeta, Operator, TerminalError
from kubewright.api import LoopClock, Status
from kubewright.controller.events import EventRecorder
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1, events_v1
from kubewright.telemetry import null_log
from kubewright.testing import RecordingTransport, install, run_in_virtual_time
from tests.integration.controller.worlds import Widget, World, world


async def events(client: Client) -> list[events_v1.Event]:
    return await client.list(events_v1.Event, namespace="default")


def writes_of_events(here: World) -> int:
    return sum("/events" in request.path for request in here.sent.writes)


def _named(name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace="default")


def always_failing() -> Operator:
    operator = Operator("widgets")
    runs = 0

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        nonlocal runs
        runs += 1
        raise RuntimeError(f"try {runs} came to nothing")

    return operator


def test_a_thousand_failed_runs_leave_one_event_and_few_requests() -> None:
    async def main() -> None:
        async with world(always_failing()) as here:
            await here.create()
            for size in range(1000):
                await here.resize(size + 2)
                await asyncio.sleep(1)
            failed = len(here.said("reconcile failed"))
            assert failed >= 1000
            (event,) = await events(here.client)
            assert (event.type, event.reason, event.action) == ("Warning", "ReconcileFailed", "Reconcile")
            assert event.note == "RuntimeError: try 1 came to nothing"
            assert event.reporting_controller == "widgets/widget"
            assert event.regarding is not None
            assert (event.regarding.kind, event.regarding.name) == ("Widget", "w")
            assert event.series is not None
            assert 0.9 * failed < event.series.count <= failed
            assert writes_of_events(here) <= 25  # some a minute

    run_in_virtual_time(main)


def test_what_fails_for_hours_is_told_of_all_the_time_by_one_event() -> None:
    async def main() -> None:
        async with world(always_failing()) as here:
            await here.create()
            for _ in range(10):
                await asyncio.sleep(3600)
                (event,) = await events(here.client)
            assert event.series is not None
            assert event.series.count == len(here.said("reconcile failed"))

    run_in_virtual_time(main)


def test_a_restart_goes_on_counting() -> None:
    operator = always_failing()

    async def main() -> None:
        clock = LoopClock()
        async with DevCluster(clock=clock) as cluster:
            client = Client(cluster.transport(), clock=clock)
            await install(client, operator)
            await client.create(Widget(metadata=_named("w")))
            for _ in range(3):
                manager = Manager(operator, Client(cluster.transport(), clock=clock), clock=clock)
                running = asyncio.create_task(manager.run())
                await asyncio.sleep(5)
                running.cancel()
                await asyncio.wait([running])
            (event,) = await events(client)
            assert event.series is not None
            assert event.series.count == 4  # two of the first process, one at once of each that follows

    run_in_virtual_time(main)


def test_different_failures_are_different_events_and_those_that_are_nobodys_fault_are_none() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        match widget.spec.size:
            case 1:
                raise Conflict(Status(message="overtaken", reason="Conflict", code=409))
            case 2:
                raise TerminalError("no such engine")
            case _:
                raise KeyError("engine")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(5)
            assert await events(here.client) == []
            await here.resize(2)
            await asyncio.sleep(5)
            await here.resize(3)
            await asyncio.sleep(5)
            assert sorted(event.note or "" for event in await events(here.client)) == [
                "KeyError: 'engine'",
                "no such engine",
            ]

    run_in_virtual_time(main)


def test_who_may_not_write_events_says_so_once_and_reconciles_all_the_same() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        for _ in range(3):
            await ctx.event("Normal", "no such word" * 50, "it is refused")
        widget.status.seen = 1

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert (await here.widget()).status.seen == 1
            assert [line["level"] for line in here.said("event not recorded")] == ["warning", "debug", "debug"]

    run_in_virtual_time(main)


def test_the_same_event_from_several_tasks_at_once_is_counted_right() -> None:
    async def main() -> None:
        clock = LoopClock()
        async with DevCluster(clock=clock) as cluster:
            sent = RecordingTransport(cluster.transport())
            client = Client(sent, clock=clock)
            node = await client.create(core_v1.ConfigMap(metadata=_named("shared")))
            recorder = EventRecorder(client, controller="op/ctl", instance="here", clock=clock)

            async def record() -> None:
                await recorder.record(node, "Normal", "Seen", "seen", action="Look", related=None, log=null_log())

            await asyncio.gather(*(record() for _ in range(5)))
            await asyncio.sleep(61)
            await record()
            (event,) = await events(client)
            assert event.series is not None
            assert event.series.count == 6

    run_in_virtual_time(main)


def test_what_is_remembered_of_events_goes_with_their_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    recorders = list[EventRecorder]()

    def recorder(client: Client, **options: Any) -> EventRecorder:
        recorders.append(EventRecorder(client, **options))
        return recorders[-1]

    monkeypatch.setattr("kubewright.controller.environment.EventRecorder", recorder)
    operator = always_failing()

    @operator.finalizer(Widget, name="example.com/words")
    async def clean_up(widget: Widget, ctx: Context) -> None:
        await ctx.event("Normal", "Going", "goes", action="Go")

    async def main() -> None:
        async with world(operator) as here:
            for number in range(20):
                await here.create(f"w-{number}")
            await asyncio.sleep(5)
            assert sum(map(len, recorders)) == 20
            for number in range(20):
                await here.client.delete(Widget, f"w-{number}", namespace="default")
            await asyncio.sleep(5)
            assert len([event for event in await events(here.client) if event.reason == "Going"]) == 20
            assert sum(map(len, recorders)) == 0

    run_in_virtual_time(main)


@pytest.mark.parametrize(("objects", "events", "remembered"), [(1, 1_000, 512), (15, 300, 3_900)])
def test_of_very_many_events_the_latest_are_remembered(objects: int, events: int, remembered: int) -> None:
    async def main() -> None:
        clock = LoopClock()
        async with DevCluster(clock=clock) as cluster:
            recorder = EventRecorder(Client(cluster.transport()), controller="op/ctl", instance="here", clock=clock)
            for number in range(objects):
                about = core_v1.ConfigMap(metadata=_named(f"m-{number}"))
                about.metadata.uid = str(number)
                for said in range(events):
                    message = str(said)
                    await recorder.record(about, "Normal", "Seen", message, action="Look", related=None, log=null_log())
            assert len(recorder) == remembered

    run_in_virtual_time(main)


def test_an_event_that_the_server_has_forgotten_begins_anew() -> None:
    async def main() -> None:
        clock = LoopClock()
        async with DevCluster(clock=clock) as cluster:
            client = Client(cluster.transport(), clock=clock)
            node = await client.create(core_v1.ConfigMap(metadata=_named("shared")))
            recorder = EventRecorder(client, controller="op/ctl", instance="here", clock=clock)

            async def record() -> None:
                await recorder.record(node, "Normal", "Seen", "seen", action="Look", related=None, log=null_log())

            await record()
            await record()
            await asyncio.sleep(4000)
            assert await events(client) == []
            await record()
            (event,) = await events(client)
            assert event.series is None

    run_in_virtual_time(main)
