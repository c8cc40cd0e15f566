"""The OpenAPI v3 schema of a model: its types, defaults, docstrings and markers as the API server reads them."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from kubewright.api import Model, ObjectMeta, Resource, declared_types
from kubewright.api.markers import IntOrStringFormat, Optional, Required
from kubewright.api.model import schema_default
from kubewright.crd.applying import apply_markers
from kubewright.crd.values import json_value

__all__ = ["SchemaError", "schema_of"]

Schema = dict[str, Any]

_SCALARS: Mapping[Any, Schema] = MappingProxyType(
    {
        str: {"type": "string"},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": "number"},
        bytes: {"type": "string", "format": "byte"},
        datetime: {"type": "string", "format": "date-time"},
        Any: {"x-kubernetes-preserve-unknown-fields": True},
    }
)
_UNIONS = (typing.Union, types.UnionType)


class SchemaError(TypeError):
    """A declared type or marker that no schema can express; the message names class and field."""


def schema_of(model: type[Model]) -> Schema:
    """The schema of a model. A resource's has apiVersion, kind and metadata, and its spec is not required unless marked.

    Keys are sorted. Raises `SchemaError`.
    """
    return _sorted_keys(_resource(model) if issubclass(model, Resource) else _object(model, ()))


def _resource(model: type[Resource]) -> Schema:
    schema = _object(model, ())
    schema["properties"] = schema.get("properties", {}) | {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
    }
    return schema


def _object(model: type[Model], inside: tuple[type[Model], ...]) -> Schema:
    if model is ObjectMeta:
        return {"type": "object"}  # the server knows what metadata is made of and lets no schema repeat it
    if model in inside:
        raise SchemaError(
            f"{model.__qualname__} contains itself, which the schema of a CRD can't say: "
            "declare the inner field as JSON"
        )
    required = []
    properties = {}
    for attribute in _fields(model):
        where = f"{model.__qualname__}.{attribute.name}"
        schema, markers = _annotated(attribute.hint, where, (*inside, model))
        if attribute.default is not msgspec.NODEFAULT and "default" not in schema:
            schema["default"] = _plain(attribute.default, where)
        properties[attribute.wire] = schema
        if attribute.is_required(markers, top_level=issubclass(model, Resource)):
            required.append(attribute.wire)
    schema = {"type": "object"}
    if properties:
        schema["properties"] = properties
    if required:
        schema["required"] = sorted(required)
    description = inspect.cleandoc(model.__dict__.get("__doc__") or "")
    if description:
        schema["description"] = description
    return schema


class _Field(msgspec.Struct, frozen=True):
    name: str
    wire: str
    hint: Any
    optional: bool  # there is a default of any kind
    default: Any  # the constant that the server can fill in, or NODEFAULT

    def is_required(self, markers: Sequence[Any], *, top_level: bool) -> bool:
        if any(isinstance(marker, Required) for marker in markers):
            return True
        if top_level or self.optional or type(None) in get_args(self.hint):
            return False
        return not any(isinstance(marker, Optional) for marker in markers)


def _fields(model: type[Model]) -> Iterator[_Field]:
    hints = declared_types(model)
    known = {info.name: info for info in msgspec.structs.fields(model)}
    for name, wire in zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True):
        if issubclass(model, Resource) and name == "metadata":
            continue
        info = known[name]
        default = info.default
        if default is None:
            default = msgspec.NODEFAULT
        elif info.default_factory is not msgspec.NODEFAULT:
            default = schema_default(info.default_factory)
        yield _Field(name, wire, hints[name], not info.required, default)


def _plain(value: Any, where: str) -> Any:
    try:
        return json_value(value)
    except ValueError as error:
        raise SchemaError(f"{where}: {error}") from error


def _annotated(hint: Any, where: str, inside: tuple[type[Model], ...]) -> tuple[Schema, Sequence[Any]]:
    """The schema of a type, and the markers that concern the field rather than the value."""
    hint = _without_none(hint)
    markers: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        markers = tuple(rest)
        hint = _without_none(hint)
    schema = _value(hint, markers, where, inside)
    try:
        apply_markers(schema, markers)
    except ValueError as error:
        raise SchemaError(f"{where}: {error}") from error
    for keyword in ("default", "enum", "example"):
        if keyword in schema:
            schema[keyword] = _plain(schema[keyword], where)
    return schema, markers


def _without_none(hint: Any) -> Any:
    """``X | None`` as ``X``: a field that may be absent has the schema of its value."""
    if get_origin(hint) not in _UNIONS:
        return hint
    members = tuple(member for member in get_args(hint) if member is not type(None))
    return members[0] if len(members) == 1 else typing.Union[members]  # noqa: UP007 - built from a tuple


def _value(hint: Any, markers: Sequence[Any], where: str, inside: tuple[type[Model], ...]) -> Schema:
    origin = get_origin(hint)
    if origin is None and hint in _SCALARS:
        return dict(_SCALARS[hint])
    if origin is Literal:
        return _enum(get_args(hint), where)
    if origin is list:
        return {"type": "array", "items": _annotated(get_args(hint)[0], where, inside)[0]}
    if origin is dict:
        key, value = get_args(hint)
        if _base(key) is not str:
            raise SchemaError(f"{where}: the keys of a JSON object are strings, not {_name(key)}")
        return {"type": "object", "additionalProperties": _annotated(value, where, inside)[0]}
    if origin in _UNIONS:
        return _union(get_args(hint), markers, where)
    if isinstance(hint, type) and issubclass(hint, Resource):
        raise SchemaError(f"{where}: {_name(hint)} is a kind of its own: refer to the object by its name")
    if isinstance(hint, type) and issubclass(hint, Model):
        return _object(hint, inside)
    raise SchemaError(f"{where}: no schema for {_name(hint)}; use Model, list, dict[str, …], Literal or a scalar")


def _base(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _union(members: Sequence[Any], markers: Sequence[Any], where: str) -> Schema:
    schema: Schema = {}
    if not any(isinstance(marker, IntOrStringFormat) for marker in markers):
        if {_base(member) for member in members} != {int, str}:
            names = " | ".join(map(_name, members))
            raise SchemaError(f"{where}: a field has one type, not {names}; use IntOrString, or JSON for anything")
        IntOrStringFormat().apply(schema)
    return schema


def _enum(values: Sequence[Any], where: str) -> Schema:
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {str, int, bool}:
        raise SchemaError(f"{where}: the members of a Literal are all strings, all integers or all booleans")
    return {**_SCALARS[kinds.pop()], "enum": list(values)}


def _name(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) and get_origin(hint) is None else str(hint)


def _sorted_keys(schema: Schema) -> Schema:
    """Keywords and properties in alphabetical order; values given by the user keep theirs."""
    result = {}
    for key in sorted(schema):
        value = schema[key]
        if key == "properties":
            value = {name: _sorted_keys(value[name]) for name in sorted(value)}
        elif key in {"items", "additionalProperties"}:
            value = _sorted_keys(value)
        result[key] = value
    return result
