"""Runs measurements, each in a process of its own, and keeps what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.cache.resources import Resource
from benchmarks.cache.stub import Stub

__all__ = ["Cell", "Failed", "Found", "Results", "run_all"]

_GO = {
    "obj_s": "objects_s",
    "cpu_us_per_obj": "cpu_us",
    "rss_per_obj": "bytes",
    "peak_rss_MB": "peak_mb",
    "events_s": "events_s",
    "cpu_us_per_event": "event_cpu_us",
    "p50_ms": "p50_ms",
    "p99_ms": "p99_ms",
}
"""What the Go peer calls what is found here."""


@dataclass(frozen=True)
class Cell:
    """One measurement of one contestant. ``rounds`` is how often it is taken, if time allows."""

    contestant: str
    measurement: str
    resource: Resource
    objects: int
    form: str = "list"
    events: int = 0
    rounds: int = 1


@dataclass(frozen=True)
class Found:
    """The median of what was measured, with so many objects."""

    value: float
    objects: int


@dataclass(frozen=True)
class Failed:
    reason: str


@dataclass
class Results:
    """What was found, by cell."""

    found: dict[Cell, list[dict[str, float]]] = field(default_factory=dict)
    failed: dict[Cell, Failed] = field(default_factory=dict)

    def of(self, measurement: str, resource: Resource, key: str, form: str | None = None) -> dict[str, Found | Failed]:
        """One figure of all contestants that were measured; without a form, each in its first."""
        answer: dict[str, Found | Failed] = {}
        for cell in (*self.found, *self.failed):
            if (cell.measurement, cell.resource) != (measurement, resource) or cell.contestant in answer:
                continue
            if form is not None and cell.form != form:
                continue
            values = [each[key] for each in self.found.get(cell, ()) if key in each]
            if values:
                answer[cell.contestant] = Found(median(values), cell.objects)
            elif cell in self.failed:
                answer[cell.contestant] = self.failed[cell]
        return answer


def run_all(cells: list[Cell], program: Path, stub: Stub, *, seconds: float, limit: float) -> Results:
    """Everything once, then again by rounds as long as less than ``seconds`` have passed, contestants in turns.

    A process that takes longer than ``limit`` seconds is ended; it, and each that fails, is a `Failed`.
    """
    results = Results()
    begin = time.monotonic()
    for number in range(max(cell.rounds for cell in cells)):
        for cell in cells:
            if number >= cell.rounds or cell in results.failed:
                continue
            if number and time.monotonic() - begin > seconds:
                break
            _show(f"{cell.measurement} {cell.resource.plural}: {cell.contestant} …")
            found = _measured(cell, program, stub, limit)
            if isinstance(found, Failed):
                results.failed[cell] = found
            else:
                results.found.setdefault(cell, []).append(found)
    _show("")
    return results


def _show(text: str) -> None:
    """What goes on, for who waits for it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _measured(cell: Cell, program: Path, stub: Stub, limit: float) -> dict[str, float] | Failed:
    stub.reset(cell.resource, cell.objects)
    if cell.contestant != "client-go":
        return _output(_python(cell, stub), limit)
    found: dict[str, float] = {}
    told = _output(_go(cell, "sync", program, stub), limit)
    if isinstance(told, Failed):
        return told
    found |= told
    if cell.events:
        stub.reset(cell.resource, cell.events)  # so that it need not wait for all the others first
        told = _output([*_go(cell, "watch", program, stub), "--events", str(cell.events)], limit)
        if isinstance(told, Failed):
            return told
        found |= told
    return {ours: found[theirs] for theirs, ours in _GO.items() if theirs in found}


def _output(command: list[str], limit: float) -> dict[str, float] | Failed:
    environment = {**os.environ, "GOMAXPROCS": "1"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Failed(f"not done after {limit:.0f} s")
    if done.returncode or not done.stdout.strip():
        said = done.stderr.strip().splitlines()
        return Failed(said[-1][:200] if said else f"exit code {done.returncode}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _python(cell: Cell, stub: Stub) -> list[str]:
    return [
        *(sys.executable, "-m", "benchmarks.cache.contestant", cell.contestant, cell.measurement),
        *("--server", stub.url, "--resource", cell.resource.plural, "--form", cell.form),
        *("--objects", str(cell.objects), "--events", str(cell.events)),
    ]


def _go(cell: Cell, command: str, program: Path, stub: Stub) -> list[str]:
    return [
        *(str(program), command, "--server", stub.url, "--resource", cell.resource.plural),
        *("--n", str(cell.objects), f"--watchlist={str(cell.form == 'stream').lower()}"),
    ]
