"""`ControllerSpec`: what a controller is, before it runs. Decorators fill it in; RBAC and manifests are derived from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from kubewright.api import Resource, resource_info
from kubewright.cache import METADATA, WHOLE, Projection
from kubewright.controller.backoff import Backoff
from kubewright.controller.error_status import ErrorStatus
from kubewright.controller.outcome import Result
from kubewright.controller.predicates import Predicate
from kubewright.controller.sources import Source
from kubewright.controller.watches import Watch, is_metadata_only

if TYPE_CHECKING:
    from kubewright.controller.context import Context

__all__ = ["ControllerSpec", "FinalizerSpec", "Permission", "Reconciler"]

R = TypeVar("R", bound=Resource)

Reconciler: TypeAlias = "Callable[[R, Context], Awaitable[Result | None]]"


class FinalizerSpec(Struct, Generic[R], frozen=True):
    """A clean-up step that runs before an object goes, and the finalizer that makes the server wait for it."""

    name: str
    cleanup: Callable[[R, Any], Any]
    """Async, and called with a `Context`; with ``threads`` a plain function that is called with a `BlockingContext`."""
    threads: bool = False


class Permission(Struct, frozen=True):
    """Verbs on a kind, or on a subresource of it, that nothing else in the declaration stands for."""

    kind: type[Resource]
    subresource: str
    """Empty: the kind's objects themselves."""
    verbs: tuple[str, ...]


class ControllerSpec(Struct, Generic[R], frozen=True, kw_only=True):
    """One level-triggered loop: from an object of ``kind``, make the world match."""

    kind: type[R]
    reconcile: Callable[[Any, Any], Any]
    """Called with an object of ``kind``, with ``keys`` with a `Request`, and a `Context`, with ``threads`` a
    `BlockingContext`."""
    name: str
    owns: tuple[type[Resource], ...] = ()
    watches: tuple[Watch[Any], ...] = ()
    sources: tuple[Source, ...] = ()
    reads: tuple[type[Resource], ...] = ()
    whole: tuple[type[Resource], ...] = ()
    """Kinds among these that are cached whole although most others' are not; see `Whole`."""
    finalizers: tuple[FinalizerSpec[R], ...] = ()
    when: Predicate | None = None
    workers: int = 4
    """How many objects are reconciled at a time."""
    timeout: float = 300.0
    """Seconds that one run may take."""
    backoff: Backoff = Backoff()
    prune: tuple[type[Resource], ...] = ()
    permissions: tuple[Permission, ...] = ()
    threads: bool = False
    """Whether ``reconcile`` is a plain function, to be run in a thread."""
    keys: bool = False
    """Whether ``reconcile`` gets requests rather than objects, also of objects that are gone."""
    error_status: ErrorStatus | None = None
    """How a failed run shows in the object's status; None for the default, see `error_status`."""
    while_deleting: bool = False
    """Whether ``reconcile`` also runs, after the clean-ups, for objects that are being deleted."""
    failure_events: bool = True
    """Whether a failed run leaves an Event; not for who tells of failures by events of their own."""

    @property
    def kinds(self) -> list[type[Resource]]:
        """Every kind of which the controller keeps something in its cache, the primary one first, each once."""
        return _each_once([*self._declared, *(watch.kind for watch in self.watches)])

    @property
    def optional(self) -> list[type[Resource]]:
        """The kinds that are only watched, and may not be installed."""
        needed = {resource_info(kind).gvk for kind in self._declared}
        needed |= {resource_info(watch.kind).gvk for watch in self.watches if not watch.optional}
        return [watch.kind for watch in self.watches if resource_info(watch.kind).gvk not in needed]

    def projection(self, kind: type[Resource]) -> Projection:
        """How much is cached of the objects of one of `kinds`: all that any part of the declaration relies on."""
        gvk = resource_info(kind).gvk
        always = [self.kind, *self.whole]
        if not is_metadata_only(kind):
            always += self._declared
        relied_on = [*always, *(watch.kind for watch in self.watches if not watch.shows_metadata)]
        return WHOLE if any(resource_info(each).gvk == gvk for each in relied_on) else METADATA

    @property
    def _declared(self) -> list[type[Resource]]:
        return [self.kind, *self.owns, *self.reads, *self.prune]


def _each_once(kinds: list[type[Resource]]) -> list[type[Resource]]:
    return list({resource_info(kind).gvk: kind for kind in kinds}.values())
