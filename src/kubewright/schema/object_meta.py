"""The rules for ``metadata`` that hold for every kind, and for the metadata of embedded resources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kubewright.schema.errors import FieldError, forbidden, invalid, required, too_long
from kubewright.schema.go_text import quoted
from kubewright.schema.names import (
    dns1035_label_problems,
    dns_label_problems,
    dns_subdomain_problems,
    label_value_problems,
    path_segment_problems,
    qualified_name_problems,
)
from kubewright.schema.node import Node

__all__ = ["embedded_errors", "metadata_errors", "metadata_update_errors", "name_problems"]

_ANNOTATIONS_LIMIT = 256 * 1024


def name_problems(name: str) -> list[str]:
    """What is wrong with the name of a custom resource, and of most other kinds."""
    return dns_subdomain_problems(name, unit="characters")


def metadata_errors(
    metadata: dict[str, Any],
    *,
    namespaced: bool,
    name_rule: Callable[[str], list[str]] = name_problems,
    path: str = "metadata",
) -> list[FieldError]:
    """What is wrong with the metadata of a new object; ``name_rule`` is the kind's own rule for names."""
    return list(_new(metadata, namespaced, name_rule, path))


def _new(
    metadata: dict[str, Any], namespaced: bool, name_rule: Callable[[str], list[str]], path: str
) -> Iterator[FieldError]:
    prefix, name, namespace = (metadata.get(key) or "" for key in ("generateName", "name", "namespace"))
    if prefix:
        # a trailing dash is the usual separator from the generated part
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        for problem in name_rule(masked):
            yield invalid(f"{path}.generateName", prefix, problem)
    if not name:
        yield required(f"{path}.name", "name or generateName is required")
    else:
        for problem in name_rule(name):
            yield invalid(f"{path}.name", name, problem)
    if namespaced and not namespace:
        yield required(f"{path}.namespace")
    elif namespaced:
        for problem in dns_label_problems(namespace):
            yield invalid(f"{path}.namespace", namespace, problem)
    elif namespace:
        yield forbidden(f"{path}.namespace", "not allowed on this type")
    yield from _shared(metadata, path)


_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def metadata_update_errors(new: dict[str, Any], old: dict[str, Any], *, path: str = "metadata") -> list[FieldError]:
    """What is wrong with the metadata of a changed object, once the server has put back what clients can't set."""
    errors = [
        invalid(f"{path}.{key}", new.get(key), "field is immutable")
        for key in _IMMUTABLE
        if new.get(key) != old.get(key)
    ]
    before, after = old.get("finalizers") or [], new.get("finalizers") or []
    added = sorted(set(after) - set(before))
    if old.get("deletionTimestamp") and added:
        errors.insert(
            0,
            forbidden(
                f"{path}.finalizers",
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{', '.join(map(quoted, added))}}}",
            ),
        )
    return [*errors, *_shared(new, path)]


def _shared(metadata: dict[str, Any], path: str) -> Iterator[FieldError]:
    labels = metadata.get("labels") or {}
    for key in sorted(labels):
        for problem in qualified_name_problems(key):
            yield invalid(f"{path}.labels", key, problem)
        for problem in label_value_problems(labels[key]):
            yield invalid(f"{path}.labels", labels[key], problem)
    yield from _annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from _owners(metadata.get("ownerReferences") or [], f"{path}.ownerReferences")
    yield from _finalizers(metadata.get("finalizers") or [], f"{path}.finalizers")


def _annotations(annotations: dict[str, str], path: str) -> Iterator[FieldError]:
    for key in sorted(annotations):
        for problem in qualified_name_problems(key.lower()):
            yield invalid(path, key, problem)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        yield too_long(path, _ANNOTATIONS_LIMIT)


def _owners(owners: list[dict[str, Any]], path: str) -> Iterator[FieldError]:
    controllers: list[str] = []
    for owner in owners:
        api_version, kind = owner.get("apiVersion") or "", owner.get("kind") or ""
        if not api_version or api_version.count("/") > 1 or api_version.endswith("/"):
            yield invalid(f"{path}.apiVersion", api_version, "version must not be empty")
        for key in ("kind", "name", "uid"):
            if not owner.get(key):
                yield invalid(f"{path}.{key}", "", "must not be empty")
        if api_version == "v1" and kind == "Event":
            yield invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            controllers.append(f"{kind}/{owner.get('name') or ''}")
    if len(controllers) > 1:
        yield invalid(
            path,
            owners,
            'Only one reference can have Controller set to true. Found "true" in references for '
            f"{controllers[0]} and {controllers[1]}",
        )


def _finalizers(finalizers: list[str], path: str) -> Iterator[FieldError]:
    for finalizer in finalizers:
        for problem in qualified_name_problems(finalizer):
            yield invalid(path, finalizer, problem)
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        yield invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")


def embedded_errors(value: Any, node: Node | None, path: str = "") -> Iterator[FieldError]:
    """What is wrong with the apiVersion, kind and metadata of resources inside ``value``."""
    if node is None:
        return
    if isinstance(value, dict):
        if node.embedded_resource:
            yield from _embedded(value, path)
        for key in sorted(value):
            child = node.properties.get(key)
            if child is not None:
                yield from embedded_errors(value[key], child, f"{path}.{key}" if path else key)
            elif node.additional is not None:
                yield from embedded_errors(value[key], node.additional, f"{path}[{key}]")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from embedded_errors(item, node.items, f"{path}[{index}]")


def _embedded(value: dict[str, Any], path: str) -> Iterator[FieldError]:
    for key in ("apiVersion", "kind"):
        where, text = f"{path}.{key}", value.get(key)
        if key not in value:
            yield required(where)
        elif not isinstance(text, str):
            yield invalid(where, text, "must be a string")
        elif not text:
            yield invalid(where, text, "must not be empty")
        elif key == "apiVersion" and text.count("/") > 1:
            yield invalid(where, text, f"unexpected GroupVersion string: {text}")
        elif key == "kind" and (problems := dns1035_label_problems(text.lower())):
            yield invalid(where, text, "may have mixed case, but should otherwise match: " + ",".join(problems))
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        named = {**metadata, "name": metadata.get("name") or "unnamed"}
        yield from metadata_errors(
            named,
            namespaced=bool(metadata.get("namespace")),
            name_rule=path_segment_problems,
            path=f"{path}.metadata",
        )
