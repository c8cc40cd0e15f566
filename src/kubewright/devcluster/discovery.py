"""Discovery: which groups, versions and resources there are, in both forms that clients ask for.

The older form is one document per group version. The newer one (KEP-3352) has everything in two, ``/api`` and
``/apis``; a client asks for it in its Accept header.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubewright.devcluster.catalog import ApiGroup, Catalog, ServedResource, Subresource
    from kubewright.devcluster.objects import Object

__all__ = ["AGGREGATED", "aggregated", "api_group", "api_group_list", "api_resource_list", "api_versions"]

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""The media type of the newer form."""


def api_versions(catalog: Catalog, *, address: str) -> Object:
    """``/api``: the versions of the core group; ``address`` is where the server listens, as host:port."""
    core = [version for group in catalog.groups() if not group.name for version in group.versions]
    return {
        "kind": "APIVersions",
        "versions": core,
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def api_group_list(catalog: Catalog) -> Object:
    """``/apis``: all groups but the core one."""
    groups = [_group(group) for group in catalog.groups() if group.name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(catalog: Catalog, name: str) -> Object | None:
    """``/apis/<name>``; None for a group that is not served."""
    group = next((each for each in catalog.groups() if each.name == name), None)
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group)} if group and name else None


def _group(group: ApiGroup) -> Object:
    versions = [{"groupVersion": f"{group.name}/{version}", "version": version} for version in group.versions]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def api_resource_list(catalog: Catalog, group: str, version: str) -> Object | None:
    """``/api/v1`` and ``/apis/<group>/<version>``; None for a group version that is not served."""
    resources = catalog.in_version(group, version)
    if not resources:
        return None
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if group else {}),  # left out for the core group, as ever since
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": [entry for resource in resources for entry in _entries(resource)],
    }


def _entries(resource: ServedResource) -> Iterable[Object]:
    info = resource.info
    yield {
        "name": info.plural,
        "singularName": info.singular,
        "namespaced": info.namespaced,
        "kind": info.kind,
        "verbs": list(resource.verbs),
        **_names(resource),
        **_storage_version_hash(resource),
    }
    for subresource in resource.subresources:
        foreign = (subresource.group, subresource.version) != (info.group, info.version)
        yield {
            "name": f"{info.plural}/{subresource.name}",
            "singularName": "",
            "namespaced": info.namespaced,
            **({"group": subresource.group, "version": subresource.version} if foreign else {}),
            "kind": subresource.kind,
            "verbs": list(subresource.verbs),
        }


def _storage_version_hash(resource: ServedResource) -> Object:
    """Tells a client that migrates stored objects when the version they are kept in changes."""
    if "watch" not in resource.verbs:
        return {}
    group, _, version = (resource.storage_api_version or resource.info.api_version).rpartition("/")
    digest = sha256(f"{group}/{version}/{resource.info.kind}".encode()).digest()
    return {"storageVersionHash": b64encode(digest[:8]).decode()}


def _names(resource: ServedResource) -> Object:
    info = resource.info
    names: dict[str, Any] = {"shortNames": list(info.short_names), "categories": list(info.categories)}
    return {key: value for key, value in names.items() if value}


def aggregated(catalog: Catalog, *, core: bool) -> Object:
    """``/api`` (``core``) or ``/apis`` in the newer form."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group.name} if group.name else {},
                "versions": [_version(catalog, group.name, version) for version in group.versions],
            }
            for group in catalog.groups()
            if core is (group.name == "")
        ],
    }


def _version(catalog: Catalog, group: str, version: str) -> Object:
    resources = [_resource(resource) for resource in catalog.in_version(group, version)]
    return {"version": version, "resources": resources, "freshness": "Current"}


def _resource(resource: ServedResource) -> Object:
    info = resource.info
    own = ("", "") if resource.definition_name else (info.group, info.version)
    entry: Object = {
        "resource": info.plural,
        "responseKind": _response_kind(own, info.kind),
        "scope": info.scope,
        "singularResource": info.singular,
        "verbs": list(resource.verbs),
        **_names(resource),
    }
    if resource.subresources:
        entry["subresources"] = [_subresource(resource, each, own) for each in resource.subresources]
    return entry


def _subresource(resource: ServedResource, subresource: Subresource, own: tuple[str, str]) -> Object:
    info = resource.info
    group_version = (subresource.group, subresource.version)
    return {
        "subresource": subresource.name,
        "responseKind": _response_kind(
            own if group_version == (info.group, info.version) else group_version, subresource.kind
        ),
        "verbs": list(subresource.verbs),
    }


def _response_kind(group_version: tuple[str, str], kind: str) -> Object:
    """Built-in kinds leave group and version empty where they are the resource's own; custom ones spell them out."""
    return {"group": group_version[0], "version": group_version[1], "kind": kind}
