"""OpenAPI v2 as protobuf: what old kubectl (1.20) asks of ``/openapi/v2``, and nothing else.

The layout is that of ``openapi.v2.Document`` (https://github.com/google/gnostic, OpenAPIv2.proto): each message here is
a table from the JSON key to its field number and kind of value. Maps are lists of name and value; what may be anything
(defaults, enum values, extensions) travels as YAML text, for which JSON will do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import msgspec

__all__ = ["encode_document"]

_VARINT, _FIXED64, _BYTES = 0, 1, 2

Encoder: TypeAlias = Callable[[int, Any], bytes]
"""One field: its number and its JSON value, as bytes on the wire."""


_ONE_BYTE = tuple(bytes([value]) for value in range(0x80))


def _varint(value: int) -> bytes:
    if 0 <= value < 0x80:  # nearly all of them
        return _ONE_BYTE[value]
    value &= (1 << 64) - 1  # negative numbers as two's complement in 64 bits
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


@cache
def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _length_delimited(number: int, payload: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(payload)) + payload


def _string(number: int, value: str) -> bytes:
    return _length_delimited(number, value.encode()) if value else b""


def _strings(number: int, value: list[str]) -> bytes:
    return b"".join(_length_delimited(number, each.encode()) for each in value)


def _boolean(number: int, value: bool) -> bytes:
    return _tag(number, _VARINT) + b"\x01" if value else b""


def _integer(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _varint(value) if value else b""


def _double(number: int, value: float) -> bytes:
    return _tag(number, _FIXED64) + struct.pack("<d", value) if value else b""


def _any(number: int, value: Any) -> bytes:
    return _length_delimited(number, _string(2, msgspec.json.encode(value).decode() + "\n"))


def _anys(number: int, value: list[Any]) -> bytes:
    return b"".join(_any(number, each) for each in value)


@dataclass(frozen=True, kw_only=True)
class _Message:
    """A message: its fields by JSON key; ``entries`` takes all other keys as a list of name and value."""

    fields: dict[str, tuple[int, Encoder]] = field(default_factory=dict)
    entries: tuple[int, Encoder] | None = None
    extensions: int | None = None

    def encode(self, value: Mapping[str, Any]) -> bytes:
        parts = []
        for key, each in value.items():
            if known := self.fields.get(key):
                parts.append(known[1](known[0], each))
            elif key.startswith("x-") and self.extensions is not None:
                parts.append(_named(self.extensions, key, _any(2, each)))
            elif self.entries is not None:
                parts.append(_named(self.entries[0], key, self.entries[1](2, each)))
        return b"".join(parts)

    def one(self, number: int, value: Mapping[str, Any]) -> bytes:
        return _length_delimited(number, self.encode(value))

    def many(self, number: int, value: list[Mapping[str, Any]]) -> bytes:
        return b"".join(self.one(number, each) for each in value)


def _named(number: int, name: str, value: bytes) -> bytes:
    return _length_delimited(number, _string(1, name) + value)


def _types(number: int, value: str | list[str]) -> bytes:
    return _length_delimited(number, _strings(1, [value] if isinstance(value, str) else value))


def _items(number: int, value: Mapping[str, Any]) -> bytes:
    return _length_delimited(number, _SCHEMA.one(1, value))


def _additional_properties(number: int, value: Mapping[str, Any] | bool) -> bytes:
    inner = _tag(2, _VARINT) + bytes([value]) if isinstance(value, bool) else _SCHEMA.one(1, value)
    return _length_delimited(number, inner)


_SCHEMA = _Message(extensions=31)
_SCHEMA.fields.update(
    {
        "$ref": (1, _string),
        "format": (2, _string),
        "title": (3, _string),
        "description": (4, _string),
        "default": (5, _any),
        "multipleOf": (6, _double),
        "maximum": (7, _double),
        "exclusiveMaximum": (8, _boolean),
        "minimum": (9, _double),
        "exclusiveMinimum": (10, _boolean),
        "maxLength": (11, _integer),
        "minLength": (12, _integer),
        "pattern": (13, _string),
        "maxItems": (14, _integer),
        "minItems": (15, _integer),
        "uniqueItems": (16, _boolean),
        "maxProperties": (17, _integer),
        "minProperties": (18, _integer),
        "required": (19, _strings),
        "enum": (20, _anys),
        "additionalProperties": (21, _additional_properties),
        "type": (22, _types),
        "items": (23, _items),
        "allOf": (24, _SCHEMA.many),
        "properties": (25, _Message(entries=(1, _SCHEMA.one)).one),
        "readOnly": (27, _boolean),
        "example": (30, _any),
    }
)

_BODY_PARAMETER = _Message(
    fields={
        "description": (1, _string),
        "name": (2, _string),
        "in": (3, _string),
        "required": (4, _boolean),
        "schema": (5, _SCHEMA.one),
    }
)
_PLAIN_PARAMETER: dict[str, tuple[int, Encoder]] = {
    "required": (1, _boolean),
    "in": (2, _string),
    "description": (3, _string),
    "name": (4, _string),
}
_QUERY_PARAMETER = _Message(
    fields={**_PLAIN_PARAMETER, "type": (6, _string), "format": (7, _string), "uniqueItems": (20, _boolean)}
)
_PATH_PARAMETER = _Message(
    fields={**_PLAIN_PARAMETER, "type": (5, _string), "format": (6, _string), "uniqueItems": (18, _boolean)}
)


def _parameters(number: int, value: list[Mapping[str, Any]]) -> bytes:
    """Each is wrapped in the unions that tell inline from referred, body from other, and query from path."""
    return b"".join(_length_delimited(number, _length_delimited(1, _parameter(each))) for each in value)


def _parameter(value: Mapping[str, Any]) -> bytes:
    match value["in"]:
        case "body":
            return _BODY_PARAMETER.one(1, value)
        case "path":
            return _length_delimited(2, _PATH_PARAMETER.one(4, value))
        case _:
            return _length_delimited(2, _QUERY_PARAMETER.one(3, value))


def _response_schema(number: int, value: Mapping[str, Any]) -> bytes:
    return _length_delimited(number, _SCHEMA.one(1, value))


_RESPONSE = _Message(fields={"description": (1, _string), "schema": (2, _response_schema)})


def _response(number: int, value: Mapping[str, Any]) -> bytes:
    return _length_delimited(number, _RESPONSE.one(1, value))


_OPERATION = _Message(
    fields={
        "tags": (1, _strings),
        "summary": (2, _string),
        "description": (3, _string),
        "operationId": (5, _string),
        "produces": (6, _strings),
        "consumes": (7, _strings),
        "parameters": (8, _parameters),
        "responses": (9, _Message(entries=(1, _response)).one),
        "schemes": (10, _strings),
    },
    extensions=13,
)
_PATH_ITEM = _Message(
    fields={
        "get": (2, _OPERATION.one),
        "put": (3, _OPERATION.one),
        "post": (4, _OPERATION.one),
        "delete": (5, _OPERATION.one),
        "patch": (8, _OPERATION.one),
        "parameters": (9, _parameters),
    },
    extensions=10,
)
_INFO = _Message(fields={"title": (1, _string), "version": (2, _string), "description": (3, _string)})
_DOCUMENT = _Message(
    fields={
        "swagger": (1, _string),
        "info": (2, _INFO.one),
        "paths": (8, _Message(entries=(2, _PATH_ITEM.one)).one),
        "definitions": (9, _Message(entries=(1, _SCHEMA.one)).one),
    },
    extensions=16,
)


def encode_document(document: Mapping[str, Any]) -> bytes:
    """A Swagger 2.0 document, as `kubewright.devcluster.openapi_v2` makes it, in protobuf.

    Keys that the layout above lacks (``oneOf`` and the like, which OpenAPI v2 has not) are left out.
    """
    return _DOCUMENT.encode(document)
