"""The Deployment that runs an operator in a cluster, and the service account it runs as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubewright.api import LabelSelector, ObjectMeta
from kubewright.kinds import apps_v1, core_v1
from kubewright.operator import STOP_WITHIN, WATCH_NAMESPACE, Operator

__all__ = ["deployment"]

_MARGIN = 5
"""Seconds between the manager's own limit for stopping and the kubelet's."""


def deployment(
    operator: Operator[Any], *, target: str, image: str, namespace: str, watched: Iterable[str] | None = None
) -> apps_v1.Deployment:
    """One replica of ``kubewright run TARGET`` under the restricted pod security standard.

    ``watched``: the namespaces it is told to work in, in place of those it declares.
    """
    labels = {"app.kubernetes.io/name": operator.name, "app.kubernetes.io/managed-by": "kubewright"}
    container = core_v1.Container(
        name="operator",
        image=image,
        args=["run", target, "--log-format", "json"],
        command=["kubewright"],
        env=None if watched is None else [core_v1.EnvVar(name=WATCH_NAMESPACE, value=",".join(watched))],
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
            strategy=apps_v1.DeploymentStrategy(type="Recreate"),  # without leader election, never two at a time
            template=core_v1.PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=core_v1.PodSpec(
                    containers=[container],
                    service_account_name=operator.name,
                    security_context=core_v1.PodSecurityContext(
                        run_as_non_root=True, seccomp_profile=core_v1.SeccompProfile(type="RuntimeDefault")
                    ),
                    termination_grace_period_seconds=int(STOP_WITHIN) + _MARGIN,
                ),
            ),
        ),
    )
