"""Leader election among processes that are killed, stopped and cut off: one owner at a time, and no gap but the lease's."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count, groupby, pairwise
from pathlib import Path

from kubewright import ApiError, Client
from kubewright.client import TransportError
from kubewright.kinds import coordination_v1, core_v1
from tests.e2e.election_candidate import CAMPAIGNING, LEASE_DURATION, LOST, RENEW_DEADLINE, RETRY_PERIOD
from tests.e2e.processes import Cluster

TAKE_OVER = LEASE_DURATION + 2.3 * RETRY_PERIOD + 10.0
"""Seconds, with some for machines that are busy."""


class Candidates:
    """Processes that count in turn, and what they counted."""

    def __init__(self, cluster: Cluster, client: Client, folder: Path, *arguments: str) -> None:
        self.client = client
        self.history: list[tuple[str, int]] = []
        """Owner and count in the order of the server's writes."""
        self._cluster = cluster
        self._folder = folder
        self._arguments = arguments
        self._numbers = count()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> str:
        identity = f"p{next(self._numbers)}"
        script = Path(__file__).with_name("election_candidate.py")
        with (self._folder / f"{identity}.log").open("w") as log:
            self.processes[identity] = subprocess.Popen(
                [sys.executable, str(script), str(self._cluster.kubeconfig), identity, *self._arguments],
                stderr=log,
                stdout=log,
            )
        return identity

    async def all_campaign(self, within: float = 60.0) -> None:
        """Until each has reached the server."""
        async with asyncio.timeout(within):
            for identity in self.processes:
                log = self._folder / f"{identity}.log"
                while CAMPAIGNING not in await asyncio.to_thread(log.read_text):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.05)

    def kill(self, identity: str) -> None:
        process = self.processes.pop(identity)
        process.kill()
        process.wait()

    async def watch(self) -> None:
        async for event in self.client.watch(core_v1.ConfigMap, namespace="default", fields="metadata.name=counter"):
            data = event.object.data or {}
            self.history.append((data["owner"], int(data["count"])))

    async def owner_other_than(self, *others: str, within: float = 60.0) -> str:
        """Who counts, when it is none of ``others``."""
        async with asyncio.timeout(within):
            while True:
                with suppress(ApiError, TransportError):
                    found = await self.client.list(core_v1.ConfigMap, namespace="default")
                    for each in found:
                        owner = (each.data or {}).get("owner", "")
                        if each.name == "counter" and owner not in others:
                            return owner
                await asyncio.sleep(0.05)

    async def counts(self, owner: str, within: float = 60.0) -> None:
        """Until a count of ``owner`` is heard of that was not heard of when this was asked."""
        heard = len(self.history)
        async with asyncio.timeout(within):
            while not [each for each, _ in self.history[heard:] if each == owner]:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)

    async def exit_code(self, identity: str, within: float = 60.0) -> int:
        return await asyncio.to_thread(self.processes[identity].wait, within)

    def check_history(self) -> list[str]:
        """One owner after the other, and no count lost or made twice; returns the owners."""
        owners = [owner for owner, _ in groupby(self.history, key=lambda each: each[0])]
        assert len(owners) == len(set(owners)), f"an owner came back after it had a successor: {owners}"
        for (_, before), after in pairwise(self.history):
            assert after[1] == before + 1, f"counted {before}, then {after}"
        return owners


@asynccontextmanager
async def three(cluster: Cluster, folder: Path, *arguments: str) -> AsyncIterator[Candidates]:
    async with Client.connect(kubeconfig=cluster.kubeconfig) as client:
        candidates = Candidates(cluster, client, folder, *arguments)
        try:
            for _ in range(3):
                candidates.start()
            await candidates.all_campaign()
            yield candidates
        finally:
            for identity in [*candidates.processes]:
                candidates.kill(identity)


async def test_a_leader_killed_at_random_moments_is_followed_by_one_other(
    cluster: Cluster, tmp_path: Path, kills: int
) -> None:
    rng = random.Random(kills)
    async with three(cluster, tmp_path) as candidates:
        owner = await candidates.owner_other_than("")
        watching = asyncio.ensure_future(candidates.watch())
        slowest = 0.0
        for _ in range(kills):
            await candidates.counts(owner)
            await asyncio.sleep(rng.uniform(0, 2 * RETRY_PERIOD))
            candidates.kill(owner)
            killed = time.monotonic()
            candidates.start()
            owner = await candidates.owner_other_than(owner)
            slowest = max(slowest, time.monotonic() - killed)
        await candidates.counts(owner)
        watching.cancel()
        owners = candidates.check_history()
        lease = await candidates.client.get(coordination_v1.Lease, "counter", namespace="default")
        assert len(owners) == kills + 1
        assert owners[-1] == owner == lease.spec.holder_identity
        assert lease.spec.lease_transitions == kills
        assert slowest < TAKE_OVER
        print(f"{kills} kills, {len(candidates.history)} writes, slowest take-over {slowest:.2f} s")  # noqa: T201 - for make e2e-election


