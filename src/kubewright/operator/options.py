"""What `Operator.controller` can be told, as types: its options, and the forms a reconciler may have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar, overload

from kubewright.api import Resource, resource_info
from kubewright.api.callables import is_async, takes
from kubewright.controller import Backoff, ErrorStatus, Predicate, Source, Watch, Whole
from kubewright.controller.predicates import check_predicate
from kubewright.controller.spec import Permission
from kubewright.controller.watches import check_mapper
from kubewright.operator.kind_checks import check_kind

__all__ = [
    "ControllerOptions",
    "HasReconcile",
    "Permissions",
    "Register",
    "check_error_status",
    "check_form",
    "kinds_of",
    "permissions_of",
    "split_watches",
    "split_whole",
    "the_function",
]

X = TypeVar("X")
C = TypeVar("C")
A = TypeVar("A")
X_contra = TypeVar("X_contra", contravariant=True)
C_contra = TypeVar("C_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


Permissions: TypeAlias = Mapping[type[Resource] | tuple[type[Resource], str], Iterable[str]]
"""Verbs by kind, or by kind and subresource: ``{ConfigMap: ["create"], (Pod, "eviction"): ["create"]}``."""


class ControllerOptions(TypedDict, total=False):
    """The options that all forms of a controller share. See `Operator.controller`."""

    owns: Iterable[type[Resource] | Whole[Any]]
    watches: Iterable[Watch[Any] | Source]
    reads: Iterable[type[Resource] | Whole[Any]]
    when: Predicate | None
    workers: int
    timeout: float
    backoff: Backoff
    prune: Iterable[type[Resource]]
    permissions: Permissions
    name: str | None
    error_status: ErrorStatus | None
    while_deleting: bool


class HasReconcile(Protocol[X_contra, C_contra, A_co]):
    """An object that reconciles: for those who keep what they work with in one."""

    def reconcile(self, what: X_contra, ctx: C_contra, /) -> A_co: ...


class Register(Protocol[X, C, A]):
    """Takes the reconciler, a function or an object that has one, and gives it back as it was."""

    @overload
    def __call__(self, reconcile: Callable[[X, C], A], /) -> Callable[[X, C], A]: ...

    @overload
    def __call__(self, reconcile: HasReconcile[X, C, A], /) -> HasReconcile[X, C, A]: ...


def the_function(reconciler: Any) -> Callable[..., Any]:
    """The function to call. Raises TypeError for what has none."""
    if inspect.isclass(reconciler):
        raise TypeError(f"{reconciler.__qualname__} is a class: register an object, {reconciler.__qualname__}(…)")
    method = getattr(reconciler, "reconcile", None)
    if callable(method):
        function: Callable[..., Any] = method
        return function
    if callable(reconciler):
        called: Callable[..., Any] = reconciler
        return called
    raise TypeError(f"{reconciler!r} is no reconciler: give a function, or an object with a method `reconcile`")


def check_form(function: Callable[..., Any], what: str, *, threads: bool) -> None:
    """Whether it is async where it must be, and plain where it must be, and takes two arguments."""
    name = getattr(function, "__qualname__", repr(function))
    if is_async(function) == threads:
        raise TypeError(
            f"{what} {name} is a coroutine function: leave out threads=True, or define it with `def`"
            if threads
            else f"{what} {name} is no coroutine function: define it with `async def`, or say threads=True to have it "
            "run in a thread, with a BlockingContext"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{what} {name} yields: a reconciler returns")
    if not takes(function, 2):
        raise TypeError(f"{what} {name} must take two arguments: what is reconciled, and the context")


def check_error_status(function: object) -> None:
    """Whether it can be called with an object, an error and conditions. Raises TypeError."""
    name = getattr(function, "__qualname__", repr(function))
    remedy = "give a plain function of the object, the error and its conditions, such as says_nothing"
    if not callable(function) or is_async(function):
        raise TypeError(f"error_status={name}: {remedy}")
    if not takes(function, 3):
        raise TypeError(f"error_status={name} does not take three arguments: {remedy}")


def kinds_of(kinds: object, *, argument: str, defines: bool = False) -> tuple[type[Resource], ...]:
    """The kinds in one of the decorator's lists. Raises TypeError, naming the argument, for what is none.

    What is wrong with a class itself is raised as `check_kind` does; ``defines``: whether the operator brings its CRD.
    """
    found = _listed(kinds, argument, "kinds", "[Deployment]")
    for kind in found:
        if not (inspect.isclass(kind) and issubclass(kind, Resource)):
            raise TypeError(f"{argument}: {kind!r} is no kind: give classes of resources, such as Deployment")
        try:
            resource_info(kind)
        except TypeError as error:
            raise TypeError(f"{argument}: {error}") from error
        check_kind(kind, defines=defines)
    return found


def permissions_of(permissions: object) -> tuple[Permission, ...]:
    """What `Permissions` say. Raises TypeError for what they can't."""
    example = 'permissions={ConfigMap: ["create"], (Pod, "eviction"): ["create"]}'
    if not isinstance(permissions, Mapping):
        raise TypeError(f"permissions is {permissions!r}: give verbs by kind, such as {example}")
    found = []
    for key, verbs in permissions.items():
        kind, subresource = key if isinstance(key, tuple) and len(key) == 2 else (key, "")
        kinds_of([kind], argument="permissions")
        listed = _listed(verbs, f"permissions[{kind.__name__}]", "verbs", '["create"]')
        if wrong := [each for each in (subresource, *listed) if not isinstance(each, str)]:
            raise TypeError(f"permissions: {wrong[0]!r} is neither a verb nor a subresource: write {example}")
        found.append(Permission(kind, subresource, listed))
    return tuple(found)


