"""Which keywords a CRD's schema may use, and which go together."""

from __future__ import annotations

from collections.abc import Iterator

from kubewright.schema.errors import FieldError, forbidden, invalid, not_supported, required
from kubewright.schema.node import Schema
from kubewright.schema.walk import inner_schemas, keyed

__all__ = ["UNSUPPORTED", "keyword_errors"]

UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_IDENTITY = frozenset({"apiVersion", "kind", "metadata"})


def keyword_errors(schema: Schema, path: str) -> list[FieldError]:
    """Keywords that the server does not take, in the order in which it meets them."""
    return list(_visit(schema, path, root=True, in_identity=False, no_default=""))


def _visit(schema: Schema, path: str, *, root: bool, in_identity: bool, no_default: str) -> Iterator[FieldError]:
    """``no_default`` is why defaults are forbidden here, if they are; ``in_identity``: inside metadata and the like."""
    yield from _allowed(schema, path, in_identity=in_identity, no_default=no_default)
    if schema.get("uniqueItems"):
        yield forbidden(
            f"{path}.uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        )
    additional = schema.get("additionalProperties")
    if additional is not None and schema.get("properties") and additional is not True:
        yield forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
    identity = root or bool(schema.get("x-kubernetes-embedded-resource"))
    for where, inner in inner_schemas(schema, path):
        inside, reason = in_identity, no_default
        name = where.removeprefix(f"{path}.properties[").removesuffix("]")
        if where == f"{path}.additionalProperties" and in_identity:
            reason = "inside additionalProperties applying to object metadata"
        elif identity and name in _IDENTITY and where == keyed(f"{path}.properties", name):
            inside, reason = True, (f"in top-level {name}" if root else reason)
        yield from _visit(inner, where, root=False, in_identity=inside, no_default=reason)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    yield from _merging(schema, path)


def _allowed(schema: Schema, path: str, *, in_identity: bool, no_default: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and no_default:
        yield forbidden(f"{path}.default", f"must not be set {no_default}")
    for keyword in UNSUPPORTED:
        if schema.get(keyword):
            yield forbidden(f"{path}.{keyword}", f"{keyword} is not supported")
    if kind == "null":
        yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    if in_identity and schema.get("x-kubernetes-embedded-resource"):
        yield forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")


# how lists and maps merge -------------------------------------------------------------------------------------------


def _merging(schema: Schema, path: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    map_type, list_type = schema.get("x-kubernetes-map-type"), schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys") or []
    items = schema.get("items")
    if map_type is not None:
        yield from _only_for(kind, "object", "x-kubernetes-map-type", path)
        if map_type not in ("atomic", "granular"):
            yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))
    if list_type is not None and kind != "array":
        yield from _only_for(kind, "array", "x-kubernetes-list-type", path)
    elif list_type == "set" and isinstance(items, dict):
        yield from _set_items(items, path)
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        where, message = f"{path}.x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty"
        yield required(where, message) if list_type is None else invalid(where, list_type, message)
    if list_type == "map":
        yield from _list_map(schema, keys, path)
    if list_type in ("set", "map") and isinstance(items, dict):
        yield from _identity_of_items(items, keys if list_type == "map" else [], list_type, path)


def _only_for(kind: str, wanted: str, keyword: str, path: str) -> Iterator[FieldError]:
    if kind != wanted:
        where, message = f"{path}.type", f"must be {wanted} if {keyword} is specified"
        yield invalid(where, kind, message) if kind else required(where, message)


def _set_items(items: Schema, path: str) -> Iterator[FieldError]:
    message = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield invalid(f"{path}.items.x-kubernetes-list-type", list_type, message)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield invalid(f"{path}.items.x-kubernetes-map-type", list_type, message)


def _list_map(schema: Schema, keys: list[str], path: str) -> Iterator[FieldError]:
    items = schema.get("items")
    if not keys:
        yield required(f"{path}.x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if not isinstance(items, dict):
        return
    kind = items.get("type") or ""
    if kind != "object":
        yield invalid(f"{path}.items.type", kind, "must be object if parent array's x-kubernetes-list-type is map")
        return
    properties = items.get("properties") or {}
    where = f"{path}.x-kubernetes-list-map-keys"
    for index, key in enumerate(keys):
        if key not in properties:
            yield invalid(where, keys, "entries must all be names of item properties")
        elif properties[key].get("type") in ("array", "object"):
            message = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(keyed(f"{path}.items.properties", key) + ".type", kind, message)
        if key in keys[:index]:
            yield invalid(where, keys, "must not contain duplicate entries")


def _identity_of_items(items: Schema, keys: list[str], list_type: str, path: str) -> Iterator[FieldError]:
    if items.get("nullable"):
        yield forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    for key in keys:
        schema = (items.get("properties") or {}).get(key)
        if schema is None:
            continue
        where = keyed(f"{path}.items.properties", key)
        if key not in (items.get("required") or ()) and schema.get("default") is None:
            message = (
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            )
            yield required(f"{where}.default", message)
        if schema.get("nullable"):
            message = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            yield forbidden(f"{where}.nullable", message)
