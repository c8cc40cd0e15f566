"""Which pods stand behind a Service."""

from __future__ import annotations

from typing import Any

from kubewright.api import ObjectMeta
from kubewright.devcluster.controllers import READY_AFTER_ANNOTATION
from kubewright.kinds import core_v1, discovery_v1


def service(selector: dict[str, str] | None, **spec: Any) -> core_v1.Service:
    spec.setdefault("ports", [core_v1.ServicePort(name="http", port=80, target_port="web")])
    return core_v1.Service(
        metadata=ObjectMeta(name="web", namespace="default"), spec=core_v1.ServiceSpec(selector=selector, **spec)
    )


def pod(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> core_v1.Pod:
    container = core_v1.Container(
        name="main", image="nginx", ports=[core_v1.ContainerPort(name="web", container_port=8080)]
    )
    return core_v1.Pod(
        metadata=ObjectMeta(name=name, namespace="default", labels={"app": "web"}, annotations=annotations),
        spec=core_v1.PodSpec(containers=[container], **spec),
    )


async def slices(world: Any) -> list[discovery_v1.EndpointSlice]:
    found: list[discovery_v1.EndpointSlice] = await world.client.list(
        discovery_v1.EndpointSlice, namespace="default", labels="kubernetes.io/service-name=web"
    )
    return found


def test_ready_pods_are_behind_the_service(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(service({"app": "web"}))
        await world.client.create(pod("a"))
        await world.client.create(pod("gone"))
        await world.after(2)
        [found] = await slices(world)
        assert [(each.addresses, each.conditions and each.conditions.ready) for each in found.endpoints or ()] == [
            (["10.244.0.2"], True),
            (["10.244.0.3"], True),
        ]
        assert [(each.name, each.port) for each in found.ports or ()] == [("http", 8080)]
        endpoints = await world.client.get(core_v1.Endpoints, "web", namespace="default")
        assert [address.ip for address in endpoints.subsets[0].addresses] == ["10.244.0.2", "10.244.0.3"]
        await world.client.delete(core_v1.Pod, "gone", namespace="default")
        await world.after(2)
        [found] = await slices(world)
        assert [each.addresses for each in found.endpoints or ()] == [["10.244.0.2"]]
        world.forget_requests()
        await world.after(3600)
        assert world.writes == []

    in_cluster(scenario)


def test_a_headless_service_names_its_pods(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(service({"app": "web"}, cluster_ip="None"))
        await world.client.create(pod("a", hostname="a", subdomain="web"))
        await world.after(2)
        [found] = await slices(world)
        assert (found.metadata.labels or {})["service.kubernetes.io/headless"] == ""
        assert [each.hostname for each in found.endpoints or ()] == ["a"]

    in_cluster(scenario)


def test_pods_that_fail_are_listed_as_not_ready(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(service({"app": "web"}))
        await world.client.create(pod("a", {"kubewright.dev/simulate": "crash-loop"}))
        await world.client.create(pod("slow", {READY_AFTER_ANNOTATION: "1h"}))
        await world.after(5)
        endpoints = await world.client.get(core_v1.Endpoints, "web", namespace="default")
        assert endpoints.subsets[0].addresses is None
        assert [address.ip for address in endpoints.subsets[0].not_ready_addresses] == ["10.244.0.2"]

    in_cluster(scenario)


def test_a_service_without_selector_is_left_alone(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(service(None))
        await world.after(2)
        assert await slices(world) == []

    in_cluster(scenario)


def test_endpoints_go_with_the_service(in_cluster: Any) -> None:
    async def scenario(world: Any) -> None:
        await world.client.create(service({"app": "web"}))
        await world.after(1)
        await world.client.delete(core_v1.Service, "web", namespace="default")
        await world.after(1)
        assert await slices(world) == []
        assert await world.names(core_v1.Endpoints) == []

    in_cluster(scenario)
