"""`Acceptance`: a quick proof that an object is right, for the many that are.

Of a schema a msgspec type is made that is at most as generous as the schema. What converts to it has no field that the
schema does not know, no null where none may be, and nothing that validation refuses. Of what does not convert nothing is
known: `validation`, `pruning` and `defaulting` decide about it, and find the words for what is wrong.

Parts of a schema that no type expresses are checked by those modules, each value where the conversion meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Annotated, Any, Literal

import msgspec

from kubewright.schema.defaulting import default_value, drop_nulls
from kubewright.schema.list_types import duplicates
from kubewright.schema.node import Node
from kubewright.schema.pruning import prune
from kubewright.schema.validation import validate

__all__ = ["Acceptance"]

_ABOUT_THE_OBJECT = frozenset({"apiVersion", "kind", "metadata"})
_NOT_IN_TYPES = ("allOf", "anyOf", "oneOf", "not", "uniqueItems", "minProperties", "maxProperties")
_ON_NUMBERS = ("minimum", "maximum", "multipleOf")
_ON_TEXT = ("pattern", "minLength", "maxLength")
_INTEGER_OR_STRING = ([{"type": "integer"}, {"type": "string"}], [{"type": "string"}, {"type": "integer"}])
_EXACT = 2**53  # up to here comparing as floating-point numbers is comparing as integers


class _Checked:
    """Stands for a value that was found right by a check of its own; each such part of a schema gets a subclass."""


class Acceptance:
    """Whether objects of one schema, given as decoded JSON, are right but for defaults that are yet to be filled in."""

    def __init__(self, root: Node) -> None:
        """Raises ValueError for a schema that this can't prove anything about."""
        self._checks: dict[type, Callable[[Any], bool]] = {}
        if root.types != ("object",) or root.nullable or any(root.schema.get(each) for each in _NOT_IN_TYPES):
            raise ValueError("the object itself is restricted in a way that types do not express")
        for name in _ABOUT_THE_OBJECT & root.properties.keys():
            if root.properties[name].schema.keys() - {"type", "description"}:
                raise ValueError(f"{name} is restricted")
        fields: list[tuple[str, Any]] = [("apiVersion", str), ("kind", str), ("metadata", dict[str, Any])]
        fields += [each for each in self._fields(root) if each[0] not in _ABOUT_THE_OBJECT]
        self._type = self._struct(root, fields)
        self._required = frozenset(root.required)

    def accepts(self, obj: dict[str, Any]) -> bool:
        """False means nothing."""
        try:
            msgspec.convert(obj, self._type, dec_hook=self._hook)
        except (msgspec.ValidationError, RecursionError):
            return False
        return self._required <= obj.keys()

    def _hook(self, kind: type, value: Any) -> Any:
        if not self._checks[kind](value):
            raise ValueError("not right, or not known to be")
        return kind()

    # Types

    def _of(self, node: Node) -> Any:
        found = self._plain(node)
        if found is None:
            return self._checked(lambda value: _right(value, node))
        return found | None if node.nullable else found

    def _plain(self, node: Node) -> Any:
        """The type of a node but for null; None where there is none."""
        schema = node.schema
        if node.int_or_string:
            return _int_or_string(node)
        if len(node.types) != 1 or any(schema.get(each) for each in _NOT_IN_TYPES) or (node.nullable and node.enum):
            return None
        match node.types[0]:
            case "boolean":
                return bool if not node.enum and not node.format else None
            case "integer":
                return _integer(node)
            case "number":
                return _number(node)
            case "string":
                return self._string(node)
            case "array":
                return self._array(node)
            case "object":
                return self._object(node)
        return None

    def _string(self, node: Node) -> Any:
        schema = node.schema
        if node.enum:
            if node.format or any(schema.get(each) is not None for each in _ON_TEXT) or not _all(str, node.enum):
                return None
            return Literal[tuple(node.enum)]
        if node.format or schema.get("pattern"):
            return self._checked(lambda value: isinstance(value, str) and not validate(value, node))
        longest, shortest = schema.get("maxLength"), schema.get("minLength")
        if longest is None and shortest is None:
            return str
        return Annotated[str, msgspec.Meta(min_length=shortest, max_length=longest)]

    def _array(self, node: Node) -> Any:
        if node.items is None or node.enum or node.format or node.preserve_unknown:
            return None
        if node.list_type in {"set", "map"}:
            return self._unique(node, node.items)
        return self._list(node, self._of(node.items))

    def _list(self, node: Node, item: Any) -> Any:
        longest, shortest = node.schema.get("maxItems"), node.schema.get("minItems")
        if longest is None and shortest is None:
            return list[item]
        return Annotated[list[item], msgspec.Meta(min_length=shortest, max_length=longest)]

    def _unique(self, node: Node, items: Node) -> Any:
        """Lists without repetitions: of strings, or of objects that a string each tells apart."""
        if node.list_type == "set":
            if items.types != ("string",):
                return None
            listed = self._list(node, self._of(items))
            return self._converted(listed, lambda value: len(frozenset(value)) == len(value))
        keys = node.list_map_keys
        if any(key not in items.properties or items.properties[key].default is not None for key in keys):
            return None
        listed = self._list(node, self._of(items))
        if len(keys) == 1 and items.properties[keys[0]].types == ("string",):
            key = keys[0]
            return self._converted(listed, lambda value: len({item.get(key) for item in value}) == len(value))
        return self._converted(listed, lambda value: not any(_repeated(value, node)))

    def _object(self, node: Node) -> Any:
        if node.enum or node.format or node.embedded_resource:
            return None
        if not node.schema.get("properties"):
            if node.preserve_unknown:
                return dict[str, Any] if not node.required and not node.allows_additional else None
            if node.additional is not None:
                return dict[str, self._of(node.additional)] if not node.required else None  # type: ignore[misc]  # made of the schema
        if node.allows_additional or set(node.required) - node.properties.keys():
            return None
        return self._struct(node, self._fields(node))

    def _fields(self, node: Node) -> Iterator[tuple[str, Any]]:
        for name, child in node.properties.items():
            yield name, self._of(child)

    def _struct(self, node: Node, fields: list[tuple[str, Any]] | Iterator[tuple[str, Any]]) -> Any:
        """Names that the API takes need not be names to Python, so the type's own are made up."""
        made: list[Any] = []
        for number, (name, kind) in enumerate(fields):
            child = node.properties.get(name)
            if child is not None and child.default is not None:
                _check_default(name, child)
            needed = name in node.required and (child is None or child.default is None)
            default = {} if needed else {"default": msgspec.UNSET}
            made.append(
                (f"f{number}", kind if needed else kind | msgspec.UnsetType, msgspec.field(name=name, **default))
            )
        return msgspec.defstruct(
            "Accepted", made, kw_only=True, gc=False, eq=False, forbid_unknown_fields=not node.preserve_unknown
        )

    # Values that are looked at

    def _checked(self, check: Callable[[Any], bool]) -> Any:
        kind = type("Checked", (_Checked,), {"__slots__": ()})
        self._checks[kind] = check
        return kind

    def _converted(self, kind: Any, check: Callable[[Any], bool]) -> Any:
        def right(value: Any) -> bool:
            if value is None:
                return False
            msgspec.convert(value, kind, dec_hook=self._hook)
            return check(value)

        return self._checked(right)


