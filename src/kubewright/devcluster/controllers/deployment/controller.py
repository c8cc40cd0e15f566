"""`Deployments`: the controller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubewright.api import ApiError, NotFound, Selector, controller_of
from kubewright.cache import Event, EventType
from kubewright.client import MergePatch
from kubewright.controller import Context, ControllerSpec, Request, Result, Watch
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.deployment.progress import report
from kubewright.devcluster.controllers.deployment.replica_sets import (
    REVISION,
    annotations_of,
    create,
    find_new,
    revision_of,
)
from kubewright.devcluster.controllers.deployment.rollout import next_sizes, replicas_of, surge_and_unavailable
from kubewright.devcluster.controllers.lookups import findable, selected
from kubewright.devcluster.controllers.ownership import is_ending, owned
from kubewright.devcluster.controllers.pods import is_ended
from kubewright.kinds import apps_v1, core_v1

__all__ = ["Deployments"]

_HISTORY = 10


class Deployments:
    def __init__(self, component: Component) -> None:
        self._events = component.recorder("deployment-controller")
        self._replica_sets = component.informer(apps_v1.ReplicaSet)
        findable(self._replica_sets)
        findable(component.informer(core_v1.Pod))
        component.add(
            ControllerSpec(
                kind=apps_v1.Deployment,
                reconcile=self.reconcile,
                name="deployment",
                owns=(apps_v1.ReplicaSet,),
                watches=(Watch(core_v1.Pod, to=self._waiting_for, predicate=_is_end),),
            )
        )

    async def reconcile(self, deployment: apps_v1.Deployment, ctx: Context) -> Result | None:
        selector = Selector.from_object(deployment.spec.selector)
        replica_sets = _by_revision(await owned(apps_v1.ReplicaSet, deployment, selector, ctx))
        new = find_new(deployment, replica_sets)
        created = False
        try:
            if new is None and not deployment.spec.paused and not _must_wait(deployment, replica_sets, ctx):
                new = await self._create(deployment, replica_sets, ctx)
                created = True
            elif new is not None:
                await self._number(deployment, new, replica_sets, ctx)
            await self._resize(deployment, new, replica_sets, ctx)
        except ApiError as error:
            if not is_ending(error):
                raise
            return None
        replica_sets = _by_revision(await owned(apps_v1.ReplicaSet, deployment, selector, ctx))
        await self._truncate(deployment, new, replica_sets, ctx)
        fresh = next((each for each in replica_sets if new is not None and each.uid == new.uid), None)
        left = report(deployment, fresh, replica_sets, created=created, now=ctx.now())
        return None if left is None else Result(requeue_after=left)

    def _waiting_for(self, pod: core_v1.Pod) -> Iterable[Request]:
        """The Deployment whose new pods may have to wait for this one to end."""
        owner = controller_of(pod.metadata)
        replica_set = self._replica_sets.get(pod.namespace, owner.name) if owner else None
        above = controller_of(replica_set.metadata) if replica_set else None
        return [Request(None, pod.namespace, above.name)] if above and above.kind == "Deployment" else []

    async def _create(
        self, deployment: apps_v1.Deployment, replica_sets: Sequence[apps_v1.ReplicaSet], ctx: Context
    ) -> apps_v1.ReplicaSet:
        surge, _ = surge_and_unavailable(deployment)
        present = sum(replicas_of(each) for each in replica_sets)
        size = max(0, min(replicas_of(deployment), replicas_of(deployment) + surge - present))
        revision = max((revision_of(each) for each in replica_sets), default=0) + 1
        made = await create(deployment, revision=revision, size=size, ctx=ctx)
        if size:
            await self._tell(deployment, made.name, 0, size)
        await _annotate(deployment, revision, ctx)
        return made

    async def _number(
        self,
        deployment: apps_v1.Deployment,
        new: apps_v1.ReplicaSet,
        replica_sets: Sequence[apps_v1.ReplicaSet],
        ctx: Context,
    ) -> None:
        """The new replica set has the highest revision; one that was rolled back to gets a new one."""
        others = max((revision_of(each) for each in replica_sets if each.uid != new.uid), default=0)
        revision = max(revision_of(new), others + 1)
        wanted = annotations_of(deployment, revision)
        present = new.metadata.annotations or {}
        if any(present.get(key) != value for key, value in wanted.items()):
            change = MergePatch({"metadata": {"annotations": {**wanted}}})
            await ctx.client.patch(apps_v1.ReplicaSet, new.name, change, namespace=new.namespace)
        await _annotate(deployment, revision, ctx)

    async def _resize(
        self,
        deployment: apps_v1.Deployment,
        new: apps_v1.ReplicaSet | None,
        replica_sets: Sequence[apps_v1.ReplicaSet],
        ctx: Context,
    ) -> None:
        old = [each for each in replica_sets if new is None or each.uid != new.uid]
        if deployment.spec.paused and new is not None and any(replicas_of(each) for each in old):
            return  # paused in the middle of a rollout
        present = {each.name: replicas_of(each) for each in ([new] if new else []) + old}
        for name, size in next_sizes(deployment, new, old).items():
            change = MergePatch({"spec": {"replicas": size}})
            await ctx.client.patch(apps_v1.ReplicaSet, name, change, namespace=deployment.namespace)
            await self._tell(deployment, name, present[name], size)

    async def _tell(self, deployment: apps_v1.Deployment, name: str, before: int, after: int) -> None:
        way = "up" if after > before else "down"
        message = f"Scaled {way} replica set {name} from {before} to {after}"
        await self._events.record(deployment, "Normal", "ScalingReplicaSet", message)

    async def _truncate(
        self,
        deployment: apps_v1.Deployment,
        new: apps_v1.ReplicaSet | None,
        replica_sets: Sequence[apps_v1.ReplicaSet],
        ctx: Context,
    ) -> None:
        """Deletes the oldest replica sets that are empty, beyond the history limit."""
        limit = deployment.spec.revision_history_limit
        old = [each for each in replica_sets if new is None or each.uid != new.uid]
        for each in old[: max(0, len(old) - (_HISTORY if limit is None else limit))]:
            if replicas_of(each) or each.status.replicas or each.metadata.deletion_timestamp is not None:
                continue
            try:
                await ctx.client.delete(each)
            except NotFound:
                continue


def _by_revision(replica_sets: Sequence[apps_v1.ReplicaSet]) -> list[apps_v1.ReplicaSet]:
    return sorted(replica_sets, key=lambda each: (revision_of(each), each.name))


def _is_end(event: Event[core_v1.Pod]) -> bool:
    return event.type is EventType.DELETED


def _must_wait(deployment: apps_v1.Deployment, replica_sets: Sequence[apps_v1.ReplicaSet], ctx: Context) -> bool:
    """Recreating begins when the old pods are gone, not only when they are asked to go."""
    strategy = deployment.spec.strategy
    if strategy is None or strategy.type != "Recreate":
        return False
    if any(replicas_of(each) for each in replica_sets):
        return True
    uids = {each.uid for each in replica_sets}
    return any(
        owner.uid in uids
        for pod in selected(core_v1.Pod, deployment.namespace, Selector.from_object(deployment.spec.selector), ctx)
        if not is_ended(pod) and (owner := controller_of(pod.metadata)) is not None
    )


async def _annotate(deployment: apps_v1.Deployment, revision: int, ctx: Context) -> None:
    if revision_of(deployment) != revision:
        change = MergePatch({"metadata": {"annotations": {REVISION: str(revision)}}})
        await ctx.client.patch(apps_v1.Deployment, deployment.name, change, namespace=deployment.namespace)
