"""What a StatefulSet does next: the decision, pure.

One step at a time where the set is ordered (each pod waits for its predecessors), all that is possible at once where it
is parallel. Updates always go one by one, from the last pod down, unless ``maxUnavailable`` allows more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

from msgspec import Struct

from kubewright.devcluster.controllers.pods import available_in, is_ended, is_terminating, is_up
from kubewright.devcluster.controllers.statefulset.identity import first_ordinal, revision_of
from kubewright.kinds import apps_v1, core_v1

__all__ = ["Create", "Plan", "Remove", "Step", "decide"]


class Create(Struct, frozen=True):
    ordinal: int
    update: bool
    """Whether it is made from the new template rather than from the current one."""


class Remove(Struct, frozen=True):
    ordinal: int
    why: Literal["scaled", "outdated", "ended"]


Step: TypeAlias = Create | Remove


class Plan(Struct, frozen=True):
    steps: tuple[Step, ...] = ()
    look_again: float | None = None
    """Seconds until a pod that is ready becomes available, where something waits for that."""


class _Outlook:
    """One decision in the making."""

    def __init__(self, statefulset: apps_v1.StatefulSet, pods: Mapping[int, core_v1.Pod], now: datetime) -> None:
        spec = statefulset.spec
        self.pods = pods
        self.now = now
        self.ordered = spec.pod_management_policy != "Parallel"
        self.start = first_ordinal(statefulset)
        self.wanted = range(self.start, self.start + (1 if spec.replicas is None else spec.replicas))
        self.min_ready = spec.min_ready_seconds
        strategy = spec.update_strategy
        self.rolling = strategy is None or strategy.type != "OnDelete"
        rolling = strategy.rolling_update if strategy else None
        self.partition = (rolling.partition if rolling else None) or 0
        self.max_unavailable = _count(rolling.max_unavailable if rolling else None, len(self.wanted))
        self.steps: list[Step] = []
        self.look_again: float | None = None

    def plan(self) -> Plan:
        return Plan(tuple(self.steps), self.look_again)

    def is_available(self, pod: core_v1.Pod) -> bool:
        if not is_up(pod) or is_terminating(pod):
            return False
        wait = available_in(pod, self.min_ready, self.now)
        if wait:
            self.look_again = wait if self.look_again is None else min(wait, self.look_again)
        return wait == 0.0

    # each returns whether an ordered set must stop here

    def fill(self) -> bool:
        for ordinal in self.wanted:
            pod = self.pods.get(ordinal)
            if pod is None:
                self.steps.append(Create(ordinal, update=not self._keeps_current(ordinal)))
                stuck = True
            elif is_ended(pod) and not is_terminating(pod):
                self.steps.append(Remove(ordinal, "ended"))
                stuck = True
            else:
                stuck = not self.is_available(pod)
            if stuck and self.ordered:
                return True
        return False

    def shrink(self) -> bool:
        condemned = sorted((ordinal for ordinal in self.pods if ordinal not in self.wanted), reverse=True)
        unhealthy = [ordinal for ordinal, pod in self.pods.items() if not is_up(pod) or is_terminating(pod)]
        first_unhealthy = min(unhealthy, default=None)
        for ordinal in condemned:
            pod = self.pods[ordinal]
            if is_terminating(pod):
                if self.ordered:
                    return True
                continue
            if self.ordered and not self.is_available(pod) and ordinal != first_unhealthy:
                return True
            self.steps.append(Remove(ordinal, "scaled"))
            if self.ordered:
                return True
        return False

    def update(self, revision: str) -> None:
        if not self.rolling:
            return
        unavailable = sum(
            1 for ordinal in self.wanted if (pod := self.pods.get(ordinal)) is None or not self.is_available(pod)
        )
        for ordinal in reversed(self._above_partition()):
            pod = self.pods.get(ordinal)
            if pod is None:
                continue
            if revision_of(pod) != revision and not is_terminating(pod):
                healthy = self.is_available(pod)
                if healthy and unavailable >= self.max_unavailable:
                    return
                self.steps.append(Remove(ordinal, "outdated"))
                unavailable += 1 if healthy else 0
                if unavailable >= self.max_unavailable:
                    return
            elif not self.is_available(pod) and self.max_unavailable == 1:
                return

    def _above_partition(self) -> range:
        return range(max(self.start, self.partition), self.wanted.stop)

    def _keeps_current(self, ordinal: int) -> bool:
        return self.rolling and ordinal < self.partition


def decide(
    statefulset: apps_v1.StatefulSet, pods: Mapping[int, core_v1.Pod], *, update_revision: str, now: datetime
) -> Plan:
    """What to do now with the set's ``pods``, by ordinal; what is left comes when they have changed."""
    outlook = _Outlook(statefulset, pods, now)
    if outlook.fill() or outlook.shrink():
        return outlook.plan()
    if not outlook.steps:
        outlook.update(update_revision)
    return outlook.plan()


def _count(value: int | str | None, replicas: int) -> int:
    """``maxUnavailable`` as a number, at least one; a percentage is rounded up."""
    if isinstance(value, str):
        text = value.strip().removesuffix("%")
        value = math.ceil(int(text) * replicas / 100) if text.isdecimal() else 1
    return max(1, value or 1)
