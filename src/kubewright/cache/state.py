"""How an informer is doing, for readiness, metrics and people."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from msgspec import Struct

from kubewright.cache.projection import Projection

__all__ = ["InformerHealth", "InformerState", "Phase"]


class Phase(Enum):
    STARTING = "starting"
    """Nothing was read yet."""
    SYNCED = "synced"
    """Everything was read and a watch keeps it current."""
    MISSING = "missing"
    """The server does not know the resource: its CustomResourceDefinition is not there."""
    BROKEN = "broken"
    """The server refuses, is silent or can't be reached; what is cached may be old."""
    STOPPED = "stopped"
    """Nobody needs it any more."""


class InformerState(Struct, frozen=True):
    phase: Phase
    reason: str = ""
    """Why, in words, when missing or broken."""


class InformerHealth(Struct, frozen=True, kw_only=True):
    """What one informer can say of itself at one moment."""

    resource: str
    """``deployments.apps``."""
    cluster: str | None
    namespaces: tuple[str, ...] | None
    """None for all of them."""
    projection: Projection
    phase: Phase
    reason: str
    in_step: bool
    """Whether it may be relied on: it is live, or optional and not installed."""
    optional: bool
    since: datetime | None = None
    """When this phase, for this reason, began; None before it ran."""
    objects: int = 0
    bytes: int = 0
    """JSON held, without what Python adds to it."""
    resource_version: int = 0
    """How far its watch has come; of several namespaces, the one that is furthest."""
    last_event_age: float | None = None
    """Seconds since the server last said anything, bookmarks included; of several namespaces, the longest."""
    relists: int = 0
    """How often everything was read anew after the first time."""
    reconnects: int = 0
    """How often a watch was opened anew after the first time."""
    unreadable: int = 0
    """Objects of the latest list that are left out because their metadata can't be read."""
