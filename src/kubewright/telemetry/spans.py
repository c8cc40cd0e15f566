"""`Spans`: where traces plug in. `open_telemetry` is the one there is; without it runs have no spans."""

from __future__ import annotations

from collections.abc import Mapping
from traceback import format_exception
from typing import TYPE_CHECKING, Protocol

from kubewright.telemetry.redaction import described, loggable, said, without_credentials

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer, TracerProvider

__all__ = ["Span", "Spans", "open_telemetry"]


class Span(Protocol):
    """A stretch of time that has begun."""

    def end(self, error: BaseException | None = None) -> None:
        """Ends it, in the task that began it; with ``error`` it failed."""
        ...


class Spans(Protocol):
    """Begins spans."""

    def begin(self, name: str, attributes: Mapping[str, object]) -> Span:
        """Until its end, it is the one that further spans of this task belong to."""
        ...


def open_telemetry(provider: TracerProvider | None = None) -> Spans | None:
    """Spans for ``provider``, default the one that OpenTelemetry was told of (``trace.set_tracer_provider``).

    None where opentelemetry-api is not installed or nobody has told it of one: then nobody would see them.
    """
    try:
        from opentelemetry import trace  # noqa: PLC0415 - optional, and only who traces needs it
    except ImportError:
        return None
    if provider is None:
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
            return None
    return _OpenTelemetry(trace.get_tracer("kubewright", tracer_provider=provider))


class _OpenTelemetry:
    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def begin(self, name: str, attributes: Mapping[str, object]) -> Span:
        from opentelemetry import context, trace  # noqa: PLC0415 - as above

        span = self._tracer.start_span(name, attributes={key: _plain(value) for key, value in attributes.items()})
        return _Begun(span, context.attach(trace.set_span_in_context(span)))


class _Begun:
    def __init__(self, span: OtelSpan, token: Token[Context]) -> None:
        self._span = span
        self._token = token

    def end(self, error: BaseException | None = None) -> None:
        from opentelemetry import context, trace  # noqa: PLC0415 - as above

        context.detach(self._token)
        if error is not None:
            told = {
                "exception.type": type(error).__qualname__,
                "exception.message": said(error),
                "exception.stacktrace": "".join(format_exception(error)),
            }
            self._span.add_event("exception", {name: without_credentials(text) for name, text in told.items()})
            self._span.set_status(trace.StatusCode.ERROR, without_credentials(described(error)))
        self._span.end()


def _plain(value: object) -> str | bool | int | float:
    """Attributes are of few types."""
    told = loggable(value)
    return told if isinstance(told, str | bool | int | float) else str(told)
