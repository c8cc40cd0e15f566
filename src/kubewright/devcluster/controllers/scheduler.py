"""`Scheduler`: gives pods to the one node there is, when it can take them."""

from __future__ import annotations

from collections.abc import Iterable

from kubewright.api import Conflict, NotFound, ObjectMeta, encode, resource_info, whole_seconds
from kubewright.controller import Context, ControllerSpec, Request, Watch
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.lookups import pods_by_claim, using
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.devcluster.controllers.volumes.claim_names import claims_of
from kubewright.kinds import core_v1, storage_v1

__all__ = ["Scheduler"]

_NAMES = {None, "", "default-scheduler"}


class Scheduler:
    """Binds pods whose volumes are there and whose node selector fits; tells of the others why they wait."""

    def __init__(self, component: Component, simulation: Simulation) -> None:
        self._client = component.client
        self._events = component.recorder()
        self._node = simulation.node_name
        self._pods = component.informer(core_v1.Pod)
        pods_by_claim(self._pods)
        component.add(
            ControllerSpec(
                kind=core_v1.Pod,
                reconcile=self.reconcile,
                name="scheduler",
                watches=(
                    Watch(core_v1.Node, to=self._all_waiting),
                    Watch(core_v1.PersistentVolumeClaim, to=self._waiting_for_claim),
                ),
                reads=(storage_v1.StorageClass,),
            )
        )

    async def reconcile(self, pod: core_v1.Pod, ctx: Context) -> None:
        if not _waits(pod):
            return
        if pod.spec.scheduling_gates:
            _mark(pod, ctx, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
            return
        obstacle = self._obstacle(pod, ctx)
        if obstacle:
            if _mark(pod, ctx, "Unschedulable", obstacle):
                await self._events.record(pod, "Warning", "FailedScheduling", obstacle)
            return
        try:
            await self._bind(pod)
        except (NotFound, Conflict):  # deleted, or bound, while we looked
            return
        where = f"{pod.namespace}/{pod.name} to {self._node}"
        await self._events.record(pod, "Normal", "Scheduled", f"Successfully assigned {where}")

    async def _bind(self, pod: core_v1.Pod) -> None:
        binding = core_v1.Binding(
            metadata=ObjectMeta(name=pod.name, namespace=pod.namespace, uid=pod.uid),
            target=core_v1.ObjectReference(kind="Node", name=self._node),
        )
        await self._client.rest.create(
            resource_info(core_v1.Pod),
            encode(binding),
            namespace=pod.namespace,
            name=pod.name,
            subresource="binding",
            query=[("fieldManager", self._client.field_manager)],
        )

    def _obstacle(self, pod: core_v1.Pod, ctx: Context) -> str:
        node = ctx.get(core_v1.Node, self._node)
        if node is None:
            return "no nodes available to schedule pods"
        why = self._volume_obstacle(pod, ctx)
        if why:
            return f"0/1 nodes are available: {why}."
        labels = node.metadata.labels or {}
        if any(labels.get(key) != value for key, value in (pod.spec.node_selector or {}).items()):
            return "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
        if node.spec.unschedulable:
            return "0/1 nodes are available: 1 node(s) were unschedulable."
        return ""

    def _volume_obstacle(self, pod: core_v1.Pod, ctx: Context) -> str:
        for name in claims_of(pod):
            claim = ctx.get(core_v1.PersistentVolumeClaim, name, namespace=pod.namespace)
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if claim.metadata.deletion_timestamp is not None:
                return f'persistentvolumeclaim "{name}" is being deleted'
            if not claim.spec.volume_name:
                return "pod has unbound immediate PersistentVolumeClaims"
        return ""

    # what wakes pods that wait

    def _all_waiting(self, _node: core_v1.Node) -> Iterable[Request]:
        return [Request(None, pod.namespace, pod.name) for pod in self._pods.list() if _waits(pod)]

    def _waiting_for_claim(self, claim: core_v1.PersistentVolumeClaim) -> Iterable[Request]:
        return [Request(None, pod.namespace, pod.name) for pod in using(claim, self._pods) if _waits(pod)]


def _waits(pod: core_v1.Pod) -> bool:
    return not pod.spec.node_name and pod.metadata.deletion_timestamp is None and pod.spec.scheduler_name in _NAMES


def _mark(pod: core_v1.Pod, ctx: Context, reason: str, message: str) -> bool:
    """Notes in the pod's status why it waits; whether that is news."""
    conditions = pod.status.conditions = list(pod.status.conditions or ())
    found = next((each for each in conditions if each.type == "PodScheduled"), None)
    if found is not None and (found.status, found.reason, found.message) == ("False", reason, message):
        return False
    if found is None:
        found = core_v1.PodCondition(type="PodScheduled", status="")
        conditions.append(found)
    if found.status != "False":
        found.last_transition_time = whole_seconds(ctx.now())
    found.status, found.reason, found.message = "False", reason, message
    found.observed_generation = pod.metadata.generation
    return True
