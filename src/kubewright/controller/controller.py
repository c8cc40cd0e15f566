"""`Controller`: a specification at work. Informers' events become requests, workers reconcile them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from kubewright.api import ApiError, Clock, Conflict, Resource, resource_info
from kubewright.api.cancellation import ends_us, forget_cancellation
from kubewright.cache import Cache, Entry, InformerState
from kubewright.client import Client, TransportError
from kubewright.controller.blocking import in_threads
from kubewright.controller.children import may_be_deleted
from kubewright.controller.environment import RunEnvironment
from kubewright.controller.failures import as_failure, from_the_users_code, place
from kubewright.controller.instruments import ControllerInstruments
from kubewright.controller.key_run import KeyRun
from kubewright.controller.outcome import Result, TerminalError
from kubewright.controller.pausing import PAUSED, is_paused
from kubewright.controller.queue import QueueClosed, WorkQueue
from kubewright.controller.request import Request
from kubewright.controller.run import Run
from kubewright.controller.spec import ControllerSpec
from kubewright.controller.steps import Ending, Steps
from kubewright.controller.threads import Threads
from kubewright.controller.waking import Waking
from kubewright.controller.watchdog import RunningTasks
from kubewright.controller.writes import AppliedIntents
from kubewright.telemetry import LateValues, Log, Metrics, Spans, described, null_metrics, said

__all__ = ["Controller"]

R = TypeVar("R", bound=Resource)


class Controller(Generic[R]):
    """Runs one `ControllerSpec`.

    Guarantees: no two runs of one object at a time; nothing runs before every declared kind is in step with the server,
    nor while one has fallen out of it; a failed run is retried with growing delay and disturbs no other object.
    Assumptions: the cache is run by the caller, and is new to this controller when it is constructed.
    """

    def __init__(
        self,
        spec: ControllerSpec[R],
        *,
        client: Client,
        cache: Cache,
        clock: Clock,
        rng: random.Random,
        log: Log,
        field_manager: str,
        metrics: Metrics | None = None,
        spans: Callable[[], Spans | None] = lambda: None,
    ) -> None:
        """``metrics``: where it counts what it does. ``spans``: asked, when it begins to run, for where runs are traced."""
        self.spec = spec
        self._instruments = ControllerInstruments(
            spec.name,
            resource_info(spec.kind).kind,
            metrics or null_metrics(),
            spans=spans,
            workers=spec.workers,
        )
        self.queue = WorkQueue(rng, backoff=spec.backoff, times=self._instruments.queue_times)
        self._instruments.watch(self.queue)
        self._rng = rng
        self._log = log.bind(controller=spec.name, kind=resource_info(spec.kind).kind)
        applied = AppliedIntents(field_manager)
        self._env = env = RunEnvironment(
            name=spec.name,
            kinds={kind: spec.projection(kind) for kind in spec.kinds},
            optional=spec.optional,
            may_be_deleted=may_be_deleted(spec),
            client=client,
            cache=cache,
            clock=clock,
            applied=applied,
            instruments=self._instruments,
            ends_us=self._is_ended_by,
        )
        self._waking = Waking(
            spec, env, cache=cache, queue=self.queue, applied=applied, clock=clock, rng=rng, log=self._log
        )
        self._in_step = asyncio.Event()
        self._stopping = asyncio.Event()
        for informer in self._waking.informers:
            informer.on_state(self._turned)
        self._threads = Threads(spec.name)
        runs = KeyRun if spec.keys else Run
        self._run: Run[R] = runs(in_threads(spec, self._threads), env)
        self._primary = env.informer(spec.kind)
        self._paused = dict[Request, str]()

    @property
    def running(self) -> RunningTasks:
        """Which run each of its tasks is at."""
        return self._env.running

    def share(self, state: object) -> None:
        """Makes ``state`` what runs find as `Context.state`; to be called before `run`."""
        self._env.state = state

    async def run(self) -> None:
        """Works until `stop`. Cancellation ends the runs in flight."""
        self._instruments.open()
        async with asyncio.TaskGroup() as tasks:
            waking = tasks.create_task(self._waking.run(), name=f"{self.spec.name}-waking")
            workers = [
                tasks.create_task(self._work(), name=f"{self.spec.name}-worker-{number}")
                for number in range(self.spec.workers)
            ]
            try:
                if workers:
                    await asyncio.wait(workers)
                else:  # runs are asked for one by one, with `reconcile`
                    self.queue.close()
                    await self._stopping.wait()
            finally:
                waking.cancel()
                self.queue.close()
                self._threads.close()

    def stop(self) -> None:
        """Starts nothing new; `run` returns when the runs in flight have ended."""
        self.queue.close()
        self._stopping.set()

    async def reconcile(self, request: Request) -> Result | None:
        """One run beside the queue, whose result and errors reach the caller: for tests and tools.

        It is the caller's to see that the cache is in step and that no worker has the same request.
        """
        reconcile_id = f"{self._rng.getrandbits(64):016x}"
        entry = self._primary.entry(request.namespace, request.name)
        log = self._log_of(request, entry, reconcile_id)
        attempt = self.queue.failures(request)
        task = asyncio.current_task()
        self.running.enter(task, request)
        try:
            return await self._run(request, entry, log=log, reconcile_id=reconcile_id, attempt=attempt)
        finally:
            self.running.leave(task)

    async def settled(self) -> None:
        """Waits until all that happened was heard of, nothing runs and nothing is ready to run (delayed retries aside)."""
        await self.queue.idle()
        while not self.is_idle:
            await asyncio.sleep(0.01)  # a mapper that takes its time has yet to say whom it wakes
            await self.queue.idle()

    @property
    def is_idle(self) -> bool:
        """Whether `settled` would return at once."""
        return self._waking.idle and self.queue.is_idle

    async def _work(self) -> None:
        task, running = cast("asyncio.Task[None]", asyncio.current_task()), self.running
        while True:
            if not self._in_step.is_set():
                await self._in_step.wait()
            try:
                request = await self.queue.get()
            except QueueClosed:
                return
            try:
                if self._in_step.is_set():
                    running.enter(task, request)
                    await self._reconcile(request)
                    if task.cancelling():
                        forget_cancellation()
                else:
                    self.queue.add(request)
            finally:
                running.leave(task)
                self.queue.done(request)
            await asyncio.sleep(0)  # a reconciler that never waits must not keep everything else from running

    def _turned(self, _state: InformerState) -> None:
        """Acting on a cache that lost its server would be acting on the past, so workers wait for all of them."""
        if all(informer.in_step for informer in self._waking.informers):
            self._in_step.set()
        else:
            self._in_step.clear()

    async def _reconcile(self, request: Request) -> None:
        reconcile_id = f"{self._rng.getrandbits(64):016x}"
        entry = self._primary.entry(request.namespace, request.name)
        log = self._log_of(request, entry, reconcile_id)
        if self._is_paused(request, entry, log):
            return
        steps = self._instruments.run(request, reconcile_id) if self._instruments.active else None
        attempt = self.queue.failures(request)
        ending: Ending | None = None
        try:
            result = await self._run(request, entry, log=log, reconcile_id=reconcile_id, attempt=attempt, steps=steps)
        except BaseException as error:  # one object's failure must not stop the others
            if self._is_ended_by(error):
                raise
            ending = self._failed(request, error, steps, log)
        else:
            if steps is not None:
                steps.begin("requeue")
            ending = self._succeeded(request, result)
        finally:
            if steps is not None:
                steps.end(ending)

    def _is_ended_by(self, error: BaseException) -> bool:
        """Whether the worker is; nobody cancels it before the queue is closed, whatever its task says of that."""
        return ends_us(error, could_be=lambda: self.queue.closed)

    def _log_of(self, request: Request, entry: Entry | None, reconcile_id: str) -> Log:
        """``uid`` and ``generation`` are None where there is no object."""
        return LateValues(
            self._log,
            lambda: {
                "namespace": request.namespace,
                "name": request.name,
                "uid": None if entry is None else entry.uid,
                "generation": None if entry is None else entry.generation,
                "reconcile_id": reconcile_id,
            },
        )

    def _is_paused(self, request: Request, entry: Entry | None, log: Log) -> bool:
        """Says so once, until the object is worked on again."""
        if entry is None or not is_paused(entry):
            if self._paused.pop(request, "") and entry is not None:
                log.info("no longer paused")
            return False
        if self._paused.get(request) != entry.uid:
            self._paused[request] = entry.uid
            log.info("paused: left alone while its annotation says so", annotation=PAUSED)
        self.queue.forget(request)
        return True

    def _succeeded(self, request: Request, result: Result | None) -> Ending:
        after = None if result is None else result.requeue_after
        if after == 0:
            self._retry(request)  # with back-off, or a reconciler that always wants more would run without a pause
            return "requeue"
        self.queue.forget(request)
        if result is None or after is None:
            return "success"
        self.queue.add_after(request, after, result.priority)
        return "requeue_after"

    def _failed(self, request: Request, error: BaseException, steps: Steps | None, log: Log) -> Ending:
        if steps is not None:
            steps.failed(error)
            steps.begin("requeue")
        if isinstance(error, TerminalError):
            self._instruments.terminal_errors.inc()
            self.queue.forget(request)
            log.error("reconcile failed for good; it runs again when the object changes", error=said(error))
            return "error"
        delay = self._retry(request)
        if isinstance(error, Conflict):
            self._instruments.conflicts.inc()
            log.debug("overtaken by another change", error=str(error), retry_in=_seconds(delay))
        elif isinstance(error, TransportError):
            log.warning("API server not reached", error=str(error), retry_in=_seconds(delay))
        else:
            self._report(error, log.bind(attempt=self.queue.failures(request), retry_in=_seconds(delay)))
        return "error"

    def _retry(self, request: Request) -> float:
        """What the run wrote itself asks for no other one before its back-off has passed; returns that, in seconds."""
        causes = self._env.causes.waiting(request)
        if self._env.own_writes.caused(causes) and self.queue.take_back(request, len(causes)):
            self._env.causes.take(request)
        return self.queue.retry(request)

    def _report(self, error: BaseException, log: Log) -> None:
        if isinstance(error, ApiError):
            log.error("reconcile failed", error=str(error), at=place(error))
            return
        if not isinstance(error, Exception):
            self._instruments.panics.inc()
        error.__traceback__ = from_the_users_code(error)
        told = as_failure(error) if isinstance(error, asyncio.CancelledError) else error  # which says nothing itself
        log.exception("reconcile failed", error=described(told))


def _seconds(delay: float) -> float:
    return round(delay, 3)
