"""The operator: a pod that finished a while ago is deleted. A built-in kind, a timer, and no kind of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta

from kubewright import Context, Operator
from kubewright.controller import appeared, every
from kubewright.kinds import core_v1

KEEP = "podreaper.example.com/keep"
"""The annotation by which a pod asks to be left alone, whatever its value."""
MAX_AGE = "PODREAPER_MAX_AGE"
"""The environment variable with the seconds that a pod may stay after it finished; default one hour."""


def pod_reaper(*, max_age: timedelta, look_every: timedelta = timedelta(minutes=1)) -> Operator:
    operator = Operator("podreaper")

    @operator.controller(
        core_v1.Pod,
        watches=[every(look_every.total_seconds())],
        when=appeared,  # at the start; later a pod that finished no longer changes, and only time makes it old
        prune=[core_v1.Pod],  # may be deleted
    )
    async def reap(pod: core_v1.Pod, ctx: Context) -> None:
        finished = finished_at(pod)
        if finished is None or ctx.now() - finished < max_age or KEEP in (pod.metadata.annotations or {}):
            return
        await ctx.delete(pod)
        ctx.log.info("pod deleted", phase=pod.status.phase, finished=finished.isoformat())

    return operator


def finished_at(pod: core_v1.Pod) -> datetime | None:
    """When the last container ended; None for a pod that has not finished, or is on its way out."""
    if pod.status.phase not in {"Succeeded", "Failed"} or pod.metadata.deletion_timestamp is not None:
        return None
    states = [container.state for container in pod.status.container_statuses or []]
    ends = [state.terminated.finished_at for state in states if state and state.terminated]
    # one that was evicted, or refused by its node, may not say anything of its containers
    return max((end for end in ends if end), default=pod.status.start_time or pod.metadata.creation_timestamp)


def max_age(environment: Mapping[str, str]) -> timedelta:
    text = environment.get(MAX_AGE, "3600")
    try:
        return timedelta(seconds=float(text))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{MAX_AGE} is {text!r}: give seconds, such as 3600") from error


operator = pod_reaper(max_age=max_age(os.environ))
