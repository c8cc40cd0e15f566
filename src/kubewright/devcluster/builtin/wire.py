"""`WireType`: how the server's structs read JSON, and what they write back.

The real server decodes every body into a struct and encodes that again. Two things follow, and users meet both: fields
it does not know vanish (and are reported), and what a struct can't tell from absent (an empty list, ``readOnly: false``)
vanishes too, while quantities and times come back in their canonical form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from kubewright.devcluster.builtin.definitions import PREFIX, definitions
from kubewright.devcluster.builtin.scalars import SCALARS, Mismatch, Scalar, json_type
from kubewright.devcluster.builtin.zeroes import always_written, keeps_zero, null_when_absent

__all__ = ["WireType", "wire_type"]

_ANYTHING = frozenset(
    {
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
        "io.k8s.apimachinery.pkg.runtime.RawExtension",
    }
)
_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class WireType:
    """One type of the wire format. `read` and `write` change nothing; what they return is new all the way down."""

    go_name = "interface {}"

    def read(self, value: Any, unknown: list[str]) -> Any:  # noqa: ARG002 - a type without fields knows no unknown ones
        """``value`` without nulls and without fields that the type lacks; their paths are added to ``unknown``.

        Raises `Mismatch` where the type can't hold the value.
        """
        return _copied(value)

    def write(self, value: Any) -> Any:
        """``value`` as the server would encode it."""
        return _copied(value)

    def complete(self, value: Any) -> None:
        """Puts zeros where the server always writes something. Edits ``value``, which `write` returned."""

    def vanishes(self, value: Any) -> bool:
        """Whether an optional field of this type is left out when it holds ``value``."""
        return value is None


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


class _ScalarType(WireType):
    def __init__(self, scalar: Scalar) -> None:
        self.scalar = scalar
        self.go_name = scalar.go_name

    def read(self, value: Any, unknown: list[str]) -> Any:  # noqa: ARG002 - nor does a scalar
        self.scalar.check(value)
        return value

    def write(self, value: Any) -> Any:
        return self.scalar.canonical(value)


class _ListType(WireType):
    def __init__(self, items: WireType) -> None:
        self.items = items
        self.go_name = f"[]{items.go_name}"

    def read(self, value: Any, unknown: list[str]) -> Any:
        if not isinstance(value, list):
            raise Mismatch(json_type(value), self.go_name)
        found = []
        for index, item in enumerate(value):
            inside: list[str] = []
            found.append(item if item is None else self.items.read(item, inside))
            if inside:
                unknown.extend(f"[{index}]{_dotted(path)}" for path in inside)
        return found

    def write(self, value: Any) -> Any:
        return [item if item is None else self.items.write(item) for item in value]

    def complete(self, value: Any) -> None:
        if not isinstance(self.items, _ScalarType):
            for item in value:
                self.items.complete(item)

    def vanishes(self, value: Any) -> bool:
        return not value


class _MapType(WireType):
    def __init__(self, values: WireType) -> None:
        self.values = values
        self.go_name = "v1.ResourceList" if values.go_name == "resource.Quantity" else f"map[string]{values.go_name}"

    def read(self, value: Any, unknown: list[str]) -> Any:
        if not isinstance(value, dict):
            raise Mismatch(json_type(value), self.go_name)
        found = {}
        for key, item in value.items():
            inside: list[str] = []
            # a null is the value type's zero
            found[key] = "" if item is None else self.values.read(item, inside)
            unknown.extend(f"{key}{_dotted(path)}" for path in inside)
        return found

    def write(self, value: Any) -> Any:
        return {key: self.values.write(item) for key, item in value.items()}

    def complete(self, value: Any) -> None:
        if not isinstance(self.values, _ScalarType):
            for item in value.values():
                self.values.complete(item)

    def vanishes(self, value: Any) -> bool:
        return not value


class _StructType(WireType):
    """A definition; its fields are found on first use, because definitions refer to each other in circles."""

    def __init__(self, definition: str) -> None:
        self._definition = definition
        _, version, self._name = definition.rsplit(".", 2)
        self.go_name = f"{version}.{self._name}"
        self._found: dict[str, _Field] | None = None

    @cached_property
    def _zeroes(self) -> list[tuple[str, Any]]:
        """The required scalars and their zeros."""
        scalars = ((name, field.scalar) for name, field in self.fields.items() if field.required)
        zeroes = [(name, scalar.zero) for name, scalar in scalars if scalar is not None and scalar.zero is not None]
        return [*zeroes, *((name, None) for name in sorted(null_when_absent(self._definition)))]

    @property
    def fields(self) -> dict[str, _Field]:
        if self._found is None:
            schema = definitions()[self._definition]
            required = always_written(self._definition) | null_when_absent(self._definition)
            self._found = {
                name: _Field(
                    _type_of(property_schema),
                    required=name in required,
                    keeps_zero=keeps_zero(self._definition, name),
                )
                for name, property_schema in schema.get("properties", {}).items()
            }
        return self._found

    def read(self, value: Any, unknown: list[str]) -> Any:
        if not isinstance(value, dict):
            raise Mismatch(json_type(value), self.go_name)
        fields, found = self.fields, {}
        for name, item in value.items():
            field = fields.get(name)
            if field is None:
                unknown.append(name)
                continue
            if item is None:
                continue
            try:
                if field.scalar is not None:
                    field.scalar.check(item)
                    found[name] = item
                else:
                    found[name] = _read_inside(field.type, name, item, unknown)
            except Mismatch as mismatch:
                mismatch.inside(self._name, name)
                raise
        return found

    def write(self, value: Any) -> Any:
        fields, found = self.fields, {}
        for name, item in value.items():
            field = fields.get(name)
            if field is None:
                found[name] = _copied(item)
            elif item is None:
                if field.required:
                    found[name] = None
            elif item or field.keeps(item):
                found[name] = item if field.verbatim else field.type.write(item)
        return found

    def complete(self, value: Any) -> None:
        if not isinstance(value, dict):
            return
        fields = self.fields
        for name, item in value.items():
            field = fields.get(name)
            if field is not None and field.scalar is None and item is not None:
                field.type.complete(item)
        for name, zero in self._zeroes:
            if name not in value:
                value[name] = zero


def _read_inside(type_: WireType, name: str, item: Any, unknown: list[str]) -> Any:
    inside: list[str] = []
    found = type_.read(item, inside)
    if inside:
        unknown.extend(f"{name}{_dotted(path)}" for path in inside)
    return found


class _SchemaOr(WireType):
    """JSONSchemaPropsOrBool and its siblings: a schema, or a list of schemas, or something simple."""

    go_name = "v1.JSONSchemaPropsOrBool"

    def _each(self, value: Any, change: Callable[[Any, list[str]], Any], unknown: list[str]) -> Any:
        if isinstance(value, dict):
            return change(value, unknown)
        if isinstance(value, list):
            found = []
            for index, item in enumerate(value):
                inside: list[str] = []
                found.append(change(item, inside) if isinstance(item, dict) else item)
                unknown.extend(f"[{index}]{_dotted(path)}" for path in inside)
            return found
        return value

    def read(self, value: Any, unknown: list[str]) -> Any:
        return self._each(value, wire_type(_SCHEMA).read, unknown)

    def write(self, value: Any) -> Any:
        return self._each(value, lambda item, _: wire_type(_SCHEMA).write(item), [])


class _Field:
    """A field of a struct: what it holds, and what becomes of it when that is nothing or zero."""

    __slots__ = ("keeps_zero", "required", "scalar", "type", "verbatim")

    def __init__(self, type_: WireType, *, required: bool, keeps_zero: bool) -> None:
        self.type = type_
        self.required = required
        self.keeps_zero = keeps_zero
        self.scalar = type_.scalar if isinstance(type_, _ScalarType) else None
        self.verbatim = self.scalar is not None and self.scalar.verbatim

    def keeps(self, empty: Any) -> bool:
        """Whether a value that is zero or empty is written all the same."""
        if self.required or self.keeps_zero:
            return True
        return self.scalar is None and not self.type.vanishes(empty)


def _dotted(path: str) -> str:
    return path if path.startswith("[") else f".{path}"


def _type_of(schema: dict[str, Any]) -> WireType:
    if "$ref" in schema:
        return wire_type(schema["$ref"].removeprefix(PREFIX))
    match schema.get("type"):
        case "array":
            return _ListType(_type_of(schema["items"]))
        case "object" if "additionalProperties" in schema:
            return _MapType(_type_of(schema["additionalProperties"]))
        case "object":
            return WireType()
        case kind:
            return _ScalarType(SCALARS[str(kind), schema.get("format", "")])


@cache
def wire_type(definition: str) -> WireType:
    """The wire type of a definition, by its name."""
    short = definition.rpartition(".")[2]
    if definition in _ANYTHING:
        return WireType()
    if short.startswith("JSONSchemaPropsOr"):
        return _SchemaOr()
    if short in {"Quantity", "IntOrString", "Time", "MicroTime"}:
        return _ScalarType(SCALARS[short, ""])
    return _StructType(definition)
