"""Server-side printing: objects as a ``meta.k8s.io/v1`` Table, which is what ``kubectl get`` shows.

https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from kubewright.api import Column
from kubewright.devcluster.ages import UNKNOWN, duration, moment
from kubewright.devcluster.builtin.columns import columns_of
from kubewright.devcluster.jsonpath import JsonPath
from kubewright.devcluster.objects import Object, metadata_of
from kubewright.schema.go_text import json_text, number_text

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource

__all__ = ["table"]

_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True)
class _Printer:
    """Column definitions, and what makes an object's cells and row conditions."""

    columns: list[dict[str, Any]]
    cells: Callable[[Object, datetime], list[Any]]
    conditions: Callable[[Object], list[dict[str, str]]]


def table(
    resource: ServedResource,
    objects: Sequence[Object],
    *,
    include: Literal["Metadata", "Object", "None"],
    now: datetime,
    list_meta: Mapping[str, Any],
    api_version: str = "meta.k8s.io/v1",
    scales: bool = False,
) -> Object:
    """A Table of ``objects``. ``include``: how much of each object its row carries along.

    ``scales`` when they are not the resource's objects but the Scales of those.
    """
    printer = _SCALES if scales else _printer(resource)
    rows: list[Object] = []
    for obj in objects:
        row: Object = {"cells": printer.cells(obj, now)}
        if conditions := printer.conditions(obj):
            row["conditions"] = conditions
        row["object"] = _carried(resource, obj, include, api_version)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": api_version,
        "metadata": dict(list_meta),
        "columnDefinitions": printer.columns,
        "rows": rows,
    }


def _carried(resource: ServedResource, obj: Object, include: str, api_version: str) -> Object | None:
    if include == "None":
        return None
    if include == "Object":  # which in a list of a built-in kind does not say what it is
        return obj if "kind" in obj else {"kind": resource.info.kind, "apiVersion": resource.info.api_version, **obj}
    return {"kind": "PartialObjectMetadata", "apiVersion": api_version, "metadata": metadata_of(obj)}


@lru_cache(maxsize=256)
def _printer(resource: ServedResource) -> _Printer:
    if not resource.custom:
        found = columns_of(resource.info.group, resource.info.kind)
        definitions = [
            definition(each.name, each.type, name_format=each.format, priority=each.priority) for each in found.columns
        ]
        return _Printer(definitions, found.cells, found.conditions)
    return _custom(resource.info.columns or (_AGE,))


def definition(
    name: str, kind: str, *, description: str = "", name_format: str = "", priority: int = 0
) -> dict[str, Any]:
    """One entry of ``columnDefinitions``."""
    return {
        "name": name,
        "type": kind,
        "format": name_format,
        "description": description or name,
        "priority": priority,
    }


def _custom(columns: Sequence[Column]) -> _Printer:
    """The name, and the columns that the CustomResourceDefinition declares."""
    paths = [(JsonPath(column.path), column.type) for column in columns]
    definitions = [definition("Name", "string", name_format="name")]
    for column in columns:
        told = column.description or f"Custom resource definition column (in JSONPath format): {column.path}"
        definitions.append(
            definition(
                column.name,
                column.type,
                description=told or "",
                name_format=column.format or "",
                priority=column.priority,
            )
        )

    def cells(obj: Object, now: datetime) -> list[Any]:
        values = (_cell(path.find(obj), kind, now) for path, kind in paths)
        return [metadata_of(obj).get("name", ""), *values]

    return _Printer(definitions, cells, lambda _obj: [])


def _scale_cells(scale: Object, now: datetime) -> list[Any]:
    metadata = metadata_of(scale)
    age = _date(metadata.get("creationTimestamp") or "", now)
    return [metadata.get("name", ""), scale["spec"].get("replicas", 0), scale["status"]["replicas"], age]


_AGE = Column("Age", ".metadata.creationTimestamp", type="date", description="Age")
_SCALES = _Printer(
    [
        definition("Name", "string", name_format="name"),
        definition("Desired", "integer"),
        definition("Available", "integer"),
        definition("Age", "date"),
    ],
    _scale_cells,
    lambda _scale: [],
)


def _cell(found: list[Any], kind: str, now: datetime) -> Any:
    """A cell shows the first value at its path, and nothing where that is of another type."""
    if not found:
        return None
    value = found[0]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "integer":
            return _whole(value) if number else None
        case "number":
            return value if number else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "date":
            return _date(value, now) if isinstance(value, str) else None
    return _text(value)


def _whole(value: float) -> int:
    whole = int(value)
    return whole if whole in _INT64 else _INT64.start


def _date(value: str, now: datetime) -> str:
    if not value:
        return UNKNOWN
    then = moment(value)
    return "<invalid>" if then is None else duration(now - then)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, int | float) else json_text(value)
