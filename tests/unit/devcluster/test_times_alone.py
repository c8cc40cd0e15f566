"""A write that would only move the times in managedFields is none."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from kubewright.client import HttpRequest, HttpResponse
from kubewright.devcluster.api_server import ApiServer


class Moving:
    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return 0.0


def test_applying_what_only_the_server_sets_changes_nothing_however_late() -> None:
    clock = Moving()
    server = ApiServer(clock=clock, rng=random.Random(1))

    def apply(**metadata: Any) -> Any:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}, "data": {"x": "1"}}
        answer = server.answer(
            HttpRequest(
                "PATCH",
                "/api/v1/namespaces/default/configmaps/a",
                (("fieldManager", "m"),),
                {"content-type": "application/apply-patch+yaml"},
                json.dumps(body).encode(),
            )
        )
        assert isinstance(answer, HttpResponse)
        return json.loads(answer.body)

    first = apply()
    for metadata in ({}, {"generation": 9}, {"creationTimestamp": "2020-01-01T00:00:00Z"}):
        clock.time += timedelta(minutes=1)
        assert apply(**metadata) == first
