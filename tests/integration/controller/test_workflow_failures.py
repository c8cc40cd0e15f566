"""Steps that fail, or are wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kubewright import TerminalError
from kubewright.controller.workflow import Step
from kubewright.kinds import core_v1
from kubewright.testing import OpenHarness
from tests.integration.controller.plans import (
    PLAN,
    Plan,
    condition,
    config_map,
    configs,
    plan,
    raising,
    running,
    step,
)


async def test_a_failing_step_stops_its_dependents_only_and_is_raised_at_the_end(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("c", "b"), step("other", "a"))
    here = await harness(operator, objects=[plan(broken=["b"])])
    with pytest.raises(LookupError, match="b is broken") as failure:
        await here.reconcile(PLAN)
    assert failure.value.__notes__ == ["in step 'b'"]
    assert await configs(here) == {"a", "other"}
    assert (await condition(here))[:2] == ("False", "StepFailed")
    assert "b failed: LookupError: b is broken; c waits for b" in (await condition(here))[2]


async def test_several_failures_are_one_group(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b"), step("c", "a", "b"))
    here = await harness(operator, objects=[plan(broken=["a", "b"])])
    with pytest.raises(ExceptionGroup, match="2 steps failed: a, b") as failures:
        await here.reconcile(PLAN)
    assert [str(each) for each in failures.value.exceptions] == ["a is broken", "b is broken"]


async def test_failures_that_a_controller_knows_stay_what_they_are(harness: OpenHarness) -> None:
    operator, _ = running(raising("a", lambda: TerminalError("one")), raising("b", lambda: TerminalError("two")))
    here = await harness(operator, objects=[plan()])
    with pytest.raises(TerminalError, match="one") as failure:
        await here.reconcile(PLAN)
    assert failure.value.__notes__ == ["in step 'a'", "in step 'b': two"]
    await here.settle()  # it is not tried again


@pytest.mark.parametrize(
    ("error", "what"),
    [(lambda: SystemExit(3), "asked for the process to exit"), (asyncio.CancelledError, "was cancelled from within")],
)
async def test_a_step_ends_neither_the_process_nor_other_steps(
    harness: OpenHarness, error: Callable[[], BaseException], what: str
) -> None:
    operator, _ = running(raising("bad", error), step("a"))
    here = await harness(operator, objects=[plan()])
    with pytest.raises(RuntimeError, match=what) as failure:
        await here.reconcile(PLAN)
    assert isinstance(failure.value.__cause__, type(error()))
    assert await configs(here) == {"a"}


async def test_one_step_does_not_fight_with_itself(harness: OpenHarness) -> None:
    operator, _ = running(Step.apply("both", lambda plan: [config_map("same", plan), config_map("same", plan)]))
    here = await harness(operator, objects=[plan()])
    with pytest.raises(ValueError, match=r"step 'both' applies ConfigMap .*same twice: each would set back"):
        await here.reconcile(PLAN)


async def test_two_steps_do_not_fight_over_one_object(harness: OpenHarness) -> None:
    def same(plan: Plan) -> core_v1.ConfigMap:
        return config_map("a", plan)

    operator, _ = running(step("a"), Step.apply("z", same, after=["a"]))
    here = await harness(operator, objects=[plan()])
    with pytest.raises(ValueError, match="steps 'a' and 'z' both apply ConfigMap a: leave it"):
        await here.reconcile(PLAN)


nothing: Any = lambda plan: None  # noqa: E731 - type checkers know that it fits nowhere, too
text: Any = lambda plan: "yes"  # noqa: E731


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Step.apply("x", nothing), "step 'x' wants None applied: it must return an object"),
        (Step.check("x", nothing), r"step 'x' returned None: it must return True, False or NotReady\(…\)"),
        (Step.check("x", text, when=text), "when of step 'x' returned 'yes': it must return True or False"),
        (
            Step.apply("x", lambda plan: config_map("x", plan), ready=nothing),
            "ready of step 'x' returned None: it must return True, False or NotReady",
        ),
    ],
)
async def test_what_a_steps_function_must_return_is_told(harness: OpenHarness, bad: Step[Any], message: str) -> None:
    operator, _ = running(bad)
    here = await harness(operator, objects=[plan()])
    with pytest.raises(TypeError, match=message):
        await here.reconcile(PLAN)
