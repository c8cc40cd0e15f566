"""Spans through opentelemetry-api, with the SDK as the one that sees them."""

from __future__ import annotations

import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kubewright import ObjectMeta
from kubewright.kinds import core_v1
from kubewright.telemetry import Spans, open_telemetry


def seen() -> tuple[Spans, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = open_telemetry(provider)
    assert spans is not None
    return spans, exporter


def names(spans: tuple[ReadableSpan, ...]) -> list[tuple[str, str | None]]:
    """Each span with its parent's name, in the order in which they ended."""
    by_id = {span.context.span_id: span.name for span in spans if span.context}
    return [(span.name, by_id[span.parent.span_id] if span.parent else None) for span in spans]


def test_spans_are_within_the_one_that_was_begun_before() -> None:
    spans, exporter = seen()
    outer = spans.begin("outer", {"controller": "db", "attempt": 2, "labels": ["a"]})
    inner = spans.begin("inner", {})
    inner.end()
    spans.begin("next", {}).end()
    outer.end()
    spans.begin("after", {}).end()
    found = exporter.get_finished_spans()
    assert names(found) == [("inner", "outer"), ("next", "outer"), ("outer", None), ("after", None)]
    assert found[2].attributes == {"controller": "db", "attempt": 2, "labels": "['a']"}


def test_a_span_that_fails_says_why() -> None:
    spans, exporter = seen()
    spans.begin("work", {}).end(ValueError("no such disk"))
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.status.description) == (
        trace.StatusCode.ERROR,
        "ValueError: no such disk",
    )
    assert [event.name for event in span.events] == ["exception"]


class Mute(Exception):
    def __str__(self) -> str:
        raise AttributeError


def test_a_span_tells_no_secret_and_bears_an_error_that_says_nothing() -> None:
    spans, exporter = seen()
    secret = core_v1.Secret(metadata=ObjectMeta(name="s"), string_data={"key": "canary"})
    for error in (OSError("no proxy at https://me:canary@proxy"), Mute()):
        spans.begin("work", {"on": secret, "url": "https://me:canary@host"}).end(error)
    for span in exporter.get_finished_spans():
        assert "canary" not in span.to_json()
        assert span.attributes == {"on": "Secret s", "url": "https://…@host"}
        (event,) = span.events
        assert "exception.stacktrace" in (event.attributes or {})


def test_without_a_provider_or_without_the_library_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_telemetry() is None
    assert open_telemetry(trace.NoOpTracerProvider()) is not None, "a provider that is given is used"
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert open_telemetry() is None
