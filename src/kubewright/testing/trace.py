"""`Trace`: every request, answer, event and fault of a test with its virtual time, the same bytes for the same seed."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct

from kubewright.testing.calls import Call

__all__ = ["Sent", "Trace", "difference_of_traces"]


class Sent(Struct, kw_only=True):
    """One request of the operator. ``answer`` is None while there is none, and where none came."""

    number: int
    at: float
    """Seconds on the loop's clock when it left."""
    process: int
    """Which start of the operator sent it, from 1."""
    call: Call
    body: bytes
    status: int | None = None
    answer: bytes | None = None

    def __str__(self) -> str:
        return f"#{self.number} at {self.at:.3f} s: {self.call} -> {self.status or 'no answer'}"


class Trace:
    """Lines ``<time> <who> <what>``; bodies are there whole, so that nothing can differ unseen."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sent: list[Sent] = []
        """The operator's requests, as data."""

    def add(self, who: str, what: str, body: bytes = b"") -> None:
        text = body.decode(errors="backslashreplace").rstrip("\n")
        self.lines.append(f"{asyncio.get_running_loop().time():.6f} {who} {what}{' ' if text else ''}{text}")

    def text(self) -> str:
        return "\n".join(self.lines)

    def digest(self) -> str:
        """Equal for equal traces."""
        return sha256(self.text().encode()).hexdigest()


def difference_of_traces(first: Sequence[str], second: Sequence[str]) -> str:
    """Where two runs part, with what came right before; empty where they are alike."""
    if first == second:
        return ""
    shown = difflib.unified_diff(first, second, "first run", "second run", lineterm="", n=3)
    return "\n".join(line[:300] for _, line in zip(range(40), shown, strict=False))
