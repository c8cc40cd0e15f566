"""Deployments and their replica sets."""

from __future__ import annotations

from typing import Any

from kubewright.api import JSON, LabelSelector, ObjectMeta, controller_of
from kubewright.client import MergePatch
from kubewright.devcluster.controllers import FAULT_ANNOTATION
from kubewright.kinds import apps_v1, core_v1


def template(image: str = "nginx") -> core_v1.PodTemplateSpec:
    return core_v1.PodTemplateSpec(
        metadata=ObjectMeta(labels={"app": "web"}),
        spec=core_v1.PodSpec(containers=[core_v1.Container(name="main", image=image)]),
    )


def deployment(replicas: int = 3, **spec: Any) -> apps_v1.Deployment:
    return apps_v1.Deployment(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=apps_v1.DeploymentSpec(
            replicas=replicas, selector=LabelSelector(match_labels={"app": "web"}), template=template(), **spec
        ),
    )


async def read(world: Any) -> apps_v1.Deployment:
    found: apps_v1.Deployment = await world.client.get(apps_v1.Deployment, "web", namespace="default")
    return found


async def sizes(world: Any) -> dict[str, int]:
    """Sizes of the replica sets by image."""
    found = await world.client.list(apps_v1.ReplicaSet, namespace="default")
    return {each.spec.template.spec.containers[0].image: each.spec.replicas for each in found}


async def edit_image(world: Any, image: str) -> None:
    def change(obj: apps_v1.Deployment) -> None:
        assert obj.spec.template.spec is not None
        obj.spec.template.spec.containers[0].image = image

    await world.client.edit(apps_v1.Deployment, "web", change, namespace="default")


def conditions(found: apps_v1.Deployment) -> dict[str, tuple[str, str | None]]:
    return {each.type: (each.status, each.reason) for each in found.status.conditions or ()}


def test_a_deployment_comes_up(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment())
        await world.after(0.5)
        assert conditions(await read(world)) == {
            "Available": ("False", "MinimumReplicasUnavailable"),
            "Progressing": ("True", "ReplicaSetUpdated"),
        }
        await world.after(1.5)
        found = await read(world)
        status = found.status
        assert (status.replicas, status.updated_replicas, status.ready_replicas, status.available_replicas) == (
            3,
            3,
            3,
            3,
        )
        assert status.unavailable_replicas is None
        assert conditions(found) == {
            "Available": ("True", "MinimumReplicasAvailable"),
            "Progressing": ("True", "NewReplicaSetAvailable"),
        }
        assert (found.metadata.annotations or {})["deployment.kubernetes.io/revision"] == "1"
        [replicaset] = await world.client.list(apps_v1.ReplicaSet, namespace="default")
        digest = replicaset.metadata.labels["pod-template-hash"]
        assert replicaset.name == f"web-{digest}"
        for pod in await world.client.list(core_v1.Pod, namespace="default"):
            assert pod.name.startswith(f"web-{digest}-")
            owner = controller_of(pod.metadata)
            assert owner is not None
            assert (owner.kind, owner.name) == ("ReplicaSet", replicaset.name)
        assert await world.events("web") == [("ScalingReplicaSet", f"Scaled up replica set web-{digest} from 0 to 3")]
        world.forget_requests()
        await world.after(3600)
        assert world.writes == []

    in_cluster(scenario)


def test_a_rollout_keeps_enough_pods_available(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(4))
        await world.after(3)
        await edit_image(world, "nginx:2")
        for _ in range(60):
            pods = await world.client.list(core_v1.Pod, namespace="default")
            alive = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
            ready = [
                pod
                for pod in alive
                if any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions or ())
            ]
            assert len(ready) >= 3
            assert len(alive) <= 5
            await world.after(0.1)
        assert await sizes(world) == {"nginx": 0, "nginx:2": 4}
        found = await read(world)
        assert conditions(found)["Progressing"] == ("True", "NewReplicaSetAvailable")
        assert (found.metadata.annotations or {})["deployment.kubernetes.io/revision"] == "2"

    in_cluster(scenario)


