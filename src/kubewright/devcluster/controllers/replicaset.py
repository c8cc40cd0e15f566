"""`ReplicaSets`: as many pods of one template as are wanted, whichever they are.

See https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
"""

from __future__ import annotations

from kubewright.api import ApiError, NotFound, Selector
from kubewright.controller import Context, ControllerSpec, Result
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.lookups import findable
from kubewright.devcluster.controllers.ownership import is_ending, owned
from kubewright.devcluster.controllers.pods import (
    available_in,
    is_ended,
    is_ready,
    is_terminating,
    pod_from_template,
)
from kubewright.kinds import apps_v1, core_v1

__all__ = ["ReplicaSets"]


class ReplicaSets:
    def __init__(self, component: Component) -> None:
        self._events = component.recorder("replicaset-controller")
        findable(component.informer(core_v1.Pod))
        component.add(
            ControllerSpec(kind=apps_v1.ReplicaSet, reconcile=self.reconcile, name="replicaset", owns=(core_v1.Pod,))
        )

    async def reconcile(self, replicaset: apps_v1.ReplicaSet, ctx: Context) -> Result | None:
        selector = Selector.from_object(replicaset.spec.selector)
        pods = await self._active(replicaset, selector, ctx)
        wanted = 1 if replicaset.spec.replicas is None else replicaset.spec.replicas
        try:
            for _ in range(wanted - len(pods)):
                await self._create(replicaset, ctx)
            if wanted < len(pods):
                for pod in sorted(pods, key=_worth)[: len(pods) - wanted]:
                    await self._delete(replicaset, pod, ctx)
        except ApiError as error:
            if not is_ending(error):
                raise
        finally:
            look_again = _count(replicaset, await self._active(replicaset, selector, ctx), ctx)
        return None if look_again is None else Result(requeue_after=look_again)

    async def _active(self, replicaset: apps_v1.ReplicaSet, selector: Selector, ctx: Context) -> list[core_v1.Pod]:
        pods = await owned(core_v1.Pod, replicaset, selector, ctx)
        return [pod for pod in pods if not is_terminating(pod) and not is_ended(pod)]

    async def _create(self, replicaset: apps_v1.ReplicaSet, ctx: Context) -> None:
        if replicaset.spec.template is None:
            return
        pod = pod_from_template(replicaset.spec.template, replicaset)
        pod.metadata.generate_name = f"{replicaset.name}-"
        try:
            created = await ctx.client.create(pod)
        except ApiError as error:
            if not is_ending(error):
                await self._events.record(replicaset, "Warning", "FailedCreate", f"Error creating: {error}")
            raise
        await self._events.record(replicaset, "Normal", "SuccessfulCreate", f"Created pod: {created.name}")

    async def _delete(self, replicaset: apps_v1.ReplicaSet, pod: core_v1.Pod, ctx: Context) -> None:
        try:
            await ctx.client.delete(pod)
        except NotFound:
            return
        await self._events.record(replicaset, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.name}")


def _worth(pod: core_v1.Pod) -> tuple[bool, bool, bool, float, str]:
    """Sorts those first that are missed least: not placed, not running, not ready, and the youngest."""
    created = pod.metadata.creation_timestamp
    return (
        bool(pod.spec.node_name),
        pod.status.phase == "Running",
        is_ready(pod),
        -created.timestamp() if created else 0.0,
        pod.name,
    )


def _count(replicaset: apps_v1.ReplicaSet, pods: list[core_v1.Pod], ctx: Context) -> float | None:
    """Counts into the status; returns the seconds until a ready pod becomes available, where one will."""
    template = replicaset.spec.template
    labels = (template.metadata.labels if template and template.metadata else None) or {}
    waits = [available_in(pod, replicaset.spec.min_ready_seconds, ctx.now()) for pod in pods]
    status = replicaset.status
    status.observed_generation = replicaset.metadata.generation
    status.replicas = len(pods)
    status.fully_labeled_replicas = (
        sum(Selector.from_labels(labels).matches(pod.metadata.labels) for pod in pods) or None
    )
    status.ready_replicas = sum(wait is not None for wait in waits) or None
    status.available_replicas = sum(wait == 0.0 for wait in waits) or None
    return min((wait for wait in waits if wait), default=None)
