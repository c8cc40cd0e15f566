"""Pruning: deleting what a controller applied for an object and no longer wants."""

from __future__ import annotations

from kubewright.api import ApiError, resource_info
from kubewright.controller.context import Context

__all__ = ["prune"]


async def prune(ctx: Context) -> int:
    """Deletes what the run's complete set lacks; returns how many.

    Assumes that the run returned normally and declared its set complete. A candidate's controller is the reconciled
    object by UID and its fields were applied by this controller; UID and resource version are preconditions. Nothing is
    deleted of a kind that is not in step with the server, nor once the object is not what it was when the run started.

    Where the server refuses one, the others are deleted all the same, then its refusal is raised.
    """
    deleted, refusals = 0, list[ApiError]()
    for child in list(ctx.children):
        if child.entry.deleting or child.key in ctx.applied:
            continue
        if not ctx.children.owner_is_current:
            break  # the change brings another run
        try:
            gone = await ctx.children.delete(child)
        except ApiError as refusal:
            refusal.add_note(f"pruning {child}")
            refusals.append(refusal)
            continue
        if gone:
            ctx.log.info("pruned", pruned_kind=resource_info(child.kind).kind, pruned=child.entry.name)
            deleted += 1
    if refusals:
        raise refusals[0]
    return deleted
