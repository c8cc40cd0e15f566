"""`PodCollector`: removes pods whose node does not exist, since no kubelet will ever do it."""

from __future__ import annotations

from collections.abc import Iterable

from kubewright.api import NotFound
from kubewright.cache import Event, EventType
from kubewright.controller import Context, ControllerSpec, Request, Result, Watch
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.pods import is_terminating
from kubewright.kinds import core_v1

__all__ = ["PodCollector"]

_PATIENCE = 40.0
"""Seconds that a node is given to appear."""
_TOLERANCE = 1e-6


class PodCollector:
    def __init__(self, component: Component) -> None:
        self._clock = component.clock
        self._missed: dict[str, float] = {}
        self._pods = component.informer(core_v1.Pod)
        self._pods.subscribe(self._forget)
        component.add(
            ControllerSpec(
                kind=core_v1.Pod,
                reconcile=self.reconcile,
                name="pod-collector",
                while_deleting=True,
                watches=(Watch(core_v1.Node, to=self._on_node),),
            )
        )

    async def reconcile(self, pod: core_v1.Pod, ctx: Context) -> Result | None:
        if not pod.spec.node_name or ctx.get(core_v1.Node, pod.spec.node_name) is not None:
            self._missed.pop(pod.uid, None)
            return None
        if pod.metadata.deletion_grace_period_seconds == 0:
            return None  # only finalizers hold it
        now = self._clock.monotonic()
        left = self._missed.setdefault(pod.uid, now) + _PATIENCE - now
        if left > _TOLERANCE and not is_terminating(pod):
            return Result(requeue_after=left)
        try:
            await ctx.client.delete(pod, grace_period=0)
        except NotFound:
            return None
        return None

    def _on_node(self, node: core_v1.Node) -> Iterable[Request]:
        return [Request(None, pod.namespace, pod.name) for pod in self._pods.list() if pod.spec.node_name == node.name]

    def _forget(self, event: Event[core_v1.Pod]) -> None:
        if event.type is EventType.DELETED:
            self._missed.pop(event.entry.uid, None)
