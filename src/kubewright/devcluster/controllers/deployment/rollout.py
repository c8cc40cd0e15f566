"""How many pods each replica set of a Deployment should have next: the decision, pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kubewright.kinds import apps_v1

__all__ = ["next_sizes", "replicas_of", "surge_and_unavailable"]


def replicas_of(obj: apps_v1.Deployment | apps_v1.ReplicaSet) -> int:
    return 1 if obj.spec.replicas is None else obj.spec.replicas


def surge_and_unavailable(deployment: apps_v1.Deployment) -> tuple[int, int]:
    """How many pods more, and how many available ones less, than wanted a rollout may have; never both 0."""
    strategy = deployment.spec.strategy
    if strategy is not None and strategy.type == "Recreate":
        return 0, replicas_of(deployment)
    rolling = strategy.rolling_update if strategy else None
    replicas = replicas_of(deployment)
    surge = _count(rolling.max_surge if rolling else None, replicas, round_up=True)
    unavailable = _count(rolling.max_unavailable if rolling else None, replicas, round_up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def _count(value: int | str | None, replicas: int, *, round_up: bool) -> int:
    if value is None:
        value = "25%"
    if isinstance(value, int):
        return value
    text = value.strip().removesuffix("%")
    share = int(text) * replicas / 100 if text.isdecimal() else 0.0
    return math.ceil(share) if round_up else math.floor(share)


def next_sizes(
    deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet | None, old: Sequence[apps_v1.ReplicaSet]
) -> dict[str, int]:
    """The replica sets, by name, whose size should change now, and to what. ``old`` is oldest first."""
    strategy = deployment.spec.strategy
    if strategy is not None and strategy.type == "Recreate":
        return _recreate(deployment, new, old)
    if new is None:  # paused before the first rollout of this template: keep what there is
        return _resize_newest(deployment, old)
    size = _size_of_new(deployment, new, old)
    if size != replicas_of(new):
        return {new.name: size}
    return _shrink_old(deployment, new, old)


def _recreate(
    deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet | None, old: Sequence[apps_v1.ReplicaSet]
) -> dict[str, int]:
    if running := {each.name: 0 for each in old if replicas_of(each)}:
        return running
    if new is None or any(each.status.replicas for each in old) or replicas_of(new) == replicas_of(deployment):
        return {}
    return {new.name: replicas_of(deployment)}


def _resize_newest(deployment: apps_v1.Deployment, old: Sequence[apps_v1.ReplicaSet]) -> dict[str, int]:
    active = [each for each in old if replicas_of(each)]
    if len(active) != 1 or replicas_of(active[0]) == replicas_of(deployment):
        return {}
    return {active[0].name: replicas_of(deployment)}


def _size_of_new(deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet, old: Sequence[apps_v1.ReplicaSet]) -> int:
    wanted, present = replicas_of(deployment), replicas_of(new)
    if present >= wanted:
        return wanted
    surge, _ = surge_and_unavailable(deployment)
    room = wanted + surge - present - sum(replicas_of(each) for each in old)
    return present + max(0, min(room, wanted - present))


def _shrink_old(
    deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet, old: Sequence[apps_v1.ReplicaSet]
) -> dict[str, int]:
    _, unavailable = surge_and_unavailable(deployment)
    least = replicas_of(deployment) - unavailable
    sizes = {each.name: replicas_of(each) for each in old}
    available = {each.name: min(each.status.available_replicas or 0, replicas_of(each)) for each in old}
    new_available = min(new.status.available_replicas or 0, replicas_of(new))
    budget = sum(sizes.values()) + replicas_of(new) - least - (replicas_of(new) - new_available)
    for each in old:  # those that do not work are no loss
        broken = min(max(budget, 0), sizes[each.name] - available[each.name])
        sizes[each.name] -= broken
        budget -= broken
    spare = sum(available.values()) + new_available - least
    for each in old:
        fewer = min(max(spare, 0), sizes[each.name])
        sizes[each.name] -= fewer
        spare -= fewer
    return {each.name: sizes[each.name] for each in old if sizes[each.name] != replicas_of(each)}
