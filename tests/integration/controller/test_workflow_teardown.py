"""What of a workflow goes when it is no longer wanted, and in which order."""

from __future__ import annotations

import asyncio

import pytest

from kubewright import ApiError, Context, ObjectMeta, Operator
from kubewright.api import set_controller
from kubewright.controller.children import Children
from kubewright.controller.workflow import STEP, Step, StepState, Workflow
from kubewright.kinds import core_v1
from kubewright.testing import Match, OpenHarness, Refuse
from tests.integration.controller.plans import (
    PLAN,
    Plan,
    condition,
    config_map,
    configs,
    hold,
    plan,
    running,
    say,
    step,
    written,
)


async def test_what_is_not_wanted_is_torn_down_dependents_first(harness: OpenHarness) -> None:
    operator, outcomes = running(step("a"), step("b", "a"), step("c", "b"), step("d", "c"), step("other", "a"))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    here.forget()
    await say(here, off=["b"])
    await here.settle()
    assert written(here) == ["delete d", "delete c", "delete b"]
    assert await configs(here) == {"a", "other"}
    assert [each.state for each in outcomes[-1] if each.name in "bcd"] == [StepState.UNWANTED] * 3
    assert await condition(here) == ("True", "Complete", "done: a, other")
    await say(here)
    await here.settle()
    assert await configs(here) == {"a", "b", "c", "d", "other"}


async def test_it_is_torn_down_also_while_another_branch_waits_or_fails(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("slow"), step("after-slow", "slow"), step("bad"))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    await say(here, off=["b"], unready=["slow"], broken=["bad"])
    with pytest.raises(LookupError):
        await here.reconcile(PLAN)
    assert await configs(here) == {"a", "slow", "after-slow", "bad"}


async def test_a_restarted_operator_knows_what_is_no_longer_wanted(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("c", "a"))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    await here.stop()
    await say(here, off=["b"], unready=["a"])
    await here.settle()
    assert await configs(here) == {"a", "c"}


async def test_who_waits_until_dependents_are_gone_waits(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("c", "b"), step("d", "c", wait_until_gone=True))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    await hold(here, "d", "example.com/held")
    await say(here, off=["b"])
    await here.settle()
    assert await configs(here) == {"a", "b", "c", "d"}
    assert await condition(here) == (
        "False",
        "TearingDown",
        (
            "b is not wanted and stays until c is gone; c is not wanted and stays until d is gone; "
            "d is not wanted; still there: ConfigMap d"
        ),
    )
    await hold(here, "d")
    await here.settle()
    assert await configs(here) == {"a"}
    assert (await condition(here))[0] == "True"


async def test_who_need_not_wait_goes_once_the_deletion_was_asked_for(harness: OpenHarness) -> None:
    operator, outcomes = running(step("a"), step("b", "a"))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    await hold(here, "b", "example.com/held")
    await say(here, off=["a"])
    await here.settle()
    assert await configs(here) == {"b"}
    assert outcomes[-1].complete


