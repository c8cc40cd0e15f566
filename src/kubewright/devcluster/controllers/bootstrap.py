"""What a new cluster has besides its namespaces: the default storage class."""

from __future__ import annotations

from contextlib import suppress

from kubewright.api import AlreadyExists, ObjectMeta
from kubewright.client import Client
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.kinds import storage_v1

__all__ = ["create_initial_objects"]


async def create_initial_objects(client: Client, simulation: Simulation) -> None:
    """Creates them once; whoever deletes one does not get it back."""
    if simulation.default_storage_class is None:
        return
    standard = storage_v1.StorageClass(
        metadata=ObjectMeta(
            name=simulation.default_storage_class,
            annotations={"storageclass.kubernetes.io/is-default-class": "true"},
        ),
        provisioner="kubewright.dev/simulated",
        reclaim_policy="Delete",
        volume_binding_mode="Immediate",
        allow_volume_expansion=True,
    )
    with suppress(AlreadyExists):
        await client.create(standard)
