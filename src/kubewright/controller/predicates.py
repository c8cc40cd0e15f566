"""Predicates: which changes of an object are worth a reconcile. A predicate is a function of an informer's event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kubewright.api import ResourceInfo
from kubewright.cache import Entry, Event

__all__ = ["Predicate", "any_change", "default_predicate", "edited"]

Predicate: TypeAlias = Callable[[Event[Any]], bool]


def any_change(_event: Event[Any]) -> bool:
    return True


def edited(event: Event[Any]) -> bool:
    """Generation, labels, annotations, finalizers or the deletion timestamp changed; so did an added or deleted object."""
    old, new = event.old_entry, event.new_entry
    return old is None or new is None or _edits(old) != _edits(new)


def _edits(entry: Entry) -> tuple[object, ...]:
    """What a person or another controller changes, as opposed to the status that our own runs write."""
    return entry.generation, dict(entry.labels), dict(entry.annotations), entry.finalizers, entry.deleting


def default_predicate(info: ResourceInfo) -> Predicate:
    """`edited` for a custom resource with a status subresource, whose generation tells spec from status; else all."""
    return edited if info.custom and info.has_status else any_change
