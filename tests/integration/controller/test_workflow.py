"""What a workflow does to the world, and says of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kubewright import ApiError, Context, ObjectMeta, Operator, Requeue, Result, TerminalError
from kubewright.api import set_controller
from kubewright.controller.children import Children
from kubewright.controller.workflow import STEP, NotReady, Outcome, Step, StepState, Workflow
from kubewright.kinds import core_v1
from kubewright.testing import Harness, Match, OpenHarness, Refuse, containing
from tests.integration.controller.plans import PLAN, Plan, config_map, configs, plan, say, step


def running(*steps: Step[Plan], **more: Any) -> tuple[Operator, list[Outcome]]:
    """An operator that runs these steps, and what came of it each time."""
    operator, flow, outcomes = Operator("plans"), Workflow(*steps, condition="Ready"), list[Outcome]()

    @operator.controller(Plan, owns=[core_v1.ConfigMap, core_v1.Secret], **more)
    async def reconcile(plan: Plan, ctx: Context) -> None:
        outcomes.append(await flow.run(plan, ctx))

    return operator, outcomes


async def condition(here: Harness) -> tuple[str, str, str]:
    found = (await here.get(Plan, "plan")).status.conditions
    ready = next(each for each in found if each.type == "Ready")
    return ready.status, ready.reason, ready.message


def written(here: Harness) -> list[str]:
    """What was done to ConfigMaps, such as ``apply a``."""
    calls = [sent.call for sent in here.writes if sent.call.resource == "configmaps"]
    return [f"{call.verb} {call.name}" for call in calls]


async def hold(here: Harness, name: str, *finalizers: str) -> None:
    """Keeps a ConfigMap from going while there are finalizers."""

    def change(found: core_v1.ConfigMap) -> None:
        found.metadata.finalizers = list(finalizers)

    await here.client.edit(core_v1.ConfigMap, name, change, namespace=here.namespace)


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


def raising(name: str, error: Callable[[], BaseException]) -> Step[Plan]:
    async def fail(plan: Plan, ctx: Context) -> bool:
        raise error()

    return Step.check(name, fail)


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
