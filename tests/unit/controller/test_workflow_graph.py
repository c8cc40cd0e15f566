"""What a workflow refuses when it is declared, and walks over graphs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright import Context, ObjectMeta, Resource
from kubewright.controller.workflow import NotReady, Outcome, Step, StepOutcome, StepState, Workflow
from kubewright.controller.workflow.graph import in_order, reversed_within, side_by_side
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time

Graph = dict[str, list[str]]


def settings(pod: core_v1.Pod) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=pod.name))


def with_dependents(names: Iterable[str], after: Graph) -> set[str]:
    """``names``, and whatever comes after one of them. ``after`` is in order."""
    found = set(names)
    for name, earlier in after.items():
        if not found.isdisjoint(earlier):
            found.add(name)
    return found


def step(name: str, *after: str) -> Step[core_v1.Pod]:
    return Step.apply(name, settings, after=after)


def two_arguments(pod: core_v1.Pod, ctx: Context) -> Any:  # type checkers know that they fit nowhere, too
    return settings(pod)


async def one_argument(pod: core_v1.Pod) -> Any:
    return True


too_many: Any = two_arguments
too_few: Any = one_argument


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: Workflow(step("a"), step("b"), step("a")), "two steps have the name 'a'"),
        (lambda: Workflow(step("a", "c"), step("b")), "step 'a' comes after 'c': there is no such step, only a, b"),
        (lambda: Workflow(step("a", "a")), "step 'a' comes after itself: 'a' after 'a'"),
        (
            lambda: Workflow(step("start"), step("a", "start", "c"), step("b", "a"), step("c", "b")),
            "step 'a' comes after itself: 'a' after 'c' after 'b' after 'a'",
        ),
        (lambda: step("Deploy It"), "a step's name is 'Deploy It': use lower-case letters"),
        (
            lambda: Step.apply("a", settings, after="bc"),
            r'step \'a\': after="bc" is no list of names: write after=\["bc"\]',
        ),
        (
            lambda: Step.apply("a", too_many),
            "step 'a': desired must take the object, and nothing else; make it an `as",
        ),
        (
            lambda: Step.check("a", too_few),
            "step 'a': holds must take the object and the context, as every `async",
        ),
        (lambda: Step.apply("a", settings, after=5), r'step \'a\': after=5 is no list of names: write after=\["dep'),  # type: ignore[arg-type]
        (lambda: Workflow("a"), r"'a' is no step: give what Step.apply\(…\) or Step.check\(…\) makes"),  # type: ignore[arg-type]
        (
            lambda: Step.apply("a", settings, ready=too_many),
            "step 'a': ready must be a plain function of what was applied",
        ),
        (
            lambda: Step.apply("a", settings, ready=too_few),
            "ready must be .*; to await something, make it a Step.check",
        ),
        (lambda: Step.apply("a", settings, ready=5), "step 'a': ready must be a plain function"),  # type: ignore[arg-type]
        (
            lambda: Step.apply("a", settings, when=too_many),
            "step 'a': when must take the object, and nothing else",
        ),
    ],
)
def test_what_is_wrong_is_refused_at_declaration_by_the_steps_name(declare: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        declare()


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Without cycles, given in any order."""
    names = [f"s{number}" for number in range(draw(st.integers(1, 9)))]
    after = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True)) if place else []
        for place, name in enumerate(names)
    }
    return {name: after[name] for name in draw(st.permutations(names))}


@given(graphs())
def test_each_comes_after_all_that_it_comes_after(after: Graph) -> None:
    ordered = in_order(after)
    assert sorted(ordered) == sorted(after)
    for name in after:
        assert all(ordered.index(other) < ordered.index(name) for other in after[name])


