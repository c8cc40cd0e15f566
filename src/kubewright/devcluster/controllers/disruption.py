"""`DisruptionBudgets`: how many pods of each PodDisruptionBudget may be evicted now.

https://kubernetes.io/docs/tasks/run-application/configure-pdb/
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from kubewright.api import Conditions, IntOrString, Selector, Time, controller_of
from kubewright.controller import Context, ControllerSpec, Request, Result, Watch
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.lookups import findable, selected
from kubewright.devcluster.controllers.pods import is_ready, is_terminating
from kubewright.kinds import apps_v1, core_v1, policy_v1

__all__ = ["DisruptionBudgets"]

_EVICTED_WITHIN = 120.0
"""A pod that is still there this many seconds after its eviction was not evicted, and counts again."""


class DisruptionBudgets:
    """Keeps the status of every budget that evictions are decided by."""

    def __init__(self, component: Component) -> None:
        self._clock = component.clock
        self._budgets = component.informer(policy_v1.PodDisruptionBudget)
        findable(component.informer(core_v1.Pod))
        component.add(
            ControllerSpec(
                kind=policy_v1.PodDisruptionBudget,
                reconcile=self.reconcile,
                name="disruption",
                watches=(
                    Watch(core_v1.Pod, to=self._covering),
                    Watch(apps_v1.ReplicaSet, to=self._in_namespace_of),
                    Watch(apps_v1.StatefulSet, to=self._in_namespace_of),
                ),
            )
        )

    async def reconcile(self, budget: policy_v1.PodDisruptionBudget, ctx: Context) -> Result | None:
        selector = budget.spec.selector
        pods = []
        if selector is not None:
            pods = selected(core_v1.Pod, budget.namespace, Selector.from_object(selector), ctx)
        expected, desired = _needs(budget.spec, pods, ctx)
        evicted, look_again = self._evicted(budget, pods)
        healthy = sum(is_ready(pod) and not is_terminating(pod) and pod.name not in evicted for pod in pods)
        allowed = max(healthy - desired, 0) if expected > 0 else 0
        status = budget.status
        status.expected_pods, status.desired_healthy = expected, desired
        status.current_healthy, status.disruptions_allowed = healthy, allowed
        status.disrupted_pods = evicted or None
        status.observed_generation = budget.metadata.generation
        if status.conditions is None:
            status.conditions = []
        conditions = Conditions(status.conditions, generation=budget.metadata.generation, clock=self._clock)
        conditions.set("DisruptionAllowed", allowed > 0, reason="SufficientPods" if allowed else "InsufficientPods")
        return None if look_again is None else Result(requeue_after=look_again)

    def _evicted(
        self, budget: policy_v1.PodDisruptionBudget, pods: Sequence[core_v1.Pod]
    ) -> tuple[dict[str, Time], float | None]:
        """The pods on their way out by an eviction, and when the first of them counts again if it stays."""
        now, staying = self._clock.now(), {pod.name for pod in pods if not is_terminating(pod)}
        left = {
            name: (since, _EVICTED_WITHIN - (now - since).total_seconds())
            for name, since in (budget.status.disrupted_pods or {}).items()
            if name in staying
        }
        evicted = {name: since for name, (since, seconds) in left.items() if seconds > 0}
        waits = [seconds for _, seconds in left.values() if seconds > 0]
        return evicted, min(waits) if waits else None

    # whom a change concerns

    def _covering(self, pod: core_v1.Pod) -> Iterable[Request]:
        return [
            Request(None, budget.namespace, budget.name)
            for budget in self._budgets.list(pod.namespace)
            if budget.spec.selector is not None
            and Selector.from_object(budget.spec.selector).matches(pod.metadata.labels)
        ]

    def _in_namespace_of(self, owner: apps_v1.ReplicaSet | apps_v1.StatefulSet) -> Iterable[Request]:
        return [Request(None, budget.namespace, budget.name) for budget in self._budgets.list(owner.namespace)]


def _needs(spec: policy_v1.PodDisruptionBudgetSpec, pods: Sequence[core_v1.Pod], ctx: Context) -> tuple[int, int]:
    """How many pods there should be, and how many of them must be healthy.

    A share, or a number that may be missing, is one of what the pods' controllers want; pods on their own don't count.
    """
    if spec.max_unavailable is not None:
        expected = _wanted(pods, ctx)
        return expected, max(expected - _share(spec.max_unavailable, expected), 0)
    if isinstance(spec.min_available, str):
        expected = _wanted(pods, ctx)
        return expected, _share(spec.min_available, expected)
    return len(pods), spec.min_available or 0


def _share(value: IntOrString, total: int) -> int:
    if isinstance(value, int):
        return value
    return math.ceil(int(value.removesuffix("%")) * total / 100)


def _wanted(pods: Sequence[core_v1.Pod], ctx: Context) -> int:
    """The replicas of all controllers of the pods together."""
    replicas: dict[str, int] = {}
    for pod in pods:
        owner = controller_of(pod.metadata)
        if owner is None or owner.uid in replicas:
            continue
        found: apps_v1.ReplicaSet | apps_v1.StatefulSet | None = None
        if owner.kind == "ReplicaSet":
            found = ctx.get(apps_v1.ReplicaSet, owner.name)
        elif owner.kind == "StatefulSet":
            found = ctx.get(apps_v1.StatefulSet, owner.name)
        if found is not None and found.uid == owner.uid:
            replicas[owner.uid] = 1 if found.spec.replicas is None else found.spec.replicas
    return sum(replicas.values())
