"""The schemas inside a schema, and their paths as errors name them."""

from __future__ import annotations

from collections.abc import Iterator

from kubewright.schema.node import Schema

__all__ = ["inner_schemas", "keyed"]


def keyed(path: str, key: str) -> str:
    """The path of one entry of a map: ``properties[spec]``."""
    return f"{path}[{key}]"


def inner_schemas(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """Each schema right inside ``schema``, with its path, in the order in which the server visits them."""
    additional, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(additional, dict):
        yield f"{path}.additionalProperties", additional
    for name, inner in sorted((schema.get("properties") or {}).items()):
        yield keyed(f"{path}.properties", name), inner
    if isinstance(schema.get("not"), dict):
        yield f"{path}.not", schema["not"]
    for keyword in ("allOf", "oneOf", "anyOf"):
        for index, inner in enumerate(schema.get(keyword) or ()):
            yield f"{path}.{keyword}[{index}]", inner
    if isinstance(items, dict):
        yield f"{path}.items", items
