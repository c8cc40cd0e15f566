"""`Kubelet`: the controller of the pods on the simulated node."""

from __future__ import annotations

from kubewright.api import NotFound
from kubewright.cache import Event, EventType
from kubewright.controller import Context, ControllerSpec, Result
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.kubelet.addresses import Addresses
from kubewright.devcluster.controllers.kubelet.durations import parse_duration
from kubewright.devcluster.controllers.kubelet.life import Fault, Life, Note, Situation, Stage, advance, due
from kubewright.devcluster.controllers.kubelet.narration import Narrator
from kubewright.devcluster.controllers.kubelet.statuses import Placement, pod_status
from kubewright.devcluster.controllers.settings import FAULT_ANNOTATION, READY_AFTER_ANNOTATION, Simulation
from kubewright.kinds import core_v1

__all__ = ["Kubelet"]


class Kubelet:
    """Moves each pod through its life and reports it, until the pod is deleted and has stopped.

    Lives are kept in memory, by UID: an embedded cluster ends with its process.
    """

    def __init__(self, component: Component, simulation: Simulation) -> None:
        self._clock = component.clock
        self._events = component.recorder()
        self._narrator = Narrator(self._events)
        self._simulation = simulation
        self._addresses = Addresses(simulation.pod_network)
        self._lives: dict[str, Life] = {}
        component.informer(core_v1.Pod).subscribe(self._forget)
        component.add(
            ControllerSpec(kind=core_v1.Pod, reconcile=self.reconcile, name="kubelet", while_deleting=True, workers=8)
        )

    async def reconcile(self, pod: core_v1.Pod, ctx: Context) -> Result | None:
        """Advances one pod as far as it goes now, and says when to look again."""
        if pod.spec.node_name != self._simulation.node_name:
            return None
        situation = await self._situation(pod)
        life = self._lives.get(pod.uid)
        if life is None:
            if pod.metadata.deletion_grace_period_seconds == 0:
                return None  # stopped and only held by finalizers
            life = self._begin(pod, situation)
            if life.stage is Stage.CREATING:
                await self._narrator.tell(pod, Note.PULLING, life)
        elif life.stage is Stage.STOPPED:
            await self._remove(pod, ctx)
            return None
        life = await self._advance(pod, life, situation)
        self._lives[pod.uid] = life
        pod.status = pod_status(
            pod,
            life,
            self._place(pod),
            healthy=situation.fault is Fault.NONE,
            now=situation.now,
            simulation=self._simulation,
        )
        if life.stage is Stage.STOPPED:
            return Result(requeue_after=0)  # once this status is written, the pod goes
        when = due(life, situation)
        return None if when is None else Result(requeue_after=max(0.0, when - self._clock.monotonic()))

    async def _advance(self, pod: core_v1.Pod, life: Life, situation: Situation) -> Life:
        while True:
            after, notes = advance(life, situation)
            for note in notes:
                await self._narrator.tell(pod, note, after)
            if after == life:
                return life
            life = after

    def _begin(self, pod: core_v1.Pod, situation: Situation) -> Life:
        if pod.status.phase == "Running":  # it ran before this kubelet did
            return Life(Stage.RUNNING, situation.monotonic, started_at=pod.status.start_time or situation.now)
        return Life(Stage.CREATING, situation.monotonic)

    async def _remove(self, pod: core_v1.Pod, ctx: Context) -> None:
        if pod.metadata.deletion_timestamp is None or pod.metadata.deletion_grace_period_seconds == 0:
            return
        try:
            await ctx.client.delete(pod, grace_period=0)
        except NotFound:
            return

    def _place(self, pod: core_v1.Pod) -> Placement:
        host = self._simulation.node_address
        return Placement(host, host if pod.spec.host_network else self._addresses.take(pod.uid))

    async def _situation(self, pod: core_v1.Pod) -> Situation:
        annotations = pod.metadata.annotations or {}
        simulation = self._simulation
        grace = pod.metadata.deletion_grace_period_seconds
        return Situation(
            fault=await self._fault(pod, annotations.get(FAULT_ANNOTATION, "")),
            ready_after=await self._ready_after(pod, annotations.get(READY_AFTER_ANNOTATION)),
            stop_after=simulation.stop_after if grace is None else min(simulation.stop_after, grace),
            deleting=pod.metadata.deletion_timestamp is not None,
            monotonic=self._clock.monotonic(),
            now=self._clock.now(),
            simulation=simulation,
        )

    async def _fault(self, pod: core_v1.Pod, text: str) -> Fault:
        try:
            return Fault(text.strip())
        except ValueError:
            known = " or ".join(fault.value for fault in Fault if fault.value)
            await self._complain(pod, f"annotation {FAULT_ANNOTATION}: {text!r} is not simulated: use {known}")
            return Fault.NONE

    async def _ready_after(self, pod: core_v1.Pod, text: str | None) -> float:
        if text is None:
            return self._simulation.ready_after
        try:
            return parse_duration(text)
        except ValueError as error:
            await self._complain(pod, f"annotation {READY_AFTER_ANNOTATION}: {error}")
            return self._simulation.ready_after

    async def _complain(self, pod: core_v1.Pod, message: str) -> None:
        if self._narrator.is_new(pod, message):
            await self._events.record(pod, "Warning", "InvalidSimulation", message)

    def _forget(self, event: Event[core_v1.Pod]) -> None:
        if event.type is EventType.DELETED:
            self._lives.pop(event.entry.uid, None)
            self._addresses.release(event.entry.uid)
            self._narrator.forget(event.entry.uid)
