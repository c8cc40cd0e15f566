"""The instruments that every layer uses: logs (`logs`), metrics (`metrics`; `catalog` lists them) and spans (`spans`).

They are passed in, never global. `prometheus` exports metrics.
"""

from kubewright.telemetry.logs import LateValues, Log, LogFormat, LogLevel, new_log, null_log
from kubewright.telemetry.metrics import Counter, Histogram, Metric, Metrics, Reading, null_metrics
from kubewright.telemetry.prometheus import PrometheusExporter
from kubewright.telemetry.redaction import described, said, shown, without_credentials
from kubewright.telemetry.spans import Span, Spans, open_telemetry

__all__ = [
    "Counter",
    "Histogram",
    "LateValues",
    "Log",
    "LogFormat",
    "LogLevel",
    "Metric",
    "Metrics",
    "PrometheusExporter",
    "Reading",
    "Span",
    "Spans",
    "described",
    "new_log",
    "null_log",
    "null_metrics",
    "open_telemetry",
    "said",
    "shown",
    "without_credentials",
]
