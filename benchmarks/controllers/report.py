"""Figures beside their targets: as a table that Markdown shows too, and as JSON."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

__all__ = ["Figure", "Report", "Target"]


@dataclass(frozen=True)
class Target:
    """``≥`` or ``≤`` a number, or so many times what the peer of the figure reaches."""

    sign: Literal["≥", "≤"]
    number: float
    times: bool = False

    def __str__(self) -> str:
        return f"{self.sign} {_shown(self.number)}{'×' if self.times else ''}"

    def met(self, ours: float | None, peers: float | None) -> bool | None:
        """None where it can't be told."""
        if ours is None or (self.times and peers is None):
            return None
        wanted = self.number * (peers or 0.0) if self.times else self.number
        return ours >= wanted if self.sign == "≥" else ours <= wanted


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What was measured, of ours and of one peer; without a target it is only of interest."""

    name: str
    unit: str
    ours: float | None
    peer: str = ""
    peers: float | None = None
    target: Target | None = None
    bound: str = ""
    """What keeps it from being better."""

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.target.met(self.ours, self.peers)


@dataclass
class Report:
    machine: str
    figures: list[Figure] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def table(self) -> str:
        lines = [["figure", "unit", "ours", "peer", "ratio", "target", "met", "bound by"]]
        for each in self.figures:
            peer = f"{each.peer}: {_shown(each.peers)}" if each.peer else ""
            ratio = f"{each.ours / each.peers:.2f}" if each.ours is not None and each.peers else ""
            target, met = ("", "") if each.target is None else (str(each.target), _WORDS[each.met])
            lines.append([each.name, each.unit, _shown(each.ours), peer, ratio, target, met, each.bound])
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        rule = "|".join("-" * (width + 2) for width in widths)
        text = [_row(lines[0], widths), f"|{rule}|", *(_row(line, widths) for line in lines[1:])]
        load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
        return "\n".join([*text, "", *self.failures, f"{self.machine}; load average {load}"])

    def write(self, path: Path) -> None:
        figures = [
            {
                "name": each.name,
                "unit": each.unit,
                "ours": each.ours,
                "peer": each.peer,
                "peers": each.peers,
                "target": str(each.target) if each.target else "",
                "met": each.met,
                "bound": each.bound,
            }
            for each in self.figures
        ]
        path.parent.mkdir(exist_ok=True)
        body = {
            "machine": self.machine,
            "load_average": os.getloadavg(),
            "figures": figures,
            "failures": self.failures,
        }
        path.write_bytes(msgspec.json.format(msgspec.json.encode(body), indent=2) + b"\n")


_WORDS = {True: "yes", False: "no", None: "?"}


def _row(cells: list[str], widths: list[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}".removesuffix(".0") if abs(value) >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
