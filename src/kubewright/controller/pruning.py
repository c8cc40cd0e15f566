"""Pruning: deleting what a controller applied for an object and no longer wants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from kubewright.api import Conflict, NotFound, Resource, resource_info
from kubewright.cache import Entry, Informer
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
        for entry in _unwanted(informer, env.applied.manager, owner, ctx):
            env.applied.forget((info.qualified_plural, entry.namespace, entry.name))
            try:
                await env.client.delete(
                    kind,
                    entry.name,
                    namespace=entry.namespace,
                    uid=entry.uid,
                    resource_version=str(entry.resource_version),
                )
            except (NotFound, Conflict):
                continue  # gone, or changed since: its event brings another run
            ctx.log.info("pruned", pruned_kind=info.kind, pruned=entry.name)
            deleted += 1
    return deleted


def _unwanted(informer: Informer[Any], manager: str, owner: Resource, ctx: Context) -> Iterator[Entry]:
    plural = informer.info.qualified_plural
    for entry in informer.owned(owner.uid):
        if (
            entry.controller == owner.uid
            and entry.owned_by(manager) is not None
            and not entry.deleting
            and (plural, entry.namespace, entry.name) not in ctx.applied
        ):
            yield entry
