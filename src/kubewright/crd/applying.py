"""Markers applied to schemas: which fit which types, and what two of them on one field mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from kubewright.api.markers import Marker, Optional, Required
from kubewright.crd.values import check_finite

__all__ = ["apply_markers"]

Schema = dict[str, Any]

_NUMERIC = ("integer", "number")
_FITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Minimum": _NUMERIC,
        "Maximum": _NUMERIC,
        "MultipleOf": _NUMERIC,
        "ExclusiveMinimum": _NUMERIC,
        "ExclusiveMaximum": _NUMERIC,
        "Pattern": ("string",),
        "MinLength": ("string",),
        "MaxLength": ("string",),
        "MinItems": ("array",),
        "MaxItems": ("array",),
        "UniqueItems": ("array",),
        "ListMap": ("array",),
        "ListSet": ("array",),
        "ListAtomic": ("array",),
        "MinProperties": ("object",),
        "MaxProperties": ("object",),
        "MapAtomic": ("object",),
        "MapGranular": ("object",),
    }
)
_BOTH_HOLD = frozenset(
    {
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
    }
)
_SAID_BY_ABSENCE = ("exclusiveMaximum", "exclusiveMinimum", "nullable", "uniqueItems")


def apply_markers(schema: Schema, markers: Iterable[Any]) -> None:
    """Adds to a schema what the markers say, in their order; other metadata of ``Annotated`` is not ours.

    A later marker replaces an earlier one, except limits and patterns that differ: a type's and a field's both hold,
    which takes an ``allOf``. Raises ValueError for a marker that means nothing for the type, or says nothing itself.
    """
    both: list[Schema] = []
    for marker in markers:
        if isinstance(marker, type) and issubclass(marker, Marker):
            raise ValueError(f"{marker.__name__} is a marker's class: write {marker.__name__}(…)")  # noqa: TRY004 - as for what else is misplaced
        if not isinstance(marker, Marker) or isinstance(marker, Required | Optional):
            continue
        _check(marker, schema)
        _check_value(marker)
        before = {key: schema[key] for key in _BOTH_HOLD & schema.keys()}
        marker.apply(schema)
        for key, value in before.items():
            if schema[key] != value:
                both += [{key: value}, {key: schema.pop(key)}]
    if both:
        schema["allOf"] = both
    for key in _SAID_BY_ABSENCE:
        if schema.get(key) is False:
            del schema[key]
    if schema.get("x-kubernetes-preserve-unknown-fields") and schema.get("additionalProperties") == _ANYTHING:
        del schema["additionalProperties"]  # values of any kind are what preserving means


_ANYTHING: Schema = {"x-kubernetes-preserve-unknown-fields": True}


def _check(marker: Marker, schema: Schema) -> None:
    name = type(marker).__name__
    fits = _FITS.get(name)
    if fits is None or "type" not in schema or schema["type"] in fits:
        return
    raise ValueError(f"{name} is for values of type {' or '.join(fits)}, not for {schema['type']}")


_NUMBERS = frozenset({"Minimum", "Maximum", "MultipleOf"})
_COUNTS = frozenset({"MinLength", "MaxLength", "MinItems", "MaxItems", "MinProperties", "MaxProperties"})
_TEXTS = frozenset({"Pattern", "Format", "Title"})
_SWITCHES = frozenset({"ExclusiveMinimum", "ExclusiveMaximum", "UniqueItems", "Nullable"})


def _check_value(marker: Marker) -> None:
    name, value = type(marker).__name__, getattr(marker, "value", None)
    wanted = None
    if name in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int | float):
            wanted = "a number"
        else:
            check_finite(value)
            if name == "MultipleOf" and value <= 0:
                wanted = "a number above 0"
    elif name in _COUNTS and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63):
        wanted = "a whole number that is not negative"
    elif name in _TEXTS and not isinstance(value, str):
        wanted = "a string"
    elif name in _SWITCHES and not isinstance(value, bool):
        wanted = "True or False"
    if wanted is not None:
        raise ValueError(f"{name}({value!r}): give {wanted}")
