"""`Controller`: a specification at work. Informers' events become requests, workers reconcile them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kubewright.api import ApiError, Clock, Conflict, Resource, resource_info
from kubewright.cache import Cache, Event, Informer, InformerState
from kubewright.client import Client, TransportError
from kubewright.controller.context import RunEnvironment
from kubewright.controller.failures import from_the_users_code, place
from kubewright.controller.outcome import Result, TerminalError
from kubewright.controller.predicates import Predicate, any_change, default_predicate
from kubewright.controller.queue import Priority, QueueClosed, WorkQueue
from kubewright.controller.request import Request
from kubewright.controller.run import Run
from kubewright.controller.spec import ControllerSpec
from kubewright.controller.watches import Mapper, owned_by
from kubewright.controller.writes import AppliedIntents
from kubewright.telemetry import Log

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
    ) -> None:
        self.spec = spec
        self.queue = WorkQueue(rng)
        self._rng = rng
        self._log = log.bind(controller=spec.name, kind=resource_info(spec.kind).kind)
        self._applied = AppliedIntents(field_manager)
        env = RunEnvironment(
            name=spec.name,
            kinds=spec.kinds,
            optional=spec.optional,
            client=client,
            cache=cache,
            clock=clock,
            applied=self._applied,
        )
        self._informers: list[Informer[Any]] = [env.informer(kind) for kind in spec.kinds]
        self._in_step = asyncio.Event()
        for informer in self._informers:
            informer.on_state(self._turned)
        self._run = Run(spec, env)
        self._subscribe(env)

    def _subscribe(self, env: RunEnvironment) -> None:
        info = resource_info(self.spec.kind)
        predicate = self.spec.when or default_predicate(info)
        env.informer(self.spec.kind).subscribe(self._primary_changed(predicate))
        for kind in self.spec.owns:
            env.informer(kind).subscribe(self._related_changed(owned_by(info), any_change))
            env.informer(kind).subscribe(self._forget_deleted(resource_info(kind).qualified_plural))
        for watch in self.spec.watches:
            env.informer(watch.kind).subscribe(self._related_changed(watch.to, watch.predicate))

    def _primary_changed(self, predicate: Predicate) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            if predicate(event):
                namespace, name = event.key
                priority = Priority.BACKGROUND if event.initial else Priority.EDIT
                self.queue.add(Request(event.cluster, namespace or None, name), priority)

        return handle

    def _related_changed(self, to: Mapper, predicate: Predicate) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            if not predicate(event):
                return
            priority = Priority.BACKGROUND if event.initial else Priority.NORMAL
            for obj in (event.old_obj, event.obj):
                if obj is not None:
                    for request in to(obj):
                        if not isinstance(request, Request):
                            raise TypeError(f"a watch's mapper gave {request!r}: it must give Requests")
                        self.queue.add(request.of_cluster(event.cluster), priority)

        return handle

    def _forget_deleted(self, plural: str) -> Callable[[Event[Any]], None]:
        def handle(event: Event[Any]) -> None:
            if event.new is None:
                namespace, name = event.key
                self._applied.forget((plural, namespace, name))

        return handle

    async def run(self) -> None:
        """Works until `stop`. Cancellation ends the runs in flight."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for number in range(self.spec.workers):
                    tasks.create_task(self._work(), name=f"{self.spec.name}-worker-{number}")
        finally:
            self.queue.close()

    def stop(self) -> None:
        """Starts nothing new; `run` returns when the runs in flight have ended."""
        self.queue.close()

    async def reconcile(self, request: Request) -> Result | None:
        """One run beside the queue, whose result and errors reach the caller: for tests and tools.

        It is the caller's to see that the cache is in step and that no worker has the same request.
        """
        reconcile_id = f"{self._rng.getrandbits(64):016x}"
        log = self._log.bind(namespace=request.namespace, name=request.name, reconcile_id=reconcile_id)
        return await self._run(request, log=log, reconcile_id=reconcile_id, attempt=self.queue.failures(request))

    async def settled(self) -> None:
        """Waits until nothing runs and nothing is ready to run (delayed retries aside)."""
        await self.queue.idle()

    async def _work(self) -> None:
        while True:
            await self._in_step.wait()
            try:
                request = await self.queue.get()
            except QueueClosed:
                return
            try:
                if self._in_step.is_set():
                    await self._reconcile(request)
                else:
                    self.queue.add(request)
            finally:
                self.queue.done(request)
            await asyncio.sleep(0)  # a reconciler that never waits must not keep everything else from running

    def _turned(self, _state: InformerState) -> None:
        """Acting on a cache that lost its server would be acting on the past, so workers wait for all of them."""
        if all(informer.in_step for informer in self._informers):
            self._in_step.set()
        else:
            self._in_step.clear()

    async def _reconcile(self, request: Request) -> None:
        reconcile_id = f"{self._rng.getrandbits(64):016x}"
        log = self._log.bind(namespace=request.namespace, name=request.name, reconcile_id=reconcile_id)
        try:
            result = await self._run(request, log=log, reconcile_id=reconcile_id, attempt=self.queue.failures(request))
        except TerminalError as error:
            self.queue.forget(request)
            log.error("reconcile failed for good; it runs again when the object changes", error=str(error))
        except Conflict as error:
            log.debug("overtaken by another change", error=str(error), retry_in=_seconds(self.queue.retry(request)))
        except TransportError as error:
            log.warning("API server not reached", error=str(error), retry_in=_seconds(self.queue.retry(request)))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise  # it is this worker that is to end
            self._failed(request, error, log)
        except (Exception, SystemExit) as error:  # one object's failure must not stop the others
            self._failed(request, error, log)
        else:
            self._succeeded(request, result)

    def _succeeded(self, request: Request, result: Result | None) -> None:
        if result is not None and result.requeue_after == 0:
            self.queue.retry(request)  # with back-off, or a reconciler that always wants more would run without a pause
            return
        self.queue.forget(request)
        if result is not None and result.requeue_after is not None:
            self.queue.add_after(request, result.requeue_after)

    def _failed(self, request: Request, error: BaseException, log: Log) -> None:
        delay = self.queue.retry(request)
        log = log.bind(attempt=self.queue.failures(request), retry_in=_seconds(delay))
        if isinstance(error, ApiError):
            log.error("reconcile failed", error=str(error), at=place(error))
        else:
            error.__traceback__ = from_the_users_code(error)
            log.exception("reconcile failed", error=f"{type(error).__name__}: {error}")


def _seconds(delay: float) -> float:
    return round(delay, 3)
