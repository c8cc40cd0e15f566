"""`/metrics`: what a manager measures, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubewright.operator.http_server import HttpAnswer, HttpHandler
from kubewright.telemetry import Metrics, PrometheusExporter, Reading, catalog

if TYPE_CHECKING:
    from kubewright.operator.election import LeaderElection

__all__ = ["leader_readings", "metrics_handler"]


def metrics_handler(metrics: Metrics) -> HttpHandler:
    exporter = PrometheusExporter(metrics)

    def handle(only: str, _query: Mapping[str, list[str]]) -> HttpAnswer:
        if only:
            return HttpAnswer(404, b"there is /metrics\n")
        return HttpAnswer(200, *exporter.exposition())

    return handle


def leader_readings(election: LeaderElection) -> Iterator[Reading]:
    yield Reading(catalog.MASTER_STATUS, (election.name,), election.is_leader)
