"""What a running operator measures, as Prometheus reads it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from kubewright import Client, Context, Manager, ObjectMeta, Operator, Result, TerminalError
from kubewright.api import LoopClock
from kubewright.client.metered import MeteredTransport
from kubewright.devcluster.cluster import DevCluster
from kubewright.operator import Settings
from kubewright.operator.election import LeaderElection
from kubewright.telemetry import Metrics, PrometheusExporter, open_telemetry
from kubewright.testing import install, run_in_virtual_time
from tests.integration.controller.worlds import Widget, WidgetSpec


class Figures:
    def __init__(self, text: bytes) -> None:
        self._values = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text.decode())
            for sample in family.samples
        }

    def of(self, name: str, /, **labels: str) -> float:
        return self._values[name, frozenset(labels.items())]

    def names(self) -> set[str]:
        return {name for name, _ in self._values}


def failing_by_size() -> Operator:
    """A widget's size says how its runs end."""
    operator = Operator("widgets")

    @operator.controller(Widget, workers=3, timeout=5)
    async def reconcile(widget: Widget, ctx: Context) -> Result | None:
        match widget.spec.size:
            case 1:
                widget.status.seen = 1
            case 2:
                return Result(requeue_after=3600)
            case 3:
                raise TerminalError("no use")
            case 4 if ctx.attempt < 3:
                raise ValueError("not yet")
            case 5 if ctx.attempt < 1:
                await asyncio.sleep(60)
            case 6 if ctx.attempt < 1:
                raise SystemExit(1)
            case 7 if ctx.attempt < 1:
                return Result(requeue_after=0)
        return None

    return operator


@asynccontextmanager
async def working(
    operator: Operator, metrics: Metrics, spans: InMemorySpanExporter | None = None
) -> AsyncIterator[tuple[Client, Manager]]:
    provider = TracerProvider(resource=Resource({}))  # which is else found out in threads
    if spans is not None:
        provider.add_span_processor(SimpleSpanProcessor(spans))
    clock, rng = LoopClock(), random.Random(1)
    async with DevCluster(clock=clock, rng=rng) as cluster:
        somebody = Client(cluster.transport(), field_manager="somebody", clock=clock, rng=rng)
        await install(somebody, operator)
        transport = MeteredTransport(cluster.transport(), metrics, server="https://me:word@api.example.com:6443/x")
        client = Client(transport, clock=clock, rng=rng)
        election = LeaderElection(client, "widgets", "default", identity="me", clock=clock, rng=rng)
        manager = Manager(
            operator,
            client,
            clock=clock,
            rng=rng,
            election=election,
            metrics=metrics,
            spans=lambda: None if spans is None else open_telemetry(provider),
        )
        running = asyncio.create_task(manager.run())
        try:
            yield somebody, manager
        finally:
            manager.stop()
            await asyncio.wait([running])
            running.result()


def sized(size: int) -> Widget:
    return Widget(metadata=ObjectMeta(name=f"w{size}", namespace="default"), spec=WidgetSpec(size=size))


def test_runs_queue_cache_client_and_lease_are_measured() -> None:
    async def main() -> None:
        metrics = Metrics()
        exporter = PrometheusExporter(metrics)
        async with working(failing_by_size(), metrics) as (somebody, _):
            await asyncio.sleep(1)
            at_first = Figures(exporter.exposition()[0])
            for size in range(1, 8):
                await somebody.create(sized(size))
            await asyncio.sleep(100)
            now = Figures(exporter.exposition()[0])
        widget = {"controller": "widget"}
        queue = {"name": "widget", **widget}

        total = "controller_runtime_reconcile_total"
        results = {result: now.of(total, **widget, result=result) for result in ("requeue_after", "requeue", "error")}
        # three of size 4, one each of sizes 3, 5 and 6
        assert results == {"requeue_after": 1, "requeue": 1, "error": 6}
        assert at_first.of(total, **widget, result="error") == 0
        assert now.of("controller_runtime_reconcile_errors_total", **widget) == 6
        assert now.of("controller_runtime_terminal_reconcile_errors_total", **widget) == 1
        assert now.of("controller_runtime_reconcile_timeouts_total", **widget) == 1
        assert now.of("controller_runtime_reconcile_panics_total", **widget) == 1
        runs = sum(results.values()) + now.of(total, **widget, result="success")
        assert now.of("controller_runtime_reconcile_time_seconds_count", **widget) == runs
        assert now.of("controller_runtime_reconcile_time_seconds_bucket", **widget, le="5.0") >= runs - 1
        assert now.of("controller_runtime_max_concurrent_reconciles", **widget) == 3
        assert now.of("controller_runtime_active_workers", **widget) == 0
        for step in ("fetch", "sync", "requeue"):
            assert now.of("kubewright_reconcile_step_seconds_count", **widget, step=step) == runs, step
        assert now.of("kubewright_reconcile_step_seconds_sum", **widget, step="sync") >= 5

        assert now.of("workqueue_adds_total", **queue) == runs
        assert now.of("workqueue_retries_total", **queue) == 6  # the terminal error is not tried again, the requeue is
        assert now.of("workqueue_depth", **queue, priority="normal") == 0
        assert now.of("workqueue_queue_duration_seconds_count", **queue) == runs
        assert now.of("workqueue_work_duration_seconds_count", **queue) == runs
        assert now.of("workqueue_unfinished_work_seconds", **queue) == 0
        assert now.of("workqueue_longest_running_processor_seconds", **queue) == 0
        assert now.of("kubewright_workqueue_delayed", **queue) == 1

        resource = {"resource": "widgets.example.com"}
        assert now.of("kubewright_cache_objects", **resource) == 7
        assert now.of("kubewright_cache_bytes", **resource) > 1000
        assert now.of("kubewright_cache_in_step", **resource) == 1
        assert now.of("kubewright_cache_relists_total", **resource) == 0

        host = "api.example.com:6443"
        assert now.of("rest_client_requests_total", code="200", method="PATCH", host=host) > 7
        assert now.of("rest_client_request_duration_seconds_count", verb="GET", host=host) >= 2
        assert now.of("rest_client_request_size_bytes_sum", verb="PATCH", host=host) > 0
        assert now.of("rest_client_response_size_bytes_count", verb="PATCH", host=host) > 7
        assert now.of("leader_election_master_status", name="widgets") == 1

    run_in_virtual_time(main)


