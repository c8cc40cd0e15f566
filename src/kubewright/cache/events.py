"""What an informer tells its subscribers."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

from msgspec import Struct

from kubewright.api import Resource
from kubewright.cache.entry import Entry, Key
from kubewright.cache.projection import WHOLE, Projection, held

__all__ = ["Change", "Event", "EventType"]

R = TypeVar("R", bound=Resource)


class EventType(Enum):
    ADDED = "Added"
    MODIFIED = "Modified"
    DELETED = "Deleted"


class Change(Struct, frozen=True, gc=False):
    """One key's step in the store: from ``old`` to ``new``, of which one at most is None."""

    old: Entry | None
    new: Entry | None

    @property
    def type(self) -> EventType:
        if self.new is None:
            return EventType.DELETED
        return EventType.ADDED if self.old is None else EventType.MODIFIED


class Event(Struct, Generic[R], frozen=True, gc=False):
    """One change of the cache, which holds the new state already when the event is seen.

    A deleted and re-created object is two events, never a modification. ``initial`` marks what the first list found,
    and what a late subscriber is shown because it was there before. Deleted means that the object is no longer in view:
    gone from the server, from the selection, or with its namespace or whole kind from what is watched.
    """

    kind: type[R]
    change: Change
    initial: bool = False
    cluster: str | None = None
    projection: Projection = WHOLE

    @property
    def type(self) -> EventType:
        return self.change.type

    @property
    def entry(self) -> Entry:
        """The metadata after the change, or the last known before the deletion."""
        entry = self.change.new or self.change.old
        if entry is None:
            raise ValueError("an event without an object")
        return entry

    @property
    def key(self) -> Key:
        return self.entry.key

    @property
    def old_entry(self) -> Entry | None:
        return self.change.old

    @property
    def new_entry(self) -> Entry | None:
        return self.change.new

    @property
    def old(self) -> bytes | None:
        return self.change.old.raw if self.change.old else None

    @property
    def new(self) -> bytes | None:
        return self.change.new.raw if self.change.new else None

    @property
    def obj(self) -> R:
        """The object after the change, or as last known before the deletion; decoded anew on each access.

        Raises `DecodeError` where it does not fit its class, and `NotHeld` where only metadata is cached.
        """
        return held(self.entry, self.kind, self.projection)

    @property
    def old_obj(self) -> R | None:
        """The object before the change, decoded anew on each access."""
        return held(self.change.old, self.kind, self.projection) if self.change.old else None
