"""What API servers are known to fill into lists and maps that are one unit, by kind, so that nobody need be asked.

An apply owns such a unit as a whole, so whoever else changes it takes the ownership away: what it holds beyond what is
wanted is either the server's default or what an earlier apply of ours had. Where it is the very default, an apply changes
nothing either way: it would be taken out and filled in again. What is not listed here is learnt (`held_values.Additions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kubewright.api import JSON
from kubewright.patch.values import same

__all__ = ["Defaults", "known_defaults", "only_defaults_more"]

Defaults: TypeAlias = Mapping[str, Mapping[str, JSON]]
"""By the field of a unit: what is filled in, by its path in there; items of lists are no step of a path."""

_PODS: Defaults = {
    "fieldRef": {"apiVersion": "v1"},
    "resourceFieldRef": {"divisor": "0"},
    "items": {"fieldRef.apiVersion": "v1", "resourceFieldRef.divisor": "0"},
    "sources": {
        "downwardAPI.items.fieldRef.apiVersion": "v1",
        "downwardAPI.items.resourceFieldRef.divisor": "0",
        "serviceAccountToken.expirationSeconds": 3600,
    },
}
_CLAIMS: Defaults = {
    "volumeClaimTemplates": {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "spec.volumeMode": "Filesystem",
        "status": {"phase": "Pending"},
        "status.phase": "Pending",
    }
}
_JOBS: Defaults = {**_PODS, "rules": {"onPodConditions.status": "True"}}
_WEBHOOKS: Defaults = {"rules": {"scope": "*"}}
_BINDINGS: Defaults = {"subjects": {"apiGroup": "rbac.authorization.k8s.io"}}
_PORTS: Mapping[str, JSON] = {"ports.protocol": "TCP"}

_KINDS: Mapping[str, Defaults] = {
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDINGS,
    "cronjobs.batch": _JOBS,
    "daemonsets.apps": _PODS,
    "deployments.apps": _PODS,
    "endpoints": {"subsets": _PORTS},
    "endpointslices.discovery.k8s.io": {"endpoints": {"conditions": {}}, "ports": {"name": "", "protocol": "TCP"}},
    "jobs.batch": _JOBS,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "networkpolicies.networking.k8s.io": {"egress": _PORTS, "ingress": _PORTS},
    "pods": _PODS,
    "podtemplates": _PODS,
    "replicasets.apps": _PODS,
    "replicationcontrollers": _PODS,
    "rolebindings.rbac.authorization.k8s.io": _BINDINGS,
    "statefulsets.apps": {**_PODS, **_CLAIMS},
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
}


def known_defaults(kind: str) -> Defaults:
    """Of a kind, given as ``statefulsets.apps``; none for one that is not built in."""
    return _KINDS.get(kind, {})


def only_defaults_more(live: JSON, wanted: JSON, defaults: Mapping[str, JSON], path: str = "") -> bool:
    """Whether ``live`` is ``wanted`` with nothing more than ``defaults``; a null is nothing."""
    if isinstance(live, dict) and isinstance(wanted, dict):
        if not wanted.keys() <= live.keys():
            return False
        for key, value in live.items():
            inside = f"{path}.{key}" if path else key
            if key in wanted:
                if not only_defaults_more(value, wanted[key], defaults, inside):
                    return False
            elif value is not None and not (inside in defaults and same(value, defaults[inside])):
                return False
        return True
    if isinstance(live, list) and isinstance(wanted, list):
        return len(live) == len(wanted) and all(
            only_defaults_more(one, other, defaults, path) for one, other in zip(live, wanted, strict=True)
        )
    return same(live, wanted)
