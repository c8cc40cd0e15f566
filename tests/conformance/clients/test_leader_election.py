"""Our candidates for a Lease beside those of the official client, in turn."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from kubewright import Client
from kubewright.kinds import coordination_v1
from kubewright.operator.election import LeaderElection
from tests.conformance.clients.operators.elector import LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD
from tests.conformance.clients.servers import Server

BUSY = 20.0
"""Seconds that a busy machine may take in addition."""


class Official:
    """A process with the official client's elector."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def said(self) -> list[str]:
        return [line for line in self._log.read_text().splitlines() if line in {"leading", "lost"}]

    async def leads(self) -> None:
        async with asyncio.timeout(LEASE_DURATION + BUSY):
            while "leading" not in self.said:  # noqa: ASYNC110 - another process says so
                await asyncio.sleep(0.05)


@contextmanager
def official(server: Server, namespace: str, identity: str, folder: Path) -> Iterator[Official]:
    script = Path(__file__).parent / "operators" / "elector.py"
    log = folder / f"{identity}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, str(script), str(server.kubeconfig), namespace, "shared", identity],
            stdout=output,
            stderr=output,
            text=True,
        )
    try:
        yield Official(process, log)
    finally:
        process.kill()
        process.wait()


def ours(client: Client, namespace: str, identity: str) -> LeaderElection:
    return LeaderElection(
        client,
        "shared",
        namespace,
        identity=identity,
        lease_duration=LEASE_DURATION,
        renew_deadline=RENEW_DEADLINE,
        retry_period=RETRY_PERIOD,
    )


async def test_the_official_elector_and_ours_take_turns(server: Server, namespace: str, tmp_path: Path) -> None:
    kubectl = server.kubectl(namespace)
    async with Client.connect(kubeconfig=server.kubeconfig) as client, asyncio.TaskGroup() as tasks:

        async def lease() -> coordination_v1.LeaseSpec:
            return (await client.get(coordination_v1.Lease, "shared", namespace=namespace)).spec

        election = ours(client, namespace, "ours-1")
        with official(server, namespace, "theirs-1", tmp_path) as theirs:
            await theirs.leads()
            running = tasks.create_task(election.run())
            await asyncio.sleep(LEASE_DURATION + 1)
            assert (election.leader, election.is_leader) == ("theirs-1", False)
            theirs.process.kill()
            theirs.process.wait()
            renewed = (await lease()).renew_time
            await election.wait_until_leading()
            took = (datetime.now(UTC) - datetime.fromisoformat(renewed or "")).total_seconds()
        assert LEASE_DURATION <= took <= LEASE_DURATION + 2.3 * RETRY_PERIOD + BUSY

        with official(server, namespace, "theirs-2", tmp_path) as theirs:
            await asyncio.sleep(LEASE_DURATION + 2)
            assert theirs.said == []
            assert election.is_leader
            assert (await lease()).holder_identity == "ours-1"
            await election.release()
            await running
            await theirs.leads()
            spec = kubectl.json("lease", "shared")["spec"]
            assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("theirs-2", LEASE_DURATION)
            assert theirs.said == ["leading"]
