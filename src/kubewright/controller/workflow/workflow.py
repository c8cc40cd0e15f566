"""`Workflow`: steps and what comes after what."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Generic, TypeVar

from kubewright.api import Resource
from kubewright.controller.context import Context
from kubewright.controller.outcome import Requeue
from kubewright.controller.workflow.graph import in_order
from kubewright.controller.workflow.outcome import Outcome
from kubewright.controller.workflow.progress import Progress
from kubewright.controller.workflow.steps import Step

__all__ = ["Workflow"]

P = TypeVar("P", bound=Resource)

_LOOK_AGAIN_AFTER = 5.0
"""Seconds; the event of what goes wakes the controller before."""


class _Incomplete(Exception):
    """Not all steps are done, or not all that are not wanted are gone."""


class Workflow(Generic[P]):
    """Steps, each of which may come after others. One for each controller, as a module's constant.

    Guarantees: a run carries out each wanted step whose predecessors are done, those that need not wait for each other
    side by side. A step that is not ready, or fails, stops what comes after it and nothing else; what a stopped step
    applied earlier stays. A step that is not wanted is torn down, after the wanted ones had their turn: first those that
    come after it, which are not wanted then either. When all is done, what steps applied earlier and no longer want,
    also steps that are no longer in the workflow, is pruned as after `Context.apply_all`; before that, nothing is.

    Nothing is remembered from run to run: which step applied an object stands on the object, all else is found out anew.
    A step that waits is not told when it may go on; the change it waits for has to wake the controller, as changes of
    owned objects do.

    Assumptions: the kinds that steps apply are among the controller's ``owns``. Kinds that hold data are torn down only
    where its ``prune`` names them.

    Caveats: while a step waits, what it applied is not kept as it should be. A step may not want an object that a step
    which is not wanted applied, unless it is carried out in the same run: waiting, it would see it go and come again.
    """

    def __init__(self, *steps: Step[P], condition: str | None = None) -> None:
        """``condition``: the type of the condition by which the object's status tells how the run ended, such as Ready.

        Raises ValueError for two steps of one name, a step after one that is not there, and steps that are in a cycle.
        """
        by_name = dict[str, Step[P]]()
        for step in steps:
            if not isinstance(step, Step):
                raise TypeError(f"{step!r} is no step: give what Step.apply(…) or Step.check(…) makes")
            if step.name in by_name:
                raise ValueError(f"two steps have the name {step.name!r}: it tells what belongs to which")
            by_name[step.name] = step
        self._steps = {name: by_name[name] for name in in_order({step.name: step.after for step in steps})}
        self._condition = condition

    async def run(self, obj: P, ctx: Context[Any]) -> Outcome:
        """Goes as far as it can. Returns what came of it, also where steps are not ready or still being torn down.

        Raises, at the end and with the condition set, what a step raised, an ExceptionGroup where several failed in
        different ways; and `Requeue` where a step that did not fail raised that, with the shortest time.
        """
        progress = Progress(self._steps, obj, ctx)
        with suppress(_Incomplete):
            async with ctx.owned():  # broken off, it keeps the run from pruning, whatever else is complete
                await progress.carry_out()
                await progress.tear_down(while_current=True)
                if not progress.outcome.complete:
                    raise _Incomplete
        outcome = progress.outcome
        if self._condition is not None:
            outcome.report(ctx.conditions, self._condition)
        if (error := outcome.error) is not None:
            raise error
        if progress.again:
            raise Requeue(min(progress.again))
        return outcome

    async def tear_down(self, obj: P, ctx: Context[Any]) -> None:
        """Deletes what the steps applied, what comes last first: for a finalizer, where the order matters.

        Returns when it is all gone, or about to go where no step waits for it; raises `Requeue` until then, and what
        went wrong.
        """
        progress = Progress(self._steps, obj, ctx)
        progress.want_nothing()
        await progress.tear_down(while_current=False)
        outcome = progress.outcome
        if (error := outcome.error) is not None:
            raise error
        if not outcome.complete:
            ctx.log.info("being torn down", waiting=outcome.message)
            raise Requeue(_LOOK_AGAIN_AFTER)
