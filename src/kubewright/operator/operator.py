"""`Operator`: the one declaration that runtime, CRDs, RBAC and manifests come from."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import msgspec

from kubewright.api import Resource, Scheme, resource_info
from kubewright.api.names import check_dns_label
from kubewright.controller import Context, ControllerSpec, FinalizerSpec, Predicate, Result, Watch

__all__ = ["Operator"]

R = TypeVar("R", bound=Resource)


class Operator:
    """Collects controllers and finalizers. Registration lives on this instance; importing a module does nothing else.

    ``name`` is a DNS label; field managers, service accounts and leases are named after it.
    """

    def __init__(self, name: str) -> None:
        check_dns_label(name, what="the operator's name")
        self.name = name
        self._controllers: list[ControllerSpec[Any]] = []
        self._finalizers: dict[type[Resource], list[FinalizerSpec[Any]]] = {}

    def controller(
        self,
        kind: type[R],
        *,
        owns: Iterable[type[Resource]] = (),
        watches: Iterable[Watch[Any]] = (),
        reads: Iterable[type[Resource]] = (),
        when: Predicate | None = None,
        workers: int = 4,
        timeout: float = 300.0,
        prune: Iterable[type[Resource]] = (),
        name: str | None = None,
    ) -> Callable[[Callable[[R, Context], Awaitable[Result | None]]], Callable[[R, Context], Awaitable[Result | None]]]:
        """Registers an async function as the reconciler of ``kind``.

        ``owns``: kinds that the reconciler applies; a change of one wakes its owner. ``watches``: other kinds that wake
        it. ``reads``: kinds it only reads, from the cache. ``when``: which changes of the object itself matter (default:
        for custom resources with a status, all but changes of the status). ``workers``: objects reconciled at a time.
        ``timeout``: seconds one run may take. ``prune``: kinds that hold data (volume claims, Secrets, …) and may be deleted nevertheless,
        by pruning or by `Context.delete`.
        ``name``: a DNS label, default the kind in lower case; the field manager is ``<operator>/<name>``.
        """
        info = resource_info(kind)
        label = name or info.kind.lower()
        check_dns_label(label, what="the controller's name")
        if any(spec.name == label for spec in self._controllers):
            raise ValueError(f'operator {self.name} has a controller named {label!r} already: give this one a name="…"')
        if workers < 1:
            raise ValueError(f"workers={workers}: a controller needs at least one")

        def register(
            reconcile: Callable[[R, Context], Awaitable[Result | None]],
        ) -> Callable[[R, Context], Awaitable[Result | None]]:
            _check_async(reconcile, "the reconciler")
            self._controllers.append(
                ControllerSpec(
                    kind=kind,
                    reconcile=reconcile,
                    name=label,
                    owns=tuple(owns),
                    watches=tuple(watches),
                    reads=tuple(reads),
                    when=when,
                    workers=workers,
                    timeout=timeout,
                    prune=tuple(prune),
                )
            )
            return reconcile

        return register

    def finalizer(
        self, kind: type[R], *, name: str
    ) -> Callable[[Callable[[R, Context], Awaitable[None]]], Callable[[R, Context], Awaitable[None]]]:
        """Registers an async function that runs before an object of ``kind`` goes. ``name``: ``domain/what``."""
        if not _is_finalizer(name):
            raise ValueError(f"finalizer {name!r}: use a qualified name such as apps.example.com/backup")

        def register(
            cleanup: Callable[[R, Context], Awaitable[None]],
        ) -> Callable[[R, Context], Awaitable[None]]:
            _check_async(cleanup, "the clean-up")
            present = self._finalizers.setdefault(kind, [])
            if any(spec.name == name for spec in present):
                raise ValueError(f"finalizer {name!r} of {kind.__name__} is registered twice")
            present.append(FinalizerSpec(name, cleanup))
            return cleanup

        return register

    @property
    def controllers(self) -> list[ControllerSpec[Any]]:
        """Every controller with the finalizers of its kind.

        Raises ValueError for a finalizer whose kind has no controller: nobody would run it.
        """
        orphans = set(self._finalizers) - {spec.kind for spec in self._controllers}
        for kind in orphans:
            raise ValueError(f"{kind.__name__} has a finalizer but no controller in operator {self.name}")
        first: set[type[Resource]] = set()
        specs = []
        for spec in self._controllers:
            finalizers = () if spec.kind in first else tuple(self._finalizers.get(spec.kind, ()))
            first.add(spec.kind)
            specs.append(msgspec.structs.replace(spec, finalizers=finalizers))
        return specs

    @property
    def scheme(self) -> Scheme:
        """Every kind the operator declares."""
        return Scheme(kind for spec in self._controllers for kind in spec.kinds)

    @property
    def custom_kinds(self) -> list[type[Resource]]:
        """The kinds the operator brings a CRD for: those it reconciles that are no built-in ones."""
        return [kind for kind in dict.fromkeys(spec.kind for spec in self._controllers) if resource_info(kind).custom]


def _check_async(function: Callable[..., object], what: str) -> None:
    if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)):
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"{what} {name} is no coroutine function: define it with `async def`")


def _is_finalizer(name: str) -> bool:
    domain, slash, rest = name.partition("/")
    return bool(slash and rest) and "." in domain
