"""Where an object lives on the server and how it is asked for: paths, queries and bodies. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict

import msgspec

from kubewright.api import JSON, FieldSelector, Resource, ResourceInfo, Selector, describe, resource_info

__all__ = [
    "FieldValidation",
    "Fields",
    "Labels",
    "Propagation",
    "Query",
    "WriteOptions",
    "address",
    "as_field_selector",
    "as_selector",
    "delete_options",
    "intent",
    "namespace_of",
    "pod_path",
    "resource_path",
    "selection",
    "selection_to_delete",
    "write_query",
]

_SERVER_SET = (
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)


Query: TypeAlias = Sequence[tuple[str, str]]
Labels: TypeAlias = Selector | Mapping[str, str] | str
"""A label selector: parsed, as exact labels, or as text."""
Fields: TypeAlias = FieldSelector | str
Propagation: TypeAlias = Literal["Foreground", "Background", "Orphan"]
FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]
"""What the server does about fields that it does not know, or that come twice: drop them, warn (its default), refuse."""


class WriteOptions(TypedDict, total=False):
    """What can be said of any write. Servers before 1.25 know no ``field_validation``, and ignore it."""

    dry_run: bool
    """The server does everything but keep the result: what it answers is what would have become of the object."""
    field_manager: str
    """Whose the written fields are; the client's own name unless given."""
    field_validation: FieldValidation


def resource_path(
    info: ResourceInfo, *, namespace: str | None = None, name: str | None = None, subresource: str | None = None
) -> str:
    """``/apis/apps/v1/namespaces/default/statefulsets/web/status``.

    No namespace means all of them, which only collections have. Raises ValueError where the address makes no sense.
    """
    if namespace is not None and not info.namespaced:
        raise ValueError(f"{info.kind} is cluster-scoped: it has no namespace, {namespace!r} was given")
    if name is not None and namespace is None and info.namespaced:
        raise ValueError(f"{info.kind} {name} needs a namespace")
    path = f"/apis/{info.group}/{info.version}" if info.group else f"/api/{info.version}"
    if namespace is not None:
        _check_segment(namespace, info.kind, "namespace")
        path += f"/namespaces/{namespace}"
    path += f"/{info.plural}"
    if name is not None:
        _check_segment(name, info.kind, "name")
        path += f"/{name}"
    if subresource is not None:
        for part in subresource.removesuffix("/").split("/"):  # a proxy has a path of its own
            _check_segment(part, info.kind, "subresource")
        path += f"/{subresource}"
    return path


def _check_segment(part: str, kind: str, what: str) -> None:
    """Raises ValueError for what would address something else: nothing, a subresource, or what is above."""
    if not part:
        raise ValueError(f"{kind}: an empty {what} addresses nothing")
    if part in {".", ".."} or "/" in part or "%" in part:
        raise ValueError(f"{kind}: {part!r} is no {what}: it can't be '.' or '..', nor hold '/' or '%'")


def pod_path(namespace: str, name: str, subresource: str) -> str:
    """Raises ValueError for what is no name."""
    if not namespace or not name:
        raise ValueError(f"{subresource} of which pod? Give its name and namespace")
    _check_segment(name, "Pod", "name")
    _check_segment(namespace, "Pod", "namespace")
    return f"/api/v1/namespaces/{namespace}/pods/{name}/{subresource}"


def as_selector(labels: Labels) -> Selector:
    """Raises `SelectorError` for text that does not parse."""
    if isinstance(labels, Selector):
        return labels
    return Selector.parse(labels) if isinstance(labels, str) else Selector.from_labels(labels)


def as_field_selector(fields: Fields) -> FieldSelector:
    return FieldSelector.parse(fields) if isinstance(fields, str) else fields


def selection(labels: Labels | None, fields: Fields | None) -> list[tuple[str, str]]:
    """The query parameters that select a part of a collection."""
    query = []
    if labels is not None and (text := str(as_selector(labels))):
        query.append(("labelSelector", text))
    if fields is not None and (text := str(as_field_selector(fields))):
        query.append(("fieldSelector", text))
    return query


