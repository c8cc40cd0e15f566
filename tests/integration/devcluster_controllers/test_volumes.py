"""Volume claims and volumes."""

from __future__ import annotations

from typing import Any

from kubewright.api import ObjectMeta
from kubewright.devcluster.controllers import Simulation
from kubewright.kinds import core_v1, storage_v1


def claim(name: str = "data", *, storage_class: str | None = None, size: str = "1Gi") -> core_v1.PersistentVolumeClaim:
    return core_v1.PersistentVolumeClaim(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            storage_class_name=storage_class,
            resources=core_v1.VolumeResourceRequirements(requests={"storage": size}),
        ),
    )


def user(claim_name: str = "data") -> core_v1.Pod:
    source = core_v1.PersistentVolumeClaimVolumeSource(claim_name=claim_name)
    return core_v1.Pod(
        metadata=ObjectMeta(name="user", namespace="default"),
        spec=core_v1.PodSpec(
            containers=[core_v1.Container(name="main", image="nginx")],
            volumes=[core_v1.Volume(name="data", persistent_volume_claim=source)],
        ),
    )


async def read(world: Any, name: str = "data") -> core_v1.PersistentVolumeClaim:
    found: core_v1.PersistentVolumeClaim = await world.client.get(
        core_v1.PersistentVolumeClaim, name, namespace="default"
    )
    return found


def test_a_claim_gets_a_volume_of_the_default_class(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(claim())
        await world.after(0.5)
        found = await read(world)
        assert found.spec.storage_class_name == "standard"
        assert found.spec.volume_name == f"pvc-{found.uid}"
        assert found.status.phase == "Bound"
        assert found.status.capacity == {"storage": "1Gi"}
        assert found.status.access_modes == ["ReadWriteOnce"]
        volume = await world.client.get(core_v1.PersistentVolume, found.spec.volume_name)
        assert volume.status.phase == "Bound"
        assert volume.spec.claim_ref.name == "data"
        assert volume.spec.persistent_volume_reclaim_policy == "Delete"
        assert volume.metadata.finalizers == ["kubernetes.io/pv-protection"]

    in_cluster(scenario)


def test_a_deleted_claim_takes_its_volume_along(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(claim())
        await world.after(0.5)
        await world.client.delete(core_v1.PersistentVolumeClaim, "data", namespace="default")
        await world.after(0.5)
        assert await world.find(core_v1.PersistentVolumeClaim, "data") is None
        assert await world.names(core_v1.PersistentVolume, None) == []

    in_cluster(scenario)


def test_a_claim_in_use_is_protected_until_its_pod_is_gone(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(claim())
        await world.client.create(user())
        await world.after(3)
        await world.client.delete(core_v1.PersistentVolumeClaim, "data", namespace="default")
        await world.after(3)
        assert (await read(world)).metadata.deletion_timestamp is not None
        await world.client.delete(core_v1.Pod, "user", namespace="default")
        await world.after(3)
        assert await world.find(core_v1.PersistentVolumeClaim, "data") is None

    in_cluster(scenario)


def test_a_class_that_does_not_exist_leaves_claim_and_pod_waiting_for_it(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(claim(storage_class="fast"))
        await world.client.create(user())
        await world.after(3)
        assert (await read(world)).status.phase == "Pending"
        assert await world.events("data") == [("ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found')]
        assert await world.events("user") == [
            ("FailedScheduling", "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
        ]
        await world.client.create(
            storage_v1.StorageClass(metadata=ObjectMeta(name="fast"), provisioner="example.com/fast")
        )
        await world.after(3)
        assert (await read(world)).status.phase == "Bound"
        assert (await world.client.get(core_v1.Pod, "user", namespace="default")).status.phase == "Running"

    in_cluster(scenario)


def test_a_class_may_wait_for_the_first_pod(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(
            storage_v1.StorageClass(
                metadata=ObjectMeta(name="lazy"),
                provisioner="example.com/lazy",
                volume_binding_mode="WaitForFirstConsumer",
            )
        )
        await world.client.create(claim(storage_class="lazy"))
        await world.after(1)
        assert await world.events("data") == [
            ("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
        ]
        await world.client.create(user())
        await world.after(3)
        assert (await read(world)).status.phase == "Bound"

    in_cluster(scenario)


def volume(name: str, size: str) -> core_v1.PersistentVolume:
    return core_v1.PersistentVolume(
        metadata=ObjectMeta(name=name),
        spec=core_v1.PersistentVolumeSpec(
            access_modes=["ReadWriteOnce"],
            capacity={"storage": size},
            host_path=core_v1.HostPathVolumeSource(path="/data"),
            storage_class_name="manual",
        ),
    )


def test_a_claim_takes_the_smallest_volume_that_fits(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        for name, size in (("small", "512Mi"), ("large", "10Gi"), ("medium", "2Gi")):
            await world.client.create(volume(name, size))
        await world.after(0.5)
        assert (await world.client.get(core_v1.PersistentVolume, "small")).status.phase == "Available"
        await world.client.create(claim(storage_class="manual"))
        await world.after(0.5)
        found = await read(world)
        assert (found.spec.volume_name, found.status.phase) == ("medium", "Bound")
        await world.client.delete(core_v1.PersistentVolumeClaim, "data", namespace="default")
        await world.after(0.5)
        assert (await world.client.get(core_v1.PersistentVolume, "medium")).status.phase == "Released"

    in_cluster(scenario)


def test_a_claim_whose_volume_is_gone_is_lost(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(claim())
        await world.after(0.5)
        name = (await read(world)).spec.volume_name

        def unprotect(obj: core_v1.PersistentVolume) -> None:
            obj.metadata.finalizers = None

        await world.client.delete(core_v1.PersistentVolume, name)
        await world.client.edit(core_v1.PersistentVolume, name, unprotect)
        await world.after(0.5)
        assert (await read(world)).status.phase == "Lost"

    in_cluster(scenario)


def test_a_cluster_without_a_default_class_leaves_claims_pending(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(claim())
        await world.after(1)
        assert (await read(world)).status.phase == "Pending"
        world.forget_requests()
        await world.after(3600)
        assert world.writes == []

    in_cluster(scenario, simulation=Simulation(default_storage_class=None))
