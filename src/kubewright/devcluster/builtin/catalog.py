"""`builtin_resources`: the built-in kinds as a server serves them, made from the data files."""

from __future__ import annotations

from functools import cache
from typing import Any

from kubewright.api import ResourceInfo, Scale
from kubewright.devcluster.builtin.definitions import (
    PREFIX,
    definition_names,
    definitions,
    discovered,
    merged_definitions,
)
from kubewright.devcluster.builtin.selectable import SELECTABLE
from kubewright.devcluster.builtin.strategy import strategy_for
from kubewright.devcluster.catalog import Catalog, ServedResource, Subresource
from kubewright.devcluster.store import GroupResource
from kubewright.patch.shape import Shape

__all__ = ["builtin_catalog", "builtin_resources"]

_RETURN_DELETED = frozenset(
    {
        ("", "PersistentVolume"),
        ("", "PersistentVolumeClaim"),
        ("", "Pod"),
        ("", "PodTemplate"),
        ("", "ResourceQuota"),
        ("", "ServiceAccount"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
    }
)
_NEED_RESOURCE_VERSION = frozenset(
    {
        ("", "Service"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("coordination.k8s.io", "Lease"),
        ("policy", "PodDisruptionBudget"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "VolumeAttachment"),
    }
)
_CREATED_BY_UPDATE = frozenset(
    {
        ("", "Endpoints"),
        ("", "Event"),
        ("", "LimitRange"),
        ("", "Service"),
        ("coordination.k8s.io", "Lease"),
        ("events.k8s.io", "Event"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("rbac.authorization.k8s.io", "Role"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
    }
)
_EVENT_NAMES = {
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "involvedObject": "regarding",
    "lastTimestamp": "deprecatedLastTimestamp",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
}
"""Core Events' fields by what events.k8s.io calls them."""
_STORED_AS = {("events.k8s.io", "v1", "events"): (GroupResource("", "events"), "v1")}
_STORED_IN = {("autoscaling", "v1"): "autoscaling/v2"}


@cache
def builtin_resources() -> tuple[ServedResource, ...]:
    """Every built-in resource, in order of group version and name. They never change, so all servers share them."""
    return tuple(
        _served(group_version, entry, entries)
        for group_version, entries in discovered().items()
        for entry in entries
        if "/" not in entry["name"]
    )


def builtin_catalog() -> Catalog:
    """A new catalog of the built-in kinds, for one server to add its custom ones to."""
    return Catalog(builtin_resources(), definitions=definitions())


def _served(group_version: str, entry: dict[str, Any], entries: list[dict[str, Any]]) -> ServedResource:
    group, _, version = group_version.rpartition("/")
    plural, kind = entry["name"], entry["kind"]
    definition = definition_names()[group, version, kind]
    schema = {"$ref": f"{PREFIX}{definition}"}
    subresources = tuple(
        _subresource(each, group, version) for each in entries if each["name"].startswith(f"{plural}/")
    )
    names = {each.name for each in subresources}
    scale = Scale(spec=".spec.replicas", status=".status.replicas")
    info = ResourceInfo(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        singular=entry["singularName"],
        scope="Namespaced" if entry["namespaced"] else "Cluster",
        short_names=tuple(entry.get("shortNames", ())),
        categories=tuple(entry.get("categories", ())),
        scale=scale if "scale" in names else None,
        has_status="status" in names,
    )
    stored_as, storage_version = _STORED_AS.get((group, version, plural), (None, ""))
    return ServedResource(
        info=info,
        verbs=tuple(entry["verbs"]),
        schema=schema,
        shape=Shape(schema, merged_definitions()),
        strategy=strategy_for(info, definition, status_apart="status" in names),
        subresources=subresources,
        selectable_fields=SELECTABLE.get((group, kind), ()),
        stored_as=stored_as,
        storage_version=stored_as is None and (group, version) not in _STORED_IN,
        storage_api_version=storage_version or _STORED_IN.get((group, version), ""),
        renamed=_EVENT_NAMES if stored_as is not None else {},
        definition_name=definition,
        returns_deleted=(group, kind) in _RETURN_DELETED,
        unconditional_update=(group, kind) not in _NEED_RESOURCE_VERSION,
        create_on_update=(group, kind) in _CREATED_BY_UPDATE,
    )


def _subresource(entry: dict[str, Any], group: str, version: str) -> Subresource:
    return Subresource(
        name=entry["name"].partition("/")[2],
        verbs=tuple(entry["verbs"]),
        kind=entry["kind"],
        group=entry.get("group", group),
        version=entry.get("version", version),
    )