async def test_a_leader_that_was_stopped_and_goes_on_writes_nothing_and_ends(cluster: Cluster, tmp_path: Path) -> None:
    async with three(cluster, tmp_path) as candidates:
        first = await candidates.owner_other_than("")
        watching = asyncio.ensure_future(candidates.watch())
        await candidates.counts(first)
        os.kill(candidates.processes[first].pid, signal.SIGSTOP)
        second = await candidates.owner_other_than(first)
        os.kill(candidates.processes[first].pid, signal.SIGCONT)
        assert await candidates.exit_code(first) == LOST
        await candidates.counts(second)
        watching.cancel()
        assert candidates.check_history() == [first, second]


async def test_a_leader_that_is_told_to_end_is_followed_at_once(cluster: Cluster, tmp_path: Path) -> None:
    async with three(cluster, tmp_path) as candidates:
        first = await candidates.owner_other_than("")
        watching = asyncio.ensure_future(candidates.watch())
        await candidates.counts(first)
        candidates.processes[first].terminate()
        assert await candidates.exit_code(first) == 0
        lease = await candidates.client.get(coordination_v1.Lease, "counter", namespace="default")
        assert lease.spec.holder_identity != first, "it let go of the lease, which would have lasted"
        await candidates.owner_other_than(first)
        watching.cancel()
        candidates.check_history()


async def test_an_api_server_that_hangs_for_longer_than_the_lease_ends_the_leader_alone(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with three(cluster, tmp_path) as candidates:
        first = await candidates.owner_other_than("")
        watching = asyncio.ensure_future(candidates.watch())
        await candidates.counts(first)
        server = cluster.pid
        os.kill(server, signal.SIGSTOP)
        try:
            assert await candidates.exit_code(first) == LOST
            await asyncio.sleep(LEASE_DURATION)
        finally:
            os.kill(server, signal.SIGCONT)
        second = await candidates.owner_other_than(first)
        assert [each for each, process in candidates.processes.items() if process.poll() is not None] == [first]
        await candidates.counts(second)
        watching.cancel()
        assert candidates.check_history() == [first, second]


async def test_clocks_that_are_set_back_and_forth_change_nothing(cluster: Cluster, tmp_path: Path) -> None:
    async with three(cluster, tmp_path, "astray") as candidates:
        first = await candidates.owner_other_than("")
        watching = asyncio.ensure_future(candidates.watch())
        await asyncio.sleep(1.5 * LEASE_DURATION)
        killed = time.monotonic()
        candidates.kill(first)
        second = await candidates.owner_other_than(first)
        assert LEASE_DURATION / 2 < time.monotonic() - killed < TAKE_OVER
        await candidates.counts(second)
        watching.cancel()
        assert candidates.check_history() == [first, second]


async def test_a_leader_keeps_a_slow_api_server(cluster: Cluster, tmp_path: Path) -> None:
    rng = random.Random(1)
    async with three(cluster, tmp_path) as candidates:
        first = await candidates.owner_other_than("")
        watching = asyncio.ensure_future(candidates.watch())
        server = cluster.pid
        for _ in range(8):
            os.kill(server, signal.SIGSTOP)
            try:
                await asyncio.sleep(rng.uniform(0.3, RENEW_DEADLINE / 4))
            finally:
                os.kill(server, signal.SIGCONT)
            await candidates.counts(first)
            await asyncio.sleep(rng.uniform(0.1, 0.3))
        watching.cancel()
        assert candidates.check_history() == [first]
        assert all(process.poll() is None for process in candidates.processes.values())


async def test_an_api_server_that_comes_back_empty_has_one_leader(cluster: Cluster, tmp_path: Path) -> None:
    async with three(cluster, tmp_path) as candidates:
        first = await candidates.owner_other_than("")
        await asyncio.to_thread(cluster.kill)
        assert await candidates.exit_code(first) == LOST
        await asyncio.sleep(LEASE_DURATION)
        assert (await asyncio.to_thread(cluster.run, "up", "--pod-ready-after", "0.1")).returncode == 0
        second = await candidates.owner_other_than(first)
        watching = asyncio.ensure_future(candidates.watch())
        await candidates.counts(second)
        watching.cancel()
        assert candidates.check_history() == [second]
