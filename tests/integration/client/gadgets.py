"""A kind that servers know more of than its class does."""

from __future__ import annotations

from typing import Any

from kubewright.api import resource_info
from kubewright.kinds import apiextensions_v1

CRD = resource_info(apiextensions_v1.CustomResourceDefinition)

_ITEM = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}, "hidden": {"type": "string"}},
}
_SPEC = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer", "default": 1},
        "enabled": {"type": "boolean", "default": True},
        "note": {"type": "string", "nullable": True, "default": "none"},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "items": {"type": "array", "items": _ITEM},
        "hidden": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
_STATUS = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "items": {"type": "array", "items": _ITEM},
        "hidden": {"type": "string"},
    },
}
GADGETS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.verbs.example.com"},
    "spec": {
        "group": "verbs.example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"spec": _SPEC, "status": _STATUS}},
                },
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
            }
        ],
    },
}
