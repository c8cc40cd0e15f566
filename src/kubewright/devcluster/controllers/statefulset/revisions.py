"""ControllerRevisions of a StatefulSet: the templates it had, so that a rollout knows old from new."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from kubewright.api import (
    AlreadyExists,
    DecodeError,
    NotFound,
    ObjectMeta,
    Selector,
    controller_of,
    convert,
    owner_reference,
    to_dict,
)
from kubewright.client import MergePatch
from kubewright.controller import Context
from kubewright.devcluster.controllers.hashing import template_hash
from kubewright.devcluster.controllers.lookups import controlled, selected
from kubewright.devcluster.controllers.ownership import set_owners
from kubewright.devcluster.controllers.statefulset.identity import REVISION_LABEL
from kubewright.kinds import apps_v1, core_v1

__all__ = ["Revisions", "read_revisions", "template_of", "truncate_history"]

_HISTORY = 10
_HASH_LABEL = "controller.kubernetes.io/hash"


class Revisions(Struct, frozen=True):
    """What pods should be made of: ``current`` until the rollout is through, ``update`` from then on."""

    current: apps_v1.ControllerRevision
    update: apps_v1.ControllerRevision
    collisions: int
    """How many names were taken by something else."""


def template_of(revision: apps_v1.ControllerRevision, statefulset: apps_v1.StatefulSet) -> core_v1.PodTemplateSpec:
    """The template a revision holds; the set's own where the revision makes no sense."""
    spec: Any = (revision.data or {}).get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if not isinstance(template, dict):
        return statefulset.spec.template
    try:
        return convert({key: value for key, value in template.items() if key != "$patch"}, core_v1.PodTemplateSpec)
    except DecodeError:
        return statefulset.spec.template


async def read_revisions(statefulset: apps_v1.StatefulSet, ctx: Context) -> Revisions:
    """Finds, or makes, the revision of the set's template, and finds the one its pods are still made of."""
    known = await _adopted(statefulset, ctx)
    template = statefulset.spec.template
    data = {"spec": {"template": {**to_dict(template), "$patch": "replace"}}}
    collisions = statefulset.status.collision_count or 0
    update = next((each for each in known if template_of(each, statefulset) == template and each.data), None)
    newest = max((each.revision for each in known), default=0)
    if update is None:
        update, collisions = await _create(statefulset, data, newest + 1, collisions, ctx)
    elif update.revision < newest:  # a roll back: what was old is new again
        update = await ctx.client.patch(
            apps_v1.ControllerRevision,
            update.name,
            MergePatch({"revision": newest + 1}),
            namespace=statefulset.namespace,
        )
    current = next((each for each in known if each.name == statefulset.status.current_revision), update)
    return Revisions(current, update, collisions)


async def _adopted(statefulset: apps_v1.StatefulSet, ctx: Context) -> list[apps_v1.ControllerRevision]:
    """The set's revisions, those included that an earlier set of the same selector left behind."""
    selector = Selector.from_object(statefulset.spec.selector)
    for revision in selected(apps_v1.ControllerRevision, statefulset.namespace, selector, ctx):
        if controller_of(revision.metadata) is None and revision.metadata.deletion_timestamp is None:
            owners = [*(revision.metadata.owner_references or ()), owner_reference(statefulset)]
            await set_owners(revision, owners, ctx)
    return _history(statefulset, ctx)


def _history(statefulset: apps_v1.StatefulSet, ctx: Context) -> list[apps_v1.ControllerRevision]:
    """The set's own revisions, oldest first."""
    found = controlled(apps_v1.ControllerRevision, statefulset, ctx)
    return sorted(found, key=lambda revision: (revision.revision, revision.name))


async def _create(
    statefulset: apps_v1.StatefulSet, data: dict[str, Any], number: int, collisions: int, ctx: Context
) -> tuple[apps_v1.ControllerRevision, int]:
    labels = (statefulset.spec.template.metadata.labels if statefulset.spec.template.metadata else None) or {}
    while True:
        digest = template_hash(statefulset.spec.template, collisions)
        name = f"{statefulset.name[:242]}-{digest}"
        revision = apps_v1.ControllerRevision(
            metadata=ObjectMeta(
                name=name,
                namespace=statefulset.namespace,
                labels={**labels, _HASH_LABEL: digest},
                annotations=dict(statefulset.metadata.annotations or {}) or None,
                owner_references=[owner_reference(statefulset)],
            ),
            data=data,
            revision=number,
        )
        try:
            return await ctx.client.create(revision), collisions
        except AlreadyExists:
            present = await ctx.client.get(apps_v1.ControllerRevision, name, namespace=statefulset.namespace)
            owner = controller_of(present.metadata)
            if present.data == data and owner is not None and owner.uid == statefulset.uid:
                return present, collisions
            collisions += 1


async def truncate_history(
    statefulset: apps_v1.StatefulSet, revisions: Revisions, pods: Iterable[core_v1.Pod], ctx: Context
) -> None:
    """Deletes the oldest revisions that nothing uses, beyond the history limit."""
    limit = statefulset.spec.revision_history_limit
    used = {(pod.metadata.labels or {}).get(REVISION_LABEL) for pod in pods}
    used |= {revisions.current.name, revisions.update.name}
    unused = [revision for revision in _history(statefulset, ctx) if revision.name not in used]
    for revision in unused[: max(0, len(unused) - (_HISTORY if limit is None else limit))]:
        try:
            await ctx.client.delete(revision)
        except NotFound:
            continue
