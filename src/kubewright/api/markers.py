"""Markers: what the schema of a field says beyond its type, one class per Kubebuilder marker.

They are written in ``Annotated[type, Marker(...)]`` and describe the CustomResourceDefinition's schema. They are never
used for decoding: an object that the server holds must stay decodable whatever the schema says today.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Default",
    "Enum",
    "Example",
    "ExclusiveMaximum",
    "ExclusiveMinimum",
    "Format",
    "IntOrStringFormat",
    "ListAtomic",
    "ListMap",
    "ListSet",
    "MapAtomic",
    "MapGranular",
    "Marker",
    "MaxItems",
    "MaxLength",
    "MaxProperties",
    "Maximum",
    "MinItems",
    "MinLength",
    "MinProperties",
    "Minimum",
    "MultipleOf",
    "Nullable",
    "Optional",
    "Pattern",
    "PreserveUnknownFields",
    "Required",
    "Title",
    "UniqueItems",
]

Schema = dict[str, Any]


class Marker(ABC):
    """What `kubewright.crd` looks for in ``Annotated``; `apply` adds to the schema of the annotated value."""

    @abstractmethod
    def apply(self, schema: Schema) -> None: ...


@dataclass(frozen=True)
class _Keyword(Marker):
    """A marker that sets one schema keyword to one value."""

    value: Any

    @property
    def keyword(self) -> str:
        name = type(self).__name__
        return name[0].lower() + name[1:]

    def apply(self, schema: Schema) -> None:
        schema[self.keyword] = self.value


def _hash_of_json(marker: _Keyword) -> int:
    """Lists and maps have no hash, which Python asks for where ``Annotated[…, marker] | None`` is written."""
    return hash((type(marker), repr(marker.value)))


@dataclass(frozen=True)
class Minimum(_Keyword):
    value: float


@dataclass(frozen=True)
class Maximum(_Keyword):
    value: float


@dataclass(frozen=True)
class MultipleOf(_Keyword):
    value: float


@dataclass(frozen=True)
class ExclusiveMinimum(_Keyword):
    value: bool = True


@dataclass(frozen=True)
class ExclusiveMaximum(_Keyword):
    value: bool = True


@dataclass(frozen=True)
class Pattern(_Keyword):
    """A regular expression in RE2 syntax, as the API server reads it."""

    value: str


@dataclass(frozen=True)
class MinLength(_Keyword):
    value: int


@dataclass(frozen=True)
class MaxLength(_Keyword):
    value: int


@dataclass(frozen=True)
class MinItems(_Keyword):
    value: int


@dataclass(frozen=True)
class MaxItems(_Keyword):
    value: int


@dataclass(frozen=True)
class UniqueItems(_Keyword):
    value: bool = True


@dataclass(frozen=True)
class MinProperties(_Keyword):
    value: int


@dataclass(frozen=True)
class MaxProperties(_Keyword):
    value: int


@dataclass(frozen=True)
class Format(_Keyword):
    """The wire format, such as ``int32`` or ``date-time``."""

    value: str


@dataclass(frozen=True)
class Title(_Keyword):
    value: str


@dataclass(frozen=True)
class Example(_Keyword):
    value: Any

    def __hash__(self) -> int:
        return _hash_of_json(self)


@dataclass(frozen=True)
class Default(_Keyword):
    """The value that the server fills in; a field with one is not required."""

    value: Any

    def __hash__(self) -> int:
        return _hash_of_json(self)


@dataclass(frozen=True)
class Nullable(_Keyword):
    """The field may hold an explicit JSON null."""

    value: bool = True


@dataclass(frozen=True)
class Enum(Marker):
    """The values allowed; a ``Literal`` type says the same in Python's own words."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def apply(self, schema: Schema) -> None:
        schema["enum"] = list(self.values)


@dataclass(frozen=True)
class Required(Marker):
    """The field must be there although the model has a default for it (or it is a resource's ``spec``)."""

    def apply(self, schema: Schema) -> None:
        """Nothing in the field's own schema: the parent lists it in ``required``."""


@dataclass(frozen=True)
class Optional(Marker):
    """The field may be missing although the model has no default for it."""

    def apply(self, schema: Schema) -> None:
        """Nothing in the field's own schema: the parent leaves it out of ``required``."""


@dataclass(frozen=True)
class PreserveUnknownFields(Marker):
    """Fields without a schema are kept instead of pruned."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-preserve-unknown-fields"] = True


@dataclass(frozen=True)
class IntOrStringFormat(Marker):
    """An integer or a string on the wire, as quantities and ports are."""

    def apply(self, schema: Schema) -> None:
        schema.pop("type", None)
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        schema["x-kubernetes-int-or-string"] = True


@dataclass(frozen=True)
class ListMap(Marker):
    """A list whose items are identified by the named keys; server-side apply merges it item by item."""

    keys: tuple[str, ...]

    def __init__(self, *keys: str) -> None:
        if not keys:
            raise ValueError('ListMap needs the wire name of at least one key, such as ListMap("name")')
        object.__setattr__(self, "keys", keys)

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-list-type"] = "map"
        schema["x-kubernetes-list-map-keys"] = list(self.keys)


@dataclass(frozen=True)
class ListSet(Marker):
    """A list of distinct scalars, merged member by member."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-list-type"] = "set"


@dataclass(frozen=True)
class ListAtomic(Marker):
    """A list that one field manager owns as a whole."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-list-type"] = "atomic"


@dataclass(frozen=True)
class MapGranular(Marker):
    """A map or object merged key by key (the default)."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-map-type"] = "granular"


@dataclass(frozen=True)
class MapAtomic(Marker):
    """A map or object that one field manager owns as a whole."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-map-type"] = "atomic"
