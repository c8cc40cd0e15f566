"""`Progress`: one run of a workflow, up and down its graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

from kubewright.api import Resource
from kubewright.api.cancellation import ends_us
from kubewright.controller.children import Child
from kubewright.controller.context import Context
from kubewright.controller.error_status import summary
from kubewright.controller.failures import as_failure
from kubewright.controller.outcome import Requeue
from kubewright.controller.workflow.graph import reversed_within, side_by_side
from kubewright.controller.workflow.outcome import Outcome, StepOutcome, StepState
from kubewright.controller.workflow.steps import STEP, Claims, NotReady, Step

__all__ = ["Progress"]

P = TypeVar("P", bound=Resource)


class Progress(Generic[P]):
    """What has come of each step so far."""

    def __init__(self, steps: Mapping[str, Step[P]], obj: P, ctx: Context[Any]) -> None:
        """``steps`` are in order."""
        self._steps = steps
        self._after = {name: step.after for name, step in steps.items()}
        self._obj = obj
        self._ctx = ctx
        self._claims: Claims = {}
        self._outcomes = dict[str, StepOutcome]()
        self.again = list[float]()
        """Seconds after which steps that are not ready asked to be looked at again."""

    @property
    def outcome(self) -> Outcome:
        return Outcome(tuple(self._outcomes[name] for name in self._steps))

    async def carry_out(self) -> None:
        """Gives each step its turn; afterwards none is left without an outcome."""
        await side_by_side(self._after, lambda name: self._guarded(name, self._turn))

    def want_nothing(self) -> None:
        for name in self._steps:
            self._set(name, StepState.UNWANTED)

    async def tear_down(self, *, while_current: bool) -> None:
        """Deletes what is there of unwanted steps, dependents first, ``while_current`` only for the object as it is now."""
        unwanted = [name for name, each in self._outcomes.items() if each.state is StepState.UNWANTED]
        if not unwanted:
            return
        children = self._ctx.children
        left = defaultdict[str, list[Child]](list)  # by now it says of what wanted steps took over that it is theirs
        for child in children:
            left[child.entry.annotations.get(STEP, "")].append(child)
        if not children.in_step:
            self._postpone(unwanted, "is not wanted; whether something of it is there can't be seen at present")
        elif while_current and any(left[name] for name in unwanted) and not children.owner_is_current:
            self._postpone(unwanted, "is not wanted, or was not before the object changed")
        else:
            graph = reversed_within(unwanted, self._after)
            await side_by_side(
                graph, lambda name: self._guarded(name, lambda name: self._turn_down(name, graph[name], left[name]))
            )

    async def _turn(self, name: str) -> None:
        step = self._steps[name]
        before = [self._outcomes[other] for other in step.after]
        if any(each.state is StepState.UNWANTED for each in before) or not await step.is_wanted(self._obj, self._ctx):
            self._set(name, StepState.UNWANTED)
            return
        blocking = [each.name for each in before if each.state is not StepState.DONE]
        if blocking:
            self._set(name, StepState.WAITING, f"waits for {', '.join(blocking)}")
            return
        verdict = await step.carry_out(self._obj, self._ctx, self._claims)
        if verdict:
            self._set(name, StepState.DONE)
        else:
            why = f": {verdict.message}" if isinstance(verdict, NotReady) else ""
            self._set(name, StepState.NOT_READY, f"is not ready{why}")

    async def _turn_down(self, name: str, dependents: list[str], left: list[Child]) -> None:
        blocking = [other for other in dependents if self._outcomes[other].state is not StepState.UNWANTED]
        if blocking:
            self._set(name, StepState.TEARING_DOWN, f"is not wanted and stays until {', '.join(blocking)} is gone")
            return
        waits = self._steps[name].wait_until_gone
        there = list[Child]()
        for child in left:
            asked = child.entry.deleting
            if not asked:
                asked = await self._ctx.children.delete(child, propagation="Foreground" if waits else None)
                self._ctx.log.info("torn down", step=name, deleted=str(child), asked=asked)
            if (waits or not asked) and self._ctx.children.is_there(child):
                there.append(child)
        if there:
            self._set(name, StepState.TEARING_DOWN, f"is not wanted; still there: {', '.join(map(str, there))}")

    async def _guarded(self, name: str, turn: Callable[[str], Awaitable[None]]) -> None:
        """A step's failure is its own."""
        try:
            await turn(name)
        except Requeue as again:
            self.again.append(again.after)
            self._set(name, StepState.NOT_READY, f"is not ready: to be looked at again in {again.after:g} s")
        except BaseException as error:  # the other branches go on; it is raised when they have ended
            if ends_us(error):
                raise
            self._fail(name, as_failure(error))

    def _fail(self, name: str, error: Exception) -> None:
        self._outcomes[name] = StepOutcome(name, StepState.FAILED, f"failed: {summary(error)}", error)

    def _postpone(self, names: list[str], why: str) -> None:
        for name in names:
            self._set(name, StepState.TEARING_DOWN, why)

    def _set(self, name: str, state: StepState, message: str = "") -> None:
        self._outcomes[name] = StepOutcome(name, state, message)
