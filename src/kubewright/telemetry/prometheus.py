"""`PrometheusExporter`: metrics in the text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from kubewright.telemetry.metrics import Family, Histogram, Metrics

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric as Exported

__all__ = ["PrometheusExporter"]


class PrometheusExporter:
    """Exports one manager's metrics, and what the process uses (memory, files, processor time, garbage collection).

    ``registry`` is its own, not prometheus_client's global one: register further collectors there to have them served
    too.
    """

    def __init__(self, metrics: Metrics) -> None:
        import prometheus_client  # noqa: PLC0415 - takes as long to load as everything else together, and few export

        self.registry: CollectorRegistry = prometheus_client.CollectorRegistry()
        self.registry.register(_Collector(metrics))
        prometheus_client.ProcessCollector(registry=self.registry)
        prometheus_client.PlatformCollector(registry=self.registry)
        prometheus_client.GCCollector(registry=self.registry)

    def exposition(self) -> tuple[bytes, str]:
        """All values at this moment, and the content type. To be called in the manager's event loop."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415 - as above

        return generate_latest(self.registry), CONTENT_TYPE_LATEST


class _Collector:
    """prometheus_client's own instruments have locks, which runs would pay for; so it only learns of ours when asked."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def describe(self) -> list[Exported]:
        return []  # which metrics there are shows only when they are read

    def collect(self) -> Iterator[Exported]:
        for family in self._metrics.families():
            yield _exported(family)


def _exported(family: Family) -> Exported:
    from prometheus_client import metrics_core  # noqa: PLC0415 - as above

    metric = family.metric
    if metric.kind == "histogram":
        histogram = metrics_core.HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
        for labels, value in family.values.items():
            if isinstance(value, Histogram):
                bounds = [*(_bound(bound) for bound in metric.buckets), "+Inf"]
                buckets = list(zip(bounds, accumulate(value.counts), strict=True))
                histogram.add_metric(labels, buckets, value.sum)
        return histogram
    made = metrics_core.CounterMetricFamily if metric.kind == "counter" else metrics_core.GaugeMetricFamily
    exported = made(metric.name, metric.help, labels=metric.labels)
    for labels, value in family.values.items():
        if not isinstance(value, Histogram):
            exported.add_metric(labels, value)
    return exported


def _bound(bound: float) -> str:
    from prometheus_client.utils import floatToGoString  # noqa: PLC0415 - as above

    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]  # the library leaves it so
