"""Whatever the network does, there are never two leaders by each one's own view, and no leader's write lands in another's time."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from kubewright import ApiError
from kubewright.client import TransportError
from kubewright.kinds import coordination_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.operator.candidates import (
    LEASE_DURATION,
    NAME,
    NAMESPACE,
    WRITE_TIMEOUT,
    Candidate,
    World,
    now,
    world,
)

LONG = 200.0
"""Seconds of one run."""
SLOWEST = 3.0


class Reign(Struct):
    """When a candidate might start writes, by its own view: until its deadline, unless it ended before."""

    candidate: Candidate
    since: float
    until: float
    ended: float = float("inf")
    """When it was told to end. A successor may lead then, or when nothing can land any more."""


async def watched(candidate: Candidate, reigns: list[Reign]) -> None:
    """Deadlines only grow, so that looking now and then sees each."""
    await candidate.election.wait_until_leading()
    reign = Reign(candidate, now(), now())
    reigns.append(reign)
    while not candidate.has_ended:
        if candidate.election.fence.left:
            reign.until = now() + candidate.election.fence.left
        await asyncio.sleep(0.05)


async def works(candidate: Candidate) -> None:
    """Writes as much as it may, and often more."""
    await candidate.election.wait_until_leading()
    while True:
        with suppress(ApiError, TransportError, TimeoutError):
            async with asyncio.timeout(20):
                await candidate.write()
        await asyncio.sleep(0.5)


async def suffers(candidate: Candidate, rng: random.Random) -> None:
    """What happens to one machine and its way to the server."""
    while True:
        await asyncio.sleep(rng.expovariate(1 / 10))
        match rng.randrange(5):
            case 0:
                candidate.link.cut = True
                await asyncio.sleep(rng.expovariate(1 / LEASE_DURATION))
                candidate.link.cut = False
            case 1:
                candidate.link.refuses = True
                await asyncio.sleep(rng.expovariate(1 / LEASE_DURATION))
                candidate.link.refuses = False
            case 2:
                candidate.link.latency = (0.0, rng.choice([0.01, 0.5, SLOWEST]))
            case 3:
                candidate.link.answers_lost = rng.randrange(3)
            case _:
                candidate.clocks.set_by += timedelta(seconds=rng.uniform(-1e6, 1e6))


async def deletes(w: World, rng: random.Random) -> None:
    """Once: who is cut off between two deletions can't know who led between them."""
    await asyncio.sleep(rng.uniform(0, LONG))
    with suppress(ApiError):
        await w.client.delete(coordination_v1.Lease, NAME, namespace=NAMESPACE)


async def ends(candidate: Candidate, reigns: list[Reign], rng: random.Random) -> None:
    await candidate.election.wait_until_leading()
    await asyncio.sleep(rng.uniform(0, 120))
    for reign in reigns:
        if reign.candidate is candidate:
            reign.ended = now()
            reign.until = min(reign.until, now())
    if rng.random() < 0.5:
        await candidate.crash()
    await candidate.election.release()


@settings(max_examples=8, deadline=None, phases=(Phase.generate,))  # a smaller seed is no simpler case
@given(seed=st.integers(0, 2**32))
def test_there_are_never_two_leaders(seed: int) -> None:
    async def run() -> list[Reign]:
        async with world(seed) as w:
            rng = random.Random(seed + 1)
            reigns: list[Reign] = []
            for number in range(6):
                candidate = w.candidate(f"c{number}").start()
                w.start(watched(candidate, reigns))
                w.start(works(candidate))
            await asyncio.sleep(10)  # all have seen the Lease: who never did can't know that it was deleted
            w.start(deletes(w, rng))
            for candidate in w.candidates:
                w.start(suffers(candidate, rng))
                w.start(ends(candidate, reigns, rng))
            await asyncio.sleep(LONG)
            return reigns

    reigns = run_in_virtual_time(run)
    reigns.sort(key=lambda reign: reign.since)
    assert len(reigns) > 1, "nobody took over: this tests nothing"
    for before, after in pairwise(reigns):
        until = min(before.until + WRITE_TIMEOUT, max(before.until, before.ended))
        assert until <= after.since, (before.candidate.election.identity, after.candidate.election.identity)
        for landed in before.candidate.link.landed:
            if "configmaps" in landed.request.path and landed.status == 200:
                assert landed.landed <= after.since
