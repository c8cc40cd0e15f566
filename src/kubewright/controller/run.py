"""One reconcile run, in five steps: fetch → sync → status → cleanup → requeue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from kubewright.api import JSON, ApiError, DecodeError, NotFound, Resource, decode_what_fits
from kubewright.client import TransportError
from kubewright.controller.children import is_current
from kubewright.controller.context import Context, RunEnvironment
from kubewright.controller.finalizers import add_finalizers, remove_finalizer
from kubewright.controller.outcome import Requeue, Result
from kubewright.controller.pruning import prune
from kubewright.controller.request import Request
from kubewright.controller.spec import ControllerSpec
from kubewright.controller.status import StatusWriter
from kubewright.telemetry import Log

__all__ = ["Run", "checked"]

R = TypeVar("R", bound=Resource)


class Run(Generic[R]):
    """Runs a controller's reconciler for one request at a time (many of them concurrently)."""

    def __init__(self, spec: ControllerSpec[R], env: RunEnvironment) -> None:
        self._spec = spec
        self._env = env
        self._informer = env.informer(spec.kind)
        self._status = StatusWriter(spec.kind, env.client)

    async def __call__(self, request: Request, *, log: Log, reconcile_id: str, attempt: int) -> Result | None:
        """Reconciles. Returns when to run again, if at all; raises what the reconciler or the API raised."""
        try:
            obj = self._informer.get(request.namespace, request.name)
        except DecodeError as error:
            log.error("object can't be decoded; it is left alone until it changes, or goes", error=str(error))
            obj = self._as_far_as_it_goes(request)
            if obj is None or obj.metadata.deletion_timestamp is None:
                return None
            ctx = Context(self._env, obj, request, log=log, reconcile_id=reconcile_id, attempt=attempt)
            await self._finalize(obj, ctx)
            return None
        if obj is None:
            return None
        ctx = Context(self._env, obj, request, log=log, reconcile_id=reconcile_id, attempt=attempt)
        if obj.metadata.deletion_timestamp is not None:
            try:
                await self._finalize(obj, ctx)
            except Requeue as again:
                return Result(requeue_after=again.after)
            if not self._spec.while_deleting:
                return None
        return await self._sync(obj, ctx)

    def _as_far_as_it_goes(self, request: Request) -> R | None:
        """The object with None where a field does not fit: enough for clean-ups that go by metadata."""
        raw = self._informer.raw(request.namespace, request.name)
        return None if raw is None else decode_what_fits(raw, self._spec.kind)

    async def _finalize(self, obj: R, ctx: Context) -> None:
        """Runs the clean-ups whose finalizers are still there, in the order declared; each goes once it succeeded."""
        for finalizer in self._spec.finalizers:
            if finalizer.name not in (obj.metadata.finalizers or ()):
                continue
            async with self._time_limit():
                await finalizer.cleanup(obj, ctx)
            ctx.log.info("finalized", finalizer=finalizer.name)
            try:
                await remove_finalizer(self._env.client, obj, finalizer.name)
            except NotFound:
                return
            fresh = self._as_far_as_it_goes(ctx.request)
            if fresh is None or fresh.uid != obj.uid:
                return
            obj = fresh

    async def _sync(self, obj: R, ctx: Context) -> Result | None:
        present = obj.metadata.finalizers or []
        missing = [finalizer.name for finalizer in self._spec.finalizers if finalizer.name not in present]
        if missing and obj.metadata.deletion_timestamp is None:
            await add_finalizers(self._env.client, obj, missing)
            return Result(requeue_after=0)  # with the object as it is now
        raw = self._informer.raw(obj.namespace, obj.name)
        if raw is None:
            return None
        before = self._status.snapshot(obj)
        try:
            async with self._time_limit():
                result = checked(await self._spec.reconcile(obj, ctx))
        except Requeue as again:
            await self._write_status(obj, before=before, raw=raw)
            return Result(requeue_after=again.after)
        except Exception:
            await self._status_of_failed_run(obj, ctx, before=before, raw=raw)
            raise
        await self._write_status(obj, before=before, raw=raw)
        if ctx.complete and is_current(self._env, obj):
            await prune(ctx)
        return result

    async def _write_status(self, obj: R, *, before: JSON, raw: bytes) -> None:
        try:
            await self._status.write(obj, before=before, raw=raw)
        except ApiError as error:
            error.add_note("writing the status")
            raise

    async def _status_of_failed_run(self, obj: R, ctx: Context, *, before: JSON, raw: bytes) -> None:
        """What the run learnt before it failed is worth keeping; the failure itself is the one to report."""
        try:
            await self._status.write(obj, before=before, raw=raw)
        except (ApiError, TransportError) as error:
            ctx.log.warning("status of the failed run was not written", error=str(error))

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        limit = asyncio.timeout(self._spec.timeout)
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"the run took longer than {self._spec.timeout:g} s") from error
            raise


def checked(result: object) -> Result | None:
    if result is None or isinstance(result, Result):
        return result
    raise TypeError(f"the reconciler returned {result!r}: it must return a Result or None")
