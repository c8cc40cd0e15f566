"""Causes: which events woke a run. For logs, and to notice runs that wake themselves; never to decide by."""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec import Struct

from kubewright.api import Clock
from kubewright.cache import Event, EventType
from kubewright.controller.request import Request

__all__ = ["Cause", "Causes", "OwnWrites"]

_KEPT = 8
"""Events kept for one request: more say no more."""
_REMEMBERED = 10_000
"""Own writes at most: of more than these within the time, storms among the older ones go unnoticed."""


class Cause(Struct, frozen=True, gc=False):
    """One event: what happened to which object, and the version that it brought."""

    type: EventType
    kind: str
    namespace: str
    name: str
    resource_version: int

    def __str__(self) -> str:
        return (
            f"{self.type.value} {self.kind} {self.namespace}/{self.name}"
            if self.namespace
            else f"{self.type.value} {self.kind} {self.name}"
        )


class Causes:
    """The events that each request waits for because of. Requests that a run or a timer asked for have none."""

    def __init__(self) -> None:
        self._of: dict[Request, list[Cause]] = {}

    def note(self, request: Request, event: Event[Any]) -> None:
        causes = self._of.get(request)
        if causes is None:
            causes = self._of[request] = []
        if len(causes) < _KEPT:
            entry, kind = event.entry, event.kind.__name__
            causes.append(Cause(event.change.type, kind, entry.namespace, entry.name, entry.resource_version))

    def take(self, request: Request) -> tuple[Cause, ...]:
        """Those since the last time."""
        causes = self._of.pop(request, None)
        return () if causes is None else tuple(causes)

    def waiting(self, request: Request) -> tuple[Cause, ...]:
        """The same, which stay."""
        return tuple(self._of.get(request, ()))


class OwnWrites:
    """The versions that a controller's writes brought, so that their events can be told from others'.

    Each is known for ``seconds``, the time in which runs that wake themselves are noticed: an older one tells nothing.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._made_at: dict[int, float] = {}
        self._made: deque[tuple[int, float]] = deque()
        """The same in order; one that was made again is there twice."""

    def __len__(self) -> int:
        return len(self._made_at)

    def add(self, resource_version: int) -> None:
        now = self._clock.monotonic()
        self._made_at[resource_version] = now
        made = self._made
        made.append((resource_version, now))
        while len(made) > _REMEMBERED or now - made[0][1] > self._seconds:
            oldest, when = made.popleft()
            if self._made_at.get(oldest) == when:
                del self._made_at[oldest]

    def __contains__(self, resource_version: int) -> bool:
        return resource_version in self._made_at

    def caused(self, causes: tuple[Cause, ...]) -> bool:
        """Whether there are causes, and all of them are own writes."""
        made_at = self._made_at
        for cause in causes:
            if cause.resource_version not in made_at:
                return False
        return bool(causes)
