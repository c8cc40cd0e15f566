"""What faults are for: reconcilers with the usual bugs are caught, and the Database operator gets through.

Each exploration runs an operator once undisturbed, then once for each fault and place, and compares where they end.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Literal

import msgspec
import pytest
from database_operator.api.v1alpha1 import Database
from database_operator.operator import operator as database_operator

from kubewright import Context, ObjectMeta, Operator, Resource, Whole
from kubewright.api import resource_info
from kubewright.kinds import apps_v1, core_v1
from kubewright.testing import (
    WATCHES,
    WRITES,
    Coalesce,
    Disconnect,
    DropEvent,
    Expire,
    Harness,
    HoldEvent,
    LoseAnswer,
    LoseRequest,
    Match,
    OpenHarness,
    Refuse,
    StaleView,
)
from tests.integration.testing.samples import database

KINDS = (Database, apps_v1.StatefulSet, core_v1.Service, core_v1.ConfigMap, core_v1.Secret, core_v1.Pod)
OF_THE_RUN = {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "ownerReferences"}
Story = Callable[[Harness], Coroutine[Any, Any, None]]


async def up_and_scaled(here: Harness) -> None:
    await here.create(database())
    await here.settle()
    await here.client.scale(Database, "db", 3, namespace="default")
    await here.settle()


async def up_and_gone(here: Harness) -> None:
    await here.create(database())
    await here.settle()
    await here.client.delete(Database, "db", namespace="default")
    await here.settle()


async def end_state(here: Harness) -> dict[str, Any]:
    """Every object that the operator has to do with, without what no two runs have in common."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        info = resource_info(kind)
        listed = msgspec.json.decode(await here.client.rest.list(info, namespace="default"))
        for item in listed["items"]:
            metadata = {key: value for key, value in item["metadata"].items() if key not in OF_THE_RUN}
            owners = [each["name"] for each in item["metadata"].get("ownerReferences", ())]
            body = {
                "metadata": metadata,
                "owners": owners,
                "spec": _timeless(item.get("spec")),
                "data": item.get("data"),
            }
            if kind is Database:
                body["status"] = _timeless(item.get("status"))
            found[f"{info.kind}/{metadata['name']}"] = body
    return found


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if not key.endswith(("Time", "IP", "IPs"))}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


async def undisturbed(harness: OpenHarness, operator: Operator, story: Story) -> tuple[dict[str, Any], int]:
    """The state it should come to, and how many writes it takes."""
    here = await harness(operator)
    await story(here)
    state, writes = await end_state(here), len(here.writes)
    await here.stop()
    return state, writes


# the Database operator

LONGEST = 10
PLACES = [(number, when) for number in range(1, LONGEST + 1) for when in ("before", "after")]
STORIES = [up_and_scaled, up_and_gone]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_the_places_below_are_all_that_there_are(harness: OpenHarness, story: Story) -> None:
    _, writes = await undisturbed(harness, database_operator, story)
    assert 6 <= writes <= LONGEST


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize(("write", "when"), PLACES)
async def test_a_database_comes_to_the_same_end_wherever_its_operator_crashes(
    harness: OpenHarness, story: Story, write: int, when: Literal["before", "after"]
) -> None:
    here = await harness(database_operator)
    here.crash_at(write=write, when=when)
    await story(here)
    if here.crashes == 0:
        assert len(here.writes) < write  # the story has fewer
    await as_undisturbed(here, story)
    here.forget()
    await here.settle()
    assert here.writes == []


async def as_undisturbed(here: Harness, story: Story) -> None:
    state = await end_state(here)
    if story is up_and_gone:
        assert [name for name in state if not name.startswith("ConfigMap/kube-root-ca")] == ["Service/kubernetes"]
        return
    assert [name for name in state if "db" in name] == [
        "Database/db",
        "StatefulSet/db",
        "Service/db",
        "Pod/db-0",
        "Pod/db-1",
        "Pod/db-2",
    ]
    assert state["StatefulSet/db"]["spec"]["replicas"] == 3
    assert state["StatefulSet/db"]["owners"] == ["db"]
    assert state["Database/db"]["status"]["phase"] == "Running"
    assert state["Database/db"]["status"]["readyReplicas"] == 3


