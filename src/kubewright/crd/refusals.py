"""What the API server would refuse in a definition, told by class and field with the remedy."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin

from kubewright.api import Model, Resource, declared_types
from kubewright.crd.schema import SchemaError

__all__ = ["check_definition"]

_SCHEMA = re.compile(r"spec\.(?:versions\[(\d+)\]\.schema|validation)\.openAPIV3Schema")
_STEP = re.compile(r"\.(?:properties\[(?P<property>[^\]]*)\]|(?P<inner>items|additionalProperties)(?=[.\[]|$))")
_UNIONS = (typing.Union, types.UnionType)
_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "default": "give it a default that its type and markers allow, or none",
        "pattern": "write the pattern in RE2 syntax, https://github.com/google/re2/wiki/Syntax",
        "uniqueItems": "say ListSet() instead",
    }
)
_REMEDY = "change the type or the markers of the field"


def check_definition(crd: dict[str, Any], versions: Sequence[type[Resource]]) -> None:
    """Raises `SchemaError` for the first thing in a field that the API server would refuse, ValueError for others.

    ``versions`` are the classes that the definition's versions are made of, in their order.
    """
    from kubewright.schema.crd_definition import (  # noqa: PLC0415 - clients know classes, and define nothing
        completed_definition,
        definition_errors,
    )

    for error in definition_errors(completed_definition(crd)):
        inside = _SCHEMA.match(error.field)
        if inside is None:
            raise ValueError(f"{versions[0].__qualname__}: {error}; change what @resource says")
        where, rest = _place(versions[int(inside[1] or 0)], error.field[inside.end() :])
        keyword = rest.partition(".")[0]
        detail = re.sub(r":\s+in body ", ": it ", error.detail)
        raise SchemaError(f"{where}: {rest}: {detail}; {_REMEDIES.get(keyword, _REMEDY)}")


def _place(kind: type[Resource], path: str) -> tuple[str, str]:
    """Class and field that a path in the schema of ``kind`` leads to, and what of it is left: the keyword."""
    hint: Any = kind
    where = kind.__qualname__
    while step := _STEP.match(path):
        hint = _plain(hint)
        if (wire := step["property"]) is None:
            hint = get_args(hint)[-1] if get_args(hint) else Any
        elif isinstance(hint, type) and issubclass(hint, Model):
            name = _attribute(hint, wire)
            if name is None:
                break
            where, hint = f"{hint.__qualname__}.{name}", declared_types(hint)[name]
        else:
            break
        path = path[step.end() :]
    return where, path.removeprefix(".")


def _attribute(model: type[Model], wire: str) -> str | None:
    names = zip(model.__struct_encode_fields__, model.__struct_fields__, strict=True)
    return next((name for encoded, name in names if encoded == wire), None)


def _plain(hint: Any) -> Any:
    """A type without its markers, and without None."""
    if get_origin(hint) is Annotated:
        return _plain(get_args(hint)[0])
    if get_origin(hint) in _UNIONS:
        members = [member for member in get_args(hint) if member is not type(None)]
        return _plain(members[0]) if len(members) == 1 else hint
    return hint
