"""Structural schemas: every field is declared outside of allOf, anyOf, oneOf and not, with a type.

See "Specifying a structural schema" in
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from kubewright.schema.errors import FieldError, forbidden, invalid, required
from kubewright.schema.node import Schema
from kubewright.schema.patterns import PatternError, compile_pattern
from kubewright.schema.walk import keyed

__all__ = ["structural_errors"]

Level = Literal["root", "item", "field"]

_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_NO_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_FORBIDDEN_INSIDE = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_SET_WHEN_PRESENT = frozenset({"additionalProperties", "default", "x-kubernetes-list-type", "x-kubernetes-map-type"})


def structural_errors(schema: Schema, path: str) -> list[FieldError]:
    """Why a schema is not structural, sorted by message."""
    return sorted([*_invariants(schema, "root", path), *_completeness(schema, schema, path, path)], key=str)


def _invariants(schema: Schema, level: Level, path: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    items, additional = schema.get("items"), schema.get("additionalProperties")
    properties: dict[str, Schema] = schema.get("properties") or {}
    if kind == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, "item", f"{path}.items")
    for name, inner in properties.items():
        yield from _invariants(inner, "field", keyed(f"{path}.properties", name))
    if additional is not None and level == "root":
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(additional, dict):
        yield from _invariants(additional, "field", f"{path}.additionalProperties")
    yield from _int_or_string(schema, path)
    yield from _values(schema, path, *_allowed_type_lists(schema))
    yield from _type(schema, kind, level, path)
    if level == "root" or schema.get("x-kubernetes-embedded-resource"):
        yield from _identity(properties, path)
    if level == "root" and "metadata" in properties:
        yield from _root_metadata(properties["metadata"], keyed(f"{path}.properties", "metadata"))


def _int_or_string(schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.get("x-kubernetes-int-or-string"):
        for keyword in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
            if schema.get(keyword):
                yield invalid(f"{path}.{keyword}", True, "must be false if x-kubernetes-int-or-string is true")


def _type(schema: Schema, kind: str, level: Level, path: str) -> Iterator[FieldError]:
    embedded, where = schema.get("x-kubernetes-embedded-resource"), f"{path}.type"
    preserving = schema.get("x-kubernetes-preserve-unknown-fields")
    if embedded and kind != "object":
        message = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(where, kind, message) if kind else required(where, message)
    elif not kind and not schema.get("x-kubernetes-int-or-string") and not preserving:
        yield required(where, _NO_TYPE[level])
    if embedded and schema.get("additionalProperties") is not None:
        yield forbidden(f"{path}.additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")
    if level == "root" and kind and kind != "object":
        yield invalid(where, kind, "must be object at the root")
    if embedded and not preserving and not schema.get("properties"):
        yield required(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        )


def _identity(properties: dict[str, Schema], path: str) -> Iterator[FieldError]:
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        if name in properties and properties[name].get("type") != wanted:
            where = keyed(f"{path}.properties", name)
            yield invalid(f"{where}.type", properties[name].get("type") or "", f"must be {wanted}")


def _root_metadata(schema: Schema, path: str) -> Iterator[FieldError]:
    """Metadata has a schema of its own; a CRD may only restrict the names."""
    others = {key for key, value in schema.items() if value not in (None, False, "", [], {})}
    others -= {"type", "default"}
    if set(schema.get("properties") or ()) <= {"name", "generateName"}:
        others.discard("properties")
    if others:
        yield forbidden(
            path,
            "must not specify anything other than name and generateName, but metadata is implicitly specified",
        )


# inside allOf, anyOf, oneOf and not ---------------------------------------------------------------------------------


def _allowed_type_lists(schema: Schema) -> tuple[bool, bool]:
    """Whether ``anyOf``, or the first ``allOf``'s, is the list of types that int-or-string fields may carry."""
    first = (schema.get("allOf") or [{}])[0]
    return schema.get("anyOf") == _INT_OR_STRING, first.get("anyOf") == _INT_OR_STRING


def _values(schema: Schema, path: str, skip_any_of: bool, skip_first_all_of: bool) -> Iterator[FieldError]:
    for index, inner in enumerate(() if skip_any_of else schema.get("anyOf") or ()):
        yield from _nested(inner, f"{path}.anyOf[{index}]", skip_any_of=False)
    for index, inner in enumerate(schema.get("allOf") or ()):
        yield from _nested(inner, f"{path}.allOf[{index}]", skip_any_of=skip_first_all_of and index == 0)
    for index, inner in enumerate(schema.get("oneOf") or ()):
        yield from _nested(inner, f"{path}.oneOf[{index}]", skip_any_of=False)
    if isinstance(schema.get("not"), dict):
        yield from _nested(schema["not"], f"{path}.not", skip_any_of=False)
    if schema.get("pattern"):
        try:
            compile_pattern(schema["pattern"])
        except PatternError as error:
            message = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", schema["pattern"], message)


def _nested(schema: Schema, path: str, *, skip_any_of: bool) -> Iterator[FieldError]:
    yield from _values(schema, path, skip_any_of, False)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{path}.items", skip_any_of=False)
    properties = schema.get("properties") or {}
    for name, inner in properties.items():
        yield from _nested(inner, keyed(f"{path}.properties", name), skip_any_of=False)
    for keyword, message in _FORBIDDEN_INSIDE.items():
        if _is_set(schema.get(keyword), keyword):
            yield forbidden(f"{path}.{keyword}", message)
    if "metadata" in properties:
        yield forbidden(keyed(f"{path}.properties", "metadata"), "must not be specified in a nested context")


def _is_set(value: Any, keyword: str) -> bool:
    if keyword in _SET_WHEN_PRESENT:
        return value is not None and not (keyword == "additionalProperties" and value is False)
    return bool(value)


def _completeness(values: Schema, declared: Schema | None, path: str, mention: str) -> Iterator[FieldError]:
    """Fields spoken about in ``values`` must be declared; ``mention`` is where they are spoken about."""
    for keyword in ("not", "allOf", "anyOf", "oneOf"):
        inner = values.get(keyword)
        if isinstance(inner, dict):
            yield from _declared(inner, declared, path, f"{mention}.{keyword}")
        else:
            for index, one in enumerate(inner or ()):
                yield from _declared(one, declared, path, f"{mention}.{keyword}[{index}]")


def _declared(values: Schema, declared: Schema | None, path: str, mention: str) -> Iterator[FieldError]:
    if declared is None:
        yield required(path, f"because it is defined in {mention}")
        return
    yield from _completeness(values, declared, path, mention)
    if isinstance(values.get("items"), dict):
        yield from _declared(values["items"], declared.get("items"), f"{path}.items", f"{mention}.items")
    properties = declared.get("properties") or {}
    for name, inner in (values.get("properties") or {}).items():
        where, mentioned = keyed(f"{path}.properties", name), keyed(f"{mention}.properties", name)
        yield from _declared(inner, properties.get(name), where, mentioned)
