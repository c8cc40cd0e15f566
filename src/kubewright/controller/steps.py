"""`Steps`: one run's way through its five steps, each a histogram and a span. Runs that nobody measures have none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from kubewright.telemetry import Counter, Histogram, Span, Spans

__all__ = ["ENDINGS", "STEPS", "Ending", "Measures", "Step", "Steps", "TracedSteps"]

Step: TypeAlias = Literal["fetch", "sync", "status", "cleanup", "requeue"]
STEPS: tuple[Step, ...] = ("fetch", "sync", "status", "cleanup", "requeue")

Ending: TypeAlias = Literal["success", "error", "requeue", "requeue_after"]
"""How a run ends, as controller-runtime tells it apart."""
ENDINGS: tuple[Ending, ...] = ("success", "error", "requeue", "requeue_after")


class Measures(NamedTuple):
    """What a controller's runs are counted and timed by."""

    seconds: Histogram
    of_steps: Mapping[Step, Histogram]
    endings: Mapping[Ending, Counter]
    errors: Counter


class Steps:
    """Times a run that begins now, with its fetch, and its steps."""

    __slots__ = ("_began", "_measures", "_now", "_since", "_step")

    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self._step: Step | None = "fetch"
        self._now = asyncio.get_running_loop().time
        self._began = self._since = self._now()

    def begin(self, step: Step) -> None:
        """Ends the step before, and begins this one."""
        now = self._now()  # as `_close`, without the call: there are four of them in each run
        if self._step is not None:
            self._measures.of_steps[self._step].observe(now - self._since)
        self._since = now
        self._step = step

    def failed(self, error: BaseException) -> None:  # noqa: ARG002 - times don't tell why
        """The step that the run is at fails with ``error``, and so does the run."""
        self._close()

    def end(self, ending: Ending | None) -> None:
        """The run is over; None: it was broken off."""
        self._measures.seconds.observe(self._close() - self._began)
        if ending is not None:
            self._measures.endings[ending].inc()
        if ending == "error":
            self._measures.errors.inc()

    def _close(self) -> float:
        """Ends the step, if there is one; returns when that was."""
        now = self._now()
        if self._step is not None:
            self._measures.of_steps[self._step].observe(now - self._since)
            self._step = None
        return now


class TracedSteps(Steps):
    """Makes spans of them, too."""

    __slots__ = ("_error", "_of_run", "_of_step", "_spans")

    def __init__(self, measures: Measures, spans: Spans, *, name: str, attributes: Mapping[str, object]) -> None:
        """``name`` and ``attributes`` are those of the run's span."""
        super().__init__(measures)
        self._spans = spans
        self._of_run = spans.begin(name, attributes)
        self._of_step: Span | None = spans.begin("fetch", {})
        self._error: BaseException | None = None

    def begin(self, step: Step) -> None:
        self._end_span(None)
        super().begin(step)
        self._of_step = self._spans.begin(step, {})

    def failed(self, error: BaseException) -> None:
        super().failed(error)
        self._end_span(error)
        self._error = error

    def end(self, ending: Ending | None) -> None:
        super().end(ending)
        self._end_span(None)
        self._of_run.end(self._error)

    def _end_span(self, error: BaseException | None) -> None:
        if self._of_step is not None:
            self._of_step.end(error)
            self._of_step = None
