"""The life of a simulated pod, step by step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubewright.devcluster.controllers.kubelet.life import (
    Fault,
    Life,
    Note,
    Situation,
    Stage,
    advance,
    back_off,
    due,
)
from kubewright.devcluster.controllers.settings import Simulation

START = datetime(2026, 1, 1, tzinfo=UTC)
SIMULATION = Simulation()


def at(seconds: float, **changes: Any) -> Situation:
    plain = Situation(
        fault=Fault.NONE,
        ready_after=1.0,
        stop_after=0.5,
        deleting=False,
        monotonic=seconds,
        now=START + timedelta(seconds=seconds),
        simulation=SIMULATION,
    )
    return msgspec.structs.replace(plain, **changes)


def play(life: Life, until: float, **changes: Any) -> tuple[Life, list[tuple[float, Note]]]:
    """Lets time pass from due step to due step."""
    clock = life.since
    told: list[tuple[float, Note]] = []
    for _ in range(1000):
        when = due(life, at(clock, **changes))
        if when is None or max(when, clock) > until:
            return life, told
        clock = max(when, clock)
        life, notes = advance(life, at(clock, **changes))
        told += [(clock, note) for note in notes]
    raise AssertionError("the pod does not come to rest")


def test_nothing_happens_before_its_time() -> None:
    life = Life(Stage.CREATING, 0.0)
    assert advance(life, at(0.9)) == (life, ())


def test_a_timer_that_fires_a_rounding_error_early_is_on_time() -> None:
    life, _ = advance(Life(Stage.CREATING, 0.1), at(1.1 - 1e-12))
    assert life.stage is Stage.RUNNING


def test_a_healthy_pod_starts_and_then_rests() -> None:
    life, told = play(Life(Stage.CREATING, 0.0), 3600)
    assert life.stage is Stage.RUNNING
    assert told == [(1.0, Note.STARTED)]
    assert due(life, at(3600)) is None


def test_a_crash_loop_waits_longer_each_time() -> None:
    _, told = play(Life(Stage.CREATING, 0.0), 700, fault=Fault.CRASH)
    restarts = [when for when, note in told if note is Note.RESTARTED]
    pauses = [round(later - earlier, 1) for earlier, later in pairwise(restarts)]
    assert pauses == [11.0, 21.0, 41.0, 81.0, 161.0, 301.0]


def test_back_off_has_a_limit() -> None:
    assert [back_off(failures, SIMULATION) for failures in (1, 2, 3, 6, 1000)] == [10, 20, 40, 300, 300]


def test_the_last_end_is_remembered() -> None:
    life, _ = play(Life(Stage.CREATING, 0.0), 5, fault=Fault.CRASH)
    assert life.stage is Stage.CRASH_BACK_OFF
    assert life.restarts == 1
    assert life.ended is not None
    assert (life.ended.start, life.ended.exit_code) == (1, 1)


def test_a_fault_that_goes_lets_the_pod_recover_at_once() -> None:
    broken, _ = play(Life(Stage.CREATING, 0.0), 5, fault=Fault.CRASH)
    well, told = play(broken, 5)
    assert (well.stage, well.failures, told[-1][1]) == (Stage.RUNNING, 0, Note.RESTARTED)


def test_a_pull_error_does_not_wait_for_a_slow_start() -> None:
    life, _ = play(Life(Stage.CREATING, 0.0), 1.0, fault=Fault.IMAGE_PULL, ready_after=600.0)
    assert life.stage is Stage.PULL_FAILED


STAGES = st.sampled_from(list(Stage))
FAULTS = st.sampled_from(list(Fault))


@given(stage=STAGES, fault=FAULTS, has_run=st.booleans(), failures=st.integers(0, 5))
def test_deletion_stops_every_pod(stage: Stage, fault: Fault, has_run: bool, failures: int) -> None:
    life = Life(stage, 0.0, failures=failures, started_at=START if has_run else None)
    ended, _ = play(life, 10.0, fault=fault, deleting=True)
    assert ended.stage is Stage.STOPPED


@given(changes=st.lists(st.tuples(FAULTS, st.floats(0, 100)), max_size=8))
def test_whatever_happened_a_healthy_pod_ends_up_running(changes: list[tuple[Fault, float]]) -> None:
    life, clock = Life(Stage.CREATING, 0.0), 0.0
    for fault, seconds in changes:
        clock += seconds
        life, _ = play(life, clock, fault=fault)
    for _ in range(20):
        life, _ = advance(life, at(clock + 10_000))
        clock += 10
    assert life.stage is Stage.RUNNING
