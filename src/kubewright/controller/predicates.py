"""Predicates: which changes of an object are worth a reconcile. A predicate is a function of an informer's event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kubewright.api import JSON, Model, ResourceInfo, decode
from kubewright.cache import Event

__all__ = ["Predicate", "any_change", "default_predicate", "edited"]

Predicate: TypeAlias = Callable[[Event[Any]], bool]


class _Edits(Model):
    """What a person or another controller changes, as opposed to the status that our own runs write."""

    generation: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    deletion_timestamp: JSON = None


class _Envelope(Model):
    metadata: _Edits


def any_change(_event: Event[Any]) -> bool:
    return True


def edited(event: Event[Any]) -> bool:
    """Generation, labels, annotations, finalizers or the deletion timestamp changed; so did an added or deleted object."""
    if event.old is None or event.new is None:
        return True
    return decode(event.old, _Envelope).metadata != decode(event.new, _Envelope).metadata


def default_predicate(info: ResourceInfo) -> Predicate:
    """`edited` for a custom resource with a status subresource, whose generation tells spec from status; else all."""
    return edited if info.custom and info.has_status else any_change