def _all(kind: type, values: list[Any]) -> bool:
    return all(type(value) is kind for value in values)


def _int_or_string(node: Node) -> Any:
    schema = node.schema
    restricted = any(schema.get(each) is not None for each in (*_ON_NUMBERS, *_ON_TEXT, "allOf", "oneOf", "not"))
    if restricted or node.format or node.enum or schema.get("anyOf", _INTEGER_OR_STRING[0]) not in _INTEGER_OR_STRING:
        return None
    return Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | str


def _integer(node: Node) -> Any:
    schema = node.schema
    if node.format not in {"", "int32", "int64"}:
        return None
    limit = 2**31 if node.format == "int32" else 2**63
    given = [schema[each] for each in _ON_NUMBERS if schema.get(each) is not None]
    if not _all(int, given) or any(not -limit <= each < limit for each in given) or schema.get("multipleOf", 1) <= 0:
        return None
    if node.enum:
        if given or not _all(int, node.enum) or any(not -limit <= each < limit for each in node.enum):
            return None
        return Literal[tuple(node.enum)]
    least, most = schema.get("minimum", -limit), schema.get("maximum", limit - 1)
    least += bool(schema.get("exclusiveMinimum") and "minimum" in schema)
    most -= bool(schema.get("exclusiveMaximum") and "maximum" in schema)
    if least >= limit or most < -limit:
        return None
    return Annotated[int, msgspec.Meta(ge=least, le=most, multiple_of=schema.get("multipleOf"))]


def _number(node: Node) -> Any:
    schema = node.schema
    least, most = schema.get("minimum"), schema.get("maximum")
    given = [each for each in (least, most) if each is not None]
    if node.enum or node.format not in {"", "double"} or schema.get("multipleOf") is not None:
        return None
    if not _all(int, given) or any(abs(each) >= _EXACT for each in given):
        return None
    bounds: dict[str, int] = {}
    if least is not None:
        bounds["gt" if schema.get("exclusiveMinimum") else "ge"] = least
    if most is not None:
        bounds["lt" if schema.get("exclusiveMaximum") else "le"] = most
    return Annotated[float, msgspec.Meta(**bounds)] if bounds else float  # type: ignore[call-overload]  # one of each pair


def _check_default(name: str, node: Node) -> None:
    if not _right(default_value(deepcopy(node.default), node), node):
        raise ValueError(f"the default of {name} is not right itself")


def _right(value: Any, node: Node) -> bool:
    """Whether a value is right, defaults and all."""
    if value is None:
        return node.nullable and not validate(value, node)
    if drop_nulls(value, node) is not value or default_value(value, node) is not value:
        return False
    pruned, unknown = prune(value, node, root=False)
    return pruned is value and not unknown and not validate(value, node) and not any(_repeated(value, node))


def _repeated(value: Any, node: Node) -> Iterator[bool]:
    for _ in duplicates(value, node):
        yield True