def selection_to_delete(
    info: ResourceInfo, namespace: str | None, labels: Labels | None, fields: Fields | None, *, everything: bool
) -> list[tuple[str, str]]:
    """The query that says which objects of a collection go. Raises ValueError where it would be more than was meant."""
    if info.namespaced and namespace is None:
        raise ValueError(
            f"{info.kind} is namespaced, and a server deletes those of one namespace at a time: give the namespace"
        )
    query = selection(labels, fields)
    where = f"of namespace {namespace}" if namespace else "of the cluster"
    if not query and not everything:
        raise ValueError(
            f"no selector, or one that selects everything: every {info.kind} {where} would be deleted. Give labels or "
            "fields, or everything=True if that is meant"
        )
    if query and everything:
        raise ValueError(f"everything=True, and a selector ({query[0][1]}) besides: leave one of them out")
    return query


def write_query(
    manager: str,
    *,
    dry_run: bool = False,
    field_manager: str | None = None,
    field_validation: FieldValidation | None = None,
) -> list[tuple[str, str]]:
    """The query parameters of a write; ``manager`` is the client's name. See `WriteOptions`."""
    query = [("fieldManager", field_manager or manager)]
    if dry_run:
        query.append(("dryRun", "All"))
    if field_validation is not None:
        query.append(("fieldValidation", field_validation))
    return query


def delete_options(
    *,
    propagation: Propagation | None = None,
    uid: str | None = None,
    resource_version: str | None = None,
    grace_period: int | None = None,
    dry_run: bool = False,
) -> bytes:
    """The body of a DELETE; empty when there is nothing to say."""
    preconditions: dict[str, JSON] = {}
    if uid is not None:
        preconditions["uid"] = uid
    if resource_version is not None:
        preconditions["resourceVersion"] = resource_version
    options: dict[str, JSON] = {}
    if preconditions:
        options["preconditions"] = preconditions
    if propagation is not None:
        options["propagationPolicy"] = propagation
    if grace_period is not None:
        options["gracePeriodSeconds"] = grace_period
    if dry_run:  # a server that finds a body does not look for options in the query
        options["dryRun"] = ["All"]
    return msgspec.json.encode({"apiVersion": "v1", "kind": "DeleteOptions", **options}) if options else b""


def namespace_of(obj: Resource) -> str | None:
    """Where ``obj`` is, or goes; raises ValueError for a namespaced object without a namespace."""
    if resource_info(type(obj)).namespaced and not obj.namespace:
        raise ValueError(f"{describe(obj)} needs a metadata.namespace")
    return obj.namespace


def address(info: ResourceInfo, obj: dict[str, JSON]) -> tuple[str, str | None]:
    """Name and namespace of decoded JSON; raises ValueError where one is missing."""
    metadata = obj.get("metadata")
    name, namespace = (metadata.get("name"), metadata.get("namespace")) if isinstance(metadata, dict) else (None, None)
    if not isinstance(name, str) or not name:
        raise ValueError(f"this {info.kind} needs a metadata.name")
    if info.namespaced and (not isinstance(namespace, str) or not namespace):
        raise ValueError(f"{info.kind} {name} needs a metadata.namespace")
    return name, namespace if isinstance(namespace, str) else None


def intent(info: ResourceInfo, obj: dict[str, JSON], subresource: str | None = None) -> dict[str, JSON]:
    """What an apply of ``obj`` sends: without what the server sets, and either without or with only the status."""
    metadata = obj.get("metadata")
    kept = (
        {key: value for key, value in metadata.items() if key not in _SERVER_SET} if isinstance(metadata, dict) else {}
    )
    head: dict[str, JSON] = {"apiVersion": info.api_version, "kind": info.kind}
    if subresource == "status":
        own: JSON = {key: kept[key] for key in ("name", "namespace", "uid") if key in kept}
        return {**head, "metadata": own, "status": obj.get("status", {})}
    body = {key: value for key, value in obj.items() if key not in {"apiVersion", "kind", "metadata"}}
    if info.has_status:
        body.pop("status", None)
    return {**head, "metadata": kept, **body}
