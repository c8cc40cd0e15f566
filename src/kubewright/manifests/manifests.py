"""Everything a cluster needs, in the order in which it must be applied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kubewright.api import ObjectMeta, Resource, to_dict
from kubewright.api.names import check_dns_label
from kubewright.crd import definition
from kubewright.kinds import core_v1
from kubewright.manifests.deployment import deployment, metrics_service
from kubewright.manifests.rbac import access, lease_access
from kubewright.operator import Operator, Settings
from kubewright.operator.namespaces import checked_namespaces

__all__ = ["manifests"]


def manifests(
    operator: Operator[Any],
    *,
    target: str,
    image: str | None = None,
    namespace: str | None = None,
    watched: Iterable[str] | None = None,
    settings: Settings | None = None,
    deployed: bool = True,
) -> list[dict[str, Any]]:
    """CRDs, namespace, service account, RBAC, Deployment and, where metrics are served, a Service for them, as what their
    YAML says. Raises TypeError and ValueError for what can't be applied.

    ``target``: the operator as ``kubewright run`` takes it. ``image``: default ``<operator>:latest``. ``namespace``:
    default ``<operator>-system``. ``watched``: the namespaces it works in here, default those it declares.
    ``settings``: default the operator's own. Without ``deployed`` it is what the operator needs, and not the operator: no
    Deployment, no Service.
    """
    scope = operator.namespaces if watched is None else checked_namespaces(watched, what="watched")
    home = namespace or f"{operator.name}-system"
    check_dns_label(home, what="namespace")
    chosen = settings or operator.settings
    objects: list[Resource] = [
        core_v1.Namespace(metadata=ObjectMeta(name=home)),
        core_v1.ServiceAccount(metadata=ObjectMeta(name=operator.name, namespace=home)),
        *access(operator, home=home, namespaces=scope),
        *lease_access(operator, home=home, namespace=chosen.leader_elect_resource_namespace or home),
    ]
    if deployed:
        if (service := metrics_service(operator, chosen, namespace=home)) is not None:
            objects.append(service)
        objects.append(
            deployment(
                operator,
                chosen,
                target=target,
                image=image or f"{operator.name}:latest",
                namespace=home,
                watched=None if scope == operator.namespaces else scope,
            )
        )
    return [*(definition(kind) for kind in operator.custom_kinds), *map(_manifest, objects)]


def _manifest(obj: Resource) -> dict[str, Any]:
    """The object as a person would write it: no status, no empty spec."""
    body = to_dict(obj)
    body.pop("status", None)
    if not body.get("spec", True):
        del body["spec"]
    return body
