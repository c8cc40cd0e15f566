"""What an operator's controllers must be allowed to do, derived from what they declare.

RBAC manifests are made of it, and a running manager asks the server whether it is so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from kubewright.api import ResourceInfo, resource_info
from kubewright.controller import ControllerSpec

__all__ = ["EVENTS", "LEASES", "Need", "lease_need", "needs"]

EVENTS = ResourceInfo(group="events.k8s.io", version="v1", kind="Event", plural="events", singular="event")
"""Every run may record them."""
LEASES = ResourceInfo(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", singular="lease")
"""Of which a candidate for leadership needs one, in the namespace that it names."""

_OF_NO_NAMESPACE = "default"
"""Where events about objects are that have no namespace."""
_READ = ("get", "list", "watch")
_APPLY = ("create", "delete", "patch")


class Need(Struct, frozen=True):
    """Verbs on one resource, or on one of its subresources."""

    info: ResourceInfo
    subresource: str
    """Empty: the resource itself."""
    verbs: frozenset[str]
    also_in: tuple[str, ...] = ()
    """Namespaces beside those in which the operator works."""

    @property
    def resource(self) -> str:
        """As a role names it: ``databases/status``."""
        return f"{self.info.plural}/{self.subresource}" if self.subresource else self.info.plural


def needs(specs: list[ControllerSpec[Any]]) -> list[Need]:
    """Each resource and subresource once, in the order in which the controllers name them."""
    verbs: dict[tuple[str, str, str], tuple[ResourceInfo, set[str]]] = {}
    for spec in specs:
        for info, subresource, wanted in _of(spec):
            _, known = verbs.setdefault((info.group, info.plural, subresource), (info, set()))
            known |= set(wanted)
    beside = () if all(resource_info(spec.kind).namespaced for spec in specs) else (_OF_NO_NAMESPACE,)
    return [
        Need(info, subresource, frozenset(all_), beside if info is EVENTS else ())
        for (_, _, subresource), (info, all_) in verbs.items()
    ]


def _of(spec: ControllerSpec[Any]) -> Iterator[tuple[ResourceInfo, str, tuple[str, ...]]]:
    for kind in spec.kinds:
        yield resource_info(kind), "", _READ
    for kind in spec.owns:
        yield resource_info(kind), "", _APPLY
    for kind in spec.prune:
        yield resource_info(kind), "", ("delete",)
    for permission in spec.permissions:
        yield resource_info(permission.kind), permission.subresource, permission.verbs
    yield EVENTS, "", ("create", "get", "patch")
    info = resource_info(spec.kind)
    if spec.finalizers:
        yield info, "", ("patch",)
    if info.has_status:
        yield info, "status", ("patch",)
    if spec.owns:
        # owner references that block the owner's deletion need it where OwnerReferencesPermissionEnforcement is on
        yield info, "finalizers", ("update",)


def lease_need() -> Need:
    """What leader election does with its Lease."""
    return Need(LEASES, "", frozenset({"create", "get", "patch"}))
