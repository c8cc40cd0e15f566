"""The Deployment that runs an operator in a cluster, and the Service by which its metrics are found."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from kubewright.api import LabelSelector, ObjectMeta
from kubewright.api.names import check_dns_label
from kubewright.kinds import apps_v1, core_v1
from kubewright.operator import WATCH_NAMESPACE, Operator, Settings
from kubewright.operator.http_server import Address

__all__ = ["deployment", "metrics_service"]

_HEALTH_PORT = 8081
_EVERYWHERE = frozenset({None, "0.0.0.0", "::"})  # noqa: S104 - what is asked for
_MARGIN = 5
"""Seconds between the manager's own limit for stopping and the kubelet's: what it may take after runs were cancelled."""


def deployment(
    operator: Operator[Any],
    settings: Settings,
    *,
    target: str,
    image: str,
    namespace: str,
    watched: Iterable[str] | None = None,
) -> apps_v1.Deployment:
    """One replica of ``kubewright run TARGET`` under the restricted pod security standard; with more, the others stand by.

    ``watched``: the namespaces it is told to work in, in place of those it declares.
    """
    labels = _labels(operator)
    metrics = _metrics_port(settings)
    address = settings.metrics_bind_address
    health = address if metrics == _HEALTH_PORT else f":{_HEALTH_PORT}"
    ports = {"health": _HEALTH_PORT}
    if metrics is not None:
        ports[_port_name(metrics)] = metrics
    container = core_v1.Container(
        name="operator",
        image=image,
        args=[
            "run",
            target,
            "--leader-elect",
            f"--health-probe-bind-address={health}",
            *([] if metrics is None else [f"--metrics-bind-address={address}"]),
            "--log-format=json",
        ],
        command=["kubewright"],
        env=None if watched is None else [core_v1.EnvVar(name=WATCH_NAMESPACE, value=",".join(watched))],
        ports=[core_v1.ContainerPort(name=name, container_port=port) for name, port in ports.items()],
        # a process that answers and is not well is restarted; one that only waits for the API server, or is no leader, is not
        startup_probe=_probe("/healthz", period=1, failures=60),
        liveness_probe=_probe("/healthz", period=10, failures=3),
        readiness_probe=_probe("/readyz", period=5, failures=2),
        resources=core_v1.ResourceRequirements(requests={"cpu": "20m", "memory": "96Mi"}, limits={"memory": "256Mi"}),
        security_context=core_v1.SecurityContext(
            allow_privilege_escalation=False,
            capabilities=core_v1.Capabilities(drop=["ALL"]),
            read_only_root_filesystem=True,
        ),
    )
    return apps_v1.Deployment(
        metadata=ObjectMeta(name=operator.name, namespace=namespace, labels=labels),
        spec=apps_v1.DeploymentSpec(
            replicas=1,
            selector=LabelSelector(match_labels=_selected(operator)),
            template=core_v1.PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(
                    containers=[container],
                    enable_service_links=False,  # which would look like settings
                    service_account_name=operator.name,
                    security_context=core_v1.PodSecurityContext(
                        run_as_non_root=True, seccomp_profile=core_v1.SeccompProfile(type="RuntimeDefault")
                    ),
                    termination_grace_period_seconds=math.ceil(settings.stop_within) + _MARGIN,
                ),
            ),
        ),
    )


def metrics_service(operator: Operator[Any], settings: Settings, *, namespace: str) -> core_v1.Service | None:
    """For a Prometheus that looks for Services; None where `deployment` serves no metrics. Raises ValueError."""
    port = _metrics_port(settings)
    if port is None:
        return None
    name = f"{operator.name}-metrics"
    check_dns_label(name, what="the name of the metrics' Service")
    return core_v1.Service(
        metadata=ObjectMeta(name=name, namespace=namespace, labels=_labels(operator)),
        spec=core_v1.ServiceSpec(
            selector=_selected(operator),
            ports=[core_v1.ServicePort(name="metrics", port=port, target_port=_port_name(port))],
        ),
    )


def _metrics_port(settings: Settings) -> int | None:
    """Where the pod serves ``/metrics``, if others can know and reach it."""
    if settings.metrics_bind_address == "0":
        return None
    address = Address.parse(settings.metrics_bind_address)
    return address.port if address.port and address.host in _EVERYWHERE else None


def _port_name(metrics: int) -> str:
    return "health" if metrics == _HEALTH_PORT else "metrics"


def _labels(operator: Operator[Any]) -> dict[str, str]:
    return {**_selected(operator), "app.kubernetes.io/managed-by": "kubewright"}


def _selected(operator: Operator[Any]) -> dict[str, str]:
    return {"app.kubernetes.io/name": operator.name}


def _probe(path: str, *, period: int, failures: int) -> core_v1.Probe:
    return core_v1.Probe(
        http_get=core_v1.HTTPGetAction(path=path, port="health"), period_seconds=period, failure_threshold=failures
    )
