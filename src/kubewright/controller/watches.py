"""Watches: which other objects wake a reconcile, and of whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from kubewright.api import Resource, ResourceInfo, controller_of
from kubewright.controller.predicates import Predicate, any_change
from kubewright.controller.request import Request

__all__ = ["Mapper", "Watch", "owned_by", "owner_label"]

R = TypeVar("R", bound=Resource)

Mapper = Callable[[Any], Iterable[Request]]
"""From a watched object to the requests it wakes; called for an object as it was and as it is."""


class Watch(Struct, Generic[R], frozen=True):
    """Objects of ``kind`` wake the requests that ``to`` names. Watching implies that the kind may be read.

    An ``optional`` kind may not be installed: the controller works without it, and hears of its objects once it is.
    """

    kind: type[R]
    to: Mapper
    predicate: Predicate = any_change
    optional: bool = False


def owner_label(key: str) -> Mapper:
    """The label ``key`` holds the primary object's name; both are in one namespace."""

    def to(obj: Resource) -> Iterable[Request]:
        name = (obj.metadata.labels or {}).get(key)
        return [Request(None, obj.namespace, name)] if name else []

    return to


def owned_by(info: ResourceInfo) -> Mapper:
    """The controller owner, where it is of the kind that ``info`` describes, whatever its version."""

    def to(obj: Resource) -> Iterable[Request]:
        owner = controller_of(obj.metadata)
        if owner is None or owner.kind != info.kind or owner.api_version.rpartition("/")[0] != info.group:
            return []
        return [Request(None, obj.namespace if info.namespaced else None, owner.name)]

    return to
