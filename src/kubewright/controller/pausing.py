"""Pausing: an annotation by which a person keeps a controller away from one object for a while."""

from __future__ import annotations

from typing import Any

from kubewright.api import DecodeError
from kubewright.cache import Entry, Event

__all__ = ["PAUSED", "is_paused", "pause_turned"]

PAUSED = "kubewright.dev/paused"
"""``"true"`` on an object leaves it alone, clean-ups included, until it is removed or has another value."""

_NAME = PAUSED.encode()


def is_paused(entry: Entry | None) -> bool:
    if entry is None or _NAME not in entry.text:
        return False
    try:
        return entry.annotations.get(PAUSED) == "true"
    except DecodeError:  # the run says what is wrong with the object
        return False


def pause_turned(event: Event[Any]) -> bool:
    """Whether an object was paused or is to be worked on again; that must be seen whatever else is filtered out."""
    old, new = event.old_entry, event.new_entry
    return old is not None and new is not None and is_paused(old) != is_paused(new)
