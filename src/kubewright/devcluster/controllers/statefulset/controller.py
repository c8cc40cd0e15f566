"""`StatefulSets`: the controller."""

from __future__ import annotations

from kubewright.api import AlreadyExists, ApiError, Forbidden, NotFound, Selector
from kubewright.controller import Context, ControllerSpec, Result
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.lookups import findable
from kubewright.devcluster.controllers.ownership import is_ending, owned
from kubewright.devcluster.controllers.pods import is_terminating
from kubewright.devcluster.controllers.statefulset.identity import claims_for, new_pod, ordinal_of
from kubewright.devcluster.controllers.statefulset.retention import keep_claim_owners
from kubewright.devcluster.controllers.statefulset.revisions import (
    Revisions,
    read_revisions,
    template_of,
    truncate_history,
)
from kubewright.devcluster.controllers.statefulset.rollout import Create, Remove, decide
from kubewright.devcluster.controllers.statefulset.status import count
from kubewright.kinds import apps_v1, core_v1

__all__ = ["StatefulSets"]


class StatefulSets:
    def __init__(self, component: Component) -> None:
        self._events = component.recorder("statefulset-controller")
        findable(component.informer(core_v1.Pod))
        findable(component.informer(apps_v1.ControllerRevision))
        component.add(
            ControllerSpec(
                kind=apps_v1.StatefulSet,
                reconcile=self.reconcile,
                name="statefulset",
                owns=(core_v1.Pod,),
                reads=(core_v1.PersistentVolumeClaim, apps_v1.ControllerRevision),
            )
        )

    async def reconcile(self, statefulset: apps_v1.StatefulSet, ctx: Context) -> Result | None:
        try:
            return await self._reconcile(statefulset, ctx)
        except Forbidden as error:
            if is_ending(error):
                return None
            raise

    async def _reconcile(self, statefulset: apps_v1.StatefulSet, ctx: Context) -> Result | None:
        selector = Selector.from_object(statefulset.spec.selector)
        revisions = await read_revisions(statefulset, ctx)
        pods = await self._pods(statefulset, selector, ctx)
        plan = decide(statefulset, pods, update_revision=revisions.update.name, now=ctx.now())
        try:
            for step in plan.steps:
                match step:
                    case Create():
                        await self._create(statefulset, revisions, step, ctx)
                    case Remove():
                        await self._remove(statefulset, pods[step.ordinal], ctx)
            pods = await self._pods(statefulset, selector, ctx)
            await self._replace_lost_claims(statefulset, pods, ctx)
            await keep_claim_owners(statefulset, pods, ctx)
            await truncate_history(statefulset, revisions, pods.values(), ctx)
        finally:
            count(statefulset, pods.values(), revisions, now=ctx.now())
        return None if plan.look_again is None else Result(requeue_after=plan.look_again)

    async def _pods(self, statefulset: apps_v1.StatefulSet, selector: Selector, ctx: Context) -> dict[int, core_v1.Pod]:
        pods = await owned(core_v1.Pod, statefulset, selector, ctx)
        return {ordinal: pod for pod in pods if (ordinal := ordinal_of(statefulset, pod)) is not None}

    async def _create(self, statefulset: apps_v1.StatefulSet, revisions: Revisions, step: Create, ctx: Context) -> None:
        revision = revisions.update if step.update else revisions.current
        pod = new_pod(statefulset, template_of(revision, statefulset), revision.name, step.ordinal)
        try:
            for claim in claims_for(statefulset, step.ordinal):
                await self._ensure_claim(statefulset, claim, pod, ctx)
            await ctx.client.create(pod)
        except ApiError as error:
            if not is_ending(error):
                await self._events.record(
                    statefulset,
                    "Warning",
                    "FailedCreate",
                    f"create Pod {pod.name} in StatefulSet {statefulset.name} failed error: {error}",
                )
            raise
        await self._events.record(
            statefulset,
            "Normal",
            "SuccessfulCreate",
            f"create Pod {pod.name} in StatefulSet {statefulset.name} successful",
        )

    async def _replace_lost_claims(
        self, statefulset: apps_v1.StatefulSet, pods: dict[int, core_v1.Pod], ctx: Context
    ) -> None:
        """A claim that was on its way out when its pod was made is gone now, and the pod would wait for it forever."""
        for ordinal, pod in pods.items():
            if not pod.spec.node_name and not is_terminating(pod):
                for claim in claims_for(statefulset, ordinal):
                    await self._ensure_claim(statefulset, claim, pod, ctx)

    async def _ensure_claim(
        self,
        statefulset: apps_v1.StatefulSet,
        claim: core_v1.PersistentVolumeClaim,
        pod: core_v1.Pod,
        ctx: Context,
    ) -> None:
        present = ctx.get(core_v1.PersistentVolumeClaim, claim.name, namespace=claim.namespace)
        if present is not None:
            return
        what = f"Claim {claim.name} Pod {pod.name} in StatefulSet {statefulset.name}"
        try:
            await ctx.client.create(claim)
        except AlreadyExists:
            return
        await self._events.record(statefulset, "Normal", "SuccessfulCreate", f"create {what} success")

    async def _remove(self, statefulset: apps_v1.StatefulSet, pod: core_v1.Pod, ctx: Context) -> None:
        try:
            await ctx.client.delete(pod)
        except NotFound:
            return
        await self._events.record(
            statefulset,
            "Normal",
            "SuccessfulDelete",
            f"delete Pod {pod.name} in StatefulSet {statefulset.name} successful",
        )
