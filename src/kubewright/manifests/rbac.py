"""RBAC derived from what controllers declare: nobody keeps a list of permissions by hand.

See https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from kubewright.api import ObjectMeta, Resource, resource_info
from kubewright.controller import ControllerSpec
from kubewright.kinds import rbac_v1
from kubewright.operator import Operator

__all__ = ["cluster_role", "policy_rules"]

_READ = frozenset({"get", "list", "watch"})
_APPLY = frozenset({"create", "delete", "patch"})


def policy_rules(operator: Operator) -> list[rbac_v1.PolicyRule]:
    """What the operator's controllers may do, one rule for each group and set of verbs, sorted."""
    verbs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for spec in operator.controllers:
        for group, plural, needed in _needs(spec):
            verbs[group, plural] |= needed
    merged: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (group, plural), allowed in sorted(verbs.items()):
        merged[group, tuple(sorted(allowed))].append(plural)
    return [
        rbac_v1.PolicyRule(api_groups=[group], resources=resources, verbs=list(allowed))
        for (group, allowed), resources in sorted(merged.items(), key=lambda item: (item[0][0], item[1]))
    ]


def _needs(spec: ControllerSpec[Any]) -> Iterator[tuple[str, str, frozenset[str]]]:
    for kind in spec.kinds:
        info = resource_info(kind)
        yield info.group, info.plural, _READ
    for kind in spec.owns:
        info = resource_info(kind)
        yield info.group, info.plural, _APPLY
    for kind in spec.prune:
        info = resource_info(kind)
        yield info.group, info.plural, frozenset({"delete"})
    info = resource_info(spec.kind)
    if spec.finalizers:
        yield info.group, info.plural, frozenset({"patch"})
    if info.has_status:
        yield info.group, f"{info.plural}/status", frozenset({"patch"})
    if spec.owns:
        # owner references that block the owner's deletion need it where OwnerReferencesPermissionEnforcement is on
        yield info.group, f"{info.plural}/finalizers", frozenset({"update"})


def cluster_role(operator: Operator) -> rbac_v1.ClusterRole:
    return rbac_v1.ClusterRole(metadata=ObjectMeta(name=operator.name), rules=policy_rules(operator))


def binding(operator: Operator, *, namespace: str) -> Resource:
    """Gives the operator's service account its role."""
    return rbac_v1.ClusterRoleBinding(
        metadata=ObjectMeta(name=operator.name),
        role_ref=rbac_v1.RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=operator.name),
        subjects=[rbac_v1.Subject(kind="ServiceAccount", name=operator.name, namespace=namespace)],
    )
