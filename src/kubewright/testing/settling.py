"""Whether anything is left to do: for the operator, on its way to it, or in the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from kubewright.cache import Cache
from kubewright.controller import Controller
from kubewright.devcluster.cluster import DevCluster
from kubewright.operator import Manager
from kubewright.testing.process import OperatorProcess
from kubewright.testing.reports import Reports
from kubewright.testing.targets import Target
from kubewright.testing.trace import Trace
from kubewright.testing.transport import Traffic

__all__ = ["Activity", "NotSettled", "Settling"]

_UNEVENTFUL = frozenset({"leases.coordination.k8s.io"})
"""Written again and again by those who only say that they live."""
_STEP = 0.05


class NotSettled(AssertionError):
    """Something is still to be done, or done again and again. The message names it."""


class Activity:
    """When something was last done that matters: by anybody in the embedded cluster, by the operator in another."""

    def __init__(self, cluster: Target, traffic: Traffic) -> None:
        self._store = cluster.server.store if isinstance(cluster, DevCluster) else None
        self._traffic = traffic
        self._revision = 0 if self._store is None else self._store.revision
        self._counted = (0, 0)
        self._changes = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Puts every change of the embedded cluster into the trace while the block runs."""
        if self._store is None:
            yield
            return
        self._revision = self._store.revision
        stop = self._store.subscribe(self._take)
        try:
            yield
        finally:
            stop()

    def _take(self) -> None:
        if self._store is None:
            return
        for change in self._store.changes(self._revision):
            self._revision = change.revision
            where = "/".join(part for part in (change.namespace, change.name) if part)
            self._traffic.trace.add("=", f"{change.type} {change.resource} {where} at {change.revision}")
            if str(change.resource) not in _UNEVENTFUL:
                self._changes += 1

    def count(self) -> int:
        """Grows with everything that is done."""
        if self._store is not None:
            self._take()
            return self._changes
        writes = sum(sent.call.writes and sent.call.resource not in _UNEVENTFUL for sent in self._traffic.trace.sent)
        return writes + self._traffic.events

    async def caught_up(self, cache: Cache) -> None:
        """Waits until nothing is on its way to the operator and its cache is in step."""
        while True:
            seen = (self.count(), self._traffic.events)
            await asyncio.sleep(_STEP)
            if not self._traffic.held and cache.in_step and seen == (self.count(), self._traffic.events):
                return


class Settling:
    """Waits until an operator, and the cluster with it, has come to rest."""

    def __init__(
        self, process: OperatorProcess, activity: Activity, traffic: Traffic, log: Reports, trace: Trace
    ) -> None:
        self._process = process
        self._activity = activity
        self._traffic = traffic
        self._log = log
        self._trace = trace

    async def settle(self, *, quiet: float, within: float) -> None:
        """See `Harness.settle`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        last, since = self._activity.count(), loop.time()
        while loop.time() < deadline:
            await asyncio.sleep(_STEP)
            self._process.check()
            now = self._activity.count()
            if now != last or self._busy() is not None:
                last, since = now, loop.time()
            elif loop.time() - since >= quiet:
                return
        raise NotSettled(self._why(within))

    def _busy(self) -> str | None:
        """What is still to be done."""
        manager = self._process.manager
        if manager is None:
            return "the operator does not run: it crashed and has not started again"
        if not manager.cache.in_step:
            return "; ".join(
                f"the cache of {each.resource} is not in step: {each.phase.value} {each.reason}"
                for each in manager.cache.health()
                if not each.in_step
            )
        if self._traffic.held:
            return f"{self._traffic.held} watches hold events back"
        return self._work(manager)

    def _work(self, manager: Manager) -> str | None:
        for controller in manager.controllers:
            queue = controller.queue
            if queue.failing:
                return "\n".join(self._failure(controller, str(request)) for request in queue.failing[:5])
            if not controller.is_idle:
                return f"controller {controller.spec.name} is at work: {len(queue)} requests wait"
        return None

    def _failure(self, controller: Controller[object], request: str) -> str:  # type: ignore[type-var]
        namespace, _, name = request.rpartition("/")
        said = self._log.of(namespace or None, name)
        return f"controller {controller.spec.name} tries {request} again and again; last it said: {said or 'nothing'}"

    def _why(self, within: float) -> str:
        writes = [str(sent) for sent in self._trace.sent if sent.call.writes][-5:]
        changes = [line for line in self._trace.lines if line.split(" ", 2)[1] == "="][-5:]
        reason = self._busy() or "something is written again and again"
        return "\n".join(
            [
                f"not settled after {within:g} s: {reason}",
                "its last writes:",
                *writes,
                "the cluster's last changes:",
                *changes,
            ]
        )
