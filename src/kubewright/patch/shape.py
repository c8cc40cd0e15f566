"""`Shape`: what merging needs to know of a schema, and nothing else.

A shape is a read-only view of an OpenAPI schema, of a custom resource or of a built-in kind. It answers how a value at
some path merges: which lists are keyed, which maps are one unit, which fields exist. It never validates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast

from kubewright.api import JSON

__all__ = ["OBJECT_META", "UNTYPED", "Layout", "Schema", "Shape", "ShapeError"]

T = TypeVar("T")

Schema: TypeAlias = Mapping[str, JSON]
"""An OpenAPI schema as decoded JSON."""

ListType: TypeAlias = Literal["atomic", "set", "map"]
MapType: TypeAlias = Literal["granular", "atomic"]
ValueType: TypeAlias = Literal["object", "array", "string", "number", "boolean", "any"]

_REFERENCES = ("#/definitions/", "#/components/schemas/")
_SCALARS: Mapping[str, ValueType] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
}


_KEY_DEFAULTS: Mapping[str, Mapping[str, JSON]] = {
    "io.k8s.api.core.v1.ContainerPort": {"protocol": "TCP"},
    "io.k8s.api.core.v1.ServicePort": {"protocol": "TCP"},
}
"""Defaults of key fields that the API server knows of and published definitions may lack."""


class ShapeError(ValueError):
    """A schema that can't be followed: a reference to nowhere, or to itself."""


class Layout(NamedTuple):
    """The fields that a map of given keys adds when it is new; see `creation`."""

    fields: dict[str, Any]
    """As a tree of fields, in the server's order. Shared, so not to be changed."""
    open: tuple[tuple[str, str, Shape], ...]
    """The keys whose values have fields of their own, with element and shape."""


class Shape:
    """How values of one schema merge.

    ``definitions`` is what ``$ref`` points into, by name (the part after ``#/definitions/`` or
    ``#/components/schemas/``). Children are looked up when asked for and kept, so recursive schemas are fine, and a
    shape is best made once per kind.
    """

    def __init__(self, schema: Schema, definitions: Mapping[str, Schema] | None = None) -> None:
        self._definitions: Mapping[str, Schema] = definitions if definitions is not None else {}
        self.schema, self._definition = _resolved(schema, self._definitions)
        self._children: dict[str, Shape | None] = {}

    @classmethod
    def of_resource(cls, schema: Schema, definitions: Mapping[str, Schema] | None = None) -> Shape:
        """The shape of a whole object: ``metadata`` is an ObjectMeta whatever the schema says of it.

        A CustomResourceDefinition's schema only says ``metadata: {type: object}`` or leaves it out.
        """
        resolved, _ = _resolved(schema, definitions or {})
        return cls({**resolved, "x-kubernetes-embedded-resource": True}, definitions)

    def as_resource(self) -> Shape:
        """The same as the shape of a whole object; see `of_resource`. Cheap after the first call."""
        return self if self._is_resource else self._resource

    @cached_property
    def _resource(self) -> Shape:
        return Shape.of_resource(self.schema, self._definitions)

    @cached_property
    def _is_resource(self) -> bool:
        return self.schema.get("x-kubernetes-embedded-resource") is True

    @cached_property
    def type(self) -> ValueType:
        """What JSON the schema describes; ``any`` takes the type of the value at hand."""
        schema = self.schema
        if schema.get("x-kubernetes-int-or-string") is True or schema.get("format") == "int-or-string":
            return "any"
        declared = schema.get("type")
        if declared == "object" or (declared is None and self._properties):
            return "object"
        if declared == "array" or (declared is None and "items" in schema):
            return "array"
        if declared is None and "additionalProperties" in schema:
            return "object"
        return _SCALARS.get(declared, "any") if isinstance(declared, str) else "any"

    @cached_property
    def _properties(self) -> Mapping[str, JSON]:
        return _mapping(self.schema.get("properties"))

    @cached_property
    def _declared(self) -> frozenset[str]:
        return _RESOURCE_FIELDS.union(self._properties) if self._is_resource else frozenset(self._properties)

    def declares(self, name: str) -> bool:
        """Whether ``name`` is a field of its own, rather than a key of a map."""
        return name in self._declared

    def property(self, name: str) -> Shape | None:
        """The shape of a field or a map's value; None where the schema has no such field."""
        try:
            return self._children[name]
        except KeyError:
            child = self._children[name] = self._child(name)
            return child

    def child(self, name: str) -> Shape:
        """Like `property`, with `UNTYPED` for what the schema doesn't know."""
        known = self._children.get(name)
        return known if known is not None else self.property(name) or UNTYPED

    def _child(self, name: str) -> Shape | None:
        if self._is_resource:
            if name == "metadata":
                return OBJECT_META
            if name in {"apiVersion", "kind"}:
                return _STRING
        if name in self._properties:
            return Shape(_mapping(self._properties[name]), self._definitions)
        return self._values

    @cached_property
    def _values(self) -> Shape | None:
        """The shape of what is not a declared property."""
        extra = self.schema.get("additionalProperties")
        if isinstance(extra, dict):
            return Shape(extra, self._definitions)
        if extra is False and not self.preserve_unknown:
            return None
        if extra is True or self.preserve_unknown or not self._properties:
            return UNTYPED
        return None

    @cached_property
    def items(self) -> Shape:
        """The shape of a list's items."""
        items = self.schema.get("items")
        return Shape(items, self._definitions) if isinstance(items, dict) and items else UNTYPED

    @cached_property
    def list_type(self) -> ListType:
        declared = self.schema.get("x-kubernetes-list-type")
        if declared in {"set", "map"}:
            return cast("ListType", declared)
        return "atomic"

    @cached_property
    def list_map_keys(self) -> tuple[str, ...]:
        """The fields that identify an item of a list map."""
        keys = self.schema.get("x-kubernetes-list-map-keys")
        return tuple(str(key) for key in keys) if isinstance(keys, list) else ()

    @cached_property
    def layouts(self) -> dict[tuple[str, ...], Layout]:
        """What `creation` remembers of maps of this shape, by their keys."""
        return {}

    @cached_property
    def sorted_keys(self) -> tuple[str, ...]:
        return tuple(sorted(self.list_map_keys))

    @cached_property
    def key_defaults(self) -> Mapping[str, JSON]:
        """The defaults of those key fields that have one: an item may leave them out."""
        defaults = dict(_KEY_DEFAULTS.get(self.items._definition or "", {}))
        for key in self.list_map_keys:
            field = self.items.property(key)
            if field is not None and field.schema.get("default") is not None:
                defaults[key] = field.schema["default"]
        return defaults

    @cached_property
    def map_type(self) -> MapType:
        declared = self.schema.get("x-kubernetes-map-type") or self.schema.get("x-kubernetes-struct-type")
        return "atomic" if declared == "atomic" else "granular"

    @cached_property
    def patch_strategy(self) -> frozenset[str]:
        """What a strategic merge patch does here: any of ``merge``, ``replace``, ``retainKeys``; empty means replace."""
        declared = self.schema.get("x-kubernetes-patch-strategy")
        return frozenset(declared.split(",")) if isinstance(declared, str) and declared else frozenset()

    @cached_property
    def patch_merge_key(self) -> str | None:
        declared = self.schema.get("x-kubernetes-patch-merge-key")
        return declared if isinstance(declared, str) else None

    @cached_property
    def preserve_unknown(self) -> bool:
        return self.schema.get("x-kubernetes-preserve-unknown-fields") is True


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}


