"""The work for one object does not grow with how many others there are."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from kubewright.api import LabelSelector, ObjectMeta, decode
from kubewright.kinds import apps_v1, core_v1

_LOOKED_UP = {"ControllerRevision", "PersistentVolume", "Pod", "ReplicaSet", "Service"}


def _service(name: str) -> core_v1.Service:
    spec = core_v1.ServiceSpec(selector={"app": name}, ports=[core_v1.ServicePort(port=80)])
    return core_v1.Service(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def _template(name: str) -> core_v1.PodTemplateSpec:
    spec = core_v1.PodSpec(containers=[core_v1.Container(name="main", image="nginx")])
    return core_v1.PodTemplateSpec(metadata=ObjectMeta(labels={"app": name}), spec=spec)


def _statefulset(name: str) -> apps_v1.StatefulSet:
    claim = core_v1.PersistentVolumeClaim(
        metadata=ObjectMeta(name="data"),
        spec=core_v1.PersistentVolumeClaimSpec(
            access_modes=["ReadWriteOnce"],
            resources=core_v1.VolumeResourceRequirements(requests={"storage": "1Gi"}),
        ),
    )
    spec = apps_v1.StatefulSetSpec(
        replicas=1,
        service_name=name,
        selector=LabelSelector(match_labels={"app": name}),
        template=_template(name),
        volume_claim_templates=[claim],
    )
    return apps_v1.StatefulSet(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def _deployment(name: str) -> apps_v1.Deployment:
    spec = apps_v1.DeploymentSpec(
        replicas=1, selector=LabelSelector(match_labels={"app": name}), template=_template(name)
    )
    return apps_v1.Deployment(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def test_controllers_look_only_at_what_concerns_an_object(in_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(data: Any, kind: Any, *more: Any, **options: Any) -> Any:
        read.append(kind.__name__)
        return decode(data, kind, *more, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith(("kubewright.cache", "kubewright.controller")) and vars(module).get("decode") is decode:
            monkeypatch.setattr(module, "decode", counted)

    async def scenario(world: Any) -> None:
        async def start(name: str) -> int:
            read.clear()
            for obj in (_service(name), _statefulset(name), _deployment(f"{name}-web"), _service(f"{name}-web")):
                await world.client.create(obj)
            await world.after(5.0)
            return sum(kind in _LOOKED_UP for kind in read)

        alone = await start("first")
        assert alone > 20
        for number in range(12):
            await start(f"other-{number}")
        assert await start("last") < 1.2 * alone
        running = await world.client.list(core_v1.Pod, namespace="default")
        assert [pod.status.phase for pod in running] == ["Running"] * 28

    in_cluster(scenario)
