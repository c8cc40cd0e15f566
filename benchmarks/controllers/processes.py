"""Other processes, from outside: what they cost, and what they print."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["Failed", "descriptors", "output", "processor_seconds", "resident_megabytes"]

_TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A measurement that did not come to its end; says why."""


def processor_seconds(pid: int) -> float:
    """What a process has used so far, in steps of 10 ms."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / _TICKS


def resident_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024 / 1e6


def descriptors(pid: int) -> int:
    """Files and sockets that are open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def output(command: Sequence[str], *, limit: float, environment: Mapping[str, str] | None = None) -> dict[str, float]:
    """The JSON of the last line that ``command`` prints. Raises `Failed`, also after ``limit`` seconds."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {limit:.0f} s") from None
    if done.returncode or not done.stdout.strip():
        said = done.stderr.strip().splitlines()
        raise Failed(said[-1][:200] if said else f"exit code {done.returncode}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
