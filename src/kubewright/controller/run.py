"""One reconcile run, in five steps: fetch → sync → status → cleanup → requeue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

import msgspec

from kubewright.api import (
    JSON,
    ApiError,
    Conditions,
    Conflict,
    DecodeError,
    Resource,
    decode,
    decode_what_fits,
    resource_info,
)
from kubewright.cache import Entry
from kubewright.client import TransportError
from kubewright.controller.context import Context
from kubewright.controller.deadline import limited
from kubewright.controller.environment import RunEnvironment, Start
from kubewright.controller.error_status import (
    clear_error,
    default_error_status,
    finalizer_failed,
    is_error,
    stalled,
    summary,
)
from kubewright.controller.failures import as_failure, place
from kubewright.controller.finalizers import add_finalizers, remove_finalizer
from kubewright.controller.outcome import Requeue, Result
from kubewright.controller.pruning import prune
from kubewright.controller.repetition import Storm, changed_fields
from kubewright.controller.request import Request
from kubewright.controller.spec import ControllerSpec, FinalizerSpec
from kubewright.controller.status import StatusWriter, WrittenStatus, has_conditions
from kubewright.controller.steps import Steps
from kubewright.telemetry import Log, described, shown
from kubewright.telemetry.standard_logging import RUN_LOG

__all__ = ["Run", "checked"]

R = TypeVar("R", bound=Resource)
T = TypeVar("T")

_STORM = (
    "runs of this object wake each other by what they write",
    "write what follows from the object alone, not times, counters or random values; or leave the change out with when=",
)
_CONTEST = (
    "somebody else sets back what this controller sets, again and again",
    "have one of both leave the fields alone; `kubectl get … -o yaml --show-managed-fields` names who set them",
)
"""What is said, and the remedy."""


class Run(Generic[R]):
    """Runs a controller's reconciler for one request at a time (many of them concurrently)."""

    def __init__(self, spec: ControllerSpec[R], env: RunEnvironment) -> None:
        self._spec = spec
        self._env = env
        self._informer = env.informer(spec.kind)
        self._manager = env.applied.manager
        self._status = StatusWriter(spec.kind, env.client, field_manager=self._manager)
        self._error_status = spec.error_status or default_error_status(spec.kind)
        self._shows_errors = resource_info(spec.kind).custom and has_conditions(spec.kind)
        self._finalizers = [finalizer.name for finalizer in spec.finalizers]

    async def __call__(
        self,
        request: Request,
        entry: Entry | None,
        *,
        log: Log,
        reconcile_id: str,
        attempt: int,
        steps: Steps | None = None,
    ) -> Result | None:
        """Reconciles ``entry``, the object as it is cached now.

        Returns when to run again, if at all; raises what the reconciler or the API raised.
        """
        env = self._env
        start = Start(request, entry, log, reconcile_id, attempt, steps, env.causes.take(request))
        said_before = RUN_LOG.set(log)
        try:
            return await self._reconcile(start)
        finally:
            RUN_LOG.reset(said_before)
            if start.writes:
                self._look_for_repetition(start)

    async def _reconcile(self, start: Start) -> Result | None:
        entry = start.entry
        if entry is None:
            return None
        try:
            obj = decode(entry.raw, self._spec.kind)
        except DecodeError as error:
            try:
                await self._tell_that_it_does_not_fit(entry, start, error)
            except Requeue as again:
                return Result(requeue_after=again.after)
            return None
        if start.steps is not None:
            start.steps.begin("sync")
        if entry.deleting:
            try:
                left = await self._finalize(entry, obj, start)
            except Requeue as again:
                return Result(requeue_after=again.after)
            if left is None or not self._spec.while_deleting:
                return None
            if left is not entry:
                entry, obj = left, decode(left.raw, self._spec.kind)
        elif self._finalizers:
            missing = [name for name in self._finalizers if name not in entry.finalizers]
            if missing:
                await add_finalizers(self._env.client, obj, missing, field_manager=self._manager)
                if self._spec.when is None:
                    return None  # the event asks for a run with the object as it is now
                now = self._current(entry)  # the event may be filtered out
                if now is None or now.deleting or missing[-1] not in now.finalizers:
                    return Result(requeue_after=0)
                entry, obj = now, decode(now.raw, self._spec.kind)
        return await self._sync(obj, Context(self._env, obj, start), start.steps, entry.raw)

    # an object that does not fit its class

    async def _tell_that_it_does_not_fit(self, entry: Entry, start: Start, error: DecodeError) -> None:
        start.log.error("object can't be decoded; it is left alone until it changes, or goes", error=str(error))
        try:
            obj = decode_what_fits(entry.raw, self._spec.kind)
        except DecodeError:
            return
        if entry.deleting:
            await self._finalize(entry, obj, start)
            return
        ctx = Context(self._env, obj, start)
        await ctx.event("Warning", "DoesNotFit", summary(error), action="Decode")
        if self._shows_errors:
            condition = stalled(error, generation=entry.generation, clock=self._env.clock)
            try:
                await self._status.write_condition(obj, condition, raw=entry.raw, instead_of=is_error)
            except (ApiError, TransportError) as refusal:  # its status may not fit the schema either
                start.log.warning("condition Stalled was not written", error=str(refusal))

    # finalizers

    async def _finalize(self, entry: Entry, obj: R, start: Start) -> Entry | None:
        """Runs the clean-ups whose finalizers are still there, in the order declared; each goes once it succeeded.

        Returns the object as it is then, None where it is gone.
        """
        for finalizer in self._spec.finalizers:
            if finalizer.name not in entry.finalizers:
                continue
            ctx, before = Context(self._env, obj, start), self._status.snapshot(obj)
            try:
                _check_end(await self._limited(finalizer.cleanup, obj, ctx))
            except Requeue:
                await self._write_status(obj, ctx, before=before, raw=entry.raw)
                raise
            except BaseException as error:
                if self._env.ends_us(error):
                    raise
                failure = as_failure(error)
                await self._tell_that_a_clean_up_failed(finalizer, obj, ctx, failure, before=before, raw=entry.raw)
                raise
            ctx.log.info("finalized", finalizer=finalizer.name)
            now = self._current(entry)
            if now is not None and len(now.finalizers) > 1:  # or it goes now, and nobody could read it
                try:
                    await self._write_status(obj, ctx, before=before, raw=entry.raw)
                except (ApiError, TransportError) as refusal:  # what is done is not to be done again because of that
                    ctx.log.warning("status of the clean-up was not written", error=str(refusal))
                now = self._current(entry)
            if now is not None:
                await remove_finalizer(
                    self._env.client, self._what_fits(now), finalizer.name, field_manager=self._manager
                )
                now = self._current(entry)
            if now is None:
                return None
            entry, obj = now, self._what_fits(now)
        return entry

    def _current(self, entry: Entry) -> Entry | None:
        """The object as the cache has it by now; None where it is gone, or another one."""
        now = self._informer.entry(entry.namespace, entry.name)
        return now if now is not None and now.uid == entry.uid else None

    def _what_fits(self, entry: Entry) -> R:
        return decode_what_fits(entry.raw, self._spec.kind)

    async def _tell_that_a_clean_up_failed(
        self, finalizer: FinalizerSpec[R], obj: R, ctx: Context, error: Exception, *, before: bytes, raw: bytes
    ) -> None:
        self._env.instruments.finalizer_failed(finalizer.name)
        try:
            await self._write_failed(obj, ctx, before=before, raw=raw)
        except (ApiError, TransportError) as refusal:
            ctx.log.warning("status of the failed clean-up was not written", error=str(refusal))
        if isinstance(error, Conflict | TransportError):
            return  # the next try may go well
        await ctx.event("Warning", "FinalizerFailed", f"{finalizer.name}: {summary(error)}", action="Finalize")
        entry = self._informer.entry(ctx.request.namespace, ctx.request.name)
        if entry is None or entry.uid != obj.metadata.uid or not self._shows_errors:
            return
        condition = finalizer_failed(finalizer.name, error, generation=entry.generation, clock=self._env.clock)
        try:
            written = await self._status.write_condition(obj, condition, raw=entry.raw, instead_of=is_error)
            self._note(written, ctx)
        except (ApiError, TransportError) as refusal:
            ctx.log.warning("the failed clean-up does not show in the status", error=str(refusal))

    # the run itself

    async def _sync(self, obj: R, ctx: Context, steps: Steps | None, raw: bytes) -> Result | None:
        before = self._status.snapshot(obj)
        try:
            result = checked(await self._limited(self._spec.reconcile, obj, ctx))
        except Requeue as again:
            ctx.unfinished = True
            result = Result(requeue_after=again.after)
        except BaseException as error:
            if self._env.ends_us(error):
                raise
            if steps is not None:
                steps.failed(error)
                steps.begin("status")
            failure = as_failure(error)
            await self._status_of_failed_run(obj, ctx, failure, before=before, raw=raw)
            await self._tell_of_failure(obj, ctx, failure)
            raise
        try:
            if steps is not None:
                steps.begin("status")
            after = self._status_left(obj)
            if after != before:
                await self._write_changed(obj, ctx, before=before, after=after, raw=raw)
            if steps is not None:
                steps.begin("cleanup")
            if ctx.complete and not ctx.unfinished:
                await prune(ctx)
        except Exception as error:
            await self._tell_of_failure(obj, ctx, error)
            raise
        return result

    async def _write_status(self, obj: R, ctx: Context, *, before: bytes, raw: bytes) -> None:
        await self._write_changed(obj, ctx, before=before, after=self._status_left(obj), raw=raw)

    def _status_left(self, obj: R) -> bytes:
        """The status of a run that ended well: what failures before it had put there is gone."""
        self._status.check(obj)
        if self._shows_errors:
            status: Any = getattr(obj, "status", None)
            if status is not None and status.conditions:
                clear_error(status.conditions)
        return self._status.snapshot(obj)

    async def _write_changed(self, obj: R, ctx: Context, *, before: bytes, after: bytes, raw: bytes) -> None:
        try:
            written = await self._status.write(obj, before=before, after=after, raw=raw)
        except ApiError as error:
            error.add_note("writing the status")
            raise
        if written is not None:
            ctx.note_status(written)

    async def _status_of_failed_run(self, obj: R, ctx: Context, error: Exception, *, before: bytes, raw: bytes) -> None:
        """What the run learnt before it failed is worth keeping; the failure itself is the one to report."""
        if not isinstance(error, Conflict | TransportError):  # those are nobody's fault, and soon over
            try:
                self._error_status(obj, error, self._conditions(obj))
            except BaseException as mistake:
                if self._env.ends_us(mistake):
                    raise
                ctx.log.exception("error_status failed itself", error=described(mistake))
        try:
            await self._write_failed(obj, ctx, before=before, raw=raw)
        except (ApiError, TransportError) as refusal:
            ctx.log.warning("status of the failed run was not written", error=str(refusal))

    async def _write_failed(self, obj: R, ctx: Context, *, before: bytes, raw: bytes) -> None:
        after = self._status.snapshot(obj)
        self._note(await self._status.write(obj, before=before, after=after, raw=raw, failed=True), ctx)

    def _note(self, written: WrittenStatus | None, ctx: Context) -> None:
        """Of a run that failed, which what it wrote does not wake; a status that others wrote to meanwhile does."""
        if written is not None and ctx.knows(written.earlier):
            ctx.note_status(written)

    async def _tell_of_failure(self, obj: R, ctx: Context, error: Exception) -> None:
        if self._spec.failure_events and not isinstance(error, Conflict | TransportError):
            await self._env.events.record(
                obj,
                "Warning",
                "ReconcileFailed",
                summary(error),
                action="Reconcile",
                related=None,
                log=ctx.log,
                same=f"{type(error).__name__} {place(error)}",  # what it says may differ each time
            )

    def _conditions(self, obj: R) -> Conditions | None:
        status: Any = getattr(obj, "status", None)
        if status is None or not has_conditions(self._spec.kind):
            return None
        if status.conditions is None:
            status.conditions = []
        return Conditions(status.conditions, generation=obj.metadata.generation, clock=self._env.clock)

    def _limited(self, function: Callable[[Any, Any], Awaitable[T]], what: object, ctx: Context) -> Awaitable[T]:
        """What ``function`` returns; TimeoutError when the run's time is up."""
        ctx.deadline = asyncio.get_running_loop().time() + self._spec.timeout
        return limited(function(what, ctx), ctx.deadline, self._expired)

    def _expired(self) -> TimeoutError:
        self._env.instruments.timeouts.inc()
        return TimeoutError(f"the run took longer than {self._spec.timeout:g} s")

    # runs that write again and again

    def _look_for_repetition(self, start: Start) -> None:
        env = self._env

        def changes() -> Iterator[tuple[str, JSON, JSON]]:
            for write in start.writes:
                what, old, new = write.what, write.before, write.after
                head = ".status" if what == "status" else ""
                secret = what.startswith("Secret ")
                for path, before, after in changed_fields(msgspec.json.decode(old), msgspec.json.decode(new), head):
                    values = ("secret", "secret") if secret else (before, after)
                    yield path if head else f"{what} {path}", *values

        woke_itself = env.own_writes.caused(start.causes)
        found = env.repetition.ran(start.request, woke_itself=woke_itself, changes=changes)
        if found is None:
            return
        if isinstance(found, Storm):
            env.instruments.storms.inc()
            message, remedy = _STORM
        else:
            message, remedy = _CONTEST
        start.log.warning(message, runs=found.runs, seconds=round(found.seconds, 3), fields=found.fields, remedy=remedy)


def checked(result: object) -> Result | None:
    """What a reconciler returned. Raises TypeError for what it must not return."""
    if result is None or isinstance(result, Result):
        return result
    raise TypeError(f"the reconciler returned {shown(result)}: it must return a Result or None")


def _check_end(result: object) -> None:
    if result is not None:
        raise TypeError(f"the clean-up returned {shown(result)}: to be called again it must raise Requeue(…)")
