"""Markers: what the schema of a field says beyond its type, one class per Kubebuilder marker.

They are written in ``Annotated[type, Marker(...)]`` and describe the CustomResourceDefinition's schema. They are never
used for decoding: an object that the server holds must stay decodable whatever the schema says today.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = [
    "Default",
    "Description",
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
V = TypeVar("V")


class Marker(ABC):
    """What `kubewright.crd` looks for in ``Annotated``; `apply` adds to the schema of the annotated value."""

    @abstractmethod
    def apply(self, schema: Schema) -> None: ...


@dataclass(frozen=True)
class _Keyword(Marker, Generic[V]):
    """A marker that sets one schema keyword to one value."""

    value: V

    @property
    def keyword(self) -> str:
        name = type(self).__name__
        return name[0].lower() + name[1:]

    def apply(self, schema: Schema) -> None:
        schema[self.keyword] = self.value


@dataclass(frozen=True)
class _Switch(_Keyword[bool]):
    value: bool = True


class _JsonKeyword(_Keyword[Any]):
    def __hash__(self) -> int:
        """Lists and maps have no hash, which Python asks for where ``Annotated[…, marker] | None`` is written."""
        return hash((type(self), repr(self.value)))


class Minimum(_Keyword[float]): ...


class Maximum(_Keyword[float]): ...


class MultipleOf(_Keyword[float]): ...


class ExclusiveMinimum(_Switch): ...


class ExclusiveMaximum(_Switch): ...


class Pattern(_Keyword[str]):
    """A regular expression in RE2 syntax, as the API server reads it."""


class MinLength(_Keyword[int]): ...


class MaxLength(_Keyword[int]): ...


class MinItems(_Keyword[int]): ...


class MaxItems(_Keyword[int]): ...


class UniqueItems(_Switch): ...


class MinProperties(_Keyword[int]): ...


class MaxProperties(_Keyword[int]): ...


class Format(_Keyword[str]):
    """The wire format, such as ``int32`` or ``date-time``."""


class Title(_Keyword[str]): ...


class Description(_Keyword[str]):
    """What ``kubectl explain`` says of the field; a model's own is its docstring."""


class Example(_JsonKeyword): ...


class Default(_JsonKeyword):
    """The value that the server fills in; a field with one is not required."""


class Nullable(_Switch):
    """The field may hold an explicit JSON null."""


@dataclass(frozen=True)
class _Statement(Marker):
    """A marker that says all it has to say by being there."""


@dataclass(frozen=True)
class Enum(Marker):
    """The values allowed; a ``Literal`` type says the same in Python's own words."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def apply(self, schema: Schema) -> None:
        schema["enum"] = list(self.values)


class Required(_Statement):
    """The field must be there although the model has a default for it (or it is a resource's ``spec``)."""

    def apply(self, schema: Schema) -> None:
        """Nothing in the field's own schema: the parent lists it in ``required``."""


class Optional(_Statement):
    """The field may be missing although the model has no default for it."""

    def apply(self, schema: Schema) -> None:
        """Nothing in the field's own schema: the parent leaves it out of ``required``."""


class PreserveUnknownFields(_Statement):
    """Fields without a schema are kept instead of pruned."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-preserve-unknown-fields"] = True


class IntOrStringFormat(_Statement):
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


class ListSet(_Statement):
    """A list of distinct scalars, merged member by member."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-list-type"] = "set"


class ListAtomic(_Statement):
    """A list that one field manager owns as a whole."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-list-type"] = "atomic"


class MapGranular(_Statement):
    """A map or object merged key by key (the default)."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-map-type"] = "granular"


class MapAtomic(_Statement):
    """A map or object that one field manager owns as a whole."""

    def apply(self, schema: Schema) -> None:
        schema["x-kubernetes-map-type"] = "atomic"
