"""StatefulSets: order, identity, volumes, rollouts."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api import LabelSelector, ObjectMeta, controller_of
from kubewright.devcluster.controllers import READY_AFTER_ANNOTATION, Simulation
from kubewright.kinds import apps_v1, core_v1


def statefulset(replicas: int = 3, *, image: str = "nginx", volumes: bool = False, **spec: Any) -> apps_v1.StatefulSet:
    claim = core_v1.PersistentVolumeClaim(
        metadata=ObjectMeta(name="data"),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            resources=core_v1.VolumeResourceRequirements(requests={"storage": "1Gi"}),
        ),
    )
    return apps_v1.StatefulSet(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=apps_v1.StatefulSetSpec(
            replicas=replicas,
            service_name="web",
            selector=LabelSelector(match_labels={"app": "web"}),
            template=core_v1.PodTemplateSpec(
                metadata=ObjectMeta(labels={"app": "web"}),
                spec=core_v1.PodSpec(containers=[core_v1.Container(name="main", image=image)]),
            ),
            volume_claim_templates=[claim] if volumes else None,
            **spec,
        ),
    )


async def read(world: Any) -> apps_v1.StatefulSet:
    found: apps_v1.StatefulSet = await world.client.get(apps_v1.StatefulSet, "web", namespace="default")
    return found


def test_pods_start_one_after_the_other(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset())
        await world.after(0.9)
        assert await world.names(core_v1.Pod) == ["web-0"]
        await world.after(1.0)
        assert await world.names(core_v1.Pod) == ["web-0", "web-1"]
        await world.after(2.0)
        status = (await read(world)).status
        assert (status.replicas, status.ready_replicas, status.available_replicas) == (3, 3, 3)
        assert (status.current_replicas, status.updated_replicas) == (3, 3)
        assert status.current_revision == status.update_revision
        assert status.observed_generation == 1
        assert status.collision_count == 0

    in_cluster(scenario)


def test_parallel_pods_start_together(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(pod_management_policy="Parallel"))
        await world.after(0.5)
        assert await world.names(core_v1.Pod) == ["web-0", "web-1", "web-2"]

    in_cluster(scenario)


def test_a_pod_has_its_own_name_labels_host_name_and_volume(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(1, volumes=True))
        await world.after(2)
        pod = await world.client.get(core_v1.Pod, "web-0", namespace="default")
        revision = (await read(world)).status.current_revision
        assert pod.metadata.labels == {
            "app": "web",
            "apps.kubernetes.io/pod-index": "0",
            "controller-revision-hash": revision,
            "statefulset.kubernetes.io/pod-name": "web-0",
        }
        assert (pod.spec.hostname, pod.spec.subdomain) == ("web-0", "web")
        assert pod.metadata.generate_name == "web-"
        owner = controller_of(pod.metadata)
        assert owner is not None
        assert (owner.kind, owner.name, owner.block_owner_deletion) == ("StatefulSet", "web", True)
        assert pod.spec.volumes[0].persistent_volume_claim.claim_name == "data-web-0"
        claim = await world.client.get(core_v1.PersistentVolumeClaim, "data-web-0", namespace="default")
        assert claim.metadata.labels == {"app": "web"}
        assert claim.status.phase == "Bound"
        revisions = await world.client.list(apps_v1.ControllerRevision, namespace="default")
        assert [(each.name, each.revision) for each in revisions] == [(revision, 1)]

    in_cluster(scenario)


def test_scaling_down_removes_the_last_pod_first_and_keeps_its_volume(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(3, volumes=True))
        await world.after(5)
        await world.client.scale(apps_v1.StatefulSet, "web", 1, namespace="default")
        await world.after(0.3)
        terminating = [
            pod.name
            for pod in await world.client.list(core_v1.Pod, namespace="default")
            if pod.metadata.deletion_timestamp
        ]
        assert terminating == ["web-2"]
        await world.after(3)
        assert await world.names(core_v1.Pod) == ["web-0"]
        assert await world.names(core_v1.PersistentVolumeClaim) == ["data-web-0", "data-web-1", "data-web-2"]
        assert (await read(world)).status.replicas == 1
        deleted = [message for reason, message in await world.events("web") if reason == "SuccessfulDelete"]
        assert deleted == [
            "delete Pod web-2 in StatefulSet web successful",
            "delete Pod web-1 in StatefulSet web successful",
        ]

    in_cluster(scenario)


def set_image(image: str) -> Any:
    def change(obj: apps_v1.StatefulSet) -> None:
        assert obj.spec.template.spec is not None
        obj.spec.template.spec.containers[0].image = image

    return change


async def images(world: Any) -> dict[str, str]:
    pods = await world.client.list(core_v1.Pod, namespace="default")
    return {pod.name: pod.spec.containers[0].image for pod in pods}


def test_a_new_template_is_rolled_out_from_the_last_pod_down(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset())
        await world.after(5)
        await world.client.edit(apps_v1.StatefulSet, "web", set_image("nginx:2"), namespace="default")
        await world.after(2)
        assert (await images(world))["web-0"] == "nginx"
        status = (await read(world)).status
        assert status.current_revision != status.update_revision
        assert status.updated_replicas == 1
        await world.after(5)
        assert await images(world) == dict.fromkeys(("web-0", "web-1", "web-2"), "nginx:2")
        status = (await read(world)).status
        assert status.current_revision == status.update_revision
        assert (status.current_replicas, status.updated_replicas) == (3, 3)
        assert len(await world.names(apps_v1.ControllerRevision)) == 2

    in_cluster(scenario)


def test_a_partition_holds_the_rollout_back(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        strategy = apps_v1.StatefulSetUpdateStrategy(
            type="RollingUpdate", rolling_update=apps_v1.RollingUpdateStatefulSetStrategy(partition=2)
        )
        await world.client.create(statefulset(update_strategy=strategy))
        await world.after(5)
        await world.client.edit(apps_v1.StatefulSet, "web", set_image("nginx:2"), namespace="default")
        await world.after(10)
        assert await images(world) == {"web-0": "nginx", "web-1": "nginx", "web-2": "nginx:2"}
        await world.client.delete(core_v1.Pod, "web-0", namespace="default")
        await world.after(3)
        assert (await images(world))["web-0"] == "nginx"

    in_cluster(scenario)


def test_on_delete_waits_for_somebody_to_delete_the_pods(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(2, update_strategy=apps_v1.StatefulSetUpdateStrategy(type="OnDelete")))
        await world.after(5)
        await world.client.edit(apps_v1.StatefulSet, "web", set_image("nginx:2"), namespace="default")
        await world.after(10)
        assert await images(world) == {"web-0": "nginx", "web-1": "nginx"}
        await world.client.delete(core_v1.Pod, "web-1", namespace="default")
        await world.after(3)
        assert await images(world) == {"web-0": "nginx", "web-1": "nginx:2"}

    in_cluster(scenario)


def test_a_rolled_back_template_is_an_old_revision_with_a_new_number(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(1))
        await world.after(3)
        first = (await read(world)).status.current_revision
        for image in ("nginx:2", "nginx"):
            await world.client.edit(apps_v1.StatefulSet, "web", set_image(image), namespace="default")
            await world.after(5)
        assert (await read(world)).status.current_revision == first
        revisions = await world.client.list(apps_v1.ControllerRevision, namespace="default")
        assert sorted(each.revision for each in revisions) == [2, 3]

    in_cluster(scenario)


def test_old_revisions_go_beyond_the_history_limit(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(1, revision_history_limit=1))
        for number in range(4):
            await world.after(5)
            await world.client.edit(apps_v1.StatefulSet, "web", set_image(f"nginx:{number}"), namespace="default")
        await world.after(5)
        assert len(await world.names(apps_v1.ControllerRevision)) == 2

    in_cluster(scenario)


def test_a_deleted_pod_comes_back_with_the_same_volume(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(2, volumes=True))
        await world.after(5)
        before = await world.client.get(core_v1.Pod, "web-0", namespace="default")
        await world.client.delete(core_v1.Pod, "web-0", namespace="default")
        await world.after(3)
        after = await world.client.get(core_v1.Pod, "web-0", namespace="default")
        assert after.uid != before.uid
        assert after.status.phase == "Running"
        assert len(await world.names(core_v1.PersistentVolumeClaim)) == 2

    in_cluster(scenario)


def test_pods_left_behind_are_adopted_and_strangers_are_not(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(1))
        await world.after(3)
        before = await world.client.get(core_v1.Pod, "web-0", namespace="default")
        await world.client.delete(apps_v1.StatefulSet, "web", namespace="default", propagation="Orphan")
        await world.after(1)
        assert controller_of((await world.client.get(core_v1.Pod, "web-0", namespace="default")).metadata) is None
        created = await world.client.create(statefulset(1))
        await world.after(3)
        after = await world.client.get(core_v1.Pod, "web-0", namespace="default")
        assert after.uid == before.uid
        owner = controller_of(after.metadata)
        assert owner is not None
        assert owner.uid == created.uid

    in_cluster(scenario)


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (("Delete", "Retain"), []),
        (("Retain", "Delete"), ["data-web-0"]),
        (("Retain", "Retain"), ["data-web-0", "data-web-1"]),
    ],
)
def test_claims_go_as_the_retention_policy_says(in_cluster: Any, policy: tuple[str, str], left: list[str]) -> None:
    async def scenario(world: Any) -> None:
        retention = apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy(
            when_deleted=policy[0], when_scaled=policy[1]
        )
        await world.client.create(statefulset(2, volumes=True, persistent_volume_claim_retention_policy=retention))
        await world.after(5)
        await world.client.scale(apps_v1.StatefulSet, "web", 1, namespace="default")
        await world.after(3)
        await world.client.delete(apps_v1.StatefulSet, "web", namespace="default")
        await world.after(3)
        assert await world.names(core_v1.PersistentVolumeClaim) == left

    in_cluster(scenario)


def test_min_ready_seconds_delay_the_next_pod(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(2, min_ready_seconds=10))
        await world.after(8)
        assert await world.names(core_v1.Pod) == ["web-0"]
        status = (await read(world)).status
        assert (status.ready_replicas, status.available_replicas) == (1, 0)
        await world.after(6)
        assert await world.names(core_v1.Pod) == ["web-0", "web-1"]

    in_cluster(scenario)


def test_ordinals_can_start_elsewhere(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(2, ordinals=apps_v1.StatefulSetOrdinals(start=5)))
        await world.after(4)
        assert await world.names(core_v1.Pod) == ["web-5", "web-6"]

    in_cluster(scenario)


def test_a_settled_statefulset_writes_nothing(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(3, volumes=True))
        await world.after(10)
        world.forget_requests()
        await world.after(3_600)
        assert world.writes == []
        assert {dict(request.query).get("watch") for request in world.requests} == {"true"}

    in_cluster(scenario)


def test_the_same_seed_gives_the_same_trace(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(3, volumes=True))
        await world.after(10)
        await world.client.delete(apps_v1.StatefulSet, "web", namespace="default")
        await world.after(10)

    assert in_cluster(scenario).trace() == in_cluster(scenario).trace()


def test_events_tell_what_was_created(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(statefulset(1, volumes=True))
        await world.after(3)
        assert await world.events("web") == [
            ("SuccessfulCreate", "create Claim data-web-0 Pod web-0 in StatefulSet web success"),
            ("SuccessfulCreate", "create Pod web-0 in StatefulSet web successful"),
        ]

    in_cluster(scenario)


def test_how_fast_pods_become_ready_can_be_chosen(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        slow = statefulset(1)
        assert slow.spec.template.metadata is not None
        slow.spec.template.metadata.annotations = {READY_AFTER_ANNOTATION: "1m"}
        await world.client.create(slow)
        await world.after(59)
        assert (await read(world)).status.ready_replicas in {None, 0}
        await world.after(2)
        assert (await read(world)).status.ready_replicas == 1

    in_cluster(scenario, simulation=Simulation(ready_after=5))
