"""Everything a cluster needs, in the order in which it must be applied."""

from __future__ import annotations

from typing import Any

from kubewright.api import ObjectMeta, Resource, to_dict
from kubewright.crd import definition
from kubewright.kinds import core_v1
from kubewright.manifests.deployment import deployment
from kubewright.manifests.rbac import binding, cluster_role
from kubewright.operator import Operator

__all__ = ["manifests"]


def manifests(
    operator: Operator, *, target: str, image: str | None = None, namespace: str | None = None
) -> list[dict[str, Any]]:
    """CRDs, namespace, service account, RBAC and Deployment, as what their YAML says.

    ``target``: the operator as ``kubewright run`` takes it. ``image``: default ``<operator>:latest``. ``namespace``:
    default ``<operator>-system``.
    """
    home = namespace or f"{operator.name}-system"
    objects: list[Resource] = [
        core_v1.Namespace(metadata=ObjectMeta(name=home)),
        core_v1.ServiceAccount(metadata=ObjectMeta(name=operator.name, namespace=home)),
        cluster_role(operator),
        binding(operator, namespace=home),
        deployment(operator, target=target, image=image or f"{operator.name}:latest", namespace=home),
    ]
    return [*(definition(kind) for kind in operator.custom_kinds), *map(_manifest, objects)]


def _manifest(obj: Resource) -> dict[str, Any]:
    """The object as a person would write it: no status, no empty spec."""
    body = to_dict(obj)
    body.pop("status", None)
    if not body.get("spec", True):
        del body["spec"]
    return body
