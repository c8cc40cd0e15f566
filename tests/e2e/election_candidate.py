"""A process that wants to lead and, while it does, counts: `python election_candidate.py KUBECONFIG IDENTITY [astray]`.

It adds one to a counter that it reads and writes back with nothing that would notice a second writer. Ends with 0 when told
to, with 3 when the lease was lost. ``astray``: its clock is set back and forth by half a day all the time.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import cycle

from kubewright import ApiError, Client, NotFound, ObjectMeta
from kubewright.api import SystemClock
from kubewright.client import MergePatch, NotLeading, TransportError
from kubewright.kinds import core_v1
from kubewright.operator.election import LeaderElection
from kubewright.telemetry import new_log

CAMPAIGNING = "campaigning"
LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD = 4, 3.0, 0.5
LOST = 3


class AstrayClock(SystemClock):
    """Each look at it is half a day away from the one before; what it measures is right, as on a machine whose clock is set."""

    def __init__(self) -> None:
        self._hours = cycle([12, -12, 0, 7, -3])

    def now(self) -> datetime:
        return super().now() + timedelta(hours=next(self._hours))


async def count(client: Client, identity: str) -> None:
    """Never stops by itself: what no longer may be written is refused."""
    while True:
        with suppress(ApiError, NotLeading, TransportError):
            try:
                found = await client.get(core_v1.ConfigMap, "counter", namespace="default")
            except NotFound:
                data = {"owner": identity, "count": "1"}
                counter = core_v1.ConfigMap(metadata=ObjectMeta(name="counter", namespace="default"), data=data)
                await client.create(counter)
                continue
            total = int((found.data or {})["count"]) + 1
            patch = MergePatch({"data": {"owner": identity, "count": str(total)}})
            await client.patch(core_v1.ConfigMap, "counter", patch, namespace="default")
        await asyncio.sleep(0.005)


async def campaign(kubeconfig: str, identity: str, clock: str = "") -> int:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    log = new_log("json")
    async with Client.connect(kubeconfig=kubeconfig, field_manager="counter", log=log) as client:
        election = LeaderElection(
            client,
            "counter",
            "default",
            identity=identity,
            lease_duration=LEASE_DURATION,
            renew_deadline=RENEW_DEADLINE,
            retry_period=RETRY_PERIOD,
            clock=AstrayClock() if clock == "astray" else SystemClock(),
            log=log,
        )
        log.info(CAMPAIGNING)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(election.run())
            waits = [tasks.create_task(each) for each in (told.wait(), election.wait_until_leading())]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            counting = tasks.create_task(count(client.fenced(election.fence), identity))
            waits.append(tasks.create_task(election.lost.wait()))
            await asyncio.wait([waits[0], waits[2]], return_when=asyncio.FIRST_COMPLETED)
            if told.is_set():
                counting.cancel()
                await election.release()
            else:
                await asyncio.sleep(0.5)  # as long as ending may take: what is still tried comes to nothing
            for task in (counting, running, *waits):
                task.cancel()
        return LOST if election.lost.is_set() else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(campaign(*sys.argv[1:])))
