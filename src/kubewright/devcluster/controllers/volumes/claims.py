"""`VolumeClaims`: claims find a volume or have one made, and are protected while pods use them.

See https://kubernetes.io/docs/concepts/storage/persistent-volumes/
"""

from __future__ import annotations

from collections.abc import Iterable

from kubewright.api import AlreadyExists, NotFound, ObjectMeta, Selector
from kubewright.client import MergePatch
from kubewright.controller import Context, ControllerSpec, Request, Watch
from kubewright.controller.finalizers import add_finalizers, remove_finalizer
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.lookups import offered, pods_by_claim, using, volumes_by_claim
from kubewright.devcluster.controllers.pods import is_ended
from kubewright.devcluster.controllers.volumes.claim_names import claims_of
from kubewright.devcluster.controllers.volumes.sizes import amount
from kubewright.kinds import core_v1, storage_v1

__all__ = ["VolumeClaims"]

_PROTECTION = "kubernetes.io/pvc-protection"
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
_BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


class VolumeClaims:
    """One step per run: each write brings the next run by its own event."""

    def __init__(self, component: Component) -> None:
        self._events = component.recorder("persistentvolume-controller")
        self._claims = component.informer(core_v1.PersistentVolumeClaim)
        self._pods = component.informer(core_v1.Pod)
        pods_by_claim(self._pods)
        volumes_by_claim(component.informer(core_v1.PersistentVolume))
        component.add(
            ControllerSpec(
                kind=core_v1.PersistentVolumeClaim,
                reconcile=self.reconcile,
                name="persistentvolumeclaim",
                while_deleting=True,
                watches=(
                    Watch(core_v1.Pod, to=_used_by),
                    Watch(core_v1.PersistentVolume, to=self._interested),
                    Watch(storage_v1.StorageClass, to=self._unbound),
                ),
            )
        )

    async def reconcile(self, claim: core_v1.PersistentVolumeClaim, ctx: Context) -> None:
        finalizers = claim.metadata.finalizers or []
        if claim.metadata.deletion_timestamp is not None:
            if _PROTECTION in finalizers and not self._is_used(claim):
                await remove_finalizer(ctx.client, claim, _PROTECTION)
        elif _PROTECTION not in finalizers:
            await add_finalizers(ctx.client, claim, [_PROTECTION])
        elif claim.spec.volume_name:
            await self._follow_volume(claim, ctx)
        elif claim.spec.storage_class_name is None:
            await self._choose_class(claim, ctx)
        else:
            await self._find_volume(claim, ctx)

    def _is_used(self, claim: core_v1.PersistentVolumeClaim) -> bool:
        return any(pod.spec.node_name and not is_ended(pod) for pod in using(claim, self._pods))

    async def _follow_volume(self, claim: core_v1.PersistentVolumeClaim, ctx: Context) -> None:
        volume = ctx.get(core_v1.PersistentVolume, claim.spec.volume_name or "")
        status = claim.status
        if volume is None:
            if status.phase == "Bound":
                status.phase = "Lost"
                message = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
                await self._events.record(claim, "Warning", "ClaimLost", message)
            return
        owner = volume.spec.claim_ref
        if owner is None or owner.uid is None:
            await _reserve(volume, claim, ctx)
        elif owner.uid == claim.uid:
            status.phase = "Bound"
            status.access_modes = list(volume.spec.access_modes or ())
            status.capacity = dict(volume.spec.capacity or {})

    async def _choose_class(self, claim: core_v1.PersistentVolumeClaim, ctx: Context) -> None:
        defaults = [
            each
            for each in ctx.list(storage_v1.StorageClass)
            if (each.metadata.annotations or {}).get(_IS_DEFAULT) == "true"
        ]
        if defaults:
            newest = max(defaults, key=lambda each: (str(each.metadata.creation_timestamp), each.name))
            await _patch(claim, {"spec": {"storageClassName": newest.name}}, ctx)
        else:
            message = "no persistent volumes available for this claim and no storage class is set"
            await self._events.record(claim, "Normal", "FailedBinding", message)

    async def _find_volume(self, claim: core_v1.PersistentVolumeClaim, ctx: Context) -> None:
        fitting = [volume for volume in offered(claim, ctx) if _fits(volume, claim)]
        if fitting:
            smallest = min(fitting, key=lambda volume: (amount(_size(volume)), volume.name))
            await _reserve(smallest, claim, ctx)
            await _bind(claim, smallest.name, ctx)
            return
        name = claim.spec.storage_class_name or ""
        if not name:
            message = "no persistent volumes available for this claim and no storage class is set"
            await self._events.record(claim, "Normal", "FailedBinding", message)
            return
        storage_class = ctx.get(storage_v1.StorageClass, name)
        if storage_class is None:
            message = f'storageclass.storage.k8s.io "{name}" not found'
            await self._events.record(claim, "Warning", "ProvisioningFailed", message)
        elif storage_class.volume_binding_mode == "WaitForFirstConsumer" and not self._is_wanted(claim):
            message = "waiting for first consumer to be created before binding"
            await self._events.record(claim, "Normal", "WaitForFirstConsumer", message)
        else:
            await self._provision(claim, storage_class, ctx)

    def _is_wanted(self, claim: core_v1.PersistentVolumeClaim) -> bool:
        return bool(using(claim, self._pods))

    async def _provision(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass, ctx: Context
    ) -> None:
        name = f"pvc-{claim.uid}"
        resources = claim.spec.resources
        volume = core_v1.PersistentVolume(
            metadata=ObjectMeta(name=name, annotations={"pv.kubernetes.io/provisioned-by": storage_class.provisioner}),
            spec=core_v1.PersistentVolumeSpec(
                access_modes=list(claim.spec.access_modes or ()),
                capacity=dict((resources.requests if resources else None) or {}),
                claim_ref=_reference(claim),
                host_path=core_v1.HostPathVolumeSource(
                    path=f"/var/lib/kubewright/volumes/{name}", type="DirectoryOrCreate"
                ),
                mount_options=list(storage_class.mount_options or ()) or None,
                persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
                storage_class_name=storage_class.name,
                volume_mode=claim.spec.volume_mode,
            ),
        )
        try:
            await ctx.client.create(volume)
        except AlreadyExists:  # made by a run that was then overtaken
            pass
        else:
            message = f"Successfully provisioned volume {name}"
            await self._events.record(claim, "Normal", "ProvisioningSucceeded", message)
        await _bind(claim, name, ctx, {_PROVISIONER: storage_class.provisioner})

    # whom a change wakes

    def _interested(self, volume: core_v1.PersistentVolume) -> Iterable[Request]:
        owner = volume.spec.claim_ref
        if owner is not None and owner.name:
            return [Request(None, owner.namespace, owner.name)]
        return self._unbound(volume)

    def _unbound(self, _changed: object) -> Iterable[Request]:
        return [
            Request(None, claim.namespace, claim.name) for claim in self._claims.list() if not claim.spec.volume_name
        ]


