"""Runs that wake themselves are told from runs that others wake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubewright.api import JSON
from kubewright.controller.request import Request
from kubewright.controller.storms import StormDetector, changed_fields

WHO = Request(None, "default", "w")


class Ticking:
    def __init__(self) -> None:
        self.time = 0.0

    def monotonic(self) -> float:
        return self.time


def counted(value: int) -> Iterator[tuple[str, JSON, JSON]]:
    yield ".status.runs", value - 1, value


def test_ten_runs_in_a_row_that_only_own_writes_woke_are_a_storm_told_once() -> None:
    clock = Ticking()
    storms = StormDetector(clock)  # type: ignore[arg-type]  # it measures only
    found = []
    for number in range(40):
        clock.time += 0.1
        found.append(storms.ran(WHO, woke_itself=True, changes=lambda number=number: counted(number)))  # type: ignore[misc]
    told = [storm for storm in found if storm is not None]
    assert len(told) == 1
    assert found.index(told[0]) == 9
    assert told[0].fields == {".status.runs": ["7", "8", "9"]}


def test_runs_that_others_wake_and_slow_ones_are_none() -> None:
    clock = Ticking()
    storms = StormDetector(clock)  # type: ignore[arg-type]
    for number in range(100):
        clock.time += 0.1
        assert storms.ran(WHO, woke_itself=number % 9 != 0, changes=lambda: counted(1)) is None
    for _ in range(100):
        clock.time += 10
        assert storms.ran(WHO, woke_itself=True, changes=lambda: counted(1)) is None


def test_changed_fields_are_named_by_their_paths() -> None:
    before: Any = {"metadata": {"resourceVersion": "1", "labels": {"a": "x"}}, "spec": {"ports": [{"port": 1}]}}
    after: Any = {
        "metadata": {"resourceVersion": "2", "labels": {"a": "y"}},
        "spec": {"ports": [{"port": 2}], "more": [1]},
    }
    assert [path for path, _, _ in changed_fields(before, after)] == [
        ".metadata.labels.a",
        ".spec.ports[0].port",
        ".spec.more",
    ]
