"""An edit of a typed object as the JSON Patch that loses nothing: from the object as read to the object after."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from kubewright.api import Resource, Unstructured, resource_info, to_dict
from kubewright.crd import SchemaError, schema_of
from kubewright.patch import json_patch
from kubewright.patch.shape import Shape
from kubewright.patch.values import same

__all__ = ["edit_operations"]


def edit_operations(
    raw: bytes, before: Resource, after: Resource, *, subresource: str | None = None
) -> list[dict[str, Any]]:
    """The patch, bound to the resource version of ``raw``; empty when nothing changed.

    ``before`` is ``raw`` decoded, ``after`` its edited twin. A status is written only through its subresource, and
    through that nothing but the status: the server would drop the rest without a word.
    """
    document: dict[str, Any] = msgspec.json.decode(raw)
    version = document["metadata"]["resourceVersion"]
    read, known, edited = (_writable(side, before, subresource) for side in (document, to_dict(before), to_dict(after)))
    if same(known, edited):  # else defaults would be written that only the class has
        return []
    difference = json_patch.difference(read, known, edited, shape=_shape(type(before)))
    if not difference:
        return []
    return [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}, *difference]


def _writable(document: dict[str, Any], obj: Resource, subresource: str | None) -> dict[str, Any]:
    if subresource == "status":
        return {key: document[key] for key in ("status",) if key in document}
    if resource_info(type(obj)).has_status:
        return {key: value for key, value in document.items() if key != "status"}
    return document


@cache
def _shape(kind: type[Resource]) -> Shape:
    """What the class says of its lists: which are sets, and by which fields others tell their items apart.

    Classes of built-in kinds say nothing of it, and are too many to ask.
    """
    if not resource_info(kind).custom or issubclass(kind, Unstructured):
        return Shape.of_resource({})
    try:
        return Shape.of_resource(schema_of(kind))
    except SchemaError:  # somebody else's definition, of which the class models what no schema can say
        return Shape.of_resource({})
