from __future__ import annotations

from typing import Any

import pytest

from kubewright.patch.shape import UNTYPED, Shape, ShapeError

DEFINITIONS: dict[str, Any] = {
    "Tree": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/definitions/Tree"}}}},
    "Named": {"type": "object", "properties": {"name": {"type": "string"}}, "x-kubernetes-map-type": "atomic"},
    "Alias": {"$ref": "#/definitions/Named"},
    "Loop": {"$ref": "#/definitions/Loop"},
    "io.k8s.api.core.v1.ServicePort": {"type": "object", "properties": {"port": {"type": "integer"}}},
}


def test_references_are_followed_wherever_they_stand() -> None:
    schemas: list[Any] = [
        {"$ref": "#/definitions/Alias"},
        {"$ref": "#/components/schemas/Named"},
        {"allOf": [{"$ref": "#/definitions/Named"}], "default": {}},
    ]
    for schema in schemas:
        shape = Shape(schema, DEFINITIONS)
        assert shape.map_type == "atomic"
        assert shape.child("name").type == "string"


def test_what_stands_beside_a_reference_wins() -> None:
    assert (
        Shape({"$ref": "#/definitions/Named", "x-kubernetes-map-type": "granular"}, DEFINITIONS).map_type == "granular"
    )


def test_recursive_schemas_are_fine() -> None:
    shape = Shape({"$ref": "#/definitions/Tree"}, DEFINITIONS)
    assert shape.child("children").items.child("children").items.declares("children")


def test_a_reference_to_nowhere_or_to_itself_is_named() -> None:
    with pytest.raises(ShapeError, match="#/definitions/Nope: no such definition"):
        Shape({"$ref": "#/definitions/Nope"}, DEFINITIONS)
    with pytest.raises(ShapeError, match="#/definitions/Loop: the reference leads back to itself"):
        Shape({"$ref": "#/definitions/Loop"}, DEFINITIONS)


def test_a_value_validation_is_no_wrapped_reference() -> None:
    schema: Any = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "allOf": [{"properties": {"b": {"minLength": 1}}}],
    }
    assert Shape(schema).declares("a")
    assert not Shape(schema).declares("b")


def test_fields_are_declared_map_keys_are_not() -> None:
    labels = Shape({"type": "object", "additionalProperties": {"type": "string"}})
    assert labels.property("a") is not None
    assert not labels.declares("a")
    spec = Shape({"type": "object", "properties": {"a": {"type": "string"}}})
    assert spec.declares("a")
    assert spec.property("b") is None
    assert spec.child("b") is UNTYPED


def test_unknown_fields_are_untyped_where_they_may_be() -> None:
    assert Shape({"type": "object"}).property("a") is UNTYPED
    assert UNTYPED.property("a") is UNTYPED
    preserving: Any = {"type": "object", "properties": {"a": {}}, "x-kubernetes-preserve-unknown-fields": True}
    assert Shape(preserving).property("b") is UNTYPED
    assert Shape({"type": "object", "additionalProperties": False}).property("a") is None


def test_lists_are_atomic_unless_the_schema_says_otherwise() -> None:
    assert Shape({"type": "array"}).list_type == "atomic"
    assert UNTYPED.list_type == "atomic"
    ports = Shape(
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "properties": {"protocol": {"type": "string", "default": "TCP"}}},
        }
    )
    assert (ports.list_type, ports.list_map_keys, dict(ports.key_defaults)) == (
        "map",
        ("port", "protocol"),
        {"protocol": "TCP"},
    )


def test_ports_of_built_in_kinds_are_tcp_even_if_the_definition_does_not_say_so() -> None:
    ports: Any = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"$ref": "#/definitions/io.k8s.api.core.v1.ServicePort"},
    }
    assert dict(Shape(ports, DEFINITIONS).key_defaults) == {"protocol": "TCP"}


def test_patch_strategies_are_read() -> None:
    shape = Shape({"x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name"})
    assert shape.patch_strategy == {"merge", "retainKeys"}
    assert shape.patch_merge_key == "name"
    assert UNTYPED.patch_strategy == frozenset()


def test_a_resources_metadata_has_the_shape_of_all_metadata() -> None:
    for shape in (Shape({"properties": {"metadata": {"type": "object"}}}).as_resource(), Shape.of_resource({})):
        assert shape.child("metadata").child("ownerReferences").list_map_keys == ("uid",)
        assert shape.child("metadata").child("finalizers").list_type == "set"
        assert shape.declares("metadata")
        assert shape.as_resource() is shape


def test_an_embedded_resource_has_metadata_too() -> None:
    template = Shape({"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {}}})
    assert template.child("metadata").child("finalizers").list_type == "set"


def test_an_int_or_string_takes_the_type_of_its_value() -> None:
    assert Shape({"x-kubernetes-int-or-string": True}).type == "any"
    assert Shape({"type": "string", "format": "int-or-string"}).type == "any"
