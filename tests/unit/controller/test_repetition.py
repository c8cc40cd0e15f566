"""Runs that wake themselves, and fields that somebody else sets back, are told from each other and from progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubewright.api import JSON
from kubewright.controller.repetition import Contest, Repetition, Storm, changed_fields
from kubewright.controller.request import Request

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
    storms = Repetition(clock)  # type: ignore[arg-type]  # it measures only
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
    storms = Repetition(clock)  # type: ignore[arg-type]
    for number in range(100):
        clock.time += 0.1
        progress = lambda number=number: counted(number)  # noqa: E731 - as the changes of a run come
        assert storms.ran(WHO, woke_itself=number % 9 != 0, changes=progress) is None
    for _ in range(100):
        clock.time += 10
        assert storms.ran(WHO, woke_itself=True, changes=lambda: counted(1)) is None


def ran(detector: Repetition, number: int, *changes: tuple[str, JSON, JSON], name: str = "w") -> Storm | Contest | None:
    def made() -> Iterator[tuple[str, JSON, JSON]]:
        yield from changes
        yield ".status.runs", number - 1, number

    return detector.ran(Request(None, "default", name), woke_itself=False, changes=made)


def test_the_same_change_in_ten_runs_in_a_row_is_a_contest_told_once() -> None:
    clock = Ticking()
    detector = Repetition(clock)  # type: ignore[arg-type]  # it measures only
    found = []
    for number in range(40):
        clock.time += 1
        found.append(ran(detector, number, (".spec.replicas", 3, 2)))
    (told,) = [contest for contest in found if contest is not None]
    assert found.index(told) == 9
    assert told.fields == {".spec.replicas": ["3", "2"]}
    clock.time += 600
    assert [ran(detector, number, (".spec.replicas", 3, 2)) for number in range(10)][-1] is not None


def test_progress_slow_repetition_and_values_that_are_not_shown_are_none() -> None:
    clock = Ticking()
    detector = Repetition(clock)  # type: ignore[arg-type]
    for number in range(100):
        clock.time += 0.1
        assert ran(detector, number) is None
        assert ran(detector, number, (".data.password", "secret", "secret"), name="masked") is None
    for number in range(100):
        clock.time += 10
        assert ran(detector, number, (".spec.replicas", 3, 2), name="slow") is None


def test_a_contest_begins_with_the_change_that_repeats() -> None:
    clock = Ticking()
    detector = Repetition(clock)  # type: ignore[arg-type]
    for number in range(20):
        clock.time += 0.1
        assert ran(detector, number) is None
    found = [ran(detector, number, (".spec.replicas", 3, 2)) for number in range(10)]
    assert [contest is not None for contest in found].index(True) == 5


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
