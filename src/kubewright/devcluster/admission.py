"""What an API server checks besides the object itself: that its namespace is there and not going away.

https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#namespacelifecycle
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubewright.devcluster.objects import metadata_of
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.store import GroupResource

if TYPE_CHECKING:
    from kubewright.api import ResourceInfo
    from kubewright.devcluster.store import Store

__all__ = ["INITIAL_NAMESPACES", "NAMESPACES", "check_namespace", "check_namespace_deletion", "forbidden"]

NAMESPACES = GroupResource("", "namespaces")
INITIAL_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_IMMORTAL = frozenset(INITIAL_NAMESPACES) - {"kube-node-lease"}


def forbidden(info: ResourceInfo, name: str, why: str, *, causes: list[dict[str, str]] | None = None) -> StatusError:
    """403, as admission and authorization answer."""
    message = f'{info.qualified_plural} "{name}" is forbidden: {why}'
    details = {"name": name, "group": info.group, "kind": info.plural, "causes": causes}
    return StatusError(status_body(403, "Forbidden", message, details=details))


def check_namespace(store: Store, info: ResourceInfo, *, namespace: str, name: str) -> None:
    """Refuses a new object in a namespace that does not exist, or is being deleted."""
    found = store.state(NAMESPACES, "", namespace)
    if found is None:
        message = f'namespaces "{namespace}" not found'
        raise StatusError(status_body(404, "NotFound", message, details={"name": namespace, "kind": "namespaces"}))
    if b'"deletionTimestamp"' in found.data and metadata_of(found.obj).get("deletionTimestamp"):
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise forbidden(info, name, why, causes=[cause])


def check_namespace_deletion(info: ResourceInfo, name: str) -> None:
    """Refuses to delete the namespaces that the cluster itself needs."""
    if (info.group, info.plural) == NAMESPACES and name in _IMMORTAL:
        raise forbidden(info, name, "this namespace may not be deleted")
