"""RBAC derived from what controllers declare: nobody keeps a list of permissions by hand.

See https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from kubewright.api import ObjectMeta, Resource
from kubewright.kinds import rbac_v1
from kubewright.operator import Operator
from kubewright.operator.access import Need, lease_need, needs

__all__ = ["access", "cluster_role", "lease_access", "policy_rules"]


def policy_rules(operator: Operator[Any], *, namespaced: bool | None = None) -> list[rbac_v1.PolicyRule]:
    """What the operator's controllers may do, one rule for each group and set of verbs, sorted.

    ``namespaced``: only of kinds that have namespaces, or only of those that have none.
    """
    declared = [
        need for need in needs(operator.controllers) if namespaced is None or need.info.namespaced == namespaced
    ]
    return _rules(declared)


def _rules(needed: Iterable[Need]) -> list[rbac_v1.PolicyRule]:
    merged: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for need in sorted(needed, key=lambda need: (need.info.group, need.resource)):
        merged[need.info.group, tuple(sorted(need.verbs))].append(need.resource)
    return [
        rbac_v1.PolicyRule(api_groups=[group], resources=resources, verbs=list(allowed))
        for (group, allowed), resources in sorted(merged.items(), key=lambda item: (item[0][0], item[1]))
    ]


def access(operator: Operator[Any], *, home: str, namespaces: Iterable[str] | None) -> list[Resource]:
    """Roles and what binds them to the operator's service account in ``home``.

    Where the operator works in certain ``namespaces`` only, it gets a Role in each of them, and a ClusterRole for the
    kinds that have no namespace, if it uses any.
    """
    if namespaces is None:
        return [cluster_role(operator), _cluster_binding(operator, home)]
    found: list[Resource] = []
    rules = policy_rules(operator, namespaced=False)
    if rules:
        found += [
            rbac_v1.ClusterRole(metadata=ObjectMeta(name=operator.name), rules=rules),
            _cluster_binding(operator, home),
        ]
    declared = [need for need in needs(operator.controllers) if need.info.namespaced]
    own = set(namespaces)
    for namespace in sorted(own.union(*(need.also_in for need in declared))) if declared else ():
        rules = _rules(need for need in declared if namespace in own or namespace in need.also_in)
        metadata = ObjectMeta(name=operator.name, namespace=namespace)
        found += [
            rbac_v1.Role(metadata=metadata, rules=rules),
            rbac_v1.RoleBinding(
                metadata=metadata, role_ref=_reference(operator, "Role"), subjects=[_account(operator, home)]
            ),
        ]
    return found


def lease_access(operator: Operator[Any], *, home: str, namespace: str) -> list[Resource]:
    """The Role for leader election by a Lease in ``namespace``, and what binds it to the service account in ``home``."""
    metadata = ObjectMeta(name=f"{operator.name}-leader-election", namespace=namespace)
    return [
        rbac_v1.Role(metadata=metadata, rules=_rules([lease_need()])),
        rbac_v1.RoleBinding(
            metadata=metadata,
            role_ref=rbac_v1.RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name=str(metadata.name)),
            subjects=[_account(operator, home)],
        ),
    ]


def cluster_role(operator: Operator[Any]) -> rbac_v1.ClusterRole:
    """For an operator that works in all namespaces."""
    return rbac_v1.ClusterRole(metadata=ObjectMeta(name=operator.name), rules=policy_rules(operator))


def _cluster_binding(operator: Operator[Any], home: str) -> Resource:
    return rbac_v1.ClusterRoleBinding(
        metadata=ObjectMeta(name=operator.name),
        role_ref=_reference(operator, "ClusterRole"),
        subjects=[_account(operator, home)],
    )


def _reference(operator: Operator[Any], kind: str) -> rbac_v1.RoleRef:
    return rbac_v1.RoleRef(api_group="rbac.authorization.k8s.io", kind=kind, name=operator.name)


def _account(operator: Operator[Any], home: str) -> rbac_v1.Subject:
    return rbac_v1.Subject(kind="ServiceAccount", name=operator.name, namespace=home)
