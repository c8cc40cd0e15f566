"""Figures beside their targets: as a table that Markdown shows too, and as JSON."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmarks.cache.running import Failed, Found

__all__ = ["Figure", "Goal", "Report"]

_OURS, _GO = "kubewright", "client-go"


@dataclass(frozen=True)
class Goal:
    """``≥`` or ``≤`` a number, or so many times what another contestant reaches."""

    sign: str
    number: float
    times: str | None = None

    def __str__(self) -> str:
        return f"{self.sign} {_shown(self.number)}" + (f"× {self.times}" if self.times else "")

    def met(self, found: dict[str, Found | Failed]) -> bool | None:
        """None where it can't be told."""
        ours, other = found.get(_OURS), found.get(self.times) if self.times else None
        if not isinstance(ours, Found) or (self.times and not isinstance(other, Found)):
            return None
        wanted = self.number * (other.value if isinstance(other, Found) else 1)
        return ours.value >= wanted if self.sign == "≥" else ours.value <= wanted


@dataclass(frozen=True)
class Figure:
    """What was measured; without goals it is only of interest. ``bound`` is what keeps it from being better."""

    name: str
    unit: str
    goals: tuple[Goal, ...] = ()
    bound: str = ""


@dataclass
class Report:
    machine: str
    objects: int
    """How many of each resource; who was measured with fewer has their number beside the figure."""
    rows: list[tuple[Figure, dict[str, Found | Failed]]] = field(default_factory=list)

    def add(self, figure: Figure, found: dict[str, Found | Failed]) -> None:
        self.rows.append((figure, found))

    def table(self) -> str:
        names = list(dict.fromkeys([_OURS, _GO, *(name for _, found in self.rows for name in found)]))
        reasons: list[str] = []
        lines = [["figure", "unit", *names, f"ours : {_GO}", "target", "met", "what bounds it"]]
        for figure, found in self.rows:
            cells = [self._cell(name, found.get(name), reasons) for name in names]
            target = ", ".join(map(str, figure.goals))
            lines.append([figure.name, figure.unit, *cells, _ratio(found), target, _met(figure, found), figure.bound])
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        rule = "|".join("-" * (width + 2) for width in widths)
        text = [_row(lines[0], widths), f"|{rule}|", *(_row(line, widths) for line in lines[1:])]
        load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
        remarks = [f"[{number}] {reason}" for number, reason in enumerate(reasons, 1)]
        return "\n".join([*text, "", *remarks, f"{self.machine}; load average {load}"])

    def _cell(self, name: str, found: Found | Failed | None, reasons: list[str]) -> str:
        if found is None:
            return "–"
        if isinstance(found, Failed):
            reason = f"{name}: {found.reason}"
            if reason not in reasons:
                reasons.append(reason)
            return f"failed [{reasons.index(reason) + 1}]"
        return _shown(found.value) + (f" ({_count(found.objects)})" if found.objects < self.objects else "")

    def write(self, path: Path) -> None:
        figures = [
            {
                "name": figure.name,
                "unit": figure.unit,
                "goals": {str(goal): goal.met(found) for goal in figure.goals},
                "bound": figure.bound,
                "found": found,
            }
            for figure, found in self.rows
        ]
        path.parent.mkdir(exist_ok=True)
        body = {"machine": self.machine, "load_average": os.getloadavg(), "objects": self.objects, "figures": figures}
        path.write_bytes(msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n")


def _ratio(found: dict[str, Found | Failed]) -> str:
    ours, other = found.get(_OURS), found.get(_GO)
    both = isinstance(ours, Found) and isinstance(other, Found) and other.value
    return f"{ours.value / other.value:.2f}" if both else "–"  # type: ignore[union-attr]  # both are Found


def _met(figure: Figure, found: dict[str, Found | Failed]) -> str:
    words = {True: "yes", False: "no", None: "?"}
    return ", ".join(words[goal.met(found)] for goal in figure.goals)


def _row(cells: list[str], widths: list[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _count(objects: int) -> str:
    return f"{objects / 1000:g}k" if objects >= 1000 else str(objects)


def _shown(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}".removesuffix(".0") if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
