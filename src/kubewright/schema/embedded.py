"""Resources inside resources (``x-kubernetes-embedded-resource``): their apiVersion, kind and metadata.

The server knows what metadata is made of, so it reads, cleans and checks it whatever the schema says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from kubewright.api import ManagedFieldsEntry, Model, ObjectMeta, OwnerReference
from kubewright.schema.errors import FieldError, invalid, required, too_long
from kubewright.schema.names import (
    dns1035_label_problems,
    dns_label_problems,
    label_value_problems,
    path_segment_problems,
    qualified_name_problems,
)
from kubewright.schema.node import Node

__all__ = ["MalformedMetadata", "clean_identity", "embedded_errors"]

_ANNOTATIONS_LIMIT = 256 * 1024
_JSON_TYPES = ((bool, "bool"), (str, "string"), ((int, float), "number"), (list, "array"), (dict, "object"))
_NUMBERS = frozenset({"generation", "deletionGracePeriodSeconds"})
_MAPS = frozenset({"labels", "annotations"})
_ENTRIES: Mapping[str, type[Model]] = MappingProxyType(
    {"ownerReferences": OwnerReference, "managedFields": ManagedFieldsEntry}
)


class MalformedMetadata(ValueError):
    """An embedded resource whose apiVersion, kind or metadata can't even be read; the server answers 400."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


# reading ------------------------------------------------------------------------------------------------------------


def clean_identity(value: dict[str, Any], path: str) -> tuple[dict[str, Any], list[str]]:
    """An embedded resource with clean metadata, and the paths of what metadata doesn't know. `MalformedMetadata`."""
    for key in ("apiVersion", "kind"):
        if key in value and not isinstance(value[key], str):
            raise MalformedMetadata(invalid(f"{path}.{key}", value[key], "must be a string"))
    if "metadata" not in value:
        return value, []
    where = f"{path}.metadata"
    metadata = value["metadata"]
    if metadata is None:
        return {**value, "metadata": {}}, []
    complaint = _complaint(metadata)
    if complaint:
        raise MalformedMetadata(invalid(where, metadata, f"json: cannot unmarshal {complaint}"))
    unknown: list[str] = []
    kept = _known(metadata, ObjectMeta, where, unknown)
    for key, model in _ENTRIES.items():
        if key in kept:
            entries = enumerate(kept[key])
            kept[key] = [_known(entry or {}, model, f"{where}.{key}[{index}]", unknown) for index, entry in entries]
    return {**value, "metadata": kept}, sorted(unknown)


def _known(value: dict[str, Any], model: type[Model], path: str, unknown: list[str]) -> dict[str, Any]:
    fields = set(model.__struct_encode_fields__)
    unknown += [f"{path}.{key}" for key in value if key not in fields]
    return {key: item for key, item in value.items() if key in fields and item not in (None, "", [], {})}


def _complaint(metadata: Any) -> str | None:
    """What has the wrong type in metadata, in the words of Go's decoder."""
    if not isinstance(metadata, dict):
        return f"{_json_type(metadata)} into Go value of type v1.ObjectMeta"
    for key in ObjectMeta.__struct_encode_fields__:
        value = metadata.get(key)
        if value is not None:
            wrong = _wrong(key, value)
            if wrong:
                return f"{wrong[0]} into Go struct field ObjectMeta.{key} of type {wrong[1]}"
    return None


def _wrong(key: str, value: Any) -> tuple[str, str] | None:
    """The JSON type found and the type wanted, where they don't fit."""
    if key in _NUMBERS:
        wanted, item_type, items = "int64", "", None
        fits = isinstance(value, int) and not isinstance(value, bool)
    elif key in _MAPS:
        wanted, item_type, fits = "map[string]string", "string", isinstance(value, dict)
        items = value.values() if fits else None
    elif key in _ENTRIES or key == "finalizers":
        item_type = f"v1.{_ENTRIES[key].__name__}" if key in _ENTRIES else "string"
        wanted, fits = f"[]{item_type}", isinstance(value, list)
        items = value if fits else None
    else:
        wanted, item_type, items, fits = "string", "", None, isinstance(value, str)
    if not fits:
        return _json_type(value), wanted
    expected = dict if item_type.startswith("v1.") else str
    misfit = next((item for item in items or () if item is not None and not isinstance(item, expected)), None)
    return None if misfit is None else (_json_type(misfit), item_type)


def _json_type(value: Any) -> str:
    return next((name for types, name in _JSON_TYPES if isinstance(value, types)), "value")


# checking -----------------------------------------------------------------------------------------------------------


def embedded_errors(value: Any, node: Node | None, path: str = "") -> Iterator[FieldError]:
    """What is wrong with the apiVersion, kind and metadata of resources inside ``value``."""
    if node is None:
        return
    if isinstance(value, dict):
        if node.embedded_resource:
            yield from _identity(value, path)
        for key in sorted(value):
            child = node.properties.get(key)
            if child is not None:
                yield from embedded_errors(value[key], child, f"{path}.{key}" if path else key)
            elif node.additional is not None:
                yield from embedded_errors(value[key], node.additional, f"{path}[{key}]")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from embedded_errors(item, node.items, f"{path}[{index}]")


def _identity(value: dict[str, Any], path: str) -> Iterator[FieldError]:
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
    metadata = value.get("metadata") or {}
    complaint = _complaint(metadata)
    if complaint:
        yield invalid(f"{path}.metadata", metadata, f"json: cannot unmarshal {complaint}")
    else:
        yield from _metadata(metadata, f"{path}.metadata")


def _metadata(metadata: dict[str, Any], path: str) -> Iterator[FieldError]:
    for key, rule in (
        ("generateName", lambda text: [] if text in {".", ".."} else path_segment_problems(text)),
        ("name", path_segment_problems),
        ("namespace", dns_label_problems),
    ):
        text = metadata.get(key) or ""
        for problem in rule(text) if text else ():
            yield invalid(f"{path}.{key}", text, problem)
    labels = metadata.get("labels") or {}
    for key in sorted(labels):
        for problem in qualified_name_problems(key):
            yield invalid(f"{path}.labels", key, problem)
        for problem in label_value_problems(labels[key] or ""):
            yield invalid(f"{path}.labels", labels[key], problem)
    yield from _annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from _owners(metadata.get("ownerReferences") or [], f"{path}.ownerReferences")
    yield from _finalizers(metadata.get("finalizers") or [], f"{path}.finalizers")


def _annotations(annotations: dict[str, str | None], path: str) -> Iterator[FieldError]:
    for key in sorted(annotations):
        for problem in qualified_name_problems(key.lower()):
            yield invalid(path, key, problem)
    if sum(len(key.encode()) + len((value or "").encode()) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
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
