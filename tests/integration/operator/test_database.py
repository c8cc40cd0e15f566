"""The Database operator on an embedded cluster in process and in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage
from database_operator.operator import operator

from kubewright import Client, Condition, Context, Manager, NotFound, ObjectMeta, Operator, resource
from kubewright.api import LoopClock, Resource
from kubewright.client import HttpRequest, HttpResponse
from kubewright.controller import held_values
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import apps_v1, core_v1
from kubewright.testing import RecordingTransport, install, run_in_virtual_time


@dataclass
class World:
    client: Client
    """Somebody else: what it sends is not counted."""
    sent: RecordingTransport
    """What the operator sends."""
    manager: Manager


@asynccontextmanager
async def world(of: Operator = operator, seed: int = 1) -> AsyncIterator[World]:
    clock, rng = LoopClock(), random.Random(seed)
    async with DevCluster(clock=clock, rng=rng) as cluster:
        somebody = Client(cluster.transport(), field_manager="somebody", clock=clock, rng=rng)
        await install(somebody, of)
        sent = RecordingTransport(cluster.transport())
        manager = Manager(of, Client(sent, clock=clock, rng=rng), clock=clock, rng=rng)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(manager.run())
            yield World(somebody, sent, manager)
            running.cancel()


def database(name: str = "db", replicas: int = 3) -> Database:
    return Database(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=DatabaseSpec(replicas=replicas, engine="postgres", version="16", storage=Storage(size="1Gi")),
    )


async def until(look: Callable[[], Awaitable[bool]], *, within: float = 120) -> None:
    """Virtual seconds."""
    async with asyncio.timeout(within):
        while not await look():  # noqa: ASYNC110 - what is awaited happens in the cluster
            await asyncio.sleep(0.05)


def in_phase(world: World, phase: str, name: str = "db") -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        found = await world.client.get(Database, name, namespace="default")
        return found.status.phase == phase

    return look


def condition(found: Database, kind: str) -> Condition:
    return next(entry for entry in found.status.conditions if entry.type == kind)


def touch(db: Database) -> None:
    """A change that wakes the operator and asks nothing of it."""
    annotations = db.metadata.annotations or {}
    db.metadata.annotations = {**annotations, "touched": f"{len(annotations)}{annotations.get('touched', '')}"}


def test_a_settled_database_costs_no_write() -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await until(in_phase(here, "Running"))
            await asyncio.sleep(10)
            here.sent.clear()
            for _ in range(5):
                await here.client.edit(Database, "db", touch, namespace="default")
                await asyncio.sleep(1)
            assert here.sent.writes == []
            await asyncio.sleep(3600)
            assert here.sent.writes == []

    run_in_virtual_time(main)


class Distant(RecordingTransport):
    """Answers take a while, so that what is sent at the same time is on its way together."""

    async def request(self, request: HttpRequest) -> HttpResponse:
        answer = await super().request(request)
        await asyncio.sleep(0.02)
        return answer


async def sent_at_a_second_start() -> list[HttpRequest]:
    """What a manager writes whose workers all begin together, over nine Databases that are as they should be."""
    async with world() as here:
        for number in range(9):
            await here.client.create(database(f"db-{number}", replicas=1))
        for number in range(9):
            await until(in_phase(here, "Running", f"db-{number}"))
        await asyncio.sleep(10)
        successor = Distant(here.client.rest.transport)
        client = Client(successor, clock=here.client.clock, rng=here.client.rng)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(Manager(operator, client, clock=client.clock, rng=client.rng).run())
            await asyncio.sleep(10)
            running.cancel()
        return successor.writes


def test_a_start_over_many_writes_nothing_though_the_server_completes_their_volume_claims() -> None:
    async def main() -> None:
        assert await sent_at_a_second_start() == []

    run_in_virtual_time(main)


def test_a_start_over_many_sends_what_one_answer_tells_once_though_all_workers_begin_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with what an admission webhook adds, or a definition's defaults, of which nothing is known beforehand."""
    monkeypatch.setattr(held_values, "known_defaults", lambda kind: {})

    async def main() -> None:
        assert len(await sent_at_a_second_start()) == 1

    run_in_virtual_time(main)


def test_the_way_up_needs_few_writes_and_each_step_is_seen() -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await until(in_phase(here, "Running"))
            writes = [(request.method, request.path.rpartition("default/")[2]) for request in here.sent.writes]
            assert writes[:3] == [
                ("PATCH", "databases/db"),
                ("PATCH", "statefulsets/db"),
                ("PATCH", "services/db"),
            ]
            assert set(writes[3:]) == {("PATCH", "databases/db/status")}
            assert len(writes) <= 3 + 4

    run_in_virtual_time(main)


