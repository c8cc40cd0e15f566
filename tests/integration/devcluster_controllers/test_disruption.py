"""PodDisruptionBudgets, counted by their controller and asked by evictions."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api import LabelSelector, ObjectMeta, TooManyRequests
from kubewright.kinds import apps_v1, core_v1, policy_v1

_APP = {"app": "web"}


def replica_set(replicas: int) -> apps_v1.ReplicaSet:
    template = core_v1.PodTemplateSpec(
        metadata=ObjectMeta(labels=_APP),
        spec=core_v1.PodSpec(containers=[core_v1.Container(name="main", image="nginx")]),
    )
    return apps_v1.ReplicaSet(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=apps_v1.ReplicaSetSpec(replicas=replicas, selector=LabelSelector(match_labels=_APP), template=template),
    )


def budget(**spec: Any) -> policy_v1.PodDisruptionBudget:
    return policy_v1.PodDisruptionBudget(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=policy_v1.PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=_APP), **spec),
    )


async def counted(world: Any) -> tuple[int | None, int | None, int | None, int | None]:
    found = await world.client.get(policy_v1.PodDisruptionBudget, "web", namespace="default")
    status = found.status
    return status.expected_pods, status.desired_healthy, status.current_healthy, status.disruptions_allowed


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"max_unavailable": 1}, (4, 3, 4, 1)),
        ({"max_unavailable": "30%"}, (4, 2, 4, 2)),
        ({"min_available": "51%"}, (4, 3, 4, 1)),
        ({"min_available": 4}, (4, 4, 4, 0)),
    ],
)
def test_a_budget_counts_what_it_can_spare(
    in_cluster: Any, spec: dict[str, Any], expected: tuple[int, int, int, int]
) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(replica_set(4))
        await world.client.create(budget(**spec))
        await world.after(5)
        assert await counted(world) == expected

    in_cluster(scenario)


def test_a_spent_budget_is_whole_again_when_the_pod_was_replaced(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(replica_set(2))
        await world.client.create(budget(max_unavailable=1))
        await world.after(5)
        first, second = [pod.name for pod in await world.client.list(core_v1.Pod, namespace="default")]
        await world.client.evict(first, namespace="default")
        with pytest.raises(TooManyRequests, match="disruption budget"):
            await world.client.evict(second, namespace="default")
        await world.after(10)
        assert await counted(world) == (2, 1, 2, 1)
        await world.client.evict(second, namespace="default")

    in_cluster(scenario)
