"""The replica sets of a Deployment: which one is the new one, and what their revisions are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubewright.api import AlreadyExists, LabelSelector, ObjectMeta, controller_of, convert, owner_reference, to_dict
from kubewright.controller import Context
from kubewright.devcluster.controllers.deployment.rollout import replicas_of, surge_and_unavailable
from kubewright.devcluster.controllers.hashing import template_hash
from kubewright.kinds import apps_v1, core_v1

__all__ = ["HASH_LABEL", "REVISION", "annotations_of", "create", "find_new", "revision_of"]

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
}


def revision_of(obj: apps_v1.Deployment | apps_v1.ReplicaSet) -> int:
    text = (obj.metadata.annotations or {}).get(REVISION, "0")
    return int(text) if text.isdecimal() else 0


def find_new(deployment: apps_v1.Deployment, replica_sets: Sequence[apps_v1.ReplicaSet]) -> apps_v1.ReplicaSet | None:
    """The oldest replica set with the Deployment's template."""
    wanted = _plain(deployment.spec.template)
    same = [each for each in replica_sets if each.spec.template and _plain(each.spec.template) == wanted]
    return min(same, key=lambda each: (str(each.metadata.creation_timestamp), each.name), default=None)


def _plain(template: core_v1.PodTemplateSpec) -> dict[str, Any]:
    """A template without the hash that its replica set puts among the labels."""
    plain = to_dict(template)
    metadata = plain.get("metadata")
    if metadata and metadata.get("labels"):
        labels = {key: value for key, value in metadata["labels"].items() if key != HASH_LABEL}
        plain = {**plain, "metadata": {**metadata, "labels": labels}}
    return plain


def annotations_of(deployment: apps_v1.Deployment, revision: int) -> dict[str, str]:
    """What a replica set is annotated with by its Deployment."""
    surge, _ = surge_and_unavailable(deployment)
    copied = {key: value for key, value in (deployment.metadata.annotations or {}).items() if key not in _NOT_COPIED}
    return {
        **copied,
        "deployment.kubernetes.io/desired-replicas": str(replicas_of(deployment)),
        "deployment.kubernetes.io/max-replicas": str(replicas_of(deployment) + surge),
        REVISION: str(revision),
    }


async def create(deployment: apps_v1.Deployment, *, revision: int, size: int, ctx: Context) -> apps_v1.ReplicaSet:
    """Makes the replica set of the Deployment's template; counts collisions of its name in the status."""
    while True:
        wanted = _replica_set(deployment, revision=revision, size=size)
        try:
            return await ctx.client.create(wanted)
        except AlreadyExists:
            present = await ctx.client.get(apps_v1.ReplicaSet, wanted.name, namespace=deployment.namespace)
            owner = controller_of(present.metadata)
            if owner is not None and owner.uid == deployment.uid and find_new(deployment, [present]):
                return present
            deployment.status.collision_count = (deployment.status.collision_count or 0) + 1


def _replica_set(deployment: apps_v1.Deployment, *, revision: int, size: int) -> apps_v1.ReplicaSet:
    digest = template_hash(deployment.spec.template, deployment.status.collision_count)
    template = convert(to_dict(deployment.spec.template), core_v1.PodTemplateSpec)
    template.metadata = template.metadata or ObjectMeta()
    template.metadata.labels = {**(template.metadata.labels or {}), HASH_LABEL: digest}
    selector = convert(to_dict(deployment.spec.selector), LabelSelector)
    selector.match_labels = {**(selector.match_labels or {}), HASH_LABEL: digest}
    return apps_v1.ReplicaSet(
        metadata=ObjectMeta(
            name=f"{deployment.name}-{digest}",
            namespace=deployment.namespace,
            labels=dict(template.metadata.labels),
            annotations=annotations_of(deployment, revision),
            owner_references=[owner_reference(deployment)],
        ),
        spec=apps_v1.ReplicaSetSpec(
            replicas=size,
            min_ready_seconds=deployment.spec.min_ready_seconds,
            selector=selector,
            template=template,
        ),
    )
