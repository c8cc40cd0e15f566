"""What is written and read: a custom resource of 1 KB, with defaults, enums, bounds, a set and a list map."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["COLLECTION", "DEFINITION", "DEFINITIONS", "body"]

_GROUP = "benchmarks.kubewright.dev"
COLLECTION = f"/apis/{_GROUP}/v1/namespaces/default/gadgets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

_TEXT = {"type": "string"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 100},
        "colour": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
        "label": {"type": "string", "pattern": "^[a-z]*$", "maxLength": 10},
        "tags": {"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"},
        "settings": _TEXTS,
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": _TEXT, "count": {"type": "integer"}, "options": _TEXTS},
            },
        },
    },
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{_GROUP}"},
    "spec": {
        "group": _GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": _SPEC, "status": {"type": "object", "properties": {"ready": _TEXT}}},
                    }
                },
            }
        ],
    },
}


def body(name: str) -> bytes:
    """One object as clients send it."""
    spec = {
        "size": 3,
        "colour": "green",
        "label": "abc",
        "tags": ["a", "b"],
        "settings": {f"key-{number}": "v" * 32 for number in range(17)},
        "parts": [{"name": "x", "count": 1, "options": {"a": "b"}}, {"name": "y", "count": 2}],
    }
    metadata = {"name": name, "labels": {"app": "gadget", "instance": name}}
    return msgspec.json.encode({"apiVersion": f"{_GROUP}/v1", "kind": "Gadget", "metadata": metadata, "spec": spec})
