"""What a new cluster has besides its namespaces: the Service of the API server and the default storage class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kubewright.api import AlreadyExists, ObjectMeta, Resource
from kubewright.client import Client
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.kinds import core_v1, storage_v1

__all__ = ["create_initial_objects"]


async def create_initial_objects(client: Client, simulation: Simulation) -> None:
    """Creates them once; whoever deletes one does not get it back."""
    initial: list[Resource] = [_api_server(), *_storage_classes(simulation)]
    for obj in initial:
        with suppress(AlreadyExists):
            await client.create(obj)


def _api_server() -> core_v1.Service:
    """The Service by which pods would find the API server."""
    return core_v1.Service(
        metadata=ObjectMeta(
            name="kubernetes",
            namespace="default",
            labels={"component": "apiserver", "provider": "kubernetes"},
        ),
        spec=core_v1.ServiceSpec(
            cluster_ip="10.96.0.1", ports=[core_v1.ServicePort(name="https", port=443, target_port=6443)]
        ),
    )


def _storage_classes(simulation: Simulation) -> Iterator[storage_v1.StorageClass]:
    if simulation.default_storage_class is not None:
        yield storage_v1.StorageClass(
            metadata=ObjectMeta(
                name=simulation.default_storage_class,
                annotations={"storageclass.kubernetes.io/is-default-class": "true"},
            ),
            provisioner="kubewright.dev/simulated",
            reclaim_policy="Delete",
            volume_binding_mode="Immediate",
            allow_volume_expansion=True,
        )
