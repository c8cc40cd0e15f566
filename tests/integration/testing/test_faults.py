"""What each fault does to an operator: a small one that writes one ConfigMap for each Database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import pytest
from database_operator.api.v1alpha1 import Database

from kubewright import Context, ObjectMeta, Operator
from kubewright.client import TransportError
from kubewright.kinds import core_v1
from kubewright.testing import (
    WATCHES,
    WRITES,
    Coalesce,
    Crash,
    Delay,
    Disconnect,
    DropEvent,
    Expire,
    Faults,
    Harness,
    HoldEvent,
    LoseAnswer,
    LoseRequest,
    Match,
    OpenHarness,
    Refuse,
    Sent,
    StaleView,
)
from tests.integration.testing.samples import DATABASE, database

MAP = (core_v1.ConfigMap, "db")
WRITES_OF_MAPS = Match(verbs=WRITES, kind=core_v1.ConfigMap)
EVENTS = Match(verbs=("watch",), kind=Database, name="db")


def sized() -> tuple[Operator, list[int]]:
    """An operator that tells the size of a Database in a ConfigMap, and the sizes that its runs saw, one after another."""
    made, seen = Operator("sized"), list[int]()

    @made.controller(Database, owns=[core_v1.ConfigMap])
    async def reconcile(db: Database, ctx: Context) -> None:
        if seen[-1:] != [db.spec.replicas]:  # its own ConfigMap wakes it, too
            seen.append(db.spec.replicas)
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name=db.name), data={"size": str(db.spec.replicas)}))

    return made, seen


async def scale(here: Harness, replicas: int) -> None:
    await here.client.scale(Database, "db", replicas, namespace=here.namespace)


def writes(here: Harness) -> list[Sent]:
    """Of ConfigMaps: a failed run may be told of in Events."""
    return [sent for sent in here.writes if sent.call.resource == "configmaps"]


def statuses(here: Harness) -> list[int | None]:
    return [sent.status for sent in writes(here)]


@pytest.mark.parametrize("status", [403, 404, 409, 410, 422, 429, 500, 503, 504])
async def test_a_refusal_changes_nothing_and_is_tried_again(harness: OpenHarness, status: int) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.faults.add(Refuse(status), WRITES_OF_MAPS)
    await here.settle()
    assert statuses(here) == [status, 201]
    await here.assert_object(MAP, {"data": {"size": "2"}})


async def test_a_server_that_asks_for_patience_gets_it(harness: OpenHarness) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.faults.add(Refuse(429, retry_after=30), WRITES_OF_MAPS)
    await here.settle()
    first, second = writes(here)
    assert 30 <= second.at - first.at <= 40


async def test_a_lost_request_is_sent_again(harness: OpenHarness) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.faults.add(LoseRequest(), WRITES_OF_MAPS)
    await here.settle()
    assert statuses(here) == [None, 201]


@pytest.mark.parametrize(("fault", "then"), [(LoseAnswer(), []), (LoseRequest(unsure=True), [201])])
async def test_an_ambiguous_write_fails_the_run_and_is_sorted_out_by_the_next(
    harness: OpenHarness, fault: LoseAnswer | LoseRequest, then: list[int]
) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.faults.add(fault, WRITES_OF_MAPS)
    with pytest.raises(TransportError) as caught:
        await here.reconcile(DATABASE)
    assert caught.value.may_be_applied
    assert len(await here.list(core_v1.ConfigMap, fields="metadata.name=db")) == (not then)
    await here.settle()
    assert statuses(here) == [None, *then]


async def test_a_delay_is_time_that_passes(harness: OpenHarness) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.faults.add(Delay(before=100, after=20), WRITES_OF_MAPS)
    before = asyncio.get_running_loop().time()
    await here.reconcile(DATABASE)
    assert 120 < asyncio.get_running_loop().time() - before < 122


async def test_each_request_takes_its_own_time_by_seed(harness: OpenHarness) -> None:
    async def times(seed: int) -> list[float]:
        here = await harness(sized()[0], seed=seed)
        start = asyncio.get_running_loop().time()
        await here.start()
        await here.advance(seconds=1)
        return [round(float(line.split(" ", 1)[0]) - start, 6) for line in here.trace.lines if "-> 200" in line]

    one, two, again = await times(1), await times(2), await times(1)
    assert one == again != two
    assert len(set(one)) == 2


@pytest.mark.parametrize(("when", "left"), [("before", []), ("after", ["db"])])
async def test_a_crash_before_a_write_leaves_it_undone_and_after_it_done(
    harness: OpenHarness, when: Literal["before", "after"], left: list[str]
) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.restart_after = 60
    here.crash_at(write=1, when=when)
    await here.start()
    await here.advance(seconds=30)
    assert here.crashes == 1
    assert [found.name for found in await here.list(core_v1.ConfigMap, fields="metadata.name=db")] == left
    await here.settle()
    assert [sent.process for sent in writes(here)] == [1] + [2] * (not left)  # the new one sees what the old one did
    await here.assert_object(MAP, {"data": {"size": "2"}})


async def test_a_crashed_process_is_not_heard_of_again(harness: OpenHarness) -> None:
    tidy = Operator("tidy")

    @tidy.controller(Database, owns=[core_v1.ConfigMap])
    async def reconcile(db: Database, ctx: Context) -> None:
        try:
            await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="first")))
        finally:
            await ctx.client.create(
                core_v1.ConfigMap(metadata=ObjectMeta(generate_name="last-", name="", namespace="default"))
            )

    here = await harness(tidy, objects=[database()])
    here.crash_at(write=1, when="after")
    here.restart_after = 3600
    await here.start()
    await here.advance(minutes=1)
    assert [str(sent.call) for sent in here.writes] == ["apply configmaps default/first"]


async def test_a_held_event_is_seen_later_and_settling_waits_for_it(harness: OpenHarness) -> None:
    made, seen = sized()
    here = await harness(made, objects=[database()])
    await here.settle()
    here.faults.add(HoldEvent(60), EVENTS)
    before = asyncio.get_running_loop().time()
    await scale(here, 3)
    await here.settle()
    assert asyncio.get_running_loop().time() - before > 60
    await here.assert_object(MAP, {"data": {"size": "3"}})
    assert seen == [2, 3]


async def test_a_dropped_event_is_made_up_for_by_the_next(harness: OpenHarness) -> None:
    made, seen = sized()
    here = await harness(made, objects=[database()])
    await here.settle()
    here.faults.add(DropEvent(), EVENTS)
    await scale(here, 3)
    await here.settle()
    await here.assert_object(MAP, {"data": {"size": "2"}})
    await scale(here, 4)
    await here.settle()
    await here.assert_object(MAP, {"data": {"size": "4"}})
    assert seen == [2, 4]


async def test_of_coalesced_events_only_the_last_state_is_seen(harness: OpenHarness) -> None:
    made, seen = sized()
    here = await harness(made, objects=[database()])
    await here.settle()
    here.faults.add(Coalesce(10), EVENTS)
    for replicas in (3, 4, 5):
        await scale(here, replicas)
        await here.advance(seconds=1)
    await here.settle()
    assert seen == [2, 5]


async def test_what_came_and_went_within_coalesced_events_is_never_seen(harness: OpenHarness) -> None:
    made, seen = sized()
    here = await harness(made)
    await here.settle()
    here.faults.add(Coalesce(10), Match(verbs=("watch",), kind=Database))
    await here.create(database())
    await here.client.delete(Database, "db", namespace="default")
    await here.settle()
    assert seen == []


@pytest.mark.parametrize("fault", [Disconnect(), Disconnect(cleanly=True), Expire()], ids=repr)
async def test_a_watch_that_ends_is_opened_anew_and_nothing_is_missed(
    harness: OpenHarness, fault: Disconnect | Expire
) -> None:
    made, seen = sized()
    here = await harness(made, objects=[database()])
    await here.settle()
    here.forget()
    here.faults.add(fault, EVENTS)
    await scale(here, 3)
    await here.settle()
    await here.assert_object(MAP, {"data": {"size": "3"}})
    opened = [sent for sent in here.requests if sent.call.verb == "watch"]
    assert len(opened) == 1
    assert seen == [2, 3]


async def test_a_stale_view_shows_the_past_and_then_what_came_since(harness: OpenHarness) -> None:
    made, seen = sized()
    here = await harness(made, objects=[database()])
    await here.settle()
    past = await here.revision()
    await scale(here, 5)
    await here.settle()
    here.faults.add(StaleView(past, lag=60), Match(verbs=WATCHES, kind=Database))
    await here.restart()
    await here.advance(seconds=30)
    assert seen == [2, 5, 2]
    await here.settle()
    assert seen == [2, 5, 2, 5]
    await here.assert_object(MAP, {"data": {"size": "5"}})


async def test_rules_count_skip_and_can_be_lifted(harness: OpenHarness) -> None:
    here = await harness(sized()[0])
    rule = here.faults.add(Refuse(500), WRITES_OF_MAPS, skip=1, times=None)
    await here.create(database("a"))
    await here.settle()
    assert statuses(here) == [201]
    await here.create(database("b"))
    await here.advance(seconds=1)
    assert set(statuses(here)[1:]) == {500}
    assert rule.struck == len(writes(here)) - 1
    rule.lift()
    await here.settle()
    assert statuses(here)[-1] == 201


@pytest.mark.parametrize(
    ("options", "message"),
    [({"chance": 2}, "chance=2"), ({"skip": -1}, "skip=-1"), ({"times": -1}, "times=-1")],
)
async def test_what_makes_no_rule(harness: OpenHarness, options: dict[str, Any], message: str) -> None:
    here = await harness(sized()[0])
    with pytest.raises(ValueError, match=message):
        here.faults.add(Refuse(500), **options)
    with pytest.raises(ValueError, match="counted from 1"):
        here.crash_at(write=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Match(verbs="patch"), r"Match\(verbs='patch'\): give a tuple of verbs, such as \('patch',\)"),  # type: ignore[arg-type]
        (lambda: Match(verbs=("put",)), "there is no verb 'put', only get, list, watch, create, update"),
        (lambda: Match(kind=str), "str is no resource"),  # type: ignore[arg-type]
        (lambda: Refuse(200), r"Refuse\(200\): give the status of a failure"),
        (lambda: Refuse("503"), "Refuse"),  # type: ignore[arg-type]
        (lambda: Crash("during"), r"Crash\('during'\): say 'before' or 'after'"),  # type: ignore[arg-type]
        (lambda: Delay(before=-1), r"Delay\(before=-1\): give 0 or more seconds"),
        (lambda: HoldEvent("5"), r"HoldEvent\(seconds='5'\)"),  # type: ignore[arg-type]
        (lambda: Coalesce(float("nan")), r"Coalesce\(seconds=nan\)"),
        (lambda: StaleView("1", lag=-1), r"StaleView\(lag=-1\)"),
        (lambda: Faults().add(Refuse), r"no fault: give Refuse\(…\)"),  # type: ignore[arg-type]
        (lambda: Faults().add(503), r"503 is no fault: give one, such as Refuse\(503\)"),  # type: ignore[arg-type]
        (lambda: Faults().add(DropEvent(), Match(verbs=WRITES)), "happens to events of watches"),
    ],
)
def test_a_fault_that_could_never_strike_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


async def test_a_killed_operator_leaves_things_as_they_are_until_it_starts_anew(harness: OpenHarness) -> None:
    here = await harness(sized()[0], objects=[database()])
    here.faults.add(Delay(before=5), WRITES_OF_MAPS, times=None)
    await here.start()
    await here.advance(seconds=3)
    await here.kill()
    await here.advance(hours=1)
    assert statuses(here) == [None]
    here.faults.clear()
    await here.settle()
    assert [(sent.process, sent.status) for sent in writes(here)] == [(1, None), (2, 201)]
