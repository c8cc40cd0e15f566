"""`definition`, the CustomResourceDefinition of a kind."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from kubewright.api import Column, Resource, ResourceInfo, Scale, resource_info
from kubewright.crd.refusals import check_definition
from kubewright.crd.schema import schema_of

__all__ = ["definition"]


def definition(*versions: type[Resource], storage: type[Resource] | None = None) -> dict[str, Any]:
    """The CustomResourceDefinition of a kind, from the class of each version.

    All versions are served. ``storage`` is the version that objects are stored in; a single one need not be named.
    Names, scope and categories are those of the storage version. Raises ValueError where the classes contradict each
    other or the API server would refuse what they say, `SchemaError` for a field without a schema or with one that it
    would refuse.
    """
    if not versions:
        raise ValueError("a definition needs the class of at least one version")
    stored = storage or versions[0]
    if storage is None and len(versions) > 1:
        names = ", ".join(resource_info(version).version for version in versions)
        raise ValueError(f"{resource_info(stored).kind} has the versions {names}: say which is the storage version")
    if stored not in versions:
        raise ValueError(f"the storage version {stored.__qualname__} is not among the versions")
    info = resource_info(stored)
    if "." not in info.group:
        has = f"the group {info.group!r}, which has no dot" if info.group else "no group"
        raise ValueError(f"{info.kind} has {has}: custom resources need one, such as apps.example.com")
    seen: dict[str, type[Resource]] = {}
    for version in versions:
        other = resource_info(version)
        if (other.group, other.kind, other.plural, other.scope) != (info.group, info.kind, info.plural, info.scope):
            raise ValueError(f"{version.__qualname__} and {stored.__qualname__} are not versions of one kind")
        if seen.setdefault(other.version, version) is not version:
            raise ValueError(f"{info.kind} {other.version} is declared twice")
    return deepcopy(_made(tuple(seen[name] for name in sorted(seen)), stored))


@cache
def _made(versions: tuple[type[Resource], ...], stored: type[Resource]) -> dict[str, Any]:
    """Made and checked once: when a kind is registered, and then asked for by what installs and prints it."""
    info = resource_info(stored)
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": info.qualified_plural},
        "spec": {
            "group": info.group,
            "names": _names(info),
            "scope": "Namespaced" if info.namespaced else "Cluster",
            "versions": [_version(version, storage=version is stored) for version in versions],
        },
    }
    check_definition(crd, versions)
    return crd


def _names(info: ResourceInfo) -> dict[str, Any]:
    names: dict[str, Any] = {}
    if info.categories:
        names["categories"] = list(info.categories)
    names |= {"kind": info.kind, "listKind": f"{info.kind}List", "plural": info.plural}
    if info.short_names:
        names["shortNames"] = list(info.short_names)
    names["singular"] = info.singular
    return names


def _version(kind: type[Resource], *, storage: bool) -> dict[str, Any]:
    info = resource_info(kind)
    version: dict[str, Any] = {}
    if info.columns:
        version["additionalPrinterColumns"] = [_column(column, info) for column in info.columns]
    version |= {
        "name": info.version,
        "schema": {"openAPIV3Schema": schema_of(kind)},
        "served": True,
        "storage": storage,
    }
    subresources: dict[str, Any] = {}
    if info.scale is not None:
        subresources["scale"] = _scale(info.scale, info)
    if info.has_status:
        subresources["status"] = {}
    if subresources or info.columns:
        version["subresources"] = subresources
    return version


def _column(column: Column, info: ResourceInfo) -> dict[str, Any]:
    if not column.path.startswith("."):
        raise ValueError(f"{info.kind}: the path of column {column.name!r} is {column.path!r}; it starts with a dot")
    result: dict[str, Any] = {}
    if column.description:
        result["description"] = column.description
    if column.format:
        result["format"] = column.format
    result |= {"jsonPath": column.path, "name": column.name}
    if column.priority:
        result["priority"] = column.priority
    result["type"] = column.type
    return result


def _scale(scale: Scale, info: ResourceInfo) -> dict[str, str]:
    for what, path, start in (
        ("spec", scale.spec, ".spec."),
        ("status", scale.status, ".status."),
        ("selector", scale.selector, (".spec.", ".status.")),
    ):
        if path is not None and not path.startswith(start):
            begins = start if isinstance(start, str) else " or ".join(start)
            raise ValueError(f"{info.kind}: Scale({what}={path!r}) is a path below {begins}")
    result = {} if scale.selector is None else {"labelSelectorPath": scale.selector}
    return result | {"specReplicasPath": scale.spec, "statusReplicasPath": scale.status}