@pytest.mark.seeds(1, 2, 3, 4)
async def test_a_database_comes_to_the_same_end_through_any_trouble(harness: OpenHarness) -> None:
    here = await harness(database_operator)
    for fault in (Refuse(503), Refuse(409), Refuse(500), LoseAnswer(), LoseRequest(), LoseRequest(unsure=True)):
        here.faults.add(fault, Match(verbs=WRITES), times=3, chance=0.2)
    for event_fault in (HoldEvent(3.0), Coalesce(1.0), Disconnect(), Disconnect(cleanly=True), Expire()):
        here.faults.add(event_fault, times=3, chance=0.1)
    here.crash_at(write=4)
    await up_and_scaled(here)
    await as_undisturbed(here, up_and_scaled)


async def test_a_database_survives_a_restart_into_the_past(harness: OpenHarness) -> None:
    here = await harness(database_operator, objects=[database()])
    await here.settle()
    past = await here.revision()
    await here.client.scale(Database, "db", 3, namespace="default")
    await here.settle()
    here.faults.add(StaleView(past, lag=30), Match(verbs=WATCHES), times=5)
    await here.restart()
    await here.settle()
    await as_undisturbed(here, up_and_scaled)


# operators with bugs


def not_idempotent() -> Operator:
    """Creates what it wants under a new name, and notes only afterwards that it did."""
    operator = Operator("not-idempotent")

    @operator.controller(Database, reads=[core_v1.ConfigMap])
    async def reconcile(db: Database, ctx: Context) -> None:
        if db.status.phase is None:
            await ctx.client.create(
                core_v1.ConfigMap(metadata=ObjectMeta(name="", generate_name="db-", namespace=db.namespace))
            )
            db.status.phase = "Running"

    return operator


def trusts_what_it_saw() -> Operator:
    """Decides by its cache what exists, and makes it under a name that does not stop it from making it twice."""
    operator = Operator("trusts-what-it-saw")

    @operator.controller(Database, reads=[Whole(core_v1.Secret)])
    async def reconcile(db: Database, ctx: Context) -> None:
        if not ctx.list(core_v1.Secret, labels={"db": db.name}):
            await ctx.client.create(
                core_v1.Secret(
                    metadata=ObjectMeta(
                        name="", generate_name="password-", namespace=db.namespace, labels={"db": db.name}
                    )
                )
            )

    return operator


def leaks_on_crash() -> Operator:
    """Cleans up after the one thing by which it would have known what to clean up is gone."""
    operator = Operator("leaks-on-crash")

    @operator.controller(Database, reads=[Whole(core_v1.ConfigMap), core_v1.Secret])
    async def reconcile(db: Database, ctx: Context) -> None:
        if ctx.get(core_v1.ConfigMap, "index") is None:
            for body in (core_v1.Secret, core_v1.ConfigMap):
                name = "payload" if body is core_v1.Secret else "index"
                await ctx.client.apply(body(metadata=ObjectMeta(name=name, namespace=db.namespace)), force=True)

    @operator.finalizer(Database, name="example.com/payload")
    async def cleanup(db: Database, ctx: Context) -> None:
        if ctx.get(core_v1.ConfigMap, "index") is not None:
            await ctx.client.delete(core_v1.ConfigMap, "index", namespace=db.namespace)
            await ctx.client.delete(core_v1.Secret, "payload", namespace=db.namespace)

    return operator


def goes_by_events() -> Operator:
    """Counts what happens instead of looking at what is."""
    operator = Operator("goes-by-events")
    sizes: list[int] = []

    @operator.controller(Database, owns=[core_v1.ConfigMap])
    async def reconcile(db: Database, ctx: Context) -> None:
        if sizes[-1:] != [db.spec.replicas]:
            sizes.append(db.spec.replicas)
        data = {"changes": str(len(sizes))}
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name=db.name), data=data))

    return operator


