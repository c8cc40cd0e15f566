"""What the columns of built-in kinds are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubewright.api import Selector
from kubewright.devcluster.ages import age
from kubewright.devcluster.builtin.checks import parsed_selector

__all__ = [
    "NONE",
    "ColumnDefinition",
    "Columns",
    "age_of",
    "at",
    "containers",
    "created_at",
    "few",
    "labels",
    "listed",
    "name_and_age",
    "name_of",
    "selected",
]

Json = dict[str, Any]
Cells = Callable[[Json, datetime], list[Any]]

NONE = "<none>"


@dataclass(frozen=True)
class ColumnDefinition:
    """One column; priority 1 is shown with ``-o wide`` only."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0


def _no_conditions(_obj: Json) -> list[dict[str, str]]:
    return []


@dataclass(frozen=True)
class Columns:
    """The columns of a kind and the function that makes an object's cells, one per column."""

    columns: tuple[ColumnDefinition, ...]
    cells: Cells
    conditions: Callable[[Json], list[dict[str, str]]] = _no_conditions


_NAME = ColumnDefinition("Name", format="name")


def _column(text: str, priority: int) -> ColumnDefinition:
    name, _, kind = text.partition(":")
    return ColumnDefinition(name, kind or "string", priority=priority)


def listed(
    *columns: str,
    wide: Sequence[str] = (),
    cells: Cells,
    name: Callable[[Json], str] | None = None,
    conditions: Callable[[Json], list[dict[str, str]]] = _no_conditions,
) -> Columns:
    """The name, then ``columns`` (``"Ready"`` or ``"Restarts:integer"``), then the ``wide`` ones."""
    definitions = [_column(each, 0) for each in columns] + [_column(each, 1) for each in wide]
    shown = name or name_of
    return Columns((_NAME, *definitions), lambda obj, now: [shown(obj), *cells(obj, now)], conditions)


def at(obj: Any, *path: str) -> Any:
    """The value at a path; None where there is none."""
    for name in path:
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def name_of(obj: Json) -> str:
    return at(obj, "metadata", "name") or ""


def age_of(obj: Json, now: datetime) -> str:
    return age(at(obj, "metadata", "creationTimestamp"), now)


def created_at(obj: Json) -> str:
    return at(obj, "metadata", "creationTimestamp") or ""


name_and_age = listed("Age", cells=lambda obj, now: [age_of(obj, now)])


def labels(value: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={text}" for key, text in sorted((value or {}).items())) or NONE


def selected(selector: Mapping[str, Any] | None) -> str:
    """A label selector in one line, sorted by key."""
    if not selector:
        return NONE
    parsed = parsed_selector(selector)
    if parsed is None:
        return "<error>"
    return str(Selector(tuple(sorted(parsed.requirements, key=lambda each: each.key)))) or NONE


def containers(template: Any) -> list[str]:
    """The names and the images of a pod template's containers."""
    found = at(template, "spec", "containers") or []
    return [",".join(each.get(key, "") for each in found) for key in ("name", "image")]


def few(values: Iterable[str], *, limit: int = 3, separator: str = ",") -> str:
    """The first values, and how many more there are."""
    found = list(values)
    shown = separator.join(found[:limit])
    return f"{shown} + {len(found) - limit} more..." if len(found) > limit else shown