def split_whole(kinds: object, *, argument: str) -> tuple[tuple[type[Resource], ...], tuple[type[Resource], ...]]:
    """All kinds in one of the decorator's lists, and those among them that are to be cached `Whole`."""
    given = _listed(kinds, argument, "kinds", "[Deployment]")
    found = kinds_of([each.kind if isinstance(each, Whole) else each for each in given], argument=argument)
    return found, tuple(kind for each, kind in zip(given, found, strict=True) if isinstance(each, Whole))


def split_watches(watches: object) -> tuple[tuple[Watch[Any], ...], tuple[Source, ...]]:
    """Watches of kinds, and other sources. Raises TypeError for what is neither."""
    kinds: list[Watch[Any]] = []
    sources: list[Source] = []
    for watch in _listed(watches, "watches", "watches and sources", "[Watch(Pod, to=owner_label('app'))]"):
        if isinstance(watch, Watch):
            kinds_of([watch.kind], argument="watches")
            if not callable(watch.to):
                raise TypeError(f"watches: Watch({watch.kind.__name__}, to={watch.to!r}): give a function to Requests")
            check_mapper(watch.to, what=f"watches: Watch({watch.kind.__name__}, to=…)")
            check_predicate(watch.predicate, what=f"watches: Watch({watch.kind.__name__}, predicate=…)")
            kinds.append(watch)
        elif inspect.isclass(watch) or not callable(watch):
            name = watch.__name__ if inspect.isclass(watch) else "Pod"
            raise TypeError(
                f"watches: {watch!r} is neither a watch nor a source: write Watch({name}, to=…) to say whom its objects "
                "wake, or give a source, such as every(60)"
            )
        elif inspect.iscoroutinefunction(watch):
            raise TypeError(
                f"watches: {watch.__qualname__} is no source: an async function that gives requests yields them"
            )
        else:
            sources.append(watch)
    return tuple(kinds), tuple(sources)


def _listed(values: object, argument: str, of: str, example: str) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{argument} is {values!r}: give a list of {of}, such as {argument}={example}")
    return tuple(values)
