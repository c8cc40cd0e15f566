"""What the pod reaper promises, in virtual time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from podreaper.operator import KEEP, max_age, pod_reaper

from kubewright import ObjectMeta
from kubewright.kinds import core_v1
from kubewright.manifests import policy_rules
from kubewright.testing import Harness, OpenHarness

reaper = pod_reaper(max_age=timedelta(hours=1))


NODE = core_v1.Node(metadata=ObjectMeta(name="ours"))


def pod(name: str, *, annotations: dict[str, str] | None = None) -> core_v1.Pod:
    """On a node of our own, whose kubelet we are."""
    container = core_v1.Container(name="main", image="busybox")
    return core_v1.Pod(
        metadata=ObjectMeta(name=name, annotations=annotations),
        spec=core_v1.PodSpec(containers=[container], node_name="ours", restart_policy="Never"),
    )


async def finish(here: Harness, name: str, *, phase: str = "Succeeded", evicted: bool = False) -> None:
    """The pod's container ends now."""

    def change(found: core_v1.Pod) -> None:
        found.status.phase = phase
        found.status.start_time = now
        ended = core_v1.ContainerStateTerminated(exit_code=0, finished_at=now)
        status = core_v1.ContainerStatus(
            name="main",
            image="busybox",
            image_id="",
            ready=False,
            restart_count=0,
            state=core_v1.ContainerState(terminated=ended),
        )
        found.status.container_statuses = [] if evicted else [status]

    now = here.cluster.clock.now()
    await here.client.edit(core_v1.Pod, name, change, namespace=here.namespace, subresource="status")


async def names(here: Harness) -> set[str]:
    return {found.name for found in await here.list(core_v1.Pod)}


@pytest.mark.virtual_time
async def test_a_pod_goes_an_hour_after_it_finished(harness: OpenHarness) -> None:
    here = await harness(reaper, objects=[NODE, pod("job")])
    await here.start()
    await here.advance(hours=2)
    await finish(here, "job")
    await here.advance(minutes=59)
    assert await names(here) == {"job"}
    await here.advance(minutes=2)
    assert await names(here) == set()


@pytest.mark.virtual_time
async def test_each_pod_has_its_own_hour(harness: OpenHarness) -> None:
    here = await harness(reaper, objects=[NODE, pod("first"), pod("second"), pod("running")])
    await here.start()
    await finish(here, "first")
    await here.advance(minutes=30)
    await finish(here, "second", phase="Failed")
    await here.advance(minutes=32)
    assert await names(here) == {"second", "running"}
    await here.advance(minutes=30)
    assert await names(here) == {"running"}
    await here.advance(hours=2)
    assert await names(here) == {"running"}


@pytest.mark.virtual_time
async def test_what_finished_while_nobody_looked_goes_at_the_start(harness: OpenHarness) -> None:
    here = await harness(reaper, objects=[NODE, pod("old")])
    await finish(here, "old")
    await here.advance(hours=2)
    assert await names(here) == {"old"}
    await here.start()
    await here.advance(seconds=1)
    assert await names(here) == set()


@pytest.mark.virtual_time
async def test_an_evicted_pod_has_no_containers_that_ended_and_goes_too(harness: OpenHarness) -> None:
    here = await harness(reaper, objects=[NODE, pod("evicted")])
    await here.start()
    await finish(here, "evicted", phase="Failed", evicted=True)
    await here.advance(minutes=62)
    assert await names(here) == set()


@pytest.mark.virtual_time
async def test_a_pod_that_asks_to_be_kept_stays(harness: OpenHarness) -> None:
    here = await harness(reaper, objects=[NODE, pod("evidence", annotations={KEEP: ""})])
    await finish(here, "evidence")
    await here.start()
    await here.advance(hours=3)
    assert await names(here) == {"evidence"}
    assert here.writes == []


@pytest.mark.virtual_time
async def test_only_the_pod_that_was_seen_is_deleted(harness: OpenHarness) -> None:
    here = await harness(reaper, objects=[NODE, pod("job")])
    await finish(here, "job")
    seen = await here.get(core_v1.Pod, "job")
    await here.advance(hours=2)
    await here.reconcile((core_v1.Pod, "job"))
    (deletion,) = here.writes
    assert deletion.call.verb == "delete"
    assert seen.uid.encode() in deletion.body


def test_it_may_do_nothing_but_watch_and_delete_pods() -> None:
    of_pods = [rule.verbs for rule in policy_rules(reaper) if "pods" in (rule.resources or [])]
    assert of_pods == [["delete", "get", "list", "watch"]]
    assert reaper.custom_kinds == []


def test_the_age_comes_from_the_environment() -> None:
    assert max_age({}) == timedelta(hours=1)
    assert max_age({"PODREAPER_MAX_AGE": "90"}) == timedelta(seconds=90)
    with pytest.raises(ValueError, match="PODREAPER_MAX_AGE is '1h': give seconds, such as 3600"):
        max_age({"PODREAPER_MAX_AGE": "1h"})
