"""`Steps`: one run's way through its five steps, each a span and a histogram."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal, TypeAlias

from kubewright.telemetry import Histogram, Span, Spans

__all__ = ["NO_STEPS", "STEPS", "Step", "Steps", "TimedSteps", "TracedSteps"]

Step: TypeAlias = Literal["fetch", "sync", "status", "cleanup", "requeue"]
STEPS: tuple[Step, ...] = ("fetch", "sync", "status", "cleanup", "requeue")


class Steps:
    """Hears where a run is. This one does nothing with it."""

    __slots__ = ()

    def begin(self, step: Step) -> None:
        """Ends the step before, and begins this one."""

    def failed(self, error: BaseException) -> None:
        """The step that the run is at fails with ``error``, and so does the run."""

    def end(self) -> None:
        """The run is over."""


NO_STEPS = Steps()


class TimedSteps(Steps):
    """Times a run that begins now, and its steps."""

    __slots__ = ("_began", "_since", "_step", "_times", "_whole")

    def __init__(self, whole: Histogram, times: Mapping[Step, Histogram]) -> None:
        """``whole`` is of the run, ``times`` of its steps."""
        self._whole = whole
        self._times = times
        self._step: Step | None = None
        self._began = self._since = asyncio.get_running_loop().time()

    def begin(self, step: Step) -> None:
        self._since = self._close()
        self._step = step

    def failed(self, error: BaseException) -> None:  # noqa: ARG002 - times don't tell how it ended
        self._close()

    def end(self) -> None:
        self._whole.observe(self._close() - self._began)

    def _close(self) -> float:
        """Ends the step, if there is one; returns when that was."""
        now = asyncio.get_running_loop().time()
        if self._step is not None:
            self._times[self._step].observe(now - self._since)
            self._step = None
        return now


class TracedSteps(TimedSteps):
    """Makes spans of them, too."""

    __slots__ = ("_error", "_of_run", "_of_step", "_spans")

    def __init__(
        self,
        whole: Histogram,
        times: Mapping[Step, Histogram],
        spans: Spans,
        *,
        name: str,
        attributes: Mapping[str, object],
    ) -> None:
        """``name`` and ``attributes`` are those of the run's span."""
        super().__init__(whole, times)
        self._spans = spans
        self._of_run = spans.begin(name, attributes)
        self._of_step: Span | None = None
        self._error: BaseException | None = None

    def begin(self, step: Step) -> None:
        self._end_span(None)
        super().begin(step)
        self._of_step = self._spans.begin(step, {})

    def failed(self, error: BaseException) -> None:
        super().failed(error)
        self._end_span(error)
        self._error = error

    def end(self) -> None:
        super().end()
        self._end_span(None)
        self._of_run.end(self._error)

    def _end_span(self, error: BaseException | None) -> None:
        if self._of_step is not None:
            self._of_step.end(error)
            self._of_step = None
