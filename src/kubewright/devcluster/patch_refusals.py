"""How a patched object that its kind can't read is shown in the refusal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kubewright.devcluster.objects import Object
from kubewright.schema.go_text import json_text

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource

__all__ = ["as_converted", "encoded_order", "shown"]

_METADATA = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_ENTRY = ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource")


def encoded_order(resource: ServedResource, obj: Object) -> Object:
    """``obj`` with its keys in the order in which the server encodes it: patches keep it, and add at the end.

    That is alphabetical for custom resources. For built-in kinds it is known of all but their own fields.
    """
    if resource.custom:
        ordered: Object = _sorted(obj)
        return ordered
    metadata = _first(obj.get("metadata") or {}, _METADATA)
    if "managedFields" in metadata:
        metadata["managedFields"] = [_first(entry, _ENTRY) for entry in metadata["managedFields"]]
    return {**_first(obj, ("kind", "apiVersion", "metadata")), "metadata": metadata}


def _first(obj: Object, keys: tuple[str, ...]) -> Object:
    first = {key: obj[key] for key in keys if key in obj}
    return {**first, **{key: _sorted(obj[key]) for key in sorted(obj) if key not in first}}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def shown(patched: Any) -> str:
    """A patched object as messages quote it."""
    return json_text(patched, in_order=True)


_UNMARSHAL = re.compile(r"json: cannot unmarshal (\w+)( \S+)? into Go (?:struct field \S+|value) of type (\S+)")
_KINDS = {"number": "int64", "array": "slice", "object": "map"}
_SCALARS = frozenset({"string", "bool", "int32", "int64", "float64"})


def as_converted(why: str) -> str:
    """A decoder's complaint in the words of the converter, which a strategic merge patch's result goes through."""
    match = _UNMARSHAL.fullmatch(why)
    if match is None:
        return why
    found, text, wanted = match.groups()
    kind = _KINDS.get(found, found)
    if text is not None and not text.strip(" -").isdigit():
        kind = "float64"
    if wanted in _SCALARS:  # Go can convert numbers to text, and to other numbers; only the value stands against it
        convertible = found == "number" and wanted != "bool"
        return f"cannot convert {kind} to {wanted}" if convertible else f"unrecognized type: {wanted}"
    if wanted.startswith("map["):
        return f"cannot restore map from {kind}"
    return f"cannot restore slice from {kind}" if wanted.startswith("[]") else f"cannot restore struct from: {kind}"
