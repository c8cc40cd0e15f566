"""What the server tells of its kinds, in both forms: one document per apiVersion, or everything in two (KEP-3352)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct, field

from kubewright.api import DecodeError, GroupVersionKind, ResourceInfo

__all__ = ["AGGREGATED", "ApiResource", "ApiSubresource", "aggregated", "group_versions", "resource_list"]

D = TypeVar("D", bound=Struct)

AGGREGATED = ",".join(
    [
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json",
    ]
)
"""The media types that ask for the newer form, and take the older one from a server that lacks it."""


class ApiSubresource(Struct, frozen=True):
    """A part of a resource that has a path of its own; ``gvk`` is the kind of what is sent there."""

    name: str
    gvk: GroupVersionKind
    verbs: tuple[str, ...]


class ApiResource(Struct, frozen=True):
    """A resource as the server describes it."""

    info: ResourceInfo
    """Where it is. Columns and scale paths are not told, and empty."""
    verbs: tuple[str, ...]
    subresources: tuple[ApiSubresource, ...] = ()

    def subresource(self, name: str) -> ApiSubresource | None:
        return next((each for each in self.subresources if each.name == name), None)


class _Entry(Struct, rename="camel"):
    name: str
    kind: str = ""
    namespaced: bool = False
    singular_name: str = ""
    group: str = ""
    version: str = ""
    verbs: tuple[str, ...] | None = None
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None


class _ResourceList(Struct, rename="camel"):
    group_version: str
    resources: list[_Entry] | None = None


class _ResponseKind(Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Subresource(Struct, rename="camel"):
    subresource: str
    response_kind: _ResponseKind | None = None
    verbs: tuple[str, ...] | None = None


class _Resource(Struct, rename="camel"):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    singular_resource: str = ""
    verbs: tuple[str, ...] | None = None
    short_names: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    subresources: list[_Subresource] | None = None


class _Version(Struct):
    version: str
    resources: list[_Resource] | None = None
    freshness: str = "Current"


class _Metadata(Struct):
    name: str = ""


class _Group(Struct):
    metadata: _Metadata = field(default_factory=_Metadata)
    versions: list[_Version] | None = None


class _GroupVersion(Struct, rename="camel"):
    group_version: str = ""


class _ApiGroup(Struct, rename="camel"):
    versions: list[_GroupVersion] | None = None
    preferred_version: _GroupVersion = field(default_factory=_GroupVersion)


class _Document(Struct):
    """Any of the documents at ``/api`` and ``/apis``."""

    kind: str = ""
    items: list[_Group] | None = None
    groups: list[_ApiGroup] | None = None
    versions: list[str] | None = None


def resource_list(data: bytes) -> tuple[ApiResource, ...]:
    """The resources of one apiVersion, from the older form."""
    document = _decoded(data, _ResourceList)
    group, _, version = document.group_version.rpartition("/")
    entries = document.resources or []
    return tuple(_of_entries(group, version, entries))


def _of_entries(group: str, version: str, entries: list[_Entry]) -> Iterator[ApiResource]:
    below: dict[str, list[ApiSubresource]] = {}
    for entry in entries:
        resource, slash, name = entry.name.partition("/")
        if slash:
            gvk = _gvk(group, version, entry.group, entry.version, entry.kind)
            below.setdefault(resource, []).append(ApiSubresource(name, gvk, entry.verbs or ()))
    for entry in entries:
        if "/" not in entry.name and entry.kind:
            yield _resource(
                GroupVersionKind(group, version, entry.kind),
                plural=entry.name,
                singular=entry.singular_name,
                namespaced=entry.namespaced,
                short_names=entry.short_names,
                categories=entry.categories,
                verbs=entry.verbs,
                subresources=below.get(entry.name, []),
            )


def aggregated(data: bytes) -> dict[str, tuple[ApiResource, ...] | None] | None:
    """Resources by apiVersion from the newer form, None for an apiVersion that can't be told now.

    None instead of all that where ``data`` is of the older form.
    """
    document = _decoded(data, _Document)
    if document.kind != "APIGroupDiscoveryList":
        return None
    found: dict[str, tuple[ApiResource, ...] | None] = {}
    for group in document.items or []:
        name = group.metadata.name
        for version in group.versions or []:
            api_version = f"{name}/{version.version}" if name else version.version
            stale = version.freshness == "Stale"
            found[api_version] = None if stale else tuple(_of_version(name, version))
    return found


def _of_version(group: str, version: _Version) -> Iterator[ApiResource]:
    def gvk(kind: _ResponseKind) -> GroupVersionKind:
        return _gvk(group, version.version, kind.group, kind.version, kind.kind)

    for entry in version.resources or []:
        if entry.response_kind is not None and entry.response_kind.kind:
            yield _resource(
                GroupVersionKind(group, version.version, entry.response_kind.kind),
                plural=entry.resource,
                singular=entry.singular_resource,
                namespaced=entry.scope == "Namespaced",
                short_names=entry.short_names,
                categories=entry.categories,
                verbs=entry.verbs,
                subresources=[
                    ApiSubresource(each.subresource, gvk(each.response_kind), each.verbs or ())
                    for each in entry.subresources or []
                    if each.response_kind is not None
                ],
            )


def group_versions(data: bytes) -> list[str]:
    """The apiVersions that a document of the older form lists, each group's preferred one first."""
    document = _decoded(data, _Document)
    found = list(document.versions or [])
    for group in document.groups or []:
        first = group.preferred_version.group_version
        names = [each.group_version for each in group.versions or []]
        found += [name for name in names if name == first] + [name for name in names if name != first]
    return found


def _gvk(own_group: str, own_version: str, group: str, version: str, kind: str) -> GroupVersionKind:
    """A subresource that takes another kind's objects says so; one that says nothing takes those of its own apiVersion."""
    return GroupVersionKind(group, version, kind) if version else GroupVersionKind(own_group, own_version, kind)


def _resource(
    gvk: GroupVersionKind,
    *,
    plural: str,
    singular: str,
    namespaced: bool,
    short_names: Iterable[str] | None,
    categories: Iterable[str] | None,
    verbs: tuple[str, ...] | None,
    subresources: list[ApiSubresource],
) -> ApiResource:
    info = ResourceInfo(
        group=gvk.group,
        version=gvk.version,
        kind=gvk.kind,
        plural=plural,
        singular=singular or gvk.kind.lower(),
        scope="Namespaced" if namespaced else "Cluster",
        short_names=tuple(short_names or ()),
        categories=tuple(categories or ()),
        has_status=any(each.name == "status" for each in subresources),
    )
    return ApiResource(info, verbs or (), tuple(subresources))


def _decoded(data: bytes, document: type[D]) -> D:
    try:
        return msgspec.json.decode(data, type=document)
    except msgspec.DecodeError as error:
        raise DecodeError(f"the server's description of its API does not fit: {error}") from error
