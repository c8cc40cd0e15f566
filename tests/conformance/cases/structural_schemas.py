"""The rules that a definition's schema is held to when the definition is written."""

from __future__ import annotations

from typing import Any

from tests.conformance.definitions import DEFINITIONS, definition, version
from tests.conformance.registry import case
from tests.conformance.world import World

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}


def _spec(**fields: Schema) -> Schema:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


async def _create(w: World, **schemas: Schema) -> None:
    for label, schema in schemas.items():
        body = definition(w, versions=[version("v1", schema)])
        answer = await w.create(DEFINITIONS, body, query={"dryRun": "All"})
        headers = {key: value for key, value in answer.headers.items() if key == "warning"}
        refused = answer.body if answer.status != 201 else None
        w.transcript.add(label.replace("_", " "), status=answer.status, headers=headers, refused=refused)


@case("create a definition", given="nothing", body="a schema without types")
async def types(w: World) -> None:
    await _create(
        w,
        none=_spec(a={}),
        none_in_items=_spec(a={"type": "array", "items": {}}),
        none_in_additional_properties=_spec(a={"type": "object", "additionalProperties": {}}),
        no_items=_spec(a={"type": "array"}),
        unknown=_spec(a={"type": "text"}),
        null=_spec(a={"type": "null"}),
        root_of_another={"type": "array", "items": _TEXT},
        root_preserving_without={"x-kubernetes-preserve-unknown-fields": True},
        preserving_without=_spec(a={"x-kubernetes-preserve-unknown-fields": True}),
    )


@case("create a definition", given="nothing", body="a schema with structure inside anyOf, allOf, oneOf and not")
async def junctors(w: World) -> None:
    inner = {"type": "string", "description": "d", "default": "x", "nullable": True, "title": "t"}
    await _create(
        w,
        all_of=_spec(a={"type": "string", "allOf": [inner]}),
        any_of=_spec(a={"type": "string", "anyOf": [inner]}),
        one_of=_spec(a={"type": "string", "oneOf": [inner]}),
        not_=_spec(a={"type": "string", "not": inner}),
        undeclared_property=_spec(a={"type": "object", "allOf": [{"properties": {"b": {"minimum": 1}}}]}),
        additional_properties=_spec(a={"type": "object", "anyOf": [{"additionalProperties": _TEXT}]}),
        extensions=_spec(a={"type": "string", "anyOf": [{"x-kubernetes-int-or-string": True}]}),
        values_only=_spec(a={"type": "integer", "anyOf": [{"minimum": 1}, {"maximum": -1}]}),
    )


@case("create a definition", given="nothing", body="a schema with keywords that are forbidden")
async def forbidden_keywords(w: World) -> None:
    await _create(
        w,
        ref=_spec(a={"$ref": "#/definitions/x"}),
        definitions=_spec(a={"type": "object", "definitions": {"x": _TEXT}}),
        dependencies=_spec(a={"type": "object", "dependencies": {"x": ["y"]}}),
        pattern_properties=_spec(a={"type": "object", "patternProperties": {"x": _TEXT}}),
        additional_items=_spec(a={"type": "array", "items": _TEXT, "additionalItems": True}),
        id=_spec(a={"type": "string", "id": "x"}),
        unique_items=_spec(a={"type": "array", "items": _TEXT, "uniqueItems": True}),
        items_of_several=_spec(a={"type": "array", "items": [_TEXT, _TEXT]}),
        no_additional_properties=_spec(a={"type": "object", "additionalProperties": False}),
        both_properties=_spec(a={"type": "object", "properties": {"x": _TEXT}, "additionalProperties": _TEXT}),
        any_additional_properties=_spec(a={"type": "object", "additionalProperties": True}),
    )


