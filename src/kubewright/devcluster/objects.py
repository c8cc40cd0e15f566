"""API objects as the server holds them: decoded JSON, never changed in place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

__all__ = [
    "Object",
    "has_whole_floats",
    "metadata_of",
    "name_of",
    "namespace_of",
    "timestamp",
    "with_metadata",
    "without_whole_floats",
]

Object: TypeAlias = dict[str, Any]
"""One object as decoded JSON. Everybody may hold on to one, so nobody changes one: make a new outer dict instead."""


def metadata_of(obj: Mapping[str, Any]) -> dict[str, Any]:
    """``obj.metadata``, empty where the object has none; not to be changed."""
    return obj.get("metadata") or {}


def name_of(obj: Mapping[str, Any]) -> str:
    return metadata_of(obj).get("name") or ""


def namespace_of(obj: Mapping[str, Any]) -> str:
    return metadata_of(obj).get("namespace") or ""


def with_metadata(obj: Object, **changes: Any) -> Object:
    """``obj`` with other values in its metadata, by wire name; None takes the key away."""
    metadata = {**metadata_of(obj), **changes}
    if None in changes.values():
        metadata = {key: value for key, value in metadata.items() if value is not None}
    return {**obj, "metadata": metadata}


_WHOLE_FLOAT = re.compile(rb"\d(\.0|e1\d|e20)[,}\]]")
_LARGEST_IN_FULL = 1e21


def has_whole_floats(data: bytes) -> bool:
    """Whether the JSON of an object may have numbers that `without_whole_floats` changes."""
    return (b".0" in data or b"e1" in data or b"e20" in data) and _WHOLE_FLOAT.search(data) is not None


def without_whole_floats(obj: Object) -> Object:
    """``obj`` with ``1.0`` as 1: a real server writes a whole number without a fraction, so it is read as an integer."""
    return {key: _without_fraction(value) for key, value in obj.items()}


def _without_fraction(value: Any) -> Any:
    if isinstance(value, dict):
        return without_whole_floats(value)
    if isinstance(value, list):
        return [_without_fraction(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_IN_FULL:
        return int(value)
    return value


def timestamp(moment: datetime) -> str:
    """A ``metav1.Time``: RFC 3339, UTC, whole seconds."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"
