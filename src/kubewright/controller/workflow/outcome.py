"""What came of a workflow's run, step by step, and in the words of a condition."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from kubewright.api import Conditions, Conflict
from kubewright.client import TransportError
from kubewright.controller.outcome import TerminalError

__all__ = ["Outcome", "StepOutcome", "StepState"]


class StepState(Enum):
    """Where a step is after a run."""

    DONE = "done"
    NOT_READY = "not ready"
    """Carried out, and what must hold before others may follow does not hold yet."""
    WAITING = "waiting"
    """Not carried out: a step that it comes after is not done. What it applied earlier stays as it is."""
    FAILED = "failed"
    TEARING_DOWN = "tearing down"
    """Not wanted, and something of it is still there."""
    UNWANTED = "not wanted"
    """Not wanted, and nothing of it is there."""


class StepOutcome(Struct, frozen=True):
    """What came of one step."""

    name: str
    state: StepState
    message: str = ""
    """Why, in a few words; empty for what is done or not wanted."""
    error: Exception | None = None
    """What a failed step raised."""


_SETTLED = frozenset({StepState.DONE, StepState.UNWANTED})
_REASONS = {
    StepState.FAILED: "StepFailed",
    StepState.NOT_READY: "StepNotReady",
    StepState.TEARING_DOWN: "TearingDown",
    StepState.WAITING: "StepWaiting",
}
"""In the order of what a person wants to know first."""
_OF_THEIR_OWN = (TerminalError, Conflict, TransportError)


class Outcome(Struct, frozen=True):
    """What came of all steps, in their order."""

    steps: tuple[StepOutcome, ...]

    def __iter__(self) -> Iterator[StepOutcome]:
        return iter(self.steps)

    def __getitem__(self, name: str) -> StepOutcome:
        """Raises KeyError for a name that is none of the workflow's."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(f"no step {name!r}, only {', '.join(step.name for step in self.steps)}")

    @property
    def complete(self) -> bool:
        """Whether every step is done, or not wanted and gone."""
        return all(step.state in _SETTLED for step in self.steps)

    @property
    def reason(self) -> str:
        """A condition's reason: ``StepFailed``, ``StepNotReady``, ``TearingDown`` or ``Complete``."""
        states = {step.state for step in self.steps}
        return next((reason for state, reason in _REASONS.items() if state in states), "Complete")

    @property
    def message(self) -> str:
        """A condition's message: what each step that is neither done nor gone waits for, what went wrong first."""
        if self.complete:
            done = [step.name for step in self.steps if step.state is StepState.DONE]
            return f"done: {', '.join(done)}" if done else "no step is wanted"
        return "; ".join(
            f"{step.name} {step.message}" for state in _REASONS for step in self.steps if step.state is state
        )

    @property
    def error(self) -> Exception | None:
        """What the failed steps raised, as one: an ExceptionGroup where there are several.

        Where all are of one kind that a controller treats in its own way (`TerminalError`, `Conflict`,
        `TransportError`), it is the first of them, with the others as notes.
        """
        errors = [(step.name, step.error) for step in self.steps if step.error is not None]
        if not errors:
            return None
        name, first = errors[0]
        first.add_note(f"in step {name!r}")
        alike = any(all(isinstance(error, kind) for _, error in errors) for kind in _OF_THEIR_OWN)
        if len(errors) > 1 and not alike:
            names = ", ".join(name for name, _ in errors)
            return ExceptionGroup(f"{len(errors)} steps failed: {names}", [error for _, error in errors])
        for name, error in errors[1:]:
            first.add_note(f"in step {name!r}: {error}")
        return first

    def report(self, conditions: Conditions, type: str) -> None:  # noqa: A002 - the field's own name
        """Sets the condition ``type``: True where the outcome is complete, else False, with `reason` and `message`."""
        conditions.set(type, self.complete, reason=self.reason, message=self.message)
