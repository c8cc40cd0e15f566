"""Fields that somebody else sets back are told from progress."""

from __future__ import annotations

from collections.abc import Iterator

from kubewright.api import JSON
from kubewright.controller.contests import Contest, ContestDetector
from kubewright.controller.request import Request
from tests.unit.controller.test_storms import Ticking


def ran(detector: ContestDetector, number: int, *changes: tuple[str, JSON, JSON], name: str = "w") -> Contest | None:
    def made() -> Iterator[tuple[str, JSON, JSON]]:
        yield from changes
        yield ".status.runs", number - 1, number

    return detector.ran(Request(None, "default", name), made)


def test_the_same_change_in_ten_runs_in_a_row_is_a_contest_told_once() -> None:
    clock = Ticking()
    detector = ContestDetector(clock)  # type: ignore[arg-type]  # it measures only
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
    detector = ContestDetector(clock)  # type: ignore[arg-type]
    for number in range(100):
        clock.time += 0.1
        assert ran(detector, number) is None
        assert ran(detector, number, (".data.password", "secret", "secret"), name="masked") is None
    for number in range(100):
        clock.time += 10
        assert ran(detector, number, (".spec.replicas", 3, 2), name="slow") is None


def test_a_contest_begins_with_the_change_that_repeats() -> None:
    clock = Ticking()
    detector = ContestDetector(clock)  # type: ignore[arg-type]
    for number in range(20):
        clock.time += 0.1
        assert ran(detector, number) is None
    found = [ran(detector, number, (".spec.replicas", 3, 2)) for number in range(10)]
    assert [contest is not None for contest in found].index(True) == 5
