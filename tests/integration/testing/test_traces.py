"""The same seed gives the same trace, byte for byte: in one process, and in another that hashes strings differently."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from database_operator.api.v1alpha1 import Database
from database_operator.operator import operator

from kubewright.api import LoopClock
from kubewright.devcluster.cluster import DevCluster
from kubewright.testing import (
    WRITES,
    Coalesce,
    Disconnect,
    Expire,
    Faults,
    Harness,
    HoldEvent,
    Injection,
    LoseAnswer,
    Match,
    OpenHarness,
    Refuse,
    run_in_virtual_time,
)
from kubewright.testing.trace import difference_of_traces
from tests.integration.testing.samples import DATABASE, database


def trouble(faults: Faults) -> None:
    faults.add(Refuse(503), Match(verbs=WRITES), times=4, chance=0.3)
    faults.add(LoseAnswer(), Match(verbs=WRITES), times=4, chance=0.3)
    faults.add(HoldEvent(1.0), times=4, chance=0.3)
    faults.add(Coalesce(0.5), times=4, chance=0.2)
    faults.add(Disconnect(), times=4, chance=0.2)
    faults.add(Expire(), times=4, chance=0.1)
    faults.crash_at(write=5, when="after")


async def troubled(here: Harness) -> None:
    await here.create(database())
    await here.settle()
    await here.client.scale(Database, "db", 3, namespace="default")
    await here.settle()
    await here.advance(hours=1)
    await here.assert_object(DATABASE, {"status": {"phase": "Running", "readyReplicas": 3}})


def run(seed: int, plan: tuple[Injection, ...] = ()) -> Harness:
    async def main() -> Harness:
        cluster = DevCluster(clock=LoopClock(), rng=random.Random(0))
        async with cluster, Harness.opened(operator, cluster, seed=seed, plan=plan) as here:
            if not plan:
                trouble(here.faults)
            await troubled(here)
            return here

    return run_in_virtual_time(main)


@pytest.mark.seeds(1, 2, 3)
async def test_trouble_is_the_same_each_time_and_is_overcome(harness: OpenHarness) -> None:
    here = await harness(operator)
    trouble(here.faults)
    await troubled(here)
    assert here.crashes == 1
    assert len(here.faults.injections) > 10


def test_another_seed_is_another_run() -> None:
    first, again, other = run(1), run(1), run(2)
    assert difference_of_traces(first.trace.lines, again.trace.lines) == ""
    assert first.trace.digest() == again.trace.digest() != other.trace.digest()
    assert "! Refuse(status=503" in first.trace.text()


@pytest.mark.parametrize("hash_seed", ["1", "2", "random"])
def test_another_process_gives_the_same_trace(hash_seed: str) -> None:
    code = "from tests.integration.testing.test_traces import run; print(run(1).trace.digest())"
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout.strip() == run(1).trace.digest()


def test_what_happened_can_be_kept_and_happens_again() -> None:
    first = run(3)
    plan = Faults.decoded(first.faults.encoded())
    assert plan == first.faults.injections
    again = run(3, tuple(plan))
    assert difference_of_traces(first.trace.lines, again.trace.lines) == ""
    part = run(3, tuple(plan[:4]))
    assert part.faults.injections == plan[:4]


def test_two_runs_that_part_are_shown_where_they_do() -> None:
    shown = difference_of_traces(["a", "b", "c"], ["a", "x", "c"])
    assert shown.splitlines() == ["--- first run", "+++ second run", "@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"]


async def test_everything_is_in_the_trace(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.settle()
    text = here.trace.text()
    apply = next(sent for sent in here.writes if sent.call.verb == "apply")
    number = f"#{apply.number} "
    lines = [line for line in here.trace.lines if line.split(" ", 1)[1].startswith(number)]
    assert "PATCH /apis/apps/v1/namespaces/default/statefulsets/db?" in lines[0]
    assert apply.body.decode() in lines[0]
    assert f"{number}-> 201 " in lines[1]
    assert apply.answer is not None
    assert apply.answer.decode().strip() in lines[1]
    assert "= MODIFIED pods default/db-0 at " in text
    assert ' event {"type":"MODIFIED","object":{"apiVersion":"apps/v1","kind":"StatefulSet"' in text
    times = [float(line.split(" ", 1)[0]) for line in here.trace.lines]
    assert times == sorted(times)
    assert times[-1] <= asyncio.get_running_loop().time()