def _resolved(schema: Schema, definitions: Mapping[str, Schema]) -> tuple[Schema, str | None]:
    """The schema itself, where it is only said by reference, and the last definition's name.

    What stands beside the reference wins.
    """
    followed: set[str] = set()
    target: Schema
    name: str | None = None
    while True:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in followed:
                raise ShapeError(f"{reference}: the reference leads back to itself")
            followed.add(reference)
            name = _definition_name(reference, definitions)
            target = definitions[name]
        else:
            parts = schema.get("allOf")
            if not (isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], dict)):
                return schema, name
            if "type" in schema or "properties" in schema:
                return schema, name  # a structural schema's value validation, not a wrapped reference
            target = parts[0]
        beside = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
        schema = {**target, **beside} if beside else target


def _definition_name(reference: str, definitions: Mapping[str, Schema]) -> str:
    for prefix in _REFERENCES:
        if reference.startswith(prefix):
            name = reference.removeprefix(prefix).replace("~1", "/").replace("~0", "~")
            if name in definitions:
                return name
    raise ShapeError(f"{reference}: no such definition")


_STRING_SCHEMA: dict[str, JSON] = {"type": "string"}
_STRING_MAP: dict[str, JSON] = {"type": "object", "additionalProperties": {"type": "string"}}
_RESOURCE_FIELDS = frozenset({"apiVersion", "kind", "metadata"})

UNTYPED = Shape({})
"""Nothing is known: maps merge key by key, lists are one unit."""

_STRING = Shape(_STRING_SCHEMA)

OBJECT_META = Shape(
    {
        "type": "object",
        "properties": {
            "annotations": _STRING_MAP,
            "creationTimestamp": _STRING_SCHEMA,
            "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
            "deletionTimestamp": _STRING_SCHEMA,
            "finalizers": {
                "type": "array",
                "items": _STRING_SCHEMA,
                "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge",
            },
            "generateName": _STRING_SCHEMA,
            "generation": {"type": "integer", "format": "int64"},
            "labels": _STRING_MAP,
            "managedFields": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "atomic"},
            "name": _STRING_SCHEMA,
            "namespace": _STRING_SCHEMA,
            "ownerReferences": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "x-kubernetes-patch-merge-key": "uid",
                "x-kubernetes-patch-strategy": "merge",
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {
                        "apiVersion": _STRING_SCHEMA,
                        "blockOwnerDeletion": {"type": "boolean"},
                        "controller": {"type": "boolean"},
                        "kind": _STRING_SCHEMA,
                        "name": _STRING_SCHEMA,
                        "uid": _STRING_SCHEMA,
                    },
                },
            },
            "resourceVersion": _STRING_SCHEMA,
            "selfLink": _STRING_SCHEMA,
            "uid": _STRING_SCHEMA,
        },
    }
)
"""The shape of every object's metadata."""
