"""`ServiceEndpoints`: which pods stand behind a Service, as an EndpointSlice and as Endpoints.

See https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/
"""

from __future__ import annotations

from collections.abc import Iterable

from kubewright.api import ObjectMeta, Selector
from kubewright.controller import Context, ControllerSpec, Request, Watch
from kubewright.devcluster.controllers.component import Component
from kubewright.devcluster.controllers.hashing import short_suffix
from kubewright.devcluster.controllers.lookups import findable, selected, selecting, services_by_selector
from kubewright.devcluster.controllers.pods import is_ended, is_ready, is_terminating
from kubewright.kinds import core_v1, discovery_v1

__all__ = ["ServiceEndpoints"]

_HEADLESS = {"service.kubernetes.io/headless": ""}


class ServiceEndpoints:
    """Services without a selector are left alone: somebody else writes their endpoints."""

    def __init__(self, component: Component) -> None:
        self._services = component.informer(core_v1.Service)
        services_by_selector(self._services)
        findable(component.informer(core_v1.Pod))
        component.add(
            ControllerSpec(
                kind=core_v1.Service,
                reconcile=self.reconcile,
                name="endpoints",
                owns=(discovery_v1.EndpointSlice, core_v1.Endpoints),
                watches=(Watch(core_v1.Pod, to=self._selecting),),
            )
        )

    async def reconcile(self, service: core_v1.Service, ctx: Context) -> None:
        selector = service.spec.selector
        if not selector or service.spec.type == "ExternalName":
            return
        pods = [
            pod
            for pod in selected(core_v1.Pod, service.namespace, Selector.from_labels(selector), ctx)
            if pod.status.pod_ip and not is_ended(pod)
        ]
        await ctx.apply_all(_slice(service, pods), _endpoints(service, pods))

    def _selecting(self, pod: core_v1.Pod) -> Iterable[Request]:
        return [Request(None, each.namespace, each.name) for each in selecting(pod, self._services)]


def _labels(service: core_v1.Service, **more: str) -> dict[str, str]:
    headless = _HEADLESS if service.spec.cluster_ip == "None" else {}
    return {**(service.metadata.labels or {}), **headless, **more}


def _slice(service: core_v1.Service, pods: list[core_v1.Pod]) -> discovery_v1.EndpointSlice:
    own = {
        "kubernetes.io/service-name": service.name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    return discovery_v1.EndpointSlice(
        metadata=ObjectMeta(
            name=f"{service.name}-{short_suffix(service.uid)}",
            namespace=service.namespace,
            labels=_labels(service, **own),
        ),
        address_type="IPv4",
        endpoints=[_endpoint(service, pod) for pod in pods],
        ports=[
            discovery_v1.EndpointPort(
                name=port.name or "",
                port=number,
                protocol=port.protocol or "TCP",
                app_protocol=port.app_protocol,
            )
            for port, number in _ports(service, pods)
        ],
    )


def _endpoint(service: core_v1.Service, pod: core_v1.Pod) -> discovery_v1.Endpoint:
    terminating = is_terminating(pod)
    serving = is_ready(pod)
    ready = (serving and not terminating) or bool(service.spec.publish_not_ready_addresses)
    return discovery_v1.Endpoint(
        addresses=[pod.status.pod_ip or ""],
        conditions=discovery_v1.EndpointConditions(ready=ready, serving=serving, terminating=terminating),
        hostname=_hostname(service, pod),
        node_name=pod.spec.node_name,
        target_ref=_reference(pod),
    )


def _endpoints(service: core_v1.Service, pods: list[core_v1.Pod]) -> core_v1.Endpoints:
    addresses = [
        core_v1.EndpointAddress(
            ip=pod.status.pod_ip or "",
            hostname=_hostname(service, pod),
            node_name=pod.spec.node_name,
            target_ref=_reference(pod),
        )
        for pod in pods
        if not is_terminating(pod)
    ]
    ready = {pod.name for pod in pods if is_ready(pod) or service.spec.publish_not_ready_addresses}
    split: dict[bool, list[core_v1.EndpointAddress]] = {True: [], False: []}
    for address in addresses:
        name = address.target_ref.name if address.target_ref else None
        split[name in ready].append(address)
    subset = core_v1.EndpointSubset(
        addresses=split[True] or None,
        not_ready_addresses=split[False] or None,
        ports=[
            core_v1.EndpointPort(
                name=port.name, port=number, protocol=port.protocol or "TCP", app_protocol=port.app_protocol
            )
            for port, number in _ports(service, pods)
        ]
        or None,
    )
    return core_v1.Endpoints(
        metadata=ObjectMeta(
            name=service.name,
            namespace=service.namespace,
            labels=_labels(service, **{"endpoints.kubernetes.io/managed-by": "endpoint-controller"}),
        ),
        subsets=[subset] if addresses else [],
    )


def _ports(service: core_v1.Service, pods: list[core_v1.Pod]) -> list[tuple[core_v1.ServicePort, int]]:
    """The service's ports with the number each has in the pods; one that no pod knows by name is left out."""
    found = []
    for port in service.spec.ports or ():
        target = port.target_port if port.target_port is not None else port.port
        number = target if isinstance(target, int) else _named_port(target, pods)
        if number is not None:
            found.append((port, number))
    return found


def _named_port(name: str, pods: list[core_v1.Pod]) -> int | None:
    ports = (
        port.container_port
        for pod in pods
        for container in pod.spec.containers
        for port in container.ports or ()
        if port.name == name
    )
    return next(ports, None)


def _hostname(service: core_v1.Service, pod: core_v1.Pod) -> str | None:
    return pod.spec.hostname if pod.spec.hostname and pod.spec.subdomain == service.name else None


def _reference(pod: core_v1.Pod) -> core_v1.ObjectReference:
    return core_v1.ObjectReference(kind="Pod", namespace=pod.namespace, name=pod.name, uid=pod.uid)
