"""`LeaderElection`: one leader among several processes, by a Lease."""

from __future__ import annotations

import asyncio
import random
import socket
import uuid
from collections.abc import Mapping
from contextlib import suppress

from kubewright.api import (
    AlreadyExists,
    ApiError,
    Clock,
    Conflict,
    DecodeError,
    Forbidden,
    NotFound,
    ObjectMeta,
    SystemClock,
    micro_time,
)
from kubewright.api.arguments import known_arguments
from kubewright.api.names import check_dns_subdomain
from kubewright.client import Client, Fence, MergePatch, TransportError
from kubewright.kinds import coordination_v1
from kubewright.operator.election_lease import LeaseView, Standing
from kubewright.operator.election_rules import JITTER, check_identity, check_times
from kubewright.telemetry import Log, null_log

__all__ = ["LeaderElection", "new_identity"]

_AFTER = 0.001
"""Seconds after the deadline at which leadership counts as lost; timers are not as exact as the fence."""


def new_identity(rng: random.Random | None = None) -> str:
    """The host's name, in a pod the pod's, and something that tells this process from all that ran there before."""
    return f"{socket.gethostname()}_{uuid.UUID(int=(rng or random.SystemRandom()).getrandbits(128), version=4)}"


class LeaderElection:
    """Campaigns for a Lease, and holds it until it is lost or released; an ordinary candidate beside those of client-go.

    ``run`` is a task of the process's; what the leader does goes through ``client.fenced(election.fence)``.

    Guarantees
        At most one leader: writes start only within ``renew_deadline`` from the start of the last renewal that
        succeeded, and are given up ``lease_duration - renew_deadline`` later at the latest, before anybody else may
        lead. Time in which the machine was suspended counts; clocks are never compared. Once lost, it is lost for good.
    Assumptions
        Monotonic clocks of the candidates run alike. Nobody frees or deletes the Lease by hand: a candidate that starts
        in that moment can't know that there is a leader.
    Caveats
        What was on its way when the process was stopped may still land. Who takes over first looks for a change for
        ``lease_duration``: take-over takes up to that and 2.3 retry periods after a crash, 2.2 retry periods after
        `release`.
    """

    @known_arguments
    def __init__(
        self,
        client: Client,
        name: str,
        namespace: str,
        *,
        identity: str | None = None,
        labels: Mapping[str, str] | None = None,
        lease_duration: int = 15,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        log: Log | None = None,
    ) -> None:
        """``client`` must not be fenced. ``identity`` tells this process from every other one; `new_identity` makes one.

        Times are seconds. Raises ValueError, naming the argument.
        """
        check_dns_subdomain(name, what="the lease's name")
        self.identity = check_identity(identity, what="identity") if identity is not None else new_identity(rng)
        check_times(lease_duration, renew_deadline, retry_period)
        self.name = name
        self.namespace = namespace
        self._client = client
        self._labels = dict(labels or {})
        self._lease_duration = lease_duration
        self._renew_deadline = renew_deadline
        self._retry_period = retry_period
        self._patience = renew_deadline / 2  # for one request: one that hangs must not take all the time there is
        self._clock = clock or SystemClock()
        self._rng = rng or random.Random()
        self._log = (log or null_log()).bind(lease=f"{namespace}/{name}", identity=self.identity)
        self._view = LeaseView(self.identity, lease_duration=lease_duration)
        self._turn = asyncio.Lock()
        self._leading = asyncio.Event()
        self._released = asyncio.Event()
        self._complaint = ""
        self.lost = asyncio.Event()
        """Set when this process led and does not any more, not by `release`: end what it does, and the process."""
        self.fence = Fence(
            identity=self.identity,
            lease=f"{namespace}/{name}",
            write_timeout=lease_duration - renew_deadline,
            clock=self._clock,
        )

    @property
    def is_leader(self) -> bool:
        """Whether writes may start now."""
        return self.fence.left > 0

    @property
    def leader(self) -> str | None:
        """Whom the Lease named when it was looked at last, "" where nobody; None where it could not be read yet."""
        return self._view.holder

    async def wait_until_leading(self) -> None:
        await self._leading.wait()

    async def run(self) -> None:
        """Campaigns until this process leads, holds the Lease, and returns when it is lost or released.

        An API server that is away or refuses is reported and tried again. Cancelled, it ends leading at once, and leaves
        the Lease to run out: call `release` then.
        """
        try:
            while not (self._released.is_set() or await self._attempt()):
                await self._pause(self._until_next_look())
            if self.is_leader:
                self._log.info("leading")
                self._leading.set()
            while (left := self.fence.left) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left + _AFTER):
                        await self._pause(self._retry_period)
                        await self._attempt()
            if not self._released.is_set():
                self._log.error("leadership lost", leader=self.leader, last_trouble=self._complaint)
                self.lost.set()
        finally:
            self.fence.close()

    async def release(self) -> None:
        """Lets the next one lead at once; to be called when all that the leader did has ended.

        Nothing can be written any more from here on. What was cut off on its way to the server is waited for until it
        can't land any more, ``lease_duration - renew_deadline`` at most. A server that does not answer within
        ``renew_deadline / 2`` is given up on: the Lease runs out by itself.
        """
        self._released.set()
        self.fence.close()
        await self.fence.settled()
        if not self._view.wrote:
            return
        try:
            async with asyncio.timeout(self._patience), self._turn:
                if self._look(await self._read()) is Standing.OURS:
                    now = micro_time(self._clock.now())
                    await self._patch(holder="", leaseDurationSeconds=1, acquireTime=now, renewTime=now)
                    self._log.info("lease released")
        except (ApiError, TransportError, DecodeError, TimeoutError) as error:
            self._log.warning("the lease could not be released and runs out by itself", error=_words(error))

    # one turn

    async def _attempt(self) -> bool:
        """Whether the Lease is ours now."""
        before = self._view.holder
        try:
            async with self._turn:
                held = not self._released.is_set() and await self._take_or_renew()
        except (ApiError, TransportError, DecodeError, TimeoutError) as error:
            self._complain(error)
            return False
        self._complaint = ""
        if self._view.holder not in {before, self.identity}:
            self._log.info("leader seen", leader=self._view.holder)
        return held

    async def _take_or_renew(self) -> bool:
        if self._leading.is_set() and self._view.lease is not None:
            with suppress(Conflict, NotFound):  # somebody wrote it or deleted it, maybe we did: look
                await self._renew()
                return True
        match self._look(await self._read()):
            case Standing.OURS:
                await self._renew()
            case Standing.FREE:
                return await self._take()
            case Standing.TAKEN:
                if self._leading.is_set():
                    self.fence.close()
                return False
        return True

    def _look(self, lease: coordination_v1.Lease | None) -> Standing:
        return self._view.seen(lease, self._clock.monotonic())

    async def _take(self) -> bool:
        started, now = self._clock.monotonic(), micro_time(self._clock.now())
        found = self._view.lease
        self._view.writing(now, started)
        try:
            if found is None:
                lease = await self._create(now)
            else:
                lease = await self._patch(
                    holder=self.identity,
                    leaseDurationSeconds=self._lease_duration,
                    acquireTime=now,
                    renewTime=now,
                    leaseTransitions=(found.spec.lease_transitions or 0) + 1,
                )
        except (Conflict, AlreadyExists):  # somebody was quicker
            return False
        self._hold(lease, started)
        return True

    async def _renew(self) -> None:
        started, now = self._clock.monotonic(), micro_time(self._clock.now())
        self._view.writing(now, started)
        renewed = await self._patch(holder=self.identity, leaseDurationSeconds=self._lease_duration, renewTime=now)
        self._hold(renewed, started)

    def _hold(self, lease: coordination_v1.Lease, started: float) -> None:
        self._view.written(lease, started, self._clock.monotonic())
        self.fence.extend(started + self._renew_deadline)

    def _until_next_look(self) -> float:
        usual = self._retry_period * (1 + JITTER * self._rng.random())
        left = self._view.good_until - self._clock.monotonic()
        return min(usual, left + self._rng.uniform(0.0, 0.1) * self._retry_period) if left > 0 else usual

    async def _pause(self, seconds: float) -> None:
        """Ends early when released."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._released.wait()

    def _complain(self, error: Exception) -> None:
        words = _words(error)
        if isinstance(error, Forbidden):
            words += f"; grant get, create and patch of leases in API group coordination.k8s.io and namespace {self.namespace}"
        say = self._log.debug if words == self._complaint else self._log.warning
        self._complaint = words
        say("the lease could not be taken or renewed", error=words, leader=self.leader)

    # the Lease

    async def _read(self) -> coordination_v1.Lease | None:
        try:
            async with asyncio.timeout(self._patience):
                return await self._client.get(coordination_v1.Lease, self.name, namespace=self.namespace)
        except NotFound:
            return None

    async def _create(self, now: str) -> coordination_v1.Lease:
        lease = coordination_v1.Lease(
            metadata=ObjectMeta(name=self.name, namespace=self.namespace, labels=self._labels or None),
            spec=coordination_v1.LeaseSpec(
                holder_identity=self.identity,
                lease_duration_seconds=self._lease_duration,
                acquire_time=now,
                renew_time=now,
                lease_transitions=0,
            ),
        )
        async with asyncio.timeout(self._patience):
            return await self._client.create(lease)

    async def _patch(self, *, holder: str, **spec: str | int) -> coordination_v1.Lease:
        """Changes it as it was seen last, or raises `Conflict`; what others put into it stays."""
        seen = self._view.lease
        if seen is None or seen.metadata.resource_version is None:
            raise AssertionError("a Lease is changed only after it was seen")
        changed: dict[str, object] = {"spec": {"holderIdentity": holder, **spec}}
        if self._labels and holder:
            changed["metadata"] = {"labels": self._labels}
        patch = MergePatch(changed).bound_to(seen.metadata.resource_version)
        async with asyncio.timeout(self._patience):
            return await self._client.patch(coordination_v1.Lease, self.name, patch, namespace=self.namespace)


def _words(error: Exception) -> str:
    return str(error) or ("no answer in time" if isinstance(error, TimeoutError) else type(error).__name__)
