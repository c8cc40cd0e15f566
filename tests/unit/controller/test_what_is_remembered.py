"""What is remembered of runs and writes ends with the time for which it tells anything."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from kubewright.api import JSON
from kubewright.cache import EventType
from kubewright.controller.causes import Cause, OwnWrites
from kubewright.controller.repetition import Repetition
from kubewright.controller.request import Request
from tests.unit.controller.test_repetition import Ticking, counted


def who(number: int) -> Request:
    return Request(None, "default", f"w-{number}")


def caused_by(version: int) -> tuple[Cause, ...]:
    return (Cause(EventType.MODIFIED, "Widget", "default", "w", version),)


def test_own_writes_are_known_for_as_long_as_their_runs_may_be_a_storm() -> None:
    clock = Ticking()
    own = OwnWrites(clock, seconds=60)  # type: ignore[arg-type]  # it measures only
    for version in range(1, 10_000):
        clock.time += 1
        own.add(version)
        assert own.caused(caused_by(max(version - 59, 1)))
    assert len(own) <= 62
    assert not own.caused(caused_by(9_000))


def test_of_very_many_own_writes_at_once_the_oldest_are_let_go_of() -> None:
    clock = Ticking()
    own = OwnWrites(clock, seconds=60)  # type: ignore[arg-type]
    for version in range(1, 20_000):
        own.add(version)
    assert len(own) == 10_000
    clock.time += 61
    own.add(20_000)
    assert len(own) == 1


@pytest.mark.parametrize("woke_itself", [True, False])
def test_runs_of_ever_new_objects_are_let_go_of(woke_itself: bool) -> None:
    clock = Ticking()
    repetition = Repetition(clock)  # type: ignore[arg-type]
    for number in range(10_000):
        clock.time += 1
        repetition.ran(who(number), woke_itself=woke_itself, changes=lambda: counted(1))
        assert len(repetition) <= 62


@pytest.mark.parametrize("woke_itself", [True, False])
def test_of_very_many_objects_at_once_the_oldest_are_let_go_of(woke_itself: bool) -> None:
    repetition = Repetition(Ticking())  # type: ignore[arg-type]
    for number in range(10_000):
        repetition.ran(who(number), woke_itself=woke_itself, changes=lambda: counted(1))
    assert len(repetition) == 2_048


def test_of_what_runs_changed_little_is_kept_however_much_it_was() -> None:
    clock = Ticking()
    repetition = Repetition(clock)  # type: ignore[arg-type]

    def changes(run: int) -> Iterator[tuple[str, JSON, JSON]]:
        return ((f".spec.field{number}", f"before {run}", f"after {run}") for number in range(100))

    def run_all(number: int) -> None:
        for name in range(50):
            clock.time += 0.01
            repetition.ran(who(name), woke_itself=False, changes=lambda: changes(number))

    run_all(0)
    tracemalloc.start()
    try:
        for number in range(9):
            run_all(number)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept / 50 < 1500  # bytes: a hash for each field


def test_what_was_told_is_kept_quiet_however_many_others_run() -> None:
    clock = Ticking()
    repetition = Repetition(clock)  # type: ignore[arg-type]

    def storm() -> bool:
        found = [repetition.ran(who(0), woke_itself=True, changes=lambda: counted(1)) for _ in range(20)]
        return any(each is not None for each in found)

    assert storm()
    for number in range(1, 599):
        clock.time += 1
        repetition.ran(who(number), woke_itself=False, changes=lambda: counted(1))
    assert not storm()
    clock.time += 62
    assert storm()
