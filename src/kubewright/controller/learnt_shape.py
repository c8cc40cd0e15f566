"""`LearntShape`: how the lists and maps of a kind merge, learnt from the server's own books.

Whether a list is one unit, a set or keyed decides which fields an apply owns, and only the kind's schema on the server
says so. But its fieldsV1 of one object shows it for all objects of the kind: an item of a keyed list is there as
``k:{"name":"web"}``, a member of a set as ``v:"a"``, and a unit has nothing below it.
https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

from typing import Any

import msgspec

from kubewright.api import JSON
from kubewright.patch.apply import applied_fields
from kubewright.patch.fields import digest
from kubewright.patch.shape import Shape

__all__ = ["LearntShape"]

_KNOWN_ALREADY = frozenset({"apiVersion", "kind", "metadata"})


class LearntShape:
    """What was seen of one kind. What was not seen yet makes a digest wrong, never right by accident."""

    def __init__(self) -> None:
        self._schema: dict[str, Any] = {"type": "object", "properties": {}}
        self.shape = Shape.of_resource(self._schema)

    def digest(self, body: dict[str, Any]) -> bytes:
        """Of the fields that an apply of ``body`` owns, to compare with `Entry.owned_by`."""
        return digest(applied_fields(body, self.shape))

    def covers(self, body: dict[str, Any]) -> bool:
        """Whether all maps and lists of ``body`` were seen before."""
        return all(_covers(value, self._schema, name) for name, value in body.items() if name not in _KNOWN_ALREADY)

    def learn(self, body: dict[str, Any], fields: dict[str, JSON]) -> None:
        """Takes up what the fieldsV1 of an apply of ``body``, or of one much like it, show."""
        for name, value in body.items():
            if name not in _KNOWN_ALREADY:
                _learn_child(value, fields.get(f"f:{name}"), self._schema, name)
        self.shape = Shape.of_resource(self._schema)


def _covers(value: JSON, schema: dict[str, Any], name: str) -> bool:
    if not isinstance(value, dict | list) or not value:
        return True
    known = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
    if not isinstance(known, dict):
        return False
    if isinstance(value, dict):
        return "x-kubernetes-map-type" in known or all(_covers(below, known, key) for key, below in value.items())
    if known.get("x-kubernetes-list-type") != "map":
        return "x-kubernetes-list-type" in known
    items = known["items"]
    return all(_covers(below, items, key) for item in value if isinstance(item, dict) for key, below in item.items())


def _learn_child(value: JSON, node: JSON, schema: dict[str, Any], name: str) -> None:
    """``node`` is what fieldsV1 has of the field; None where the server took nothing of it."""
    if not isinstance(value, dict | list) or not value:
        return
    keyed = isinstance(node, dict) and len(node) > 1 and "." in node
    if keyed and isinstance(value, dict):  # a key of a map is owned itself, a field that is declared is not
        known = schema.setdefault("additionalProperties", {})
    else:
        known = schema["properties"].setdefault(name, {})
    _learn(value, node if isinstance(node, dict) else {}, known)


def _learn(value: dict[str, JSON] | list[JSON], node: dict[str, JSON], known: dict[str, Any]) -> None:
    inside = [element for element in node if element != "."]
    if isinstance(value, dict):
        known["type"] = "object"
        known.setdefault("properties", {})
        if not inside:
            known["x-kubernetes-map-type"] = "atomic"
            return
        known.pop("x-kubernetes-map-type", None)
        for key, below in value.items():
            _learn_child(below, node.get(f"f:{key}"), known, key)
        return
    known["type"] = "array"
    if inside and inside[0].startswith("v:"):
        known["x-kubernetes-list-type"] = "set"
    elif inside and inside[0].startswith("k:"):
        _learn_items(value, node, inside, known)
    else:
        known["x-kubernetes-list-type"] = "atomic"


def _learn_items(value: list[JSON], node: dict[str, JSON], inside: list[str], known: dict[str, Any]) -> None:
    found = {element: msgspec.json.decode(element[2:]) for element in inside if element.startswith("k:")}
    names = list(next(iter(found.values())))
    items = known.setdefault("items", {"type": "object", "properties": {}})
    known["x-kubernetes-list-type"], known["x-kubernetes-list-map-keys"] = "map", names
    for item in value:
        if not isinstance(item, dict):
            continue
        for element, keys in found.items():
            if any(item.get(name, keys[name]) != keys[name] for name in names):
                continue
            for name in names:
                if name not in item:  # then the key has a default
                    items["properties"].setdefault(name, {})["default"] = keys[name]
            below = node[element]
            for key, inner in item.items():
                _learn_child(inner, below.get(f"f:{key}") if isinstance(below, dict) else None, items, key)
            break