def test_the_status_tells_conditions_with_generation_and_true_transition_times() -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await until(in_phase(here, "Running"))
            found = await here.client.get(Database, "db", namespace="default")
            available = condition(found, "Available")
            assert (available.status, available.reason, available.message) == (
                "True",
                "ReplicasReady",
                "3/3 replicas are ready",
            )
            assert available.observed_generation == found.metadata.generation == 1
            assert condition(found, "Progressing").status == "False"
            await asyncio.sleep(100)
            await here.client.scale(Database, "db", 4, namespace="default")
            await until(in_phase(here, "Pending"))
            pending = condition(await here.client.get(Database, "db", namespace="default"), "Available")
            assert (pending.status, pending.reason, pending.observed_generation) == ("False", "ReplicasPending", 2)
            assert (pending.last_transition_time - available.last_transition_time).total_seconds() >= 100
            await until(in_phase(here, "Running"))

    run_in_virtual_time(main)


def test_children_belong_to_the_database_and_are_as_it_says() -> None:
    async def main() -> None:
        async with world() as here:
            created = await here.client.create(database())
            await until(in_phase(here, "Running"))
            statefulset = await here.client.get(apps_v1.StatefulSet, "db", namespace="default")
            service = await here.client.get(core_v1.Service, "db", namespace="default")
            for child in (statefulset, service):
                owner = (child.metadata.owner_references or [])[0]
                assert (owner.uid, owner.controller, owner.block_owner_deletion) == (created.uid, True, True)
                assert child.metadata.labels == {"app": "db", "managed-by": "database-operator"}
            container = statefulset.spec.template.spec.containers[0]
            assert (container.image, [port.name for port in container.ports or []]) == ("postgres:16", ["db"])
            claim = (statefulset.spec.volume_claim_templates or [])[0]
            assert claim.spec.resources is not None
            assert claim.spec.resources.requests == {"storage": "1Gi"}
            assert service.spec.cluster_ip == "None"

    run_in_virtual_time(main)


def test_the_operators_own_drift_is_put_right_and_foreign_fields_are_left() -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await until(in_phase(here, "Running"))

            def disturb(statefulset: apps_v1.StatefulSet) -> None:
                statefulset.spec.replicas = 1
                statefulset.metadata.labels = {**(statefulset.metadata.labels or {}), "theirs": "kept", "app": "broken"}

            await here.client.edit(apps_v1.StatefulSet, "db", disturb, namespace="default")
            await asyncio.sleep(1)
            found = await here.client.get(apps_v1.StatefulSet, "db", namespace="default")
            assert found.spec.replicas == 3
            assert found.metadata.labels == {"app": "db", "managed-by": "database-operator", "theirs": "kept"}

    run_in_virtual_time(main)


def test_a_deleted_database_takes_everything_with_it() -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await until(in_phase(here, "Running"))
            await here.client.delete(Database, "db", namespace="default")
            kinds: list[type[Resource]] = [
                Database,
                apps_v1.StatefulSet,
                core_v1.Pod,
                core_v1.PersistentVolumeClaim,
                apps_v1.ControllerRevision,
            ]

            async def gone() -> bool:
                return not any([await here.client.list(kind, namespace="default") for kind in kinds])

            await until(gone)
            with pytest.raises(NotFound):
                await here.client.get(core_v1.Service, "db", namespace="default")

    run_in_virtual_time(main)


@resource("example.com/v1")
class Switch(Resource):
    spec: dict[str, bool] | None = None


def test_a_run_that_returns_early_deletes_nothing_and_one_that_wants_less_prunes() -> None:
    switches = Operator("switches")

    @switches.controller(Switch, owns=[core_v1.ConfigMap])
    async def reconcile(switch: Switch, ctx: Context) -> None:
        flags = switch.spec or {}
        if flags.get("paused"):
            return
        wanted = [core_v1.ConfigMap(metadata=ObjectMeta(name=f"{switch.name}-{flag}")) for flag in flags]
        await ctx.apply_all(*wanted)

    async def main() -> None:
        async with world(switches) as here:

            async def names() -> set[str]:
                found = await here.client.list(core_v1.ConfigMap, namespace="default")
                return {one.name for one in found} - {"kube-root-ca.crt"}

            async def say(**flags: bool) -> None:
                await here.client.edit(Switch, "s", lambda switch: setattr(switch, "spec", flags), namespace="default")
                await asyncio.sleep(1)

            await here.client.create(
                Switch(metadata=ObjectMeta(name="s", namespace="default"), spec={"a": True, "b": True})
            )
            await here.client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="foreign", namespace="default")))
            await asyncio.sleep(1)
            assert await names() == {"s-a", "s-b", "foreign"}
            await say(paused=True)
            assert await names() == {"s-a", "s-b", "foreign"}
            await say(b=True)
            assert await names() == {"s-b", "foreign"}

    run_in_virtual_time(main)


def test_the_same_seed_gives_the_same_requests() -> None:
    async def main() -> list[tuple[str, str, bytes]]:
        async with world(seed=7) as here:
            await here.client.create(database())
            await until(in_phase(here, "Running"))
            return [(request.method, request.path, request.body) for request in here.sent.requests]

    assert run_in_virtual_time(main) == run_in_virtual_time(main)
