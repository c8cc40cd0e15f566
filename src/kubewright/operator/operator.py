"""`Operator`: the one declaration that runtime, CRDs, RBAC and manifests come from."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, Unpack, overload

import msgspec

from kubewright.api import Resource, Scheme, resource_info
from kubewright.api.arguments import known_arguments
from kubewright.api.label_rules import qualified_name_problems
from kubewright.api.names import check_dns_label
from kubewright.client import Client
from kubewright.controller import (
    Backoff,
    BlockingContext,
    Context,
    ControllerSpec,
    ErrorStatus,
    FinalizerSpec,
    Predicate,
    Request,
    Result,
    Source,
    Watch,
    Whole,
)
from kubewright.controller.predicates import check_predicate
from kubewright.operator.namespaces import checked_namespaces
from kubewright.operator.options import (
    ControllerOptions,
    Permissions,
    Register,
    check_error_status,
    check_form,
    kinds_of,
    permissions_of,
    split_watches,
    split_whole,
    the_function,
)
from kubewright.operator.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault  # the type checkers bring it; nothing needs it to run

    S_co = TypeVarWithDefault("S_co", covariant=True, default=object)
else:
    S_co = TypeVar("S_co", covariant=True)

__all__ = ["Lifespan", "Operator"]

R = TypeVar("R", bound=Resource)
T = TypeVar("T")

Lifespan: TypeAlias = Callable[[Client], AbstractAsyncContextManager[T]]
"""Opens what all runs of an operator share, and closes it."""
_Later: TypeAlias = Awaitable[Result | None]


class Operator(Generic[S_co]):
    """Collects controllers and finalizers. Registration lives on this instance; importing a module does nothing else.

    ``Operator("databases", lifespan=clouds)`` is an ``Operator[Cloud]`` where ``clouds`` gives a ``Cloud``: its
    reconcilers may say ``ctx: Context[Cloud]`` and find it as ``ctx.state``.
    """

    @known_arguments
    def __init__(
        self,
        name: str,
        *,
        lifespan: Callable[[Client], AbstractAsyncContextManager[S_co]] | None = None,
        namespaces: Iterable[str] | None = None,
        settings: Settings = Settings(),  # noqa: B008 - it can't be changed
    ) -> None:
        """``name`` is a DNS label; field managers, service accounts and leases are named after it.

        ``lifespan``: an ``@asynccontextmanager`` function of the operator's client, entered once by each manager before
        its controllers start and left after they ended; what it yields is every run's `Context.state`. ``namespaces``:
        where the operator works (default: everywhere); what it may see is as much, by Roles in place of a ClusterRole.
        ``settings``: what applies unless the environment or a flag says otherwise.
        """
        check_dns_label(name, what="the operator's name")
        if lifespan is not None and (inspect.isasyncgenfunction(lifespan) or not callable(lifespan)):
            raise TypeError(f"lifespan: {lifespan!r} gives no context manager: decorate it with @asynccontextmanager")
        if not isinstance(settings, Settings):
            raise TypeError(f"settings={settings!r}: give Settings, such as Settings(stop_within=40)")
        self.name = name
        self.lifespan = lifespan
        self.settings = settings
        self.namespaces = checked_namespaces(namespaces, what="namespaces")
        self._controllers: list[ControllerSpec[Any]] = []
        self._finalizers: dict[type[Resource], list[FinalizerSpec[Any]]] = {}

    @overload
    def controller(
        self,
        kind: type[R],
        *,
        threads: Literal[False] = False,
        keys: Literal[False] = False,
        **options: Unpack[ControllerOptions],
    ) -> Register[R, Context[S_co], _Later]: ...

    @overload
    def controller(
        self,
        kind: type[R],
        *,
        threads: Literal[True],
        keys: Literal[False] = False,
        **options: Unpack[ControllerOptions],
    ) -> Register[R, BlockingContext[S_co], Result | None]: ...

    @overload
    def controller(
        self,
        kind: type[R],
        *,
        keys: Literal[True],
        threads: Literal[False] = False,
        **options: Unpack[ControllerOptions],
    ) -> Register[Request, Context[S_co], _Later]: ...

    @overload
    def controller(
        self, kind: type[R], *, keys: Literal[True], threads: Literal[True], **options: Unpack[ControllerOptions]
    ) -> Register[Request, BlockingContext[S_co], Result | None]: ...

    @known_arguments
    def controller(
        self,
        kind: type[R],
        *,
        owns: Iterable[type[Resource] | Whole[Any]] = (),
        watches: Iterable[Watch[Any] | Source] = (),
        reads: Iterable[type[Resource] | Whole[Any]] = (),
        when: Predicate | None = None,
        workers: int = 4,
        timeout: float = 300.0,
        backoff: Backoff = Backoff(),  # noqa: B008 - it can't be changed
        prune: Iterable[type[Resource]] = (),
        permissions: Permissions = MappingProxyType({}),
        threads: bool = False,
        keys: bool = False,
        name: str | None = None,
        error_status: ErrorStatus | None = None,
        while_deleting: bool = False,
    ) -> Any:
        """Registers the reconciler of ``kind``: an async function, or an object with an async method ``reconcile``.

        ``owns``: kinds that the reconciler applies; a change of one wakes its owner. ``watches``: other kinds that wake
        it (`Watch`), and sources outside of the cluster (`every`, `cron`, `Channel`). ``reads``: kinds it only reads,
        from the cache (of Secrets and ConfigMaps the metadata, unless they are `Whole`). ``when``: which changes of the
        object itself matter (default: for custom resources with a status, all but changes of the status). ``workers``:
        objects reconciled at a time. ``timeout``: seconds one run may take. ``backoff``: how long an object waits after
        a failure. ``prune``: kinds that hold data (volume claims, Secrets, …) and may be deleted nevertheless, by
        pruning or by `Context.delete`. ``permissions``: what the role needs for requests of your own, such as those by
        `Context.client`: ``{ConfigMap: ["create"], (Pod, "eviction"): ["create"]}``. ``threads``: the reconciler is a
        plain function that may block; it gets a `BlockingContext`. ``keys``: it gets the `Request` in place of the
        object, also of objects that are gone; no status is written for it. ``name``: a DNS label, default the kind in
        lower case; the field manager is ``<operator>/<name>``. ``error_status``: edits the object's status when a run
        failed, called with the object, the error and the object's conditions; default: condition ``Reconciling`` while
        it is tried again, ``Stalled`` after a `TerminalError`, where the class has conditions; `says_nothing` for
        neither. ``while_deleting``: it also runs, after the clean-ups, for objects that are being deleted.

        An object annotated ``kubewright.dev/paused: "true"`` is left alone.
        """
        kinds_of([kind], argument="the first argument", defines=True)
        label = resource_info(kind).kind.lower() if name is None else name
        check_dns_label(label, what="the controller's name")
        if any(spec.name == label for spec in self._controllers):
            raise ValueError(f'operator {self.name} has a controller named {label!r} already: give this one a name="…"')
        _check_numbers(workers, timeout)
        if not isinstance(backoff, Backoff):
            raise TypeError(f"backoff={backoff!r}: give a Backoff, such as Backoff(first=1, longest=60)")
        if when is not None:
            check_predicate(when, what="when")
        if error_status is not None:
            check_error_status(error_status)
        if keys and while_deleting:
            raise ValueError("while_deleting=True: with keys=True every request comes, so leave it out")
        if keys and error_status is not None:
            raise ValueError("error_status=…: with keys=True no status is written, so leave it out")
        owned, whole_owned = split_whole(owns, argument="owns")
        read, whole_read = split_whole(reads, argument="reads")
        kinds, sources = split_watches(watches)
        declared: ControllerSpec[Any] = ControllerSpec(
            kind=kind,
            reconcile=_none,
            name=label,
            owns=owned,
            watches=kinds,
            sources=sources,
            reads=read,
            whole=(*whole_owned, *whole_read),
            when=when,
            workers=workers,
            timeout=timeout,
            backoff=backoff,
            prune=kinds_of(prune, argument="prune"),
            permissions=permissions_of(permissions),
            threads=threads,
            keys=keys,
            error_status=error_status,
            while_deleting=while_deleting,
        )

        def register(reconciler: T) -> T:
            function = the_function(reconciler)
            check_form(function, "the reconciler", threads=threads)
            self._controllers.append(msgspec.structs.replace(declared, reconcile=function))
            return reconciler

        return register

    @overload
    def finalizer(
        self, kind: type[R], *, name: str, threads: Literal[False] = False
    ) -> Callable[[Callable[[R, Context[S_co]], Awaitable[None]]], Callable[[R, Context[S_co]], Awaitable[None]]]: ...

    @overload
    def finalizer(
        self, kind: type[R], *, name: str, threads: Literal[True]
    ) -> Callable[[Callable[[R, BlockingContext[S_co]], None]], Callable[[R, BlockingContext[S_co]], None]]: ...

    @known_arguments
    def finalizer(self, kind: type[R], *, name: str, threads: bool = False) -> Any:
        """Registers an async function that runs before an object of ``kind`` goes. ``name``: ``domain/what``.

        When it returns, the finalizer is removed; to be called again later, it raises `Requeue`. What it changes of the
        object's status is written as after a reconcile, unless the object goes at once. With ``threads`` it is a plain
        function that may block, and gets a `BlockingContext`.
        """
        kinds_of([kind], argument="the first argument")
        _check_finalizer(name)

        def register(cleanup: T) -> T:
            if not callable(cleanup):
                raise TypeError(f"finalizer {name!r}: {cleanup!r} is no function")
            check_form(cleanup, "the clean-up", threads=threads)
            present = self._finalizers.setdefault(kind, [])
            if any(spec.name == name for spec in present):
                raise ValueError(f"finalizer {name!r} of {kind.__name__} is registered twice")
            present.append(FinalizerSpec(name, cleanup, threads))
            return cleanup

        return register

    @property
    def controllers(self) -> list[ControllerSpec[Any]]:
        """Every controller; the finalizers of a kind are with its first one that reconciles objects, not keys.

        Raises ValueError for a finalizer whose kind has no such controller: nobody would run it.
        """
        orphans = set(self._finalizers) - {spec.kind for spec in self._controllers if not spec.keys}
        for kind in orphans:
            raise ValueError(
                f"{kind.__name__} has a finalizer but no controller in operator {self.name} that could run it: register "
                f"one with @operator.controller({kind.__name__}), without keys=True"
            )
        first: set[type[Resource]] = set()
        specs = []
        for spec in self._controllers:
            if not spec.keys and spec.kind not in first:
                first.add(spec.kind)
                spec = msgspec.structs.replace(spec, finalizers=tuple(self._finalizers.get(spec.kind, ())))  # noqa: PLW2901 - the same, complete
            specs.append(spec)
        return specs

    @property
    def scheme(self) -> Scheme:
        """Every kind the operator declares."""
        return Scheme(kind for spec in self._controllers for kind in spec.kinds)

    @property
    def custom_kinds(self) -> list[type[Resource]]:
        """The kinds the operator brings a CRD for: those it reconciles that are no built-in ones."""
        return [kind for kind in dict.fromkeys(spec.kind for spec in self._controllers) if resource_info(kind).custom]


async def _none(_what: object, _ctx: Context) -> None:
    """Stands for the reconciler until the decorator gets it."""


def _check_numbers(workers: object, timeout: object) -> None:
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers={workers!r}: a controller needs at least one")
    if (
        isinstance(timeout, bool)
        or not isinstance(timeout, int | float)
        or not (math.isfinite(timeout) and timeout > 0)
    ):
        raise ValueError(f"timeout={timeout!r}: give the seconds that one run may take, such as 300")


def _check_finalizer(name: object) -> None:
    """As servers do, which would otherwise refuse it for each object; and that it has a domain."""
    remedy = "use a qualified name such as apps.example.com/backup"
    if not isinstance(name, str) or "." not in name.partition("/")[0] or "/" not in name:
        raise ValueError(f"finalizer {name!r}: {remedy}")
    if problems := qualified_name_problems(name):
        raise ValueError(f"finalizer {name!r}: {problems[0]}; {remedy}")
