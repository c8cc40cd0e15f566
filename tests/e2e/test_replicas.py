"""Two replicas of the Database operator under load, rolled.

What must come of it is what comes of a run that nobody disturbs: the last edit of each object is in effect, one
StatefulSet belongs to each Database, no edit cost more than one write of it, and nobody writes once all is settled.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage

from kubewright import Client, ObjectMeta
from kubewright.kinds import apps_v1, core_v1
from tests.e2e.conftest import EXAMPLE, Place
from tests.e2e.processes import Operator

DATABASES = 5
SECONDS = 15.0
"""For how long things are edited."""
FLAGS = ("--leader-elect", "--leader-elect-retry-period=0.5", "--health-probe-bind-address=127.0.0.1:0")
"""The lease lasts as long as ever, so that a busy machine costs nobody's: who is rolled lets go of it."""


class Replicas:
    """The processes, of which one leads."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.all = [Operator(place, EXAMPLE, folder / f"operator-{number}.log", *FLAGS) for number in range(2)]

    async def roll(self) -> None:
        """One after the other, each when the one before has begun, as a Deployment does."""
        for each in self.all:
            begun = each.said('"starting"')
            assert await asyncio.to_thread(each.stop) == 0
            each.start()
            async with asyncio.timeout(60):
                while each.said('"starting"') == begun:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.5)

    async def restart(self) -> None:
        """All at once; returns when one of them leads."""
        for each in self.all:
            assert await asyncio.to_thread(each.stop) == 0
        led = [each.said('"leading"') for each in self.all]
        for each in self.all:
            each.start()
        async with asyncio.timeout(60):
            while [each.said('"leading"') for each in self.all] == led:  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.5)


@contextmanager
def replicas(place: Place, folder: Path) -> Iterator[Replicas]:
    running = Replicas(place, folder)
    try:
        yield running
    finally:
        for each in running.all:
            each.kill()


class Load:
    """Edits Databases at random, and knows what should come of it."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._rng = random.Random(5)
        self.wanted: dict[str, int] = {}
        self.edits: Counter[str] = Counter()

    async def create(self) -> None:
        await self._client.create(core_v1.Namespace(metadata=ObjectMeta(name=self._namespace)))
        for number in range(DATABASES):
            name = f"db-{number}"
            self.wanted[name] = 1
            spec = DatabaseSpec(replicas=1, engine="postgres", version="16", storage=Storage(size="1Gi"))
            await self._client.create(Database(metadata=ObjectMeta(name=name, namespace=self._namespace), spec=spec))

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set. Never cut off in the midst of an edit, of which nobody would know whether it landed."""
        while not stop.is_set():
            name = self._rng.choice(sorted(self.wanted))
            replicas = self._rng.choice([number for number in range(1, 5) if number != self.wanted[name]])

            def change(db: Database, replicas: int = replicas) -> None:
                db.spec.replicas = replicas

            await self._client.edit(Database, name, change, namespace=self._namespace)
            self.wanted[name] = replicas
            self.edits[name] += 1
            await asyncio.sleep(0.1)


async def settled(client: Client, namespace: str, load: Load, *, within: float) -> None:
    async with asyncio.timeout(within):
        while True:
            if await in_effect(client, namespace) == load.wanted:
                return
            await asyncio.sleep(0.2)


async def in_effect(client: Client, namespace: str) -> dict[str, int | None]:
    """The replicas of each StatefulSet of whose Database the status tells that it was seen as it is."""
    databases = await client.list(Database, namespace=namespace)
    seen = {
        db.name
        for db in databases
        for condition in db.status.conditions
        if condition.type == "Available" and condition.observed_generation == db.metadata.generation
    }
    found = await client.list(apps_v1.StatefulSet, namespace=namespace)
    return {each.name: each.spec.replicas for each in found if each.name in seen}


async def versions(client: Client, namespace: str) -> dict[str, str | None]:
    """Of all that the operator writes."""
    objects = [
        *(await client.list(Database, namespace=namespace)),
        *(await client.list(apps_v1.StatefulSet, namespace=namespace)),
        *(await client.list(core_v1.Service, namespace=namespace)),
    ]
    return {f"{type(each).__name__} {each.name}": each.metadata.resource_version for each in objects}


async def quiet(client: Client, namespace: str, *, within: float) -> dict[str, str | None]:
    """Waits until nothing was written for two seconds."""
    async with asyncio.timeout(within):
        before = await versions(client, namespace)
        while True:
            await asyncio.sleep(2)
            after = await versions(client, namespace)
            if after == before:
                return after
            before = after


@asynccontextmanager
async def under_load(place: Place, namespace: str) -> AsyncIterator[tuple[Client, Load]]:
    async with Client.connect(kubeconfig=place.kubeconfig) as client:
        load = Load(client, namespace)
        await load.create()
        try:
            yield client, load
        finally:
            for db in await client.list(Database, namespace=namespace):
                await client.delete(Database, db.name, namespace=namespace)


async def rolled(running: Replicas) -> None:
    await asyncio.sleep(3)
    await running.roll()
    await running.roll()


async def undisturbed(running: Replicas) -> None:
    """What the other is held to."""


@pytest.mark.parametrize("disturb", [undisturbed, rolled], ids=lambda how: how.__name__)
async def test_the_end_is_that_of_an_undisturbed_run(
    place: Place, tmp_path: Path, disturb: Callable[[Replicas], Awaitable[None]]
) -> None:
    namespace = f"load-{disturb.__name__}"
    with replicas(place, tmp_path) as running:
        async with under_load(place, namespace) as (client, load):
            stop = asyncio.Event()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(load.run(stop))
                await asyncio.gather(disturb(running), asyncio.sleep(SECONDS))
                stop.set()
            await settled(client, namespace, load, within=90)
            before = await quiet(client, namespace, within=60)

            statefulsets = await client.list(apps_v1.StatefulSet, namespace=namespace)
            assert len(statefulsets) == DATABASES
            owners = {db.name: db.uid for db in await client.list(Database, namespace=namespace)}
            for each in statefulsets:
                (owner,) = each.metadata.owner_references or []
                assert owner.uid == owners[each.name]
                writes = each.metadata.generation or 0
                assert writes <= 1 + load.edits[each.name], "it was written more often than it was asked for"
            for service in await client.list(core_v1.Service, namespace=namespace):
                fields = [each for each in service.metadata.managed_fields or [] if each.operation == "Apply"]
                assert len(fields) == 1
            assert sum(load.edits.values()) > SECONDS

            await running.restart()
            assert await quiet(client, namespace, within=60) == before, "a restart over what is settled writes nothing"
            for replica in running.all:
                assert replica.said("reconcile failed") == []
                assert replica.said("Traceback") == []
