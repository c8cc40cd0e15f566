"""`ControllerInstruments`: what one controller measures of its queue and its runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kubewright.controller.queue import QueueTimes, WorkQueue
from kubewright.controller.request import Request
from kubewright.controller.steps import ENDINGS, STEPS, Measures, Steps, TracedSteps
from kubewright.telemetry import Log, Metrics, Reading, Spans, catalog

__all__ = ["ControllerInstruments"]


class ControllerInstruments:
    """Its counters may always be used; without metrics they are ones that do nothing."""

    def __init__(
        self, controller: str, kind: str, metrics: Metrics, *, spans: Callable[[], Spans | None], workers: int
    ) -> None:
        """``spans`` is asked by `open`: whoever traces sets it up while the process starts."""
        self._controller = controller
        self._kind = kind
        self._metrics = metrics
        self._ask_for_spans = spans
        self._spans: Spans | None = None
        self._workers = workers
        self._measures = Measures(
            metrics.histogram(catalog.RECONCILE_TIME, controller),
            {step: metrics.histogram(catalog.STEP_SECONDS, controller, step) for step in STEPS},
            {ending: metrics.counter(catalog.RECONCILE_TOTAL, controller, ending) for ending in ENDINGS},
            metrics.counter(catalog.RECONCILE_ERRORS, controller),
        )
        self.active = metrics.enabled
        """Whether anybody will know of `run`: it need not be called otherwise."""
        self.terminal_errors = metrics.counter(catalog.RECONCILE_TERMINAL_ERRORS, controller)
        self.panics = metrics.counter(catalog.RECONCILE_PANICS, controller)
        self.timeouts = metrics.counter(catalog.RECONCILE_TIMEOUTS, controller)
        self.conflicts = metrics.counter(catalog.CONFLICTS, controller)
        self.storms = metrics.counter(catalog.SELF_TRIGGERED, controller)
        self.queue_times: QueueTimes | None = None
        if metrics.enabled:
            self.queue_times = QueueTimes(
                metrics.histogram(catalog.QUEUE_WAIT, controller, controller),
                metrics.histogram(catalog.QUEUE_WORK, controller, controller),
            )

    def open(self) -> None:
        """To be called when the controller begins to work."""
        self._spans = self._ask_for_spans()
        self.active = self._metrics.enabled or self._spans is not None

    def watch(self, queue: WorkQueue) -> None:
        """Has what ``queue`` knows of itself read when somebody asks."""
        self._metrics.read_from(lambda: self._of_queue(queue))

    def run(self, request: Request, reconcile_id: str) -> Steps:
        """A run that begins now."""
        if self._spans is None:
            return Steps(self._measures)
        about = {
            "controller": self._controller,
            "kind": self._kind,
            "namespace": request.namespace or "",
            "name": request.name,
            "reconcile_id": reconcile_id,
        }
        return TracedSteps(self._measures, self._spans, name=f"reconcile {self._controller}", attributes=about)

    def finalizer_failed(self, finalizer: str) -> None:
        self._metrics.counter(catalog.FINALIZER_FAILURES, self._controller, finalizer).inc()

    @contextmanager
    def span(self, name: str, *, log: Log, attributes: Mapping[str, object]) -> Iterator[None]:
        """Around a part of a run; shown in the log at level debug, too."""
        loop_time = asyncio.get_running_loop().time
        span = None if self._spans is None else self._spans.begin(name, attributes)
        start, error = loop_time(), None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            if span is not None:
                span.end(error)
            outcome = "ok" if error is None else "failed"
            log.debug(
                "span", **{**attributes, "span": name, "seconds": round(loop_time() - start, 6), "outcome": outcome}
            )

    def _of_queue(self, queue: WorkQueue) -> Iterator[Reading]:
        statistics = queue.statistics()
        controller = self._controller
        labels = (controller, controller)
        yield Reading(catalog.MAX_CONCURRENT_RECONCILES, (controller,), self._workers)
        yield Reading(catalog.ACTIVE_WORKERS, (controller,), statistics.running)
        for band, depth in statistics.depth.items():
            yield Reading(catalog.QUEUE_DEPTH, (*labels, band.name.lower()), depth)
        yield Reading(catalog.QUEUE_ADDS, labels, statistics.adds)
        yield Reading(catalog.QUEUE_RETRIES, labels, statistics.retries)
        yield Reading(catalog.QUEUE_UNFINISHED, labels, statistics.unfinished)
        yield Reading(catalog.QUEUE_LONGEST, labels, statistics.longest_running)
        yield Reading(catalog.QUEUE_DELAYED, labels, statistics.delayed)
        yield Reading(catalog.QUEUE_FAILING, labels, statistics.failing)