def test_recreate_stops_the_old_pods_first(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(2, strategy=apps_v1.DeploymentStrategy(type="Recreate")))
        await world.after(3)
        await edit_image(world, "nginx:2")
        await world.after(0.1)
        images = set()
        for _ in range(40):
            pods = await world.client.list(core_v1.Pod, namespace="default")
            images.add(
                frozenset(pod.spec.containers[0].image for pod in pods if pod.metadata.deletion_timestamp is None)
            )
            await world.after(0.1)
        assert images == {frozenset(), frozenset({"nginx:2"})}
        assert await sizes(world) == {"nginx": 0, "nginx:2": 2}

    in_cluster(scenario)


def test_a_rollout_that_fails_keeps_the_old_pods_and_times_out(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(2, progress_deadline_seconds=60))
        await world.after(3)
        broken: dict[str, JSON] = {
            "spec": {"template": {"metadata": {"annotations": {FAULT_ANNOTATION: "crash-loop"}}}}
        }
        await world.client.patch(apps_v1.Deployment, "web", MergePatch(broken), namespace="default")
        await world.after(90)
        found = await read(world)
        assert conditions(found)["Progressing"] == ("False", "ProgressDeadlineExceeded")
        assert conditions(found)["Available"] == ("True", "MinimumReplicasAvailable")
        assert found.status.available_replicas == 2

    in_cluster(scenario)


def test_a_rollback_takes_the_old_replica_set_again(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(1))
        await world.after(3)
        for image in ("nginx:2", "nginx"):
            await edit_image(world, image)
            await world.after(5)
        assert await sizes(world) == {"nginx": 1, "nginx:2": 0}
        revisions = {
            each.spec.template.spec.containers[0].image: each.metadata.annotations["deployment.kubernetes.io/revision"]
            for each in await world.client.list(apps_v1.ReplicaSet, namespace="default")
        }
        assert revisions == {"nginx": "3", "nginx:2": "2"}

    in_cluster(scenario)


def test_a_paused_deployment_scales_but_does_not_roll_out(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(1))
        await world.after(3)

        def pause(obj: apps_v1.Deployment) -> None:
            assert obj.spec.template.spec is not None
            obj.spec.paused = True
            obj.spec.template.spec.containers[0].image = "nginx:2"
            obj.spec.replicas = 2

        await world.client.edit(apps_v1.Deployment, "web", pause, namespace="default")
        await world.after(3)
        assert await sizes(world) == {"nginx": 2}
        assert conditions(await read(world))["Progressing"] == ("Unknown", "DeploymentPaused")

    in_cluster(scenario)


def test_old_replica_sets_go_beyond_the_history_limit(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(1, revision_history_limit=1))
        for number in range(3):
            await world.after(5)
            await edit_image(world, f"nginx:{number}")
        await world.after(5)
        assert await sizes(world) == {"nginx:1": 0, "nginx:2": 1}

    in_cluster(scenario)


def test_scaling_down_removes_those_that_are_missed_least(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(2))
        await world.after(3)
        await world.client.scale(apps_v1.Deployment, "web", 3, namespace="default")
        await world.after(0.5)
        before = {pod.name for pod in await world.client.list(core_v1.Pod, namespace="default") if pod.status.pod_ip}
        await world.client.scale(apps_v1.Deployment, "web", 2, namespace="default")
        await world.after(3)
        assert set(await world.names(core_v1.Pod)) == before

    in_cluster(scenario)


def test_a_deleted_pod_is_replaced(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment(1))
        await world.after(3)
        [name] = await world.names(core_v1.Pod)
        await world.client.delete(core_v1.Pod, name, namespace="default")
        await world.after(3)
        [other] = await world.names(core_v1.Pod)
        assert other != name

    in_cluster(scenario)


def test_everything_goes_with_the_deployment(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(deployment())
        await world.after(3)
        await world.client.delete(apps_v1.Deployment, "web", namespace="default")
        await world.after(3)
        assert await world.names(apps_v1.ReplicaSet) == []
        assert await world.names(core_v1.Pod) == []

    in_cluster(scenario)
