"""What a workflow does to the world, and says of it."""

from __future__ import annotations

import asyncio

import pytest

from kubewright import Context, Operator, Requeue, Result
from kubewright.controller.workflow import STEP, NotReady, Step, StepState, Workflow
from kubewright.kinds import core_v1
from kubewright.testing import OpenHarness, containing
from tests.integration.controller.plans import (
    PLAN,
    Plan,
    condition,
    config_map,
    configs,
    plan,
    raising,
    running,
    say,
    step,
    written,
)


async def test_steps_are_applied_in_their_order_and_say_whose_they_are(harness: OpenHarness) -> None:
    operator, outcomes = running(step("c", "b"), step("b", "a"), step("a"))
    here = await harness(operator, objects=[plan()])
    await here.reconcile(PLAN)
    assert written(here) == ["apply a", "apply b", "apply c"]
    assert outcomes[-1].complete
    assert await condition(here) == ("True", "Complete", "done: a, b, c")
    await here.assert_object(
        (core_v1.ConfigMap, "b"),
        {"metadata": {"annotations": {STEP: "b"}, "ownerReferences": containing({"kind": "Plan", "controller": True})}},
    )


async def test_what_is_settled_is_not_written_again(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("off", "a"))
    here = await harness(operator, objects=[plan(off=["off"])])
    await here.settle()
    here.forget()
    await here.reconcile(PLAN)
    assert here.writes == []


async def test_a_step_that_is_not_ready_stops_its_dependents_and_nobody_else(harness: OpenHarness) -> None:
    operator, outcomes = running(step("a"), step("b", "a"), step("c", "b"), step("other"), step("both", "c", "other"))
    here = await harness(operator, objects=[plan(unready=["a"])])
    await here.reconcile(PLAN)
    assert await configs(here) == {"a", "other"}
    assert {each.name: each.state for each in outcomes[-1]} == {
        "a": StepState.NOT_READY,
        "b": StepState.WAITING,
        "c": StepState.WAITING,
        "other": StepState.DONE,
        "both": StepState.WAITING,
    }
    assert await condition(here) == (
        "False",
        "StepNotReady",
        "a is not ready: not yet; b waits for a; c waits for b; both waits for c",
    )
    await say(here)
    await here.reconcile(PLAN)
    assert await configs(here) == {"a", "b", "c", "other", "both"}


async def test_what_waits_stays_as_it_is_and_goes_on_later(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("c", "b"))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    await say(here, text="new", unready=["a"])
    await here.settle()
    assert await configs(here) == {"a", "b", "c"}
    assert [(await here.get(core_v1.ConfigMap, name)).data for name in "abc"] == [
        {"text": "new"},
        {"text": ""},
        {"text": ""},
    ]
    await say(here, text="new")
    await here.settle()
    assert (await here.get(core_v1.ConfigMap, "c")).data == {"text": "new"}


async def test_what_waits_stays_also_where_the_reconciler_declares_another_set_complete(harness: OpenHarness) -> None:
    operator, flow = Operator("plans"), Workflow(step("a"), step("b", "a"))

    @operator.controller(Plan, owns=[core_v1.ConfigMap])
    async def reconcile(plan: Plan, ctx: Context) -> None:
        await flow.run(plan, ctx)
        await ctx.apply_all(config_map("more", plan))

    here = await harness(operator, objects=[plan()])
    await here.settle()
    await say(here, unready=["a"])
    await here.settle()
    assert await configs(here) == {"a", "b", "more"}


async def test_a_check_that_wants_to_look_again_has_the_run_come_again(harness: OpenHarness) -> None:
    operator, _ = running(
        raising("far", lambda: Requeue(30)), raising("near", lambda: Requeue(7)), step("a"), step("b", "a")
    )
    here = await harness(operator, objects=[plan()])
    assert await here.reconcile(PLAN) == Result(requeue_after=7)
    assert await configs(here) == {"a", "b"}
    assert (await condition(here))[2] == (
        "far is not ready: to be looked at again in 30 s; near is not ready: to be looked at again in 7 s"
    )


async def test_a_check_lets_others_go_on_once_it_holds(harness: OpenHarness) -> None:
    async def migrated(plan: Plan, ctx: Context) -> bool | NotReady:
        found = await ctx.read(core_v1.ConfigMap, "a")
        return bool(found and found.data == {"text": "migrated"}) or NotReady("the data is old")

    async def after(plan: Plan, ctx: Context) -> core_v1.ConfigMap:
        assert await ctx.read(core_v1.ConfigMap, "a") is not None
        return config_map("b", plan)

    operator, _ = running(
        step("a"), Step.check("migrated", migrated, after=["a"]), Step.apply("b", after, after=["migrated"])
    )
    here = await harness(operator, objects=[plan()])
    await here.settle()
    assert await configs(here) == {"a"}
    assert (await condition(here))[2] == "migrated is not ready: the data is old; b waits for migrated"
    await say(here, text="migrated")
    await here.settle()
    assert await configs(here) == {"a", "b"}


async def test_branches_go_side_by_side(harness: OpenHarness) -> None:
    async def ten_seconds(plan: Plan, ctx: Context) -> bool:
        await asyncio.sleep(10)
        return True

    operator, _ = running(*[Step.check(name, ten_seconds) for name in "abc"], Step.check("d", ten_seconds, after=["a"]))
    here = await harness(operator, objects=[plan()])
    start = asyncio.get_running_loop().time()
    await here.reconcile(PLAN)
    assert asyncio.get_running_loop().time() - start == pytest.approx(20, abs=1)


async def test_a_run_whose_time_is_up_leaves_no_step_at_work(harness: OpenHarness) -> None:
    ended = list[str]()

    async def for_ever(plan: Plan, ctx: Context) -> bool:
        try:
            await asyncio.sleep(10_000)
        finally:
            ended.append(plan.name)
        return True

    operator, _ = running(Step.check("a", for_ever), Step.check("b", for_ever), timeout=5)
    here = await harness(operator, objects=[plan()])
    with pytest.raises(TimeoutError, match="longer than 5 s"):
        await here.reconcile(PLAN)
    assert ended == ["plan", "plan"]
