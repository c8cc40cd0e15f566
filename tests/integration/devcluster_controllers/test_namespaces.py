"""Namespaces: what they begin with, and how they end."""

from __future__ import annotations

from typing import Any

import pytest

from kubewright.api import Forbidden, LabelSelector, ObjectMeta
from kubewright.kinds import apps_v1, core_v1


def config(name: str, namespace: str, finalizers: list[str] | None = None) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, finalizers=finalizers))


def test_every_namespace_has_an_account_and_the_authoritys_certificate(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.namespace("new")
        await world.after(0.1)
        for namespace in ("default", "kube-system", "new"):
            assert await world.names(core_v1.ServiceAccount, namespace) == ["default"]
            bundle = await world.client.get(core_v1.ConfigMap, "kube-root-ca.crt", namespace=namespace)
            assert bundle.data == {"ca.crt": "the authority"}

    in_cluster(scenario)


def test_they_come_back_when_deleted_or_changed(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.delete(core_v1.ServiceAccount, "default", namespace="default")

        def spoil(obj: core_v1.ConfigMap) -> None:
            obj.data = {"ca.crt": "forged", "more": "x"}

        await world.client.edit(core_v1.ConfigMap, "kube-root-ca.crt", spoil, namespace="default")
        await world.after(0.1)
        assert await world.names(core_v1.ServiceAccount) == ["default"]
        bundle = await world.client.get(core_v1.ConfigMap, "kube-root-ca.crt", namespace="default")
        assert bundle.data == {"ca.crt": "the authority"}

    in_cluster(scenario)


def test_an_empty_namespace_goes_at_once(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.namespace("short")
        await world.after(0.1)
        await world.client.delete(core_v1.Namespace, "short")
        await world.after(0.5)
        assert await world.find(core_v1.Namespace, "short", None) is None
        assert await world.names(core_v1.ConfigMap, "short") == []

    in_cluster(scenario)


def test_a_namespace_takes_everything_in_it_along(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.namespace("full")
        template = core_v1.PodTemplateSpec(
            metadata=ObjectMeta(labels={"app": "web"}),
            spec=core_v1.PodSpec(containers=[core_v1.Container(name="main", image="nginx")]),
        )
        await world.client.create(
            apps_v1.StatefulSet(
                metadata=ObjectMeta(name="web", namespace="full"),
                spec=apps_v1.StatefulSetSpec(
                    replicas=2,
                    service_name="web",
                    selector=LabelSelector(match_labels={"app": "web"}),
                    template=template,
                    volume_claim_templates=[
                        core_v1.PersistentVolumeClaim(
                            metadata=ObjectMeta(name="data"),
                            spec=core_v1.PersistentVolumeClaimSpec(
                                access_modes=["ReadWriteOnce"],
                                resources=core_v1.VolumeResourceRequirements(requests={"storage": "1Gi"}),
                            ),
                        )
                    ],
                ),
            )
        )
        await world.after(5)
        await world.client.delete(core_v1.Namespace, "full")
        await world.after(3)
        assert await world.find(core_v1.Namespace, "full", None) is None
        left = [
            (str(kind), obj["metadata"]["name"])
            for kind in world.store.resources()
            for obj in world.store.list(kind, "full")
        ]
        assert left == []
        assert await world.names(core_v1.PersistentVolume, None) == []

    in_cluster(scenario)


def test_a_finalizer_holds_the_namespace_and_its_status_says_so(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.namespace("held")
        await world.after(0.1)
        await world.client.create(config("held", "held", ["example.com/hold"]))
        await world.client.delete(core_v1.Namespace, "held")
        await world.after(1)
        found = await world.client.get(core_v1.Namespace, "held")
        assert found.status.phase == "Terminating"
        conditions = {each.type: (each.status, each.message) for each in found.status.conditions or ()}
        assert conditions["NamespaceContentRemaining"] == (
            "True",
            "Some resources are remaining: configmaps. has 1 resource instances",
        )
        assert conditions["NamespaceFinalizersRemaining"] == (
            "True",
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
        )
        assert conditions["NamespaceDeletionContentFailure"][0] == "False"
        with pytest.raises(Forbidden):
            await world.client.create(config("late", "held"))
        world.forget_requests()
        await world.after(3600)
        assert world.writes == []

        def release(obj: core_v1.ConfigMap) -> None:
            obj.metadata.finalizers = None

        await world.client.edit(core_v1.ConfigMap, "held", release, namespace="held")
        await world.after(0.5)
        assert await world.find(core_v1.Namespace, "held", None) is None

    in_cluster(scenario)


def test_a_new_cluster_settles_and_is_quiet(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.after(1)
        world.forget_requests()
        await world.after(3_600)
        assert world.writes == []

    in_cluster(scenario)