@given(graphs(), st.data())
def test_whatever_is_made_a_cycle_is_refused_and_shown(after: Graph, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(after)))
    ordered = {each: after[each] for each in in_order(after)}
    last = data.draw(st.sampled_from(sorted(with_dependents([name], ordered))))
    after = {**after, name: [*after[name], last]}
    with pytest.raises(ValueError, match=r"comes after itself: ('s\d' after )+'s\d'") as refused:
        in_order(after)
    cycle = str(refused.value).partition(": ")[2].replace("'", "").split(" after ")
    assert cycle[0] == cycle[-1]
    assert all(other in after[each] for each, other in itertools.pairwise(cycle))


@given(graphs(), st.data())
def test_a_walk_waits_for_what_must_be_waited_for_and_for_nothing_else(after: Graph, data: st.DataObject) -> None:
    ordered = {name: after[name] for name in in_order(after)}
    takes = {name: data.draw(st.integers(1, 50), label=name) for name in ordered}
    began, ended = dict[str, float](), dict[str, float]()

    async def main() -> None:
        clock = asyncio.get_running_loop().time

        async def do(name: str) -> None:
            began[name] = round(clock(), 6)
            await asyncio.sleep(takes[name])
            ended[name] = round(clock(), 6)

        await side_by_side(ordered, do)

    run_in_virtual_time(main)
    start = min(began.values())
    for name in ordered:
        assert began[name] == max((ended[other] for other in after[name]), default=start)


@given(graphs(), st.data())
def test_the_other_way_round_dependents_come_first(after: Graph, data: st.DataObject) -> None:
    ordered = {name: after[name] for name in in_order(after)}
    chosen = with_dependents(data.draw(st.sets(st.sampled_from(sorted(after)))), ordered)
    back = reversed_within(chosen, ordered)
    assert set(back) == chosen
    assert list(back) == in_order(back)
    assert all((other in back[name]) == (name in after[other]) for name in chosen for other in chosen)


def test_what_must_not_go_on_ends_the_walk_and_leaves_no_task() -> None:
    ended = list[str]()

    async def main() -> None:
        async def do(name: str) -> None:
            try:
                await asyncio.sleep(1 if name == "quick" else 100)
            except asyncio.CancelledError:
                ended.append(name)
                raise
            raise LookupError(name)

        with pytest.raises(ExceptionGroup):
            await side_by_side({"quick": [], "slow": [], "next": ["quick"]}, do)
        assert len(asyncio.all_tasks()) == 1

    run_in_virtual_time(main)
    assert ended == ["slow"]


def outcome(**steps: StepOutcome | StepState) -> Outcome:
    return Outcome(
        tuple(each if isinstance(each, StepOutcome) else StepOutcome(name, each) for name, each in steps.items())
    )


def test_an_outcome_tells_first_what_went_wrong() -> None:
    failure = StepOutcome("c", StepState.FAILED, "failed: LookupError: x", LookupError("x"))
    mixed = outcome(a=StepState.DONE, b=StepOutcome("b", StepState.WAITING, "waits for c"), c=failure)
    assert (mixed.complete, mixed.reason, mixed.message) == (
        False,
        "StepFailed",
        "c failed: LookupError: x; b waits for c",
    )
    done = outcome(a=StepState.DONE, b=StepState.UNWANTED)
    assert (done.complete, done.reason, done.message) == (True, "Complete", "done: a")
    assert outcome(a=StepState.UNWANTED).message == "no step is wanted"
    assert [each.name for each in mixed] == ["a", "b", "c"]
    assert mixed["c"].error is failure.error
    with pytest.raises(KeyError, match="no step 'd', only a, b, c"):
        mixed["d"]


def test_not_ready_is_false_and_says_why() -> None:
    def ready(replicas: int) -> bool | NotReady:
        return replicas == 3 or NotReady(f"{replicas}/3")

    assert ready(3)
    assert not ready(1)
    assert ready(1) == NotReady("1/3")


def test_a_step_takes_each_predecessor_once() -> None:
    given: Any = ["a", "b", "a"]
    assert Step.apply("c", settings, after=given).after == ("a", "b")
    assert isinstance(step("a"), Step)
    assert issubclass(core_v1.Pod, Resource)
