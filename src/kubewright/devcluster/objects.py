"""API objects as the server holds them: decoded JSON, never changed in place."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

__all__ = ["Object", "metadata_of", "name_of", "namespace_of", "timestamp", "with_metadata"]

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


def timestamp(moment: datetime) -> str:
    """A ``metav1.Time``: RFC 3339, UTC, whole seconds."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:19] + "Z"