async def test_what_can_not_be_deleted_keeps_what_it_comes_after_and_is_raised(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a"), step("c", "b"), step("d", "b"))
    here = await harness(operator, objects=[plan()])
    await here.reconcile(PLAN)
    await say(here, off=["a"])
    rule = here.faults.add(Refuse(403, "not yours"), Match(verbs=("delete",), name="c"), times=None)
    with pytest.raises(ApiError, match="not yours") as failure:
        await here.reconcile(PLAN)
    assert failure.value.__notes__ == ["in step 'c'"]
    assert await configs(here) == {"a", "b", "c"}
    assert (await condition(here))[2] == (
        "c failed: not yours; a is not wanted and stays until b is gone; b is not wanted and stays until c is gone"
    )
    rule.lift()
    await here.reconcile(PLAN)
    assert await configs(here) == set()


async def test_what_an_older_state_of_the_object_did_not_want_stays(harness: OpenHarness) -> None:
    async def change_of_mind(plan: Plan, ctx: Context) -> bool:
        if plan.spec.off:
            await say(here)
            while ctx.get(Plan, "plan") == plan:  # noqa: ASYNC110 - what is awaited comes with the watch
                await asyncio.sleep(0.01)
        return True

    operator, outcomes = running(step("a"), step("b", "a"), Step.check("sleep", change_of_mind))
    here = await harness(operator, objects=[plan()])
    await here.reconcile(PLAN)
    await say(here, off=["b"])
    await here.reconcile(PLAN)
    assert outcomes[-1]["b"].message == "is not wanted, or was not before the object changed"
    assert await configs(here) == {"a", "b"}


async def test_an_object_that_another_step_takes_over_stays_all_the_while(harness: OpenHarness) -> None:
    def shared(plan: Plan) -> core_v1.ConfigMap:
        return config_map("shared", plan)

    operator, _ = running(
        Step.apply("inside", shared, when=lambda plan: not plan.spec.text),
        Step.apply("outside", shared, when=lambda plan: bool(plan.spec.text)),
    )
    here = await harness(operator, objects=[plan()])
    await here.settle()
    before = await here.get(core_v1.ConfigMap, "shared")
    await say(here, text="outside")
    await here.settle()
    after = await here.get(core_v1.ConfigMap, "shared")
    assert after.uid == before.uid
    assert after.metadata.annotations == {STEP: "outside"}


async def test_gone_means_with_all_that_belongs_to_it(harness: OpenHarness) -> None:
    operator, _ = running(step("a"), step("b", "a", wait_until_gone=True))
    here = await harness(operator, objects=[plan()])
    await here.settle()
    owner = await here.get(core_v1.ConfigMap, "b")
    part = core_v1.ConfigMap(
        metadata=ObjectMeta(name="part-of-b", namespace=here.namespace, finalizers=["example.com/held"])
    )
    set_controller(part, owner)
    await here.create(part)
    await say(here, off=["a"])
    await here.settle()
    assert await configs(here) == {"a", "b", "part-of-b"}
    await hold(here, "part-of-b")
    await here.settle()
    assert await configs(here) == set()


async def test_nothing_counts_as_gone_while_a_kind_is_out_of_step(
    harness: OpenHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator, outcomes = running(step("a"), step("b", "a"))
    here = await harness(operator, objects=[plan(off=["b"])])
    with monkeypatch.context() as patch:
        patch.setattr(Children, "in_step", False)
        await here.reconcile(PLAN)
    await here.reconcile(PLAN)
    assert [each["b"].state for each in outcomes] == [StepState.TEARING_DOWN, StepState.UNWANTED]


async def test_a_step_may_apply_several_objects_and_drop_some_when_all_is_done(harness: OpenHarness) -> None:
    def several(plan: Plan) -> list[core_v1.ConfigMap]:
        return [config_map(f"part-{part}", plan) for part in plan.spec.text]

    def ready(applied: list[core_v1.ConfigMap]) -> bool:
        return all(each.uid for each in applied) and len(applied) > 0

    operator, _ = running(step("a"), step("b", "a"), Step.apply("parts", several, ready=ready))
    here = await harness(operator, objects=[plan(off=["b"])])
    await say(here, text="xyz")
    await here.settle()
    assert await configs(here) == {"a", "b", "part-x", "part-y", "part-z"}
    await say(here, text="x", unready=["a"])
    await here.settle()
    assert await configs(here) == {"a", "b", "part-x", "part-y", "part-z"}
    await say(here, text="x")
    await here.settle()
    assert await configs(here) == {"a", "b", "part-x"}


async def test_steps_that_have_left_the_workflow_are_pruned(harness: OpenHarness) -> None:
    before, _ = running(step("a"), step("old", "a"))
    first = await harness(before, objects=[plan()])
    await first.settle()
    await first.stop()
    after, _ = running(step("a"), step("new", "a"))
    here = await harness(after)
    await here.settle()
    assert await configs(here) == {"a", "new"}


async def test_what_holds_data_is_torn_down_only_where_it_is_named(harness: OpenHarness) -> None:
    def secret(plan: Plan) -> core_v1.Secret:
        return core_v1.Secret(metadata=ObjectMeta(name="key"))

    def wanted(plan: Plan) -> bool:
        return "key" not in plan.spec.off

    for prune, left in (((), ["key"]), ((core_v1.Secret,), [])):
        operator, _ = running(Step.apply("key", secret, when=wanted), prune=prune)
        here = await harness(operator, objects=[] if prune else [plan()])
        await say(here)
        await here.settle()
        await say(here, off=["key"])
        await here.settle()
        assert [each.name for each in await here.list(core_v1.Secret)] == left
        await here.stop()


async def test_a_finalizer_tears_down_what_comes_last_first(harness: OpenHarness) -> None:
    operator = Operator("plans")
    flow = Workflow(step("a"), step("b", "a", wait_until_gone=True), step("c", "b", wait_until_gone=True))

    @operator.controller(Plan, owns=[core_v1.ConfigMap])
    async def reconcile(plan: Plan, ctx: Context) -> None:
        await flow.run(plan, ctx)

    @operator.finalizer(Plan, name="example.com/in-order")
    async def cleanup(plan: Plan, ctx: Context) -> None:
        await flow.tear_down(plan, ctx)

    here = await harness(operator, objects=[plan()])
    await here.settle()
    await hold(here, "c", "example.com/held")
    here.forget()
    await here.client.delete(Plan, "plan", namespace=here.namespace)
    await here.settle()
    assert await configs(here) == {"a", "b", "c"}
    await hold(here, "c")
    await here.settle()
    assert written(here) == ["delete c", "delete b", "delete a"]
    await here.assert_absent(PLAN)
    assert await configs(here) == set()
