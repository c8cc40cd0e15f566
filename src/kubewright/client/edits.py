"""An edit of a typed object as the JSON Patch that loses nothing: from the object as read to the object after."""

from __future__ import annotations

from typing import Any

import msgspec

from kubewright.api import Resource, resource_info, to_dict
from kubewright.patch import json_patch

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
    sides = [_writable(side, before, subresource) for side in (document, to_dict(before), to_dict(after))]
    difference = json_patch.difference(*sides)
    if not difference:
        return []
    return [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}, *difference]


def _writable(document: dict[str, Any], obj: Resource, subresource: str | None) -> dict[str, Any]:
    if subresource == "status":
        return {key: document[key] for key in ("status",) if key in document}
    if resource_info(type(obj)).has_status:
        return {key: value for key, value in document.items() if key != "status"}
    return document