def _used_by(pod: core_v1.Pod) -> Iterable[Request]:
    return [Request(None, pod.namespace, name) for name in claims_of(pod)]


def _size(volume: core_v1.PersistentVolume) -> str | int | float:
    return (volume.spec.capacity or {}).get("storage", 0)


def _fits(volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim) -> bool:
    if volume.metadata.deletion_timestamp is not None or volume.status.phase in {"Released", "Failed"}:
        return False
    owner = volume.spec.claim_ref
    if owner is not None:
        named = (owner.namespace, owner.name) == (claim.namespace, claim.name)
        return named and owner.uid in {None, claim.uid}
    if volume.status.phase != "Available":
        return False
    if (volume.spec.storage_class_name or "") != (claim.spec.storage_class_name or ""):
        return False
    if claim.spec.selector is not None and not Selector.from_object(claim.spec.selector).matches(
        volume.metadata.labels
    ):
        return False
    requests = (claim.spec.resources.requests if claim.spec.resources else None) or {}
    enough = amount(_size(volume)) >= amount(requests.get("storage", 0))
    return enough and set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ())


def _reference(claim: core_v1.PersistentVolumeClaim) -> core_v1.ObjectReference:
    return core_v1.ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
        resource_version=claim.metadata.resource_version,
    )


async def _reserve(volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim, ctx: Context) -> None:
    """Raises `Conflict` when somebody else was faster."""
    change = MergePatch(
        {
            "metadata": {"resourceVersion": volume.metadata.resource_version},
            "spec": {
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": claim.namespace,
                    "name": claim.name,
                    "uid": claim.uid,
                }
            },
        }
    )
    await ctx.client.patch(core_v1.PersistentVolume, volume.name, change)


async def _bind(
    claim: core_v1.PersistentVolumeClaim, volume: str, ctx: Context, annotations: dict[str, str] | None = None
) -> None:
    await _patch(
        claim, {"metadata": {"annotations": {**_BOUND, **(annotations or {})}}, "spec": {"volumeName": volume}}, ctx
    )


async def _patch(claim: core_v1.PersistentVolumeClaim, change: dict[str, dict[str, object]], ctx: Context) -> None:
    metadata = {**change.get("metadata", {}), "resourceVersion": claim.metadata.resource_version}
    body: dict[str, object] = {**change, "metadata": metadata}
    try:
        await ctx.client.patch(
            core_v1.PersistentVolumeClaim,
            claim.name,
            MergePatch(body),
            namespace=claim.namespace,
        )
    except NotFound:
        return