def test_a_backlog_shows_while_it_is_there() -> None:
    operator, go = Operator("widgets"), asyncio.Event()

    @operator.controller(Widget, workers=1)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await go.wait()

    async def main() -> None:
        metrics = Metrics()
        async with working(operator, metrics) as (somebody, _):
            await asyncio.sleep(1)
            for size in range(3):
                await somebody.create(sized(size))
            await asyncio.sleep(30)
            now = Figures(PrometheusExporter(metrics).exposition()[0])
            go.set()
        queue = {"name": "widget", "controller": "widget"}
        assert now.of("workqueue_depth", **queue, priority="edit") == 2
        assert now.of("controller_runtime_active_workers", controller="widget") == 1
        assert now.of("workqueue_longest_running_processor_seconds", **queue) == pytest.approx(30, abs=1)

    run_in_virtual_time(main)


def test_a_run_and_its_steps_are_spans_and_what_the_reconciler_times_is_within() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        with ctx.span("measure", size=widget.spec.size):
            await asyncio.sleep(1)
        if widget.spec.size == 9:
            raise ValueError("too large")
        widget.status.seen = widget.spec.size

    async def main() -> None:
        exporter = InMemorySpanExporter()
        async with working(operator, Metrics(), exporter) as (somebody, _):
            await asyncio.sleep(1)
            await somebody.create(sized(2))
            await asyncio.sleep(1.5)
            spans = exporter.get_finished_spans()
            exporter.clear()
            await somebody.create(sized(9))
            await asyncio.sleep(1.5)
            failed = exporter.get_finished_spans()
        by_id = {span.context.span_id: span.name for span in spans if span.context}
        assert [(span.name, by_id[span.parent.span_id] if span.parent else None) for span in spans] == [
            ("fetch", "reconcile widget"),
            ("measure", "sync"),
            ("sync", "reconcile widget"),
            ("status", "reconcile widget"),
            ("cleanup", "reconcile widget"),
            ("requeue", "reconcile widget"),
            ("reconcile widget", None),
        ]
        assert spans[1].attributes == {"size": 2}
        attributes = dict(spans[-1].attributes or {})
        assert len(str(attributes.pop("reconcile_id"))) == 16
        assert attributes == {"controller": "widget", "kind": "Widget", "namespace": "default", "name": "w2"}
        ends = {span.name: span.status.is_ok for span in failed}
        assert ends["sync"] is False
        assert ends["reconcile widget"] is False
        assert ends["requeue"] is True

    run_in_virtual_time(main)


async def test_two_managers_serve_what_is_their_own() -> None:
    def operator(name: str) -> Operator:
        made = Operator(name)

        @made.controller(Widget, name=name)
        async def reconcile(widget: Widget, ctx: Context) -> None: ...

        return made

    async def read(session: aiohttp.ClientSession, manager: Manager, path: str = "metrics") -> tuple[int, str, bytes]:
        async with session.get(f"http://127.0.0.1:{manager.metrics_port}/{path}") as answer:
            return answer.status, answer.headers["content-type"], await answer.read()

    settings = Settings(metrics_bind_address="127.0.0.1:0")
    async with DevCluster() as cluster, aiohttp.ClientSession() as session:
        await install(Client(cluster.transport()), operator("one"))
        managers = [
            Manager(operator(name), Client(cluster.transport()), settings=settings) for name in ("one", "other")
        ]
        running = [asyncio.create_task(manager.run()) for manager in managers]
        async with asyncio.timeout(20):
            while any(manager.metrics_port is None for manager in managers):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            answers = [await read(session, manager) for manager in managers]
            assert (await read(session, managers[0], "metrics/more"))[0] == 404
            for manager in managers:
                manager.stop()
            await asyncio.gather(*running)
    for (status, content_type, body), own, others in zip(answers, ("one", "other"), ("other", "one"), strict=True):
        assert status == 200
        assert content_type.startswith("text/plain; version=")
        assert Figures(body).of("controller_runtime_max_concurrent_reconciles", controller=own) == 4
        assert f'controller="{others}"'.encode() not in body
        assert not any(name.endswith("_created") for name in Figures(body).names())


async def test_metrics_are_served_only_where_that_is_asked_for() -> None:
    manager = Manager(Operator("widgets"), Client(DevCluster().transport()))
    assert not manager.metrics.enabled
