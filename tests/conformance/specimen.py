"""Specimen: a custom resource with a field for everything that a schema can say. Its definition is in `resources`."""

from __future__ import annotations

from typing import Any

__all__ = ["SPECIMENS", "SPECIMEN_SCHEMA", "specimen"]

SPECIMENS = "/apis/conformance.kubewright.dev/v1/namespaces/{ns}/specimens"

FORMATS = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "date-time",
    "datetime",
]

_TEXT = {"type": "string"}

SPECIMEN_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-zß]*$"},
                "choice": {"type": "string", "enum": ["one", "two"]},
                "mixed": {"type": "integer", "enum": [1, 2, 3]},
                "number": {"type": "number", "minimum": 0, "maximum": 10, "multipleOf": 0.5},
                "between": {
                    "type": "number",
                    "minimum": 0,
                    "exclusiveMinimum": True,
                    "maximum": 1,
                    "exclusiveMaximum": True,
                },
                "whole": {"type": "integer"},
                "small": {"type": "integer", "format": "int32"},
                "large": {"type": "integer", "format": "int64"},
                "even": {"type": "integer", "multipleOf": 2},
                "flag": {"type": "boolean"},
                "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer", "minimum": 0}},
                "set": {"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"},
                "map": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name", "protocol"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": _TEXT,
                            "protocol": {"type": "string", "default": "TCP"},
                            "port": {"type": "integer"},
                        },
                    },
                },
                "dictionary": {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 2,
                    "additionalProperties": {"type": "integer"},
                },
                "required": {
                    "type": "object",
                    "required": ["a", "b"],
                    "properties": {"a": _TEXT, "b": _TEXT, "c": _TEXT},
                },
                "nullable": {"type": "string", "nullable": True},
                "nullableWithDefault": {"type": "string", "nullable": True, "default": "d"},
                "defaulted": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "default": "d"},
                        "list": {"type": "array", "items": _TEXT, "default": ["x"]},
                        "inner": {
                            "type": "object",
                            "default": {},
                            "properties": {"number": {"type": "integer", "default": 1}},
                        },
                    },
                },
                "items": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 7}, "m": _TEXT}},
                },
                "dictionaryOfObjects": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {"n": {"type": "integer", "default": 7}},
                    },
                },
                "intOrString": {"x-kubernetes-int-or-string": True},
                "percentage": {
                    "x-kubernetes-int-or-string": True,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "pattern": "^[0-9]+%$",
                },
                "embedded": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "embeddedKnown": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "properties": {"spec": {"type": "object", "properties": {"a": _TEXT}}},
                },
                "preserved": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"known": {"type": "object", "properties": {"a": {"type": "integer"}}}},
                },
                "anything": {"x-kubernetes-preserve-unknown-fields": True},
                "anyOf": {"type": "integer", "anyOf": [{"maximum": 1}, {"minimum": 9}]},
                "oneOf": {"type": "integer", "oneOf": [{"maximum": 5}, {"minimum": 3}]},
                "allOf": {"type": "integer", "allOf": [{"maximum": 5}, {"minimum": 3}]},
                "not": {"type": "integer", "not": {"minimum": 3, "maximum": 5}},
                "oneField": {
                    "type": "object",
                    "properties": {"a": _TEXT, "b": _TEXT},
                    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                },
                "formats": {
                    "type": "object",
                    "properties": {name: {"type": "string", "format": name} for name in FORMATS},
                },
            },
        },
        "status": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}},
    },
}


def specimen(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "conformance.kubewright.dev/v1",
        "kind": "Specimen",
        "metadata": {"name": name},
        "spec": spec,
    }
