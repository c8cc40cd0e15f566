"""The leader of two replicas of the Database operator is killed again and again, while five Databases are edited.

Each Database is edited anew as soon as its last edit is in effect, so that no two edits come to one write, and the writes
can be held to those of the same edits where nobody is killed. They pass a proxy that writes them down.

How many more there may be: whoever takes over does anew what was cut off on its way to the server, which then was not
written. What had landed it finds done; but that a StatefulSet with what the server adds to it is as it should be, it knows
only from an answer to one apply. So a take-over costs at most one write of each kind.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage

from kubewright import Client, ObjectMeta
from kubewright.kinds import apps_v1, core_v1
from tests.e2e.conftest import EXAMPLE, Place
from tests.e2e.counting_proxy import CountingProxy, Moment, Write, counting_proxy
from tests.e2e.processes import LEASE_DURATION, REPLICA_FLAGS, RETRY_PERIOD, Operator

DATABASES = tuple(f"db-{number}" for number in range(5))
ONCE_AN_EDIT = ("PATCH statefulsets", "PATCH databases/status")
TAKE_OVER = LEASE_DURATION + 2.3 * RETRY_PERIOD + 50.0
"""Seconds, with some for machines that are busy."""


class Replicas:
    """Two processes behind the proxy, of which one leads."""

    def __init__(self, proxy: CountingProxy, folder: Path) -> None:
        self.all = [
            Operator(entrance, EXAMPLE, folder / f"operator-{number}.log", *REPLICA_FLAGS)
            for number, entrance in enumerate(proxy.entrances)
        ]
        self._leases = proxy.leases
        self._killed: set[str] = set()

    async def leads(self) -> Write:
        """The write by which somebody who was not killed took the Lease."""
        async with asyncio.timeout(TAKE_OVER):
            while True:
                if (taken := takeovers(self._leases)) and taken[-1].holder not in self._killed:
                    return taken[-1]
                for each in self.all:
                    if each.process.poll() is not None:
                        each.start()
                await asyncio.sleep(0.02)

    def kill(self, leader: Write) -> None:
        self._killed.add(leader.holder)
        self.all[leader.replica].restart()


@contextmanager
def two_replicas(proxy: CountingProxy, folder: Path) -> Iterator[Replicas]:
    running = Replicas(proxy, folder)
    try:
        yield running
    finally:
        for each in running.all:
            each.kill()


class Load:
    """Edits each Database, and waits until that is in effect, before it edits it again; always the same edits."""

    def __init__(self, client: Client, namespace: str, *, runs_pods: bool) -> None:
        self.client = client
        self.namespace = namespace
        self.edits: Counter[str] = Counter()
        self.wanted: dict[str, int] = {}
        self._runs_pods = runs_pods

    async def create(self) -> None:
        await self.client.create(core_v1.Namespace(metadata=ObjectMeta(name=self.namespace)))
        for name in DATABASES:
            spec = DatabaseSpec(replicas=2, engine="postgres", version="16", storage=Storage(size="1Gi"))
            await self.client.create(Database(metadata=ObjectMeta(name=name, namespace=self.namespace), spec=spec))
            self.wanted[name] = 2

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set and the last edits are in effect; three of each Database at least."""
        await self._edit_all(lambda name: stop.is_set() and self.edits[name] >= 3)

    async def repeat(self, edits: Counter[str]) -> None:
        await self._edit_all(lambda name: self.edits[name] == edits[name])

    async def delete(self) -> None:
        for name in DATABASES:
            await self.client.delete(Database, name, namespace=self.namespace)
        async with asyncio.timeout(TAKE_OVER):
            while True:
                if not await self.client.list(Database, namespace=self.namespace):
                    return
                await asyncio.sleep(0.1)

    async def _edit_all(self, enough: Callable[[str], bool]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for name in DATABASES:
                tasks.create_task(self._edit(name, enough))

    async def _edit(self, name: str, enough: Callable[[str], bool]) -> None:
        rng = random.Random(name)
        await self._in_effect(name)
        while not enough(name):
            before = self.wanted[name]
            # One pod more or less: then there are as many states to tell of in every run.
            replicas = before + 1 if before == 1 or (before < 4 and rng.random() < 0.5) else before - 1

            def change(db: Database, replicas: int = replicas) -> None:
                db.spec.replicas = replicas

            await self.client.edit(Database, name, change, namespace=self.namespace)
            self.wanted[name] = replicas
            self.edits[name] += 1
            await self._in_effect(name)
            await asyncio.sleep(rng.uniform(0.0, 0.1))

    async def _in_effect(self, name: str) -> None:
        async with asyncio.timeout(2 * TAKE_OVER):  # the next leader may be killed before it comes to it
            while True:
                if await self._is_in_effect(name):
                    return
                await asyncio.sleep(0.1)

    async def _is_in_effect(self, name: str) -> bool:
        db = await self.client.get(Database, name, namespace=self.namespace)
        told = {each.type: each for each in db.status.conditions}.get("Available")
        if told is None or told.observed_generation != db.metadata.generation:
            return False
        statefulset = await self.client.get(apps_v1.StatefulSet, name, namespace=self.namespace)
        return statefulset.spec.replicas == self.wanted[name] and (not self._runs_pods or told.status == "True")


class Killer:
    """Kills the leader: at some time after it began to lead, or in the midst of one of its writes."""

    def __init__(self, replicas: Replicas, proxy: CountingProxy) -> None:
        self._replicas = replicas
        self._proxy = proxy
        self._rng = random.Random(7)
        self.moments: Counter[str] = Counter()

    async def kill(self, times: int) -> None:
        for _ in range(times):
            leader = await self._replicas.leads()
            moment = self._rng.choice(["any", "asked", "answered"])
            if moment == "any":
                await asyncio.sleep(self._rng.uniform(0.0, 1.5))
            else:
                await self._write(leader, moment, self._rng.randint(1, 30))
            self._replicas.kill(leader)
            self.moments[moment] += 1
        await self._replicas.leads()

    async def _write(self, leader: Write, at: str, number: int) -> None:
        """Stops it within its ``number``-th write."""
        left = number
        reached = asyncio.Event()

        def notice(write: Write, moment: Moment) -> None:
            nonlocal left
            if moment == at and leader.holder in write.agent:
                left -= 1
                if left == 0:
                    self._replicas.all[leader.replica].process.kill()
                    reached.set()

        self._proxy.notice = notice
        async with asyncio.timeout(TAKE_OVER):
            await reached.wait()
        self._proxy.notice = lambda _write, _moment: None


def takeovers(leases: list[Write]) -> list[Write]:
    """The writes from which on the Lease names another holder."""
    return [*leases[:1], *(after for before, after in pairwise(leases) if after.holder != before.holder)]


def check_one_owner(proxy: CountingProxy) -> None:
    """No lease begins before the one before has run out, and nobody writes outside of its own."""
    taken = takeovers(proxy.leases)
    assert len({each.holder for each in taken}) == len(taken), "one led again after another had"
    renewed = {write.holder: write.answered for write in proxy.leases}
    for before, after in pairwise(taken):
        assert after.asked - renewed[before.holder] >= LEASE_DURATION, f"{after.holder} took over too early"
    ends = [each.asked for each in taken[1:]] + [float("inf")]
    for write in proxy.writes:
        if write.namespace.startswith("edits-"):
            ((began, ended),) = (
                (each.answered, end) for each, end in zip(taken, ends, strict=True) if each.holder in write.agent
            )
            assert began <= write.asked, f"{write} before it led"
            assert write.answered <= ended, f"{write} landed when another led"


def counted(proxy: CountingProxy, load: Load) -> Counter[str]:
    """The writes that were done, or may have been, by kind."""
    return Counter(
        write.kind for write in proxy.writes if write.namespace == load.namespace and (write.done or not write.status)
    )


async def check_state(load: Load) -> None:
    client, namespace = load.client, load.namespace
    owners = {db.name: db.uid for db in await client.list(Database, namespace=namespace)}
    statefulsets = {each.name: each for each in await client.list(apps_v1.StatefulSet, namespace=namespace)}
    services = {each.name: each for each in await client.list(core_v1.Service, namespace=namespace)}
    assert owners.keys() == statefulsets.keys() == services.keys() == set(DATABASES)
    for name, statefulset in statefulsets.items():
        assert statefulset.spec.replicas == load.wanted[name]
        assert statefulset.metadata.generation == 1 + load.edits[name], "an edit was lost, or made twice"
        for owned in (statefulset, services[name]):
            assert [owner.uid for owner in owned.metadata.owner_references or []] == [owners[name]]


async def test_a_killed_leader_costs_no_more_than_what_it_had_in_flight(
    place: Place, tmp_path: Path, kills: int
) -> None:
    async with (
        counting_proxy(place.kubeconfig, tmp_path, replicas=2) as proxy,
        Client.connect(kubeconfig=place.kubeconfig) as client,
    ):
        disturbed = Load(client, "edits-disturbed", runs_pods=place.runs_pods)
        undisturbed = Load(client, "edits-undisturbed", runs_pods=place.runs_pods)
        with two_replicas(proxy, tmp_path) as running:
            killer = Killer(running, proxy)
            await disturbed.create()
            stop = asyncio.Event()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(disturbed.run(stop))
                await killer.kill(kills)
                stop.set()
            await check_state(disturbed)
            await undisturbed.create()
            await undisturbed.repeat(disturbed.edits)
            await check_state(undisturbed)
            for replica in running.all:
                assert replica.said("reconcile failed") == []
                assert replica.said("Traceback") == []
            await disturbed.delete()
            await undisturbed.delete()

        check_one_owner(proxy)
        # More than kills where the machine stood still for so long that a lease was lost.
        taken = len(takeovers(proxy.leases)) - 1
        broken_off = sum(not write.status for write in proxy.writes)
        few, many = counted(proxy, undisturbed), counted(proxy, disturbed)
        print(  # noqa: T201 - for make e2e-election
            f"\n{kills} kills ({dict(killer.moments)}), {taken} take-overs, {broken_off} broken off, {disturbed.edits.total()} edits, "
            f"writes {dict(many)}, undisturbed {dict(few)}"
        )
        assert killer.moments.total() == kills <= taken
        assert many.keys() == few.keys()
        for kind in few:
            assert many[kind] <= few[kind] + taken + broken_off, f"{kind}: {many[kind]} writes rather than {few[kind]}"
        for kind in ONCE_AN_EDIT:
            assert many[kind] >= len(DATABASES) + disturbed.edits.total(), f"{kind}: an edit was not seen by itself"
