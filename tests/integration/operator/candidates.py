"""Candidates for one Lease in virtual time, and a network between them and the API server that can be bad."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from msgspec import Struct

from kubewright import Client, NotFound, ObjectMeta
from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, Transport, TransportError, WebSocket
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import coordination_v1, core_v1
from kubewright.operator.election import LeaderElection

NAME, NAMESPACE = "operator", "default"
LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD = 15, 10.0, 2.0
WRITE_TIMEOUT = LEASE_DURATION - RENEW_DEADLINE
READS = {"GET", "HEAD"}
T = TypeVar("T")


def now() -> float:
    return asyncio.get_running_loop().time()


class Clocks:
    """One machine's: a wall clock that can be set, and a monotonic one that can pass while the loop stands still."""

    def __init__(self) -> None:
        self.set_by = timedelta(0)
        self.suspended = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.monotonic()) + self.set_by

    def monotonic(self) -> float:
        return now() + self.suspended


class Landed(Struct):
    """A request that the server has answered."""

    request: HttpRequest
    sent: float
    landed: float
    status: int


class Link:
    """One candidate's way to the server. What was sent arrives, whether its sender still waits or not."""

    def __init__(self, inner: Transport, world: World) -> None:
        self._inner = inner
        self._world = world
        self.latency = (0.0, 0.0)
        """From and to how many seconds each way takes."""
        self.cut = False
        """Nothing gets through, and nobody is told."""
        self.refuses = False
        """No connection can be made."""
        self.forbids = False
        """The server knows who asks, who may do nothing."""
        self.answers_lost = 0
        """Of so many writes to come, the answer is lost, and nobody is told."""
        self.landed: list[Landed] = []

    async def request(self, request: HttpRequest) -> HttpResponse:
        if self.refuses:
            raise TransportError("connection refused", may_be_applied=False)
        if self.forbids:
            return HttpResponse(
                403, {}, b'{"kind":"Status","apiVersion":"v1","code":403,"reason":"Forbidden","message":"no"}'
            )
        return await asyncio.shield(self._world.start(self._carry(request)))

    async def _carry(self, request: HttpRequest) -> HttpResponse:
        sent = now()
        await self._way()
        limit = dict(request.query).get("timeout")
        if limit is not None and now() >= sent + float(limit.removesuffix("ms")) / 1000:
            return HttpResponse(504, {}, b'{"kind":"Status","apiVersion":"v1","code":504,"reason":"Timeout"}')
        answer = await self._inner.request(request)
        self.landed.append(Landed(request, sent, now(), answer.status))
        if self.answers_lost and request.method not in READS:
            self.answers_lost -= 1
            await asyncio.Event().wait()
        await self._way()
        return answer

    async def _way(self) -> None:
        if self.cut:
            await asyncio.Event().wait()
        await asyncio.sleep(self._world.rng.uniform(*self.latency))

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[StreamingResponse]:
        return self._inner.stream(request)

    def websocket(self, request: HttpRequest, protocols: Sequence[str]) -> AbstractAsyncContextManager[WebSocket]:
        return self._inner.websocket(request, protocols)

    async def close(self) -> None: ...

    @property
    def writes(self) -> list[Landed]:
        return [each for each in self.landed if each.request.method not in READS]


class Candidate:
    """A process that wants to lead."""

    def __init__(self, world: World, identity: str, **options: Any) -> None:
        self.clocks = Clocks()
        self.link = Link(world.cluster.transport(), world)
        client = Client(self.link, field_manager="operator", clock=self.clocks, rng=world.rng)
        times = {"lease_duration": LEASE_DURATION, "renew_deadline": RENEW_DEADLINE, "retry_period": RETRY_PERIOD}
        self.election = LeaderElection(
            client,
            NAME,
            NAMESPACE,
            **{"identity": identity, "clock": self.clocks, "rng": world.rng, **times, **options},
        )
        self.client = client.fenced(self.election.fence)
        self.led_from: float | None = None
        self._world = world
        self._running: asyncio.Task[None] | None = None

    def start(self) -> Candidate:
        self._running = self._world.start(self._run())
        return self

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            noting = tasks.create_task(self._note())
            try:
                await self.election.run()
            finally:
                noting.cancel()

    async def _note(self) -> None:
        await self.election.wait_until_leading()
        self.led_from = now()

    async def crash(self) -> None:
        """Ends without a word."""
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait([self._running])

    @property
    def has_ended(self) -> bool:
        return self._running is not None and self._running.done()

    async def leads(self, *, within: float = 60.0) -> float:
        """Seconds until it does."""
        started = now()
        async with asyncio.timeout(within):
            await self.election.wait_until_leading()
        return now() - started

    async def write(self) -> None:
        """What a leader does."""
        await self.client.apply(
            core_v1.ConfigMap(
                metadata=ObjectMeta(name="work", namespace=NAMESPACE), data={"owner": self.election.identity}
            ),
            force=True,
        )


class World:
    def __init__(self, cluster: DevCluster, tasks: asyncio.TaskGroup, rng: random.Random) -> None:
        self.cluster = cluster
        self._tasks = tasks
        self.started: list[asyncio.Task[Any]] = []
        self.rng = rng
        self.client = Client(cluster.transport(), field_manager="somebody", clock=cluster.clock, rng=rng)
        self.candidates: list[Candidate] = []

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task that ends with the world."""
        self.started.append(self._tasks.create_task(work))
        return self.started[-1]

    def candidate(self, identity: str, **options: Any) -> Candidate:
        self.candidates.append(Candidate(self, identity, **options))
        return self.candidates[-1]

    async def lease(self) -> coordination_v1.Lease:
        return await self.client.get(coordination_v1.Lease, NAME, namespace=NAMESPACE)

    async def spec(self) -> coordination_v1.LeaseSpec:
        return (await self.lease()).spec

    async def holder(self) -> str | None:
        try:
            return (await self.spec()).holder_identity
        except NotFound:
            return None


@asynccontextmanager
async def world(seed: int = 1) -> AsyncIterator[World]:
    """A cluster without controllers; whatever was started ends with the block."""
    rng = random.Random(seed)
    async with DevCluster(controllers=lambda _: (), clock=Clocks(), rng=rng) as cluster, asyncio.TaskGroup() as tasks:
        made = World(cluster, tasks, rng)
        try:
            yield made
        finally:
            for task in made.started:
                task.cancel()
