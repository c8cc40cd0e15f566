"""Built-in kinds' objects out of protobuf, as new kubectl (1.36) sends them when it makes an object itself.

``kubectl create namespace``, ``create deployment`` and their like post ``application/vnd.kubernetes.protobuf``; what is
read from a file goes as JSON. The types are those of the OpenAPI definitions; ``protobuf_numbers.json`` adds each
field's number in Kubernetes' messages (the ``protobuf`` tags of k8s.io/api): JSON name to number, negative where Go
writes the field's zero value into JSON, ``+Name`` for a message whose fields stand among the outer one's in JSON.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from kubewright.devcluster.builtin.definitions import definition_names, definitions
from kubewright.devcluster.objects import Object

__all__ = ["PROTOBUF", "load_protobuf"]

PROTOBUF = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_PREFIX = "#/definitions/"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Wire: TypeAlias = "int | bytes"
"""A field's value: the number of a varint, or the bytes of anything else."""


def load_protobuf(body: bytes) -> Object:
    """The object in a protobuf body, as decoded JSON. Raises ValueError for what is no such object."""
    if not body.startswith(_MAGIC):
        raise ValueError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    envelope = dict(_fields(body[len(_MAGIC) :]))
    identity = {number: _text(value) for number, value in _fields(_bytes(envelope.get(1, b"")))}
    api_version, kind = identity.get(1, ""), identity.get(2, "")
    group, _, version = api_version.rpartition("/")
    name = definition_names().get((group, version, kind))
    if name is None or name not in _numbers():
        raise ValueError(f'no kind "{kind}" is registered for version "{api_version}"')
    return {"apiVersion": api_version, "kind": kind, **_message(_bytes(envelope.get(2, b"")), name)}


@cache
def _numbers() -> dict[str, dict[str, int]]:
    path = Path(__file__).with_name("protobuf_numbers.json")
    return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, int]])


def _fields(data: bytes) -> Iterator[tuple[int, Wire]]:
    """A message's fields as they come. Raises ValueError where it is cut short."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        match key & 7:
            case 0:
                value, position = _varint(data, position)
                yield key >> 3, value
                continue
            case 1:
                length = 8
            case 2:
                length, position = _varint(data, position)
            case 5:
                length = 4
            case other:
                raise ValueError(f"proto: illegal wireType {other}")
        if position + length > len(data):
            raise ValueError("unexpected EOF")
        yield key >> 3, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
    raise ValueError("unexpected EOF")


def _message(data: bytes, name: str) -> Object:
    """A message of a definition, or one of those whose JSON is not an object of fields."""
    properties = definitions().get(name, {}).get("properties", {})
    return _filled(data, name, properties)


def _filled(data: bytes, name: str, properties: Mapping[str, Any]) -> Object:
    by_number = {abs(number): (field, number < 0) for field, number in _numbers().get(name, {}).items()}
    result: Object = {}
    for number, value in _fields(data):
        field, zero_counts = by_number.get(number, ("", False))
        if field.startswith("+"):
            result |= _filled(_bytes(value), f"{name.rpartition('.')[0]}.{field[1:]}", properties)
        elif field in properties:
            _put(result, field, value, properties[field], zero_counts=zero_counts)
    return result


def _put(result: Object, field: str, wire: Wire, schema: Mapping[str, Any], *, zero_counts: bool) -> None:
    kind = schema.get("type")
    if kind == "array":
        result.setdefault(field, []).append(_value(wire, schema["items"]))
    elif kind == "object" and "additionalProperties" in schema:
        entry = dict(_fields(_bytes(wire)))
        value = _map_value(entry.get(2, b""), schema["additionalProperties"])
        result.setdefault(field, {})[_text(entry.get(1, b""))] = value
    else:
        value = _value(wire, schema)
        if value is not None and (zero_counts or isinstance(value, dict) or value not in ("", 0, False)):
            result[field] = value


def _map_value(wire: Wire, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "array":  # a message of its own with nothing but the items
        return [_value(each, schema["items"]) for _, each in _fields(_bytes(wire))]
    return _value(wire, schema)


def _value(wire: Wire, schema: Mapping[str, Any]) -> Any:
    """One value as JSON; None for what JSON would leave out."""
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.removeprefix(_PREFIX)
        special = _SPECIAL.get(name)
        return special(_bytes(wire)) if special else _message(_bytes(wire), name)
    match schema.get("type"):
        case "boolean":
            return bool(wire)
        case "integer":
            number = _int(wire)
            return number - (1 << 64) if number >> 63 else number
        case "number":
            return struct.unpack("<d", _bytes(wire))[0]
        case "string" if schema.get("format") == "byte":
            return base64.b64encode(_bytes(wire)).decode()
        case _:
            return _text(wire)


def _bytes(value: Wire) -> bytes:
    if isinstance(value, int):
        raise ValueError("proto: wrong wireType = 0")  # noqa: TRY004 - the body is bad, not the code
    return value


def _int(value: Wire) -> int:
    if isinstance(value, bytes):
        raise ValueError("proto: wrong wireType = 2")  # noqa: TRY004 - the body is bad, not the code
    return value


def _text(value: Wire) -> str:
    return _bytes(value).decode()


def _time(data: bytes, *, digits: int) -> str | None:
    """Seconds and nanoseconds since 1970; the empty message is Go's zero time, null in JSON."""
    parts = dict(_fields(data))
    if not parts:
        return None
    seconds = _int(parts.get(1, 0))
    moment = _EPOCH + timedelta(seconds=seconds - (1 << 64) if seconds >> 63 else seconds)
    fraction = f".{_int(parts.get(2, 0)) // 1000:06d}" if digits else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _int_or_string(data: bytes) -> int | str:
    parts = dict(_fields(data))
    if parts.get(1, 0):
        return _text(parts.get(3, b""))
    number = _int(parts.get(2, 0))
    return number - (1 << 64) if number >> 63 else number


def _quantity(data: bytes) -> str:
    return _text(dict(_fields(data)).get(1, b""))


def _raw_json(data: bytes) -> Any:
    raw = _bytes(dict(_fields(data)).get(1, b""))
    return msgspec.json.decode(raw) if raw else None


_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_SPECIAL: dict[str, Callable[[bytes], Any]] = {
    f"{_META}.Time": lambda data: _time(data, digits=0),
    f"{_META}.MicroTime": lambda data: _time(data, digits=6),
    f"{_META}.FieldsV1": _raw_json,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _raw_json,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _int_or_string,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _quantity,
}
"""Messages whose JSON is something else than an object of their fields."""
