"""The life of a simulated pod: a state machine. No I/O, and time is an argument.

`advance` is the one step function; `due` says when it has something to do without being asked.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum

import msgspec
from msgspec import Struct

from kubewright.devcluster.controllers.settings import Simulation

__all__ = ["Fault", "Life", "Note", "Situation", "Stage", "Termination", "advance", "back_off", "due"]


_TOLERANCE = 1e-6
"""A timer may fire a rounding error early; waiting for that little would not move a virtual clock at all."""


class Fault(Enum):
    """What a pod was asked to suffer from."""

    NONE = ""
    IMAGE_PULL = "image-pull-error"
    CRASH = "crash-loop"


class Stage(Enum):
    CREATING = "creating"
    """Images are pulled, nothing has started."""
    RUNNING = "running"
    PULL_FAILED = "pull failed"
    PULL_BACK_OFF = "waiting to pull again"
    CRASHED = "crashed"
    CRASH_BACK_OFF = "waiting to start again"
    STOPPING = "stopping"
    STOPPED = "stopped"
    """Every container has ended; the pod may be removed."""


class Note(Enum):
    """What is worth an event."""

    PULLING = "pulling"
    STARTED = "started"
    RESTARTED = "restarted"
    PULL_FAILED = "pull failed"
    PULL_BACK_OFF = "pull back-off"
    CRASH_BACK_OFF = "crash back-off"
    KILLING = "killing"


class Termination(Struct, frozen=True):
    """How a container ended, and which of its starts that was."""

    start: int
    exit_code: int
    started_at: datetime
    finished_at: datetime


class Life(Struct, frozen=True):
    """Where a pod is; all its containers share one fate."""

    stage: Stage
    since: float
    """Monotonic seconds at which the stage began."""
    restarts: int = 0
    failures: int = 0
    """Failures in a row, which back-off grows with."""
    started_at: datetime | None = None
    """When the containers that run, or ran last, were started."""
    ended: Termination | None = None
    """How they ended the last time."""

    @property
    def has_run(self) -> bool:
        return self.started_at is not None


class Situation(Struct, frozen=True):
    """What a pod's object asks for, and what time it is."""

    fault: Fault
    ready_after: float
    stop_after: float
    deleting: bool
    monotonic: float
    now: datetime
    simulation: Simulation


def back_off(failures: int, simulation: Simulation) -> float:
    """Seconds before the next try after that many failures in a row."""
    return min(simulation.first_back_off * 2.0 ** min(max(failures - 1, 0), 32), simulation.longest_back_off)


def due(life: Life, situation: Situation) -> float | None:
    """The monotonic time at which `advance` has a step to make; None while only an edit can bring one."""
    ending = life.stage in {Stage.STOPPING, Stage.STOPPED}
    if situation.deleting and not ending:
        return situation.monotonic
    delay = _delay(life, situation)
    return None if delay is None else life.since + delay


def _delay(life: Life, situation: Situation) -> float | None:
    fault, simulation = situation.fault, situation.simulation
    moment = simulation.fail_after
    match life.stage:
        case Stage.CREATING:
            return situation.ready_after if fault is Fault.NONE else min(situation.ready_after, simulation.ready_after)
        case Stage.RUNNING:
            return {Fault.NONE: None, Fault.CRASH: moment, Fault.IMAGE_PULL: 0.0}[fault]
        case Stage.PULL_FAILED:
            return moment if fault is Fault.IMAGE_PULL else 0.0
        case Stage.PULL_BACK_OFF:
            return back_off(life.failures, simulation) if fault is Fault.IMAGE_PULL else 0.0
        case Stage.CRASHED:
            return moment if fault is Fault.CRASH else 0.0
        case Stage.CRASH_BACK_OFF:
            return back_off(life.failures - 1, simulation) if fault is Fault.CRASH else 0.0
        case Stage.STOPPING:
            return situation.stop_after
        case Stage.STOPPED:
            return None


def advance(life: Life, situation: Situation) -> tuple[Life, tuple[Note, ...]]:
    """One step, if one is due; else the same life again."""
    when = due(life, situation)
    if when is None or when > situation.monotonic + _TOLERANCE:
        return life, ()
    if situation.deleting and life.stage not in {Stage.STOPPING, Stage.STOPPED}:
        alive = life.stage is Stage.RUNNING
        return _to(Stage.STOPPING, life, situation), (Note.KILLING,) if alive else ()
    return _step(life, situation)


def _step(life: Life, situation: Situation) -> tuple[Life, tuple[Note, ...]]:
    fault = situation.fault
    match life.stage:
        case Stage.STOPPING:
            return _ended(Stage.STOPPED, life, situation, exit_code=0), ()
        case Stage.RUNNING:
            if fault is Fault.IMAGE_PULL:
                return _pull_failed(_ended(Stage.CRASHED, life, situation, exit_code=137), situation)
            return _ended(Stage.CRASHED, life, situation, exit_code=1, failures=life.failures + 1), ()
        case Stage.PULL_FAILED | Stage.PULL_BACK_OFF if fault is not Fault.IMAGE_PULL:
            return _to(Stage.CREATING, life, situation, failures=0), (Note.PULLING,)
        case Stage.PULL_FAILED:
            return _to(Stage.PULL_BACK_OFF, life, situation), (Note.PULL_BACK_OFF,)
        case Stage.PULL_BACK_OFF:
            failed, notes = _pull_failed(life, situation)
            return failed, (Note.PULLING, *notes)
        case _ if fault is Fault.IMAGE_PULL:
            return _pull_failed(life, situation)
        case Stage.CRASHED if fault is Fault.CRASH and life.failures > 1:
            return _to(Stage.CRASH_BACK_OFF, life, situation), (Note.CRASH_BACK_OFF,)
        case _:
            return _start(life, situation)


def _start(life: Life, situation: Situation) -> tuple[Life, tuple[Note, ...]]:
    again = life.has_run
    running = _to(
        Stage.RUNNING,
        life,
        situation,
        started_at=situation.now,
        restarts=life.restarts + (1 if again else 0),
        failures=life.failures if situation.fault is Fault.CRASH else 0,
    )
    return running, (Note.RESTARTED if again and life.stage is not Stage.CREATING else Note.STARTED,)


def _pull_failed(life: Life, situation: Situation) -> tuple[Life, tuple[Note, ...]]:
    return _to(Stage.PULL_FAILED, life, situation, failures=life.failures + 1), (Note.PULL_FAILED,)


def _ended(stage: Stage, life: Life, situation: Situation, *, exit_code: int, **changes: int) -> Life:
    ended = life.ended
    if life.started_at is not None and (ended is None or ended.start < life.restarts):
        ended = Termination(life.restarts, exit_code, life.started_at, situation.now)
    return msgspec.structs.replace(_to(stage, life, situation, **changes), ended=ended)


def _to(stage: Stage, life: Life, situation: Situation, **changes: object) -> Life:
    return msgspec.structs.replace(life, stage=stage, since=situation.monotonic, **changes)
