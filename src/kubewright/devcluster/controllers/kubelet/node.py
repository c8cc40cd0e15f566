"""The simulated node's own objects: the Node and its Lease."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from kubewright.api import AlreadyExists, ApiError, NotFound, ObjectMeta, OwnerReference, micro_time, whole_seconds
from kubewright.client import MergePatch, TransportError
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.settings import Simulation
from kubewright.kinds import coordination_v1, core_v1

__all__ = ["keep_node"]

_LEASES = "kube-node-lease"
_LEASE_SECONDS = 40
_VERSION = "v1.36.0"
_RESOURCES: dict[str, str | int | float] = {
    "cpu": "8",
    "memory": "16Gi",
    "ephemeral-storage": "100Gi",
    "hugepages-2Mi": "0",
    "pods": "110",
}
_HEALTH = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


async def keep_node(component: Component, simulation: Simulation) -> None:
    """Registers the node and takes its Lease; then renews that as often as ``simulation`` says, or returns."""
    node = await _register(component, simulation)
    await _take_lease(component, node)
    while simulation.renew_lease_every is not None:
        await asyncio.sleep(simulation.renew_lease_every)
        try:
            await _renew_lease(component, node)
        except (ApiError, TransportError) as error:
            component.log.warning("the node's lease was not renewed", error=str(error))


async def _renew_lease(component: Component, node: core_v1.Node) -> None:
    renewed = MergePatch({"spec": {"renewTime": micro_time(component.clock.now())}})
    try:
        await component.client.patch(coordination_v1.Lease, node.name, renewed, namespace=_LEASES)
    except NotFound:
        await _take_lease(component, node)


async def _register(component: Component, simulation: Simulation) -> core_v1.Node:
    client, name = component.client, simulation.node_name
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": "amd64",
        "node-role.kubernetes.io/control-plane": "",
    }
    node = core_v1.Node(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=core_v1.NodeSpec(
            pod_cidr=simulation.pod_network, pod_cidrs=[simulation.pod_network], provider_id=f"kubewright://{name}"
        ),
    )
    with suppress(AlreadyExists):
        await client.create(node)

    def report(node: core_v1.Node) -> None:
        node.status = _status(component, simulation)

    return await client.edit(core_v1.Node, name, report, subresource="status")


def _status(component: Component, simulation: Simulation) -> core_v1.NodeStatus:
    now = whole_seconds(component.clock.now())
    return core_v1.NodeStatus(
        addresses=[
            core_v1.NodeAddress(type="InternalIP", address=simulation.node_address),
            core_v1.NodeAddress(type="Hostname", address=simulation.node_name),
        ],
        capacity=dict(_RESOURCES),
        allocatable=dict(_RESOURCES),
        conditions=[
            core_v1.NodeCondition(
                type=kind,
                status=status,
                reason=reason,
                message=message,
                last_heartbeat_time=now,
                last_transition_time=now,
            )
            for kind, status, reason, message in _HEALTH
        ],
        daemon_endpoints=core_v1.NodeDaemonEndpoints(kubelet_endpoint=core_v1.DaemonEndpoint(port=10250)),
        node_info=core_v1.NodeSystemInfo(
            architecture="amd64",
            operating_system="linux",
            os_image="Kubewright (simulated)",
            kernel_version="simulated",
            container_runtime_version="kubewright://0",
            kubelet_version=_VERSION,
            kube_proxy_version=_VERSION,
            machine_id="kubewright",
            system_uuid="kubewright",
            boot_id="kubewright",
        ),
    )


async def _take_lease(component: Component, node: core_v1.Node) -> None:
    lease = coordination_v1.Lease(
        metadata=ObjectMeta(
            name=node.name,
            namespace=_LEASES,
            owner_references=[OwnerReference(api_version="v1", kind="Node", name=node.name, uid=node.uid)],
        ),
        spec=coordination_v1.LeaseSpec(
            holder_identity=node.name,
            lease_duration_seconds=_LEASE_SECONDS,
            renew_time=micro_time(component.clock.now()),
        ),
    )
    with suppress(AlreadyExists):
        await component.client.create(lease)
