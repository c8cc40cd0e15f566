"""The custom resources that cases use, installed once in every server."""

from __future__ import annotations

from typing import Any

from tests.conformance.specimen import SPECIMEN_SCHEMA

__all__ = ["GROUP", "WIDGETS", "definitions", "widget"]

GROUP = "conformance.kubewright.dev"
WIDGETS = f"/apis/{GROUP}/v1/namespaces/{{ns}}/widgets"

_WIDGET_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 100},
                "colour": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
                "label": {"type": "string", "pattern": "^[a-z]*$", "maxLength": 10},
                "paused": {"type": "boolean"},
                "ratio": {"type": "number"},
                "port": {"x-kubernetes-int-or-string": True},
                "note": {"type": "string", "nullable": True},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "order": {"type": "array", "items": {"type": "string"}},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "count": {"type": "integer"},
                            "options": {"type": "object", "additionalProperties": {"type": "string"}},
                        },
                    },
                },
                "settings": {"type": "object", "additionalProperties": {"type": "string"}},
                "whole": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "ready": {"type": "integer"},
                "phase": {"type": "string"},
                "selector": {"type": "string"},
                "conditions": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["type"],
                    "items": {
                        "type": "object",
                        "required": ["type", "status"],
                        "properties": {
                            "type": {"type": "string"},
                            "status": {"type": "string"},
                            "reason": {"type": "string"},
                        },
                    },
                },
            },
        },
    },
}


def definitions() -> list[dict[str, Any]]:
    """Widget: namespaced, with status, scale, columns and selectable fields. Site: cluster-scoped, without any.

    Specimen: namespaced, with status and every kind of field.
    """
    widget_version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _WIDGET_SCHEMA},
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.size",
                "statusReplicasPath": ".status.ready",
                "labelSelectorPath": ".status.selector",
            },
        },
        "selectableFields": [{"jsonPath": ".spec.colour"}],
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
    }
    site_schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    specimen_version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": SPECIMEN_SCHEMA},
        "subresources": {"status": {}},
    }
    return [
        _definition("Widget", "widgets", "Namespaced", [widget_version]),
        _definition("Specimen", "specimens", "Namespaced", [specimen_version]),
        _definition(
            "Site",
            "sites",
            "Cluster",
            [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": site_schema}}],
        ),
    ]


def _definition(kind: str, plural: str, scope: str, versions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": versions,
        },
    }


def widget(name: str, **spec: Any) -> dict[str, Any]:
    """A valid Widget, of size 1 unless told otherwise."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": 1, **spec},
    }
