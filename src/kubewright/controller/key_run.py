"""`KeyRun`: a run for those who reconcile keys. They get the request itself, whether there is an object or not."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from kubewright.api import DecodeError, Resource, decode_what_fits
from kubewright.cache import Entry
from kubewright.controller.context import Context
from kubewright.controller.environment import Start
from kubewright.controller.outcome import Requeue, Result
from kubewright.controller.pruning import prune
from kubewright.controller.request import Request
from kubewright.controller.run import Run, checked

__all__ = ["KeyRun"]

R = TypeVar("R", bound=Resource)


class KeyRun(Run[R]):
    """Calls the reconciler with each request. It adds no finalizers and writes no status; pruning works as always."""

    async def _reconcile(self, start: Start) -> Result | None:
        obj = self._named(start.request, start.entry)
        ctx = Context(self._env, obj, start)
        if start.steps is not None:
            start.steps.begin("sync")
        try:
            result = checked(await self._limited(self._spec.reconcile, start.request, ctx))
        except Requeue as again:
            return Result(requeue_after=again.after)
        if start.steps is not None:
            start.steps.begin("cleanup")
        if ctx.complete and not ctx.unfinished:
            await prune(ctx)
        return result

    def _named(self, request: Request, entry: Entry | None) -> R:
        """The object, as far as it fits its class; of one that is gone, what the request says of it."""
        if entry is not None:
            try:
                return decode_what_fits(entry.raw, self._spec.kind)
            except DecodeError:
                pass  # the reconciler will hear of it when it reads the object
        metadata = {"name": request.name, "namespace": request.namespace}
        return decode_what_fits(msgspec.json.encode({"metadata": metadata}), self._spec.kind)
