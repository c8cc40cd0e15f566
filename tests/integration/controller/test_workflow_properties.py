"""Workflows with random graphs, beside a model of what should come of them."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubewright import Context, Operator
from kubewright.api import LoopClock
from kubewright.controller.workflow import Outcome, StepState, Workflow
from kubewright.controller.workflow.graph import in_order
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.testing import Harness, run_in_virtual_time
from tests.integration.controller.plans import PLAN, Plan, configs, plan, say, step

NAMES = ("a", "b", "c", "d", "e", "f")


@dataclass
class Phase:
    """One state of the world in which the workflow runs, maybe of a newer version of the operator."""

    after: dict[str, list[str]]
    off: set[str]
    unready: set[str]
    broken: set[str]
    twice: bool


@st.composite
def phases(draw: st.DrawFn) -> Phase:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    after = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True, max_size=2)) if place else []
        for place, name in enumerate(names)
    }
    some = st.sets(st.sampled_from(names), max_size=2)
    given = {name: after[name] for name in draw(st.permutations(names))}
    return Phase(
        given,
        draw(some),
        draw(some),
        draw(st.sampled_from([set(), set(), {draw(st.sampled_from(names))}])),
        draw(st.booleans()),
    )


@dataclass
class Model:
    """What should be there: the names of the steps whose objects are."""

    there: set[str] = field(default_factory=set)

    def run(self, phase: Phase) -> dict[str, StepState]:
        states = dict[str, StepState]()
        for name in in_order(phase.after):
            before = {states[other] for other in phase.after[name]}
            if StepState.UNWANTED in before or name in phase.off:
                states[name] = StepState.UNWANTED
            elif before - {StepState.DONE}:
                states[name] = StepState.WAITING
            elif name in phase.broken:
                states[name] = StepState.FAILED
            elif name in phase.unready:
                states[name] = StepState.NOT_READY
            else:
                states[name] = StepState.DONE
        applied = {name for name, state in states.items() if state in (StepState.DONE, StepState.NOT_READY)}
        self.there |= applied
        self.there -= {name for name, state in states.items() if state is StepState.UNWANTED}
        if set(states.values()) <= {StepState.DONE, StepState.UNWANTED}:
            self.there &= applied
        return states


@settings(max_examples=60)
@given(st.lists(phases(), min_size=1, max_size=5), st.integers(0, 5))
def test_whatever_the_graph_what_is_there_is_what_should_be(history: list[Phase], seed: int) -> None:
    run_in_virtual_time(lambda: _check(history, seed))


async def _check(history: list[Phase], seed: int) -> None:
    operator, outcomes, now = Operator("plans"), list[Outcome](), list[Phase]()

    @operator.controller(Plan, owns=[core_v1.ConfigMap])
    async def reconcile(plan: Plan, ctx: Context) -> None:
        flow = Workflow(*[step(name, *after) for name, after in now[-1].after.items()])
        outcomes.append(await flow.run(plan, ctx))

    model = Model()
    async with (
        DevCluster(clock=LoopClock(), rng=random.Random(seed)) as cluster,
        Harness.opened(operator, cluster, objects=[plan()], seed=seed) as here,
    ):
        for phase in history:
            now.append(phase)
            await say(here, off=sorted(phase.off), unready=sorted(phase.unready), broken=sorted(phase.broken))
            here.forget()
            expected = model.run(phase)
            fails = StepState.FAILED in expected.values()
            with pytest.raises(LookupError) if fails else nullcontext():
                await here.reconcile(PLAN)
            if not fails:
                assert {each.name: each.state for each in outcomes[-1]} == expected
            assert await configs(here) == model.there
            _check_order(here, phase)
            if phase.twice:
                here.forget()
                with pytest.raises(LookupError) if fails else nullcontext():
                    await here.reconcile(PLAN)
                assert [sent for sent in here.writes if sent.call.resource != "events.events.k8s.io"] == []


def _check_order(here: Harness, phase: Phase) -> None:
    """What comes after something is applied after it, and deleted before it."""
    calls = [sent.call for sent in here.writes if sent.call.resource == "configmaps"]
    done = {verb: [call.name for call in calls if call.verb == verb] for verb in ("apply", "delete")}
    assert len(calls) == len(done["apply"]) + len(done["delete"])
    for name, earlier in phase.after.items():
        for other in earlier:
            for verb, order in (("apply", (other, name)), ("delete", (name, other))):
                if set(order) <= set(done[verb]):
                    first, second = (done[verb].index(each) for each in order)
                    assert first < second
