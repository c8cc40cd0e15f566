"""Instruments, and how Prometheus reads them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubewright.telemetry import Metric, Metrics, PrometheusExporter, Reading, catalog, null_metrics

ASKED = Metric(name="asked_total", kind="counter", help="How often.", labels=("who",))
TOOK = Metric(name="took_seconds", kind="histogram", help="How long.", labels=("who",), buckets=(0.1, 1.0))
HELD = Metric(name="held", kind="gauge", help="How many.")


def exported(metrics: Metrics) -> dict[str, dict[tuple[str, ...], float]]:
    """Values by sample and the values of its labels, without what is the process' own."""
    text, content_type = PrometheusExporter(metrics).exposition()
    assert content_type.startswith("text/plain")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            if not family.name.startswith(("process_", "python_")):
                found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


def test_what_is_counted_and_measured_is_exported() -> None:
    metrics = Metrics()
    metrics.counter(ASKED, "a").inc()
    metrics.counter(ASKED, "a").inc(2)
    metrics.counter(ASKED, "b")
    for seconds in (0.05, 0.1, 0.5, 7):
        metrics.histogram(TOOK, "a").observe(seconds)
    metrics.read_from(lambda: [Reading(HELD, (), 4)])
    assert exported(metrics) == {
        "asked_total": {("a",): 3, ("b",): 0},
        "held": {(): 4},
        "took_seconds_bucket": {("0.1", "a"): 2, ("1.0", "a"): 3, ("+Inf", "a"): 4},
        "took_seconds_count": {("a",): 4},
        "took_seconds_sum": {("a",): pytest.approx(7.65)},
    }


def test_two_registries_do_not_meet() -> None:
    one, other = Metrics(), Metrics()
    exporters = [PrometheusExporter(one), PrometheusExporter(other)]
    one.counter(ASKED, "a").inc()
    assert [b"asked_total" in exporter.exposition()[0] for exporter in exporters] == [True, False]


def test_labels_that_a_metric_lacks_are_refused() -> None:
    for metrics in (Metrics(), null_metrics()):
        with pytest.raises(ValueError, match=r"metric asked_total has the labels who; 2 values were given"):
            metrics.counter(ASKED, "a", "b")
        with pytest.raises(ValueError, match="metric took_seconds"):
            metrics.histogram(TOOK)
    metrics = Metrics()
    metrics.read_from(lambda: [Reading(HELD, ("more",), 1)])
    with pytest.raises(ValueError, match="metric held has the labels none"):
        list(metrics.families())


def test_without_anybody_who_asks_nothing_is_kept() -> None:
    metrics = null_metrics()
    metrics.counter(ASKED, "a").inc()
    metrics.histogram(TOOK, "a").observe(1)
    metrics.read_from(lambda: [Reading(HELD, (), 1)])
    assert list(metrics.families()) == []
    assert metrics.counter(ASKED, "b").value == 0


def test_the_process_is_told_of_too() -> None:
    text = PrometheusExporter(Metrics()).exposition()[0]
    for name in (b"process_cpu_seconds_total", b"process_resident_memory_bytes", b"python_info", b"python_gc_"):
        assert name in text


def test_metrics_bear_the_names_and_labels_that_dashboards_know() -> None:
    known = {
        "controller_runtime_reconcile_total": {"controller", "result"},
        "controller_runtime_reconcile_errors_total": {"controller"},
        "controller_runtime_terminal_reconcile_errors_total": {"controller"},
        "controller_runtime_reconcile_panics_total": {"controller"},
        "controller_runtime_reconcile_timeouts_total": {"controller"},
        "controller_runtime_reconcile_time_seconds": {"controller"},
        "controller_runtime_max_concurrent_reconciles": {"controller"},
        "controller_runtime_active_workers": {"controller"},
        "workqueue_depth": {"name", "controller", "priority"},
        "workqueue_adds_total": {"name", "controller"},
        "workqueue_queue_duration_seconds": {"name", "controller"},
        "workqueue_work_duration_seconds": {"name", "controller"},
        "workqueue_unfinished_work_seconds": {"name", "controller"},
        "workqueue_longest_running_processor_seconds": {"name", "controller"},
        "workqueue_retries_total": {"name", "controller"},
        "rest_client_requests_total": {"code", "method", "host"},
        "rest_client_request_duration_seconds": {"verb", "host"},
        "rest_client_request_size_bytes": {"verb", "host"},
        "rest_client_response_size_bytes": {"verb", "host"},
        "leader_election_master_status": {"name"},
    }
    metrics = [getattr(catalog, name) for name in catalog.__all__]
    assert {metric.name: set(metric.labels) for metric in metrics if not metric.name.startswith("kubewright_")} == known
    assert len({metric.name for metric in metrics}) == len(metrics)
    for metric in metrics:
        assert metric.name.endswith("_total") == (metric.kind == "counter"), metric.name
        assert bool(metric.buckets) == (metric.kind == "histogram"), metric.name
        assert list(metric.buckets) == sorted(set(metric.buckets)), metric.name


def test_who_exports_nothing_does_not_load_what_exports() -> None:
    script = "import sys, kubewright.operator, kubewright.telemetry; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