async def by_crashes(harness: OpenHarness, make: Callable[[], Operator], story: Story) -> list[str]:
    """The places at which a crash leads to another end."""
    state, writes = await undisturbed(harness, make(), story)
    await cleared(harness)
    wrong = []
    for write in range(1, writes + 1):
        for when in ("before", "after"):
            here = await harness(make())
            here.crash_at(write=write, when="before" if when == "before" else "after")
            await story(here)
            if _anonymous(await end_state(here)) != _anonymous(state):
                wrong.append(f"{when} write {write}")
            await here.stop()
            await cleared(harness)
    return wrong


async def cleared(harness: OpenHarness) -> None:
    """Takes away what a story has left."""
    here = await harness(Operator("nobody"))
    for kind in (Database, core_v1.ConfigMap, core_v1.Secret, apps_v1.StatefulSet):
        for obj in await here.list(kind):
            if obj.name != "kube-root-ca.crt":
                await _gone(here, kind, obj)
    await here.advance(seconds=60)


async def _gone(here: Harness, kind: type[Resource], obj: Resource) -> None:
    def let_go(found: Resource) -> None:
        found.metadata.finalizers = None

    if obj.metadata.finalizers:
        await here.client.edit(kind, obj.name, let_go, namespace="default")
    await here.client.delete(kind, obj.name, namespace="default")


def _anonymous(state: dict[str, Any]) -> list[str]:
    """How many of what kind: names that the server made up don't count."""
    return sorted(name.partition("/")[0] for name in state)


async def up(here: Harness) -> None:
    await here.create(database())
    await here.settle()


async def test_a_reconciler_that_is_not_idempotent_is_caught_by_a_crash(harness: OpenHarness) -> None:
    assert await by_crashes(harness, not_idempotent, up) == ["after write 1", "before write 2"]


async def test_a_clean_up_that_forgets_is_caught_by_a_crash(harness: OpenHarness) -> None:
    wrong = await by_crashes(harness, leaks_on_crash, up_and_gone)
    assert wrong == ["after write 4", "before write 5"]


async def test_the_same_explorations_find_nothing_wrong_with_the_database_operator(harness: OpenHarness) -> None:
    assert await by_crashes(harness, lambda: database_operator, up) == []


async def test_a_decision_by_a_stale_read_is_caught_by_a_view_of_the_past(harness: OpenHarness) -> None:
    here = await harness(trusts_what_it_saw())
    past = await here.revision()
    await up(here)
    assert len(await here.list(core_v1.Secret)) == 1
    here.faults.add(StaleView(past, lag=30), Match(verbs=WATCHES, kind=core_v1.Secret))
    await here.restart()
    await here.settle()
    assert len(await here.list(core_v1.Secret)) == 2  # the bug: it had one


async def test_a_decision_by_a_stale_read_is_caught_by_an_ambiguous_write(harness: OpenHarness) -> None:
    here = await harness(trusts_what_it_saw())
    here.faults.add(HoldEvent(10), Match(kind=core_v1.Secret))
    here.faults.add(LoseAnswer(), Match(verbs=WRITES, kind=core_v1.Secret))
    await up(here)
    assert len(await here.list(core_v1.Secret)) == 2


@pytest.mark.parametrize("fault", [Coalesce(5.0), DropEvent()], ids=repr)
async def test_counting_events_is_caught_by_fewer_events(harness: OpenHarness, fault: Coalesce | DropEvent) -> None:
    async def changes(*, disturbed: bool) -> str:
        here = await harness(goes_by_events(), objects=[database()])
        await here.settle()
        if disturbed:
            here.faults.add(fault, Match(kind=Database, verbs=("watch",)))
        for replicas in (3, 4):
            await here.client.scale(Database, "db", replicas, namespace="default")
            await here.advance(seconds=1)
        await here.settle()
        counted = (await here.get(core_v1.ConfigMap, "db")).data or {}
        await here.stop()
        await cleared(harness)
        return counted["changes"]

    assert await changes(disturbed=False) == "3"
    assert await changes(disturbed=True) == "2"
