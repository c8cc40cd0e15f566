"""`Volumes`: the phases of persistent volumes, and what becomes of one whose claim is gone."""

from __future__ import annotations

from collections.abc import Iterable

from kubewright.api import NotFound, whole_seconds
from kubewright.controller import Context, ControllerSpec, Request, Watch
from kubewright.controller.finalizers import add_finalizers, remove_finalizer
from kubewright.devcluster.controllers.component import Component
from kubewright.kinds import core_v1

__all__ = ["Volumes"]

_PROTECTION = "kubernetes.io/pv-protection"


class Volumes:
    def __init__(self, component: Component) -> None:
        component.add(
            ControllerSpec(
                kind=core_v1.PersistentVolume,
                reconcile=self.reconcile,
                name="persistentvolume",
                while_deleting=True,
                watches=(Watch(core_v1.PersistentVolumeClaim, to=_volume_of),),
            )
        )

    async def reconcile(self, volume: core_v1.PersistentVolume, ctx: Context) -> None:
        phase = self._phase(volume, ctx)
        finalizers = volume.metadata.finalizers or []
        if volume.metadata.deletion_timestamp is not None:
            if _PROTECTION in finalizers and phase != "Bound":
                await remove_finalizer(ctx.client, volume, _PROTECTION)
            return
        if _PROTECTION not in finalizers:
            await add_finalizers(ctx.client, volume, [_PROTECTION])
            return
        if volume.status.phase != phase:
            volume.status.phase = phase
            volume.status.last_phase_transition_time = whole_seconds(ctx.now())
        elif phase == "Released" and volume.spec.persistent_volume_reclaim_policy == "Delete":
            try:
                await ctx.client.delete(volume)
            except NotFound:
                return

    def _phase(self, volume: core_v1.PersistentVolume, ctx: Context) -> str:
        owner = volume.spec.claim_ref
        if owner is None or not owner.uid:
            return "Available"
        claim = ctx.get(core_v1.PersistentVolumeClaim, owner.name or "", namespace=owner.namespace)
        return "Bound" if claim is not None and claim.uid == owner.uid else "Released"


def _volume_of(claim: core_v1.PersistentVolumeClaim) -> Iterable[Request]:
    return [Request(None, None, claim.spec.volume_name)] if claim.spec.volume_name else []
