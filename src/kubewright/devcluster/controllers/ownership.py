"""Whose an object is: adopting what a selector matches, releasing what it does not match any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from kubewright.api import (
    JSON,
    ApiError,
    NotFound,
    OwnerReference,
    Resource,
    Selector,
    controller_of,
    owner_reference,
    to_dict,
)
from kubewright.client import MergePatch
from kubewright.controller import Context
from kubewright.devcluster.controllers.lookups import controlled, selected
from kubewright.devcluster.controllers.pods import is_ended
from kubewright.kinds import core_v1

__all__ = ["is_ending", "owned", "set_owners"]

R = TypeVar("R", bound=Resource)


async def owned(kind: type[R], owner: Resource, selector: Selector, ctx: Context) -> list[R]:
    """The objects that ``owner`` controls and selects, in order of their names.

    One that it selects and nobody controls is adopted, one that it controls and does not select is released. The kind's
    informer must be `findable`. Raises `Conflict` when one of them changed meanwhile.
    """
    found = []
    ours = {obj.name: obj for obj in selected(kind, owner.namespace, selector, ctx)}
    ours |= {obj.name: obj for obj in controlled(kind, owner, ctx)}
    for _, obj in sorted(ours.items()):
        controller = controller_of(obj.metadata)
        matches = selector.matches(obj.metadata.labels)
        if controller is None:
            if matches and _is_adoptable(obj):
                references = [*(obj.metadata.owner_references or ()), owner_reference(owner)]
                adopted = await set_owners(obj, references, ctx)
                found += [adopted] if adopted is not None else []
        elif controller.uid == owner.uid:
            if matches:
                found.append(obj)
            elif obj.metadata.deletion_timestamp is None:
                others = [each for each in obj.metadata.owner_references or () if each.uid != owner.uid]
                await set_owners(obj, others, ctx)
    return found


def _is_adoptable(obj: Resource) -> bool:
    ended = isinstance(obj, core_v1.Pod) and is_ended(obj)
    return obj.metadata.deletion_timestamp is None and not ended


async def set_owners(obj: R, owners: Sequence[OwnerReference], ctx: Context) -> R | None:
    """The object with other owners; None when it is gone. Raises `Conflict` when it changed since it was read."""
    metadata: dict[str, JSON] = {
        "uid": obj.uid,
        "resourceVersion": obj.metadata.resource_version,
        "ownerReferences": [to_dict(owner) for owner in owners] or None,
    }
    try:
        return await ctx.client.patch(type(obj), obj.name, MergePatch({"metadata": metadata}), namespace=obj.namespace)
    except NotFound:
        return None


def is_ending(error: ApiError) -> bool:
    """Whether a namespace takes nothing new because it is being deleted."""
    return any(cause.reason == "NamespaceTerminating" for cause in error.causes)
