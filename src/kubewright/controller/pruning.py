"""Pruning: deleting what a controller applied for an object and no longer wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from kubewright.api import Conflict, NotFound, ObjectMeta, Resource, controller_of, decode, resource_info
from kubewright.api.model import Model
from kubewright.cache import Informer
from kubewright.controller.context import Context, RunEnvironment
from kubewright.controller.spec import ControllerSpec

__all__ = ["prune"]

R = TypeVar("R", bound=Resource)

_PRECIOUS = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "namespaces",
        "secrets",
        "customresourcedefinitions.apiextensions.k8s.io",
    }
)
"""Losing one loses data: deleted only where the controller names the kind."""


class _Owned(Model):
    metadata: ObjectMeta


async def prune(spec: ControllerSpec[R], env: RunEnvironment, owner: R, ctx: Context) -> int:
    """Deletes what the run's complete set lacks; returns how many.

    Assumes that the run returned normally and declared its set complete. A candidate's controller is ``owner`` by UID
    and its fields were applied by this controller; UID and resource version are preconditions. Nothing is deleted of a
    kind that is not in step with the server.
    """
    named = {resource_info(kind).gvk for kind in spec.prune}
    deleted = 0
    for kind in spec.owns:
        info = resource_info(kind)
        informer = env.informer(kind)
        if not informer.live or (info.qualified_plural in _PRECIOUS and info.gvk not in named):
            continue
        for metadata in _unwanted(informer, env.applied.manager, owner, ctx):
            name, namespace = metadata.name or "", metadata.namespace
            env.applied.forget((info.qualified_plural, namespace, name))
            try:
                await env.client.delete(
                    kind, name, namespace=namespace, uid=metadata.uid, resource_version=metadata.resource_version
                )
            except (NotFound, Conflict):
                continue  # gone, or changed since: its event brings another run
            ctx.log.info("pruned", kind=info.kind, name=name, namespace=namespace)
            deleted += 1
    return deleted


def _unwanted(informer: Informer[Resource], manager: str, owner: Resource, ctx: Context) -> Iterator[ObjectMeta]:
    plural = resource_info(informer.kind).qualified_plural
    for namespace, name in informer.keys_by_owner(owner.uid):
        entry = informer.entry(namespace, name)
        raw = informer.raw(namespace, name)
        if entry is None or raw is None or entry.owned_by(manager) is None or (plural, namespace, name) in ctx.applied:
            continue
        metadata = decode(msgspec.Raw(raw), _Owned).metadata
        controller = controller_of(metadata)
        if controller is not None and controller.uid == owner.uid and metadata.deletion_timestamp is None:
            yield metadata
