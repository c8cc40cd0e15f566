"""The figures as a table and as JSON."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

__all__ = ["Figure", "Report"]


@dataclass(frozen=True)
class Figure:
    """What was measured. ``target`` is what we promise, empty for what is only of interest."""

    name: str
    unit: str
    target: str
    bound: str
    """What keeps it from being better."""


@dataclass
class Report:
    """Figures with what each server reached, in the order in which they were measured."""

    machine: str
    rows: list[tuple[Figure, dict[str, float]]] = field(default_factory=list)

    def add(self, figure: Figure, found: dict[str, float]) -> None:
        self.rows.append((figure, found))

    def table(self) -> str:
        names = list(dict.fromkeys(name for _, found in self.rows for name in found))
        lines = [["", "unit", "target", *names, "bound by"]]
        for figure, found in self.rows:
            shown = [_shown(found[name]) if name in found else "–" for name in names]
            lines.append([figure.name, figure.unit, figure.target, *shown, figure.bound])
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        text = [_row(line, widths) for line in lines]
        load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
        return "\n".join([*text, "", f"{self.machine}; load average {load}"])

    def write(self, path: Path) -> None:
        figures = [
            {"name": each.name, "unit": each.unit, "target": each.target, "bound": each.bound, "found": found}
            for each, found in self.rows
        ]
        path.parent.mkdir(exist_ok=True)
        body = {"machine": self.machine, "load_average": os.getloadavg(), "figures": figures}
        path.write_bytes(msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n")


def _row(cells: list[str], widths: list[int]) -> str:
    """Names and remarks to the left, numbers to the right."""
    aligned = [
        cell.rjust(width) if 2 < column < len(cells) - 1 else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(aligned).rstrip()


def _shown(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}"
