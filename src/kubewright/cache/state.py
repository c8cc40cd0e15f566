"""How an informer is doing, for readiness and for people."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

__all__ = ["InformerState", "Phase"]


class Phase(Enum):
    STARTING = "starting"
    """Nothing was read yet."""
    SYNCED = "synced"
    """Everything was read and a watch keeps it current."""
    MISSING = "missing"
    """The server does not know the resource: its CustomResourceDefinition is not there."""
    BROKEN = "broken"
    """The server refuses or can't be reached; what is cached may be old."""


class InformerState(Struct, frozen=True):
    phase: Phase
    reason: str = ""
    """Why, in words, when missing or broken."""
