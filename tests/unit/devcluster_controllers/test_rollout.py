"""What a StatefulSet does next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.api import LabelSelector, ObjectMeta
from kubewright.devcluster.controllers.statefulset.identity import REVISION_LABEL, ordinal_of
from kubewright.devcluster.controllers.statefulset.rollout import Create, Plan, Remove, decide
from kubewright.kinds import apps_v1, core_v1

NOW = datetime(2026, 1, 1, tzinfo=UTC)
State = Literal["ready", "starting", "stopping", "failed"]


def statefulset(replicas: int = 3, **spec: Any) -> apps_v1.StatefulSet:
    return apps_v1.StatefulSet(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=apps_v1.StatefulSetSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels={"app": "web"}),
            template=core_v1.PodTemplateSpec(spec=core_v1.PodSpec(containers=[])),
            **spec,
        ),
    )


def rolling(partition: int | None = None, max_unavailable: int | str | None = None) -> Any:
    return apps_v1.StatefulSetUpdateStrategy(
        type="RollingUpdate",
        rolling_update=apps_v1.RollingUpdateStatefulSetStrategy(partition=partition, max_unavailable=max_unavailable),
    )


def pod(ordinal: int, state: State = "ready", revision: str = "new", since: datetime = NOW) -> core_v1.Pod:
    ready = core_v1.PodCondition(
        type="Ready", status="True" if state in {"ready", "stopping"} else "False", last_transition_time=since
    )
    return core_v1.Pod(
        metadata=ObjectMeta(
            name=f"web-{ordinal}",
            labels={REVISION_LABEL: revision},
            deletion_timestamp=NOW if state == "stopping" else None,
        ),
        spec=core_v1.PodSpec(containers=[]),
        status=core_v1.PodStatus(
            phase={"starting": "Pending", "failed": "Failed"}.get(state, "Running"), conditions=[ready]
        ),
    )


def plan(spec: apps_v1.StatefulSet, *pods: core_v1.Pod) -> Plan:
    return decide(spec, {int(each.name[4:]): each for each in pods}, update_revision="new", now=NOW)


def steps(spec: apps_v1.StatefulSet, *pods: core_v1.Pod) -> tuple[Any, ...]:
    return plan(spec, *pods).steps


def test_an_ordered_set_makes_one_pod_at_a_time() -> None:
    assert steps(statefulset()) == (Create(0, update=True),)
    assert steps(statefulset(), pod(0, "starting")) == ()
    assert steps(statefulset(), pod(0)) == (Create(1, update=True),)


def test_a_gap_is_filled_first() -> None:
    assert steps(statefulset(), pod(0), pod(2)) == (Create(1, update=True),)


def test_a_parallel_set_makes_all_at_once() -> None:
    made = steps(statefulset(pod_management_policy="Parallel"), pod(1, "starting"))
    assert made == (Create(0, update=True), Create(2, update=True))


def test_a_pod_that_ended_is_replaced() -> None:
    assert steps(statefulset(), pod(0, "failed"), pod(1)) == (Remove(0, "ended"),)


def test_scaling_down_goes_from_the_end_and_waits_for_each() -> None:
    assert steps(statefulset(1), pod(0), pod(1), pod(2)) == (Remove(2, "scaled"),)
    assert steps(statefulset(1), pod(0), pod(1), pod(2, "stopping")) == ()
    assert steps(statefulset(1, pod_management_policy="Parallel"), pod(0), pod(1), pod(2)) == (
        Remove(2, "scaled"),
        Remove(1, "scaled"),
    )


def test_scaling_to_nothing() -> None:
    assert steps(statefulset(0), pod(0)) == (Remove(0, "scaled"),)
    assert steps(statefulset(0)) == ()


def test_an_update_replaces_the_last_outdated_pod() -> None:
    assert steps(statefulset(), pod(0, revision="old"), pod(1, revision="old"), pod(2)) == (Remove(1, "outdated"),)


def test_an_update_waits_for_the_pods_it_has_replaced() -> None:
    parallel = statefulset(pod_management_policy="Parallel")
    assert steps(parallel, pod(0, revision="old"), pod(1, revision="old"), pod(2, "starting")) == ()


def test_a_partition_keeps_lower_ordinals() -> None:
    held = statefulset(update_strategy=rolling(partition=2))
    assert steps(held, pod(0, revision="old"), pod(1, revision="old"), pod(2)) == ()
    assert steps(held, pod(1, revision="old"), pod(2)) == (Create(0, update=False),)


def test_more_than_one_pod_may_be_unavailable() -> None:
    loose = statefulset(4, update_strategy=rolling(max_unavailable="50%"))
    old = [pod(ordinal, revision="old") for ordinal in range(4)]
    assert steps(loose, *old) == (Remove(3, "outdated"), Remove(2, "outdated"))


def test_on_delete_replaces_nothing_itself() -> None:
    manual = statefulset(update_strategy=apps_v1.StatefulSetUpdateStrategy(type="OnDelete"))
    assert steps(manual, *(pod(ordinal, revision="old") for ordinal in range(3))) == ()


def test_a_ready_pod_counts_only_after_min_ready_seconds() -> None:
    young = plan(statefulset(min_ready_seconds=10), pod(0, since=NOW - timedelta(seconds=4)))
    assert young == Plan((), look_again=6.0)
    assert steps(statefulset(min_ready_seconds=10), pod(0, since=NOW - timedelta(seconds=10))) == (
        Create(1, update=True),
    )


STATES = st.sampled_from(["ready", "starting", "stopping", "failed", "missing"])


@given(
    states=st.lists(st.tuples(STATES, st.sampled_from(["old", "new"])), max_size=6),
    replicas=st.integers(0, 5),
    policy=st.sampled_from(["OrderedReady", "Parallel"]),
)
def test_whatever_there_is_the_plan_makes_sense(states: list[Any], replicas: int, policy: str) -> None:
    pods = [pod(number, state, revision) for number, (state, revision) in enumerate(states) if state != "missing"]
    present = {int(each.name[4:]): each for each in pods}
    made = steps(statefulset(replicas, pod_management_policy=policy), *pods)
    if policy == "OrderedReady":
        assert len(made) <= 1
    for step in made:
        if isinstance(step, Create):
            assert step.ordinal not in present
            assert step.ordinal < replicas
        else:
            assert present[step.ordinal].metadata.deletion_timestamp is None


@pytest.mark.parametrize(
    ("name", "ordinal"), [("web-0", 0), ("web-12", 12), ("web-01", None), ("web", None), ("other-web-0", None)]
)
def test_only_pods_of_the_right_name_are_the_sets(name: str, ordinal: int | None) -> None:
    found = pod(0)
    found.metadata.name = name
    assert ordinal_of(statefulset(), found) == ordinal