@case("create a definition", given="nothing", body="a schema that says much of metadata")
async def metadata(w: World) -> None:
    def root(metadata: Schema, **more: Schema) -> Schema:
        return {"type": "object", "properties": {"metadata": metadata, **more}}

    await _create(
        w,
        name_and_generate_name=root(
            {"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}, "generateName": _TEXT}}
        ),
        labels=root({"type": "object", "properties": {"labels": {"type": "object"}}}),
        a_string=root(_TEXT),
        required=root({"type": "object", "required": ["name"]}),
        kind_and_version=root({"type": "object"}, kind=_TEXT, apiVersion=_TEXT),
        kind_of_another_type=root({"type": "object"}, kind={"type": "integer"}),
        kind_of_some=root({"type": "object"}, kind={"type": "string", "enum": ["Gadget"]}),
    )


@case("create a definition", given="nothing", body="a schema with list types that lack what they need")
async def list_types(w: World) -> None:
    def of(items: Schema, **more: Any) -> Schema:
        return _spec(a={"type": "array", "items": items, **{f"x-kubernetes-{k}": v for k, v in more.items()}})

    item: Schema = {
        "type": "object",
        "required": ["k"],
        "properties": {"k": _TEXT, "o": _TEXT, "l": {"type": "object"}},
    }
    keys, kind = "list-map-keys", "list-type"
    await _create(
        w,
        map_without_keys=of(item, **{kind: "map"}),
        map_of_scalars=of(_TEXT, **{kind: "map", keys: ["k"]}),
        key_that_is_none=of(item, **{kind: "map", keys: ["z"]}),
        optional_key=of(item, **{kind: "map", keys: ["o"]}),
        key_that_is_an_object=of({**item, "required": ["l"]}, **{kind: "map", keys: ["l"]}),
        key_twice=of(item, **{kind: "map", keys: ["k", "k"]}),
        keys_of_no_map=of(item, **{keys: ["k"]}),
        set_of_objects=of(item, **{kind: "set"}),
        set_of_atomic_objects=of({**item, "x-kubernetes-map-type": "atomic"}, **{kind: "set"}),
        set_of_lists=of({"type": "array", "items": _TEXT}, **{kind: "set"}),
        unknown=of(_TEXT, **{kind: "bag"}),
        nullable_items=of({**item, "nullable": True}, **{kind: "map", keys: ["k"]}),
        of_no_list=_spec(a={"type": "object", "x-kubernetes-list-type": "atomic"}),
        map_type_of_no_map=_spec(a={"type": "string", "x-kubernetes-map-type": "atomic"}),
        unknown_map_type=_spec(a={"type": "object", "x-kubernetes-map-type": "loose"}),
        default_key=of(
            {"type": "object", "properties": {"k": {"type": "string", "default": "x"}}}, **{kind: "map", keys: ["k"]}
        ),
    )


@case("create a definition", given="nothing", body="a schema with Kubernetes' own types where they can't be")
async def extensions(w: World) -> None:
    either = "x-kubernetes-int-or-string"
    embedded = "x-kubernetes-embedded-resource"
    preserve = "x-kubernetes-preserve-unknown-fields"
    await _create(
        w,
        int_or_string_with_type=_spec(a={either: True, "type": "string"}),
        int_or_string_with_any_of=_spec(a={either: True, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        int_or_string_with_wrong_any_of=_spec(a={either: True, "anyOf": [{"type": "integer"}, {"type": "boolean"}]}),
        int_or_string_with_all_of=_spec(
            a={either: True, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"minimum": 1}]}
        ),
        embedded_string=_spec(a={embedded: True, "type": "string"}),
        embedded_without_anything=_spec(a={embedded: True, "type": "object"}),
        embedded_preserving=_spec(a={embedded: True, "type": "object", preserve: True}),
        embedded_at_the_root={"type": "object", embedded: True, preserve: True},
        preserve_false=_spec(a={"type": "object", preserve: False}),
        preserve_a_string=_spec(a={"type": "string", preserve: True}),
    )


@case("create a definition", given="nothing", body="a schema with defaults that don't fit")
async def defaults(w: World) -> None:
    inner = {"type": "object", "required": ["x"], "properties": {"x": _TEXT, "y": {"type": "integer", "default": 3}}}
    await _create(
        w,
        wrong_type=_spec(a={"type": "string", "default": 1}),
        against_the_rules=_spec(a={"type": "integer", "minimum": 3, "default": 1}),
        null=_spec(a={"type": "string", "default": None}),
        null_where_nullable=_spec(a={"type": "string", "nullable": True, "default": None}),
        incomplete=_spec(a={**inner, "default": {}}),
        unknown_fields=_spec(a={**inner, "default": {"x": "x", "z": 1}}),
        good=_spec(a={**inner, "default": {"x": "x"}}),
        in_metadata={
            "type": "object",
            "properties": {
                "metadata": {"type": "object", "properties": {"name": {"type": "string", "default": "x"}}},
            },
        },
        at_the_root={"type": "object", "default": {}},
        in_items=_spec(a={"type": "array", "items": {"type": "string", "default": 1}}),
    )


@case("create a definition", given="nothing", body="a schema with patterns, enums and numbers that are none")
async def wrong_values(w: World) -> None:
    await _create(
        w,
        pattern=_spec(a={"type": "string", "pattern": "["}),
        lookahead=_spec(a={"type": "string", "pattern": "(?=a)b"}),
        empty_enum=_spec(a={"type": "string", "enum": []}),
        unknown_format=_spec(a={"type": "string", "format": "colour"}),
        required_twice=_spec(a={"type": "object", "properties": {"x": _TEXT}, "required": ["x", "x"]}),
        required_unknown=_spec(a={"type": "object", "properties": {"x": _TEXT}, "required": ["y"]}),
        wrong_schema_type={"type": "object", "properties": "none"},
        minimum_of_text=_spec(a={"type": "integer", "minimum": "1"}),
        unknown_keyword=_spec(a={"type": "string", "shape": "round"}),
        external_docs=_spec(a={"type": "string", "externalDocs": {"url": "https://example.dev"}, "example": "x"}),
    )
