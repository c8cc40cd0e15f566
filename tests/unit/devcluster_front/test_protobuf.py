"""The encoding, read back with the field numbers of OpenAPIv2.proto."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from kubewright.devcluster import openapi_v2
from kubewright.devcluster.catalog import Catalog
from kubewright.devcluster.protobuf import encode_document

Fields = list[tuple[int, Any]]


def fields(data: bytes) -> Fields:
    """A message's fields in order: numbers for varints and doubles, bytes for everything else."""
    found: Fields = []
    position = 0

    def varint() -> int:
        nonlocal position
        result = shift = 0
        while True:
            byte = data[position]
            position += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    while position < len(data):
        key = varint()
        match key & 7:
            case 0:
                found.append((key >> 3, varint()))
            case 1:
                found.append((key >> 3, struct.unpack("<d", data[position : position + 8])[0]))
                position += 8
            case 2:
                length = varint()
                assert position + length <= len(data)
                found.append((key >> 3, data[position : position + length]))
                position += length
            case other:
                raise AssertionError(f"wire type {other}")
    return found


def one(data: bytes, *path: int) -> Any:
    """What a path of field numbers leads to, each of which must be there once."""
    for number in path:
        (data,) = [value for key, value in fields(data) if key == number]
    return data


def named(data: bytes) -> dict[str, bytes]:
    """A list of name (1) and value (2) pairs, given with the field number they had in their message."""
    return {one(entry, 1).decode(): one(entry, 2) for _, entry in fields(data)}


def schema(value: dict[str, Any]) -> bytes:
    encoded: bytes = one(encode_document({"definitions": {"x": value}}), 9, 1)
    found: bytes = dict(fields(encoded)).get(2, b"")
    return found


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"$ref": "#/definitions/a"}, [(1, b"#/definitions/a")]),
        ({"format": "int32", "description": "d"}, [(2, b"int32"), (4, b"d")]),
        ({"type": "string"}, [(22, b"\x0a\x06string")]),
        ({"minimum": 1, "maximum": 2.5}, [(9, 1.0), (7, 2.5)]),
        ({"maxLength": 300, "minItems": 0}, [(11, 300)]),
        ({"uniqueItems": True, "exclusiveMinimum": False}, [(16, 1)]),
        ({"required": ["a", "b"]}, [(19, b"a"), (19, b"b")]),
        ({"additionalProperties": True}, [(21, b"\x10\x01")]),
        ({"additionalProperties": False}, [(21, b"\x10\x00")]),
        ({"oneOf": [{"type": "string"}]}, []),
    ],
)
def test_a_schemas_keywords_have_their_field_numbers(value: dict[str, Any], expected: Fields) -> None:
    assert fields(schema(value)) == expected


def test_nested_schemas_are_wrapped_as_the_layout_wants() -> None:
    inner = {"type": "integer"}
    encoded = b"\xb2\x01\x09\x0a\x07integer"
    assert one(schema({"items": inner}), 23, 1) == encoded
    assert one(schema({"additionalProperties": inner}), 21, 1) == encoded
    assert named(one(schema({"properties": {"a": inner}}), 25)) == {"a": encoded}
    assert one(schema({"allOf": [inner]}), 24) == encoded


def test_values_of_any_type_travel_as_yaml() -> None:
    extension = one(schema({"x-kubernetes-group-version-kind": [{"kind": "A"}]}), 31)
    assert one(extension, 1) == b"x-kubernetes-group-version-kind"
    assert json.loads(one(extension, 2, 2)) == [{"kind": "A"}]
    assert [json.loads(one(value, 2)) for _, value in fields(schema({"enum": ["a", 1]}))] == ["a", 1]


def test_negative_whole_numbers_take_ten_bytes() -> None:
    assert fields(schema({"minLength": -1})) == [(12, 2**64 - 1)]


def test_an_operation_can_be_found_by_its_kind_and_asked_for_its_parameters(catalog: Catalog) -> None:
    data = encode_document(openapi_v2.document(catalog, version="1.36"))
    assert one(data, 1) == b"2.0"
    paths = named(one(data, 8))
    patch = one(paths["/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}"], 8)
    extensions = {one(value, 1).decode(): json.loads(one(value, 2, 2)) for key, value in fields(patch) if key == 13}
    assert extensions["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "StatefulSet"}
    parameters = [one(value, 1) for key, value in fields(patch) if key == 8]
    body, *query = parameters
    assert one(body, 1, 2) == b"body"
    assert [one(each, 2, 3, 4) for each in query] == [b"dryRun", b"fieldManager", b"fieldValidation", b"force"]


def test_every_definition_is_there(catalog: Catalog) -> None:
    document = openapi_v2.document(catalog, version="1.36")
    entries = fields(one(encode_document(document), 9))
    assert {one(entry, 1).decode() for _, entry in entries} == set(document["definitions"])
