"""The Deployment that runs an operator in a cluster, and the service account it runs as."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from kubewright.api import LabelSelector, ObjectMeta
from kubewright.kinds import apps_v1, core_v1
from kubewright.operator import WATCH_NAMESPACE, Operator

__all__ = ["deployment"]

_HEALTH_PORT = 8081
_MARGIN = 5
"""Seconds between the manager's own limit for stopping and the kubelet's: what it may take after runs were cancelled."""


def deployment(
    operator: Operator[Any], *, target: str, image: str, namespace: str, watched: Iterable[str] | None = None
) -> apps_v1.Deployment:
    """One replica of ``kubewright run TARGET`` under the restricted pod security standard; with more, the others stand by.

    ``watched``: the namespaces it is told to work in, in place of those it declares.
    """
    labels = {"app.kubernetes.io/name": operator.name, "app.kubernetes.io/managed-by": "kubewright"}
    container = core_v1.Container(
        name="operator",
        image=image,
        args=[
            "run",
            target,
            "--leader-elect",
            f"--health-probe-bind-address=:{_HEALTH_PORT}",
            "--log-format=json",
        ],
        command=["kubewright"],
        env=None if watched is None else [core_v1.EnvVar(name=WATCH_NAMESPACE, value=",".join(watched))],
        ports=[core_v1.ContainerPort(name="health", container_port=_HEALTH_PORT)],
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
            selector=LabelSelector(match_labels={"app.kubernetes.io/name": operator.name}),
            template=core_v1.PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(
                    containers=[container],
                    enable_service_links=False,  # which would look like settings
                    service_account_name=operator.name,
                    security_context=core_v1.PodSecurityContext(
                        run_as_non_root=True, seccomp_profile=core_v1.SeccompProfile(type="RuntimeDefault")
                    ),
                    termination_grace_period_seconds=math.ceil(operator.settings.stop_within) + _MARGIN,
                ),
            ),
        ),
    )


def _probe(path: str, *, period: int, failures: int) -> core_v1.Probe:
    return core_v1.Probe(
        http_get=core_v1.HTTPGetAction(path=path, port="health"), period_seconds=period, failure_threshold=failures
    )
