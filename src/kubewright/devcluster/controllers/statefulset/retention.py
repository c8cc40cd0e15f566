"""``persistentVolumeClaimRetentionPolicy``: claims that go with their set, or with their pod when it is scaled away.

Said by owner references, so that garbage collection does it.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubewright.api import OwnerReference, owner_reference
from kubewright.controller import Context
from kubewright.devcluster.controllers.ownership import set_owners
from kubewright.devcluster.controllers.statefulset.identity import claim_name, first_ordinal
from kubewright.kinds import apps_v1, core_v1

__all__ = ["keep_claim_owners"]


async def keep_claim_owners(statefulset: apps_v1.StatefulSet, pods: Mapping[int, core_v1.Pod], ctx: Context) -> None:
    """Sets the owners of the claims of ``pods`` as the policy says; other owners stay."""
    templates = statefulset.spec.volume_claim_templates or ()
    for ordinal, pod in pods.items():
        for template in templates:
            claim = ctx.get(
                core_v1.PersistentVolumeClaim,
                claim_name(statefulset, template, ordinal),
                namespace=statefulset.namespace,
            )
            if claim is not None and claim.metadata.deletion_timestamp is None:
                await _set_owners(claim, _wanted(statefulset, ordinal, pod), {statefulset.uid, pod.uid}, ctx)


def _wanted(statefulset: apps_v1.StatefulSet, ordinal: int, pod: core_v1.Pod) -> list[OwnerReference]:
    policy = statefulset.spec.persistent_volume_claim_retention_policy
    replicas = 1 if statefulset.spec.replicas is None else statefulset.spec.replicas
    first = first_ordinal(statefulset)
    condemned = not first <= ordinal < first + replicas
    if policy is not None and policy.when_scaled == "Delete" and condemned:
        return [owner_reference(pod)]
    if policy is not None and policy.when_deleted == "Delete":
        return [owner_reference(statefulset)]
    return []


async def _set_owners(
    claim: core_v1.PersistentVolumeClaim, wanted: list[OwnerReference], ours: set[str], ctx: Context
) -> None:
    present = claim.metadata.owner_references or []
    owners = [owner for owner in present if owner.uid not in ours] + wanted
    if owners == present:
        return
    await set_owners(claim, owners, ctx)
