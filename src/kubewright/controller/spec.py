"""`ControllerSpec`: what a controller is, before it runs. Decorators fill it in; RBAC and manifests are derived from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from kubewright.api import Resource, resource_info
from kubewright.controller.outcome import Result
from kubewright.controller.predicates import Predicate
from kubewright.controller.watches import Watch

if TYPE_CHECKING:
    from kubewright.controller.context import Context

__all__ = ["ControllerSpec", "FinalizerSpec", "Reconciler"]

R = TypeVar("R", bound=Resource)

Reconciler: TypeAlias = "Callable[[R, Context], Awaitable[Result | None]]"


class FinalizerSpec(Struct, Generic[R], frozen=True):
    """A clean-up step that runs before an object goes, and the finalizer that makes the server wait for it."""

    name: str
    cleanup: Callable[[R, Context], Awaitable[None]]


class ControllerSpec(Struct, Generic[R], frozen=True, kw_only=True):
    """One level-triggered loop: from an object of ``kind``, make the world match."""

    kind: type[R]
    reconcile: Callable[[R, Context], Awaitable[Result | None]]
    name: str
    owns: tuple[type[Resource], ...] = ()
    watches: tuple[Watch[Any], ...] = ()
    reads: tuple[type[Resource], ...] = ()
    finalizers: tuple[FinalizerSpec[R], ...] = ()
    when: Predicate | None = None
    workers: int = 4
    timeout: float = 300.0
    prune: tuple[type[Resource], ...] = ()
    while_deleting: bool = False
    """Whether ``reconcile`` also runs, after the clean-ups, for objects that are being deleted."""

    @property
    def kinds(self) -> list[type[Resource]]:
        """Every kind whose objects the controller keeps in its cache, the primary one first, each once."""
        kinds: list[type[Resource]] = [self.kind, *self.owns, *(watch.kind for watch in self.watches)]
        kinds += [*self.reads, *self.prune]
        return list({resource_info(kind).gvk: kind for kind in kinds}.values())

    @property
    def optional(self) -> list[type[Resource]]:
        """The kinds that are only watched, and may not be installed."""
        needed = {resource_info(kind).gvk for kind in (self.kind, *self.owns, *self.reads, *self.prune)}
        needed |= {resource_info(watch.kind).gvk for watch in self.watches if not watch.optional}
        return [watch.kind for watch in self.watches if resource_info(watch.kind).gvk not in needed]
