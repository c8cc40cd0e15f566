"""Markers applied to schemas: which fit which types, and what two of them on one field mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from kubewright.api.markers import Marker, Optional, Required

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
    which takes an ``allOf``. Raises ValueError for a marker that means nothing for the type.
    """
    both: list[Schema] = []
    for marker in markers:
        if isinstance(marker, type) and issubclass(marker, Marker):
            raise ValueError(f"{marker.__name__} is a marker's class: write {marker.__name__}(…)")  # noqa: TRY004 - as for what else is misplaced
        if not isinstance(marker, Marker) or isinstance(marker, Required | Optional):
            continue
        _check(marker, schema)
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
