"""The fixtures that Kubewright's pytest plugin brings to every project."""

from __future__ import annotations

import asyncio

import pytest
from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage
from database_operator.operator import operator

from kubewright import Client, Invalid, ObjectMeta
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.testing import install


async def test_the_client_reaches_the_cluster_of_the_test(cluster: DevCluster, client: Client) -> None:
    await client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"x": "1"}))
    other = Client(cluster.transport())
    assert (await other.get(core_v1.ConfigMap, "a", namespace="default")).data == {"x": "1"}


async def test_each_test_has_a_cluster_of_its_own(client: Client) -> None:
    assert "a" not in {found.name for found in await client.list(core_v1.ConfigMap, namespace="default")}


async def test_the_cluster_is_alive(client: Client) -> None:
    container = core_v1.Container(name="c", image="nginx")
    pod = core_v1.Pod(metadata=ObjectMeta(name="p", namespace="default"), spec=core_v1.PodSpec(containers=[container]))
    await client.create(pod)
    async with asyncio.timeout(60):
        async for event in client.watch(core_v1.Pod, namespace="default"):
            if event.object.status.phase == "Running":
                break


async def test_kinds_are_installed_in_a_word(client: Client) -> None:
    await install(client, operator)
    bad = Database(
        metadata=ObjectMeta(name="d", namespace="default"),
        spec=DatabaseSpec(replicas=11, engine="postgres", version="16", storage=Storage(size="1Gi")),
    )
    with pytest.raises(Invalid, match="less than or equal to 10"):
        await client.create(bad)
