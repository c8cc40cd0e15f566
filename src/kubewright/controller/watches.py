"""Watches: which other objects wake a reconcile, and of whom."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from kubewright.api import OwnerReference, Resource, ResourceInfo, resource_info
from kubewright.api.arguments import Declared
from kubewright.api.callables import takes
from kubewright.controller.predicates import Predicate, any_change
from kubewright.controller.request import Request

__all__ = [
    "Mapper",
    "MetadataMapper",
    "Watch",
    "Whole",
    "any_owner",
    "check_mapper",
    "is_metadata_only",
    "owner",
    "owner_label",
]

R = TypeVar("R", bound=Resource)

Mapper: TypeAlias = Callable[[R], Iterable[Request] | Awaitable[Iterable[Request]]]
"""From a watched object to the requests it wakes; called for an object as it was and as it is.

A plain function is called at once and must be quick. An ``async def`` function may take its time, to ask the server for
instance: meanwhile, what happens to one object becomes one change.
"""

_METADATA_ONLY = frozenset({("", "Secret"), ("", "ConfigMap")})
"""They are many, and may be large: caching them whole is how operators come to be killed for their memory."""


def is_metadata_only(kind: type[Resource]) -> bool:
    """Whether only metadata is cached of ``kind`` unless it is declared `Whole`."""
    info = resource_info(kind)
    return (info.group, info.kind) in _METADATA_ONLY


class Whole(Struct, Generic[R], frozen=True, metaclass=Declared):
    """In ``owns`` and ``reads``: a kind whose objects are cached whole, Secrets and ConfigMaps too.

    Of these only metadata is cached otherwise, since a cluster may have many and large ones; what they hold is read from
    the server when `Context.read` asks for it. Where there are few, or each run needs all of them, ``reads=[Whole(Secret)]``
    makes `Context.get` and `Context.list` take them from the cache.
    """

    kind: type[R]


class Watch(Struct, Generic[R], frozen=True, metaclass=Declared):
    """Objects of ``kind`` wake the requests that ``to`` names. Watching implies that the kind may be read.

    An ``optional`` kind may not be installed: the controller works without it, and hears of its objects once it is.

    With ``metadata_only``, the server sends and the cache holds nothing else: for kinds that are many or large. It is
    what becomes of Secrets and ConfigMaps unless it is False. ``to`` then gets a `Resource` which has metadata and no
    other field; `Context.read` has whole objects.
    """

    kind: type[R]
    to: Callable[[R], Iterable[Request] | Awaitable[Iterable[Request]]]
    predicate: Predicate = any_change
    optional: bool = False
    metadata_only: bool | None = None

    @property
    def shows_metadata(self) -> bool:
        """Whether metadata is all that ``to`` gets."""
        return is_metadata_only(self.kind) if self.metadata_only is None else self.metadata_only


def check_mapper(mapper: Callable[..., object], *, what: str) -> None:
    """Raises TypeError, naming ``what``, for what does not map an object to requests."""
    name = getattr(mapper, "__qualname__", repr(mapper))
    if mapper in (owner, owner_label, any_owner):
        raise TypeError(f"{what}: {name} makes mappers and is none: call it, {name}(…)")
    if inspect.isasyncgenfunction(mapper):
        raise TypeError(f"{what}: {name} yields: an `async def` mapper returns a list of Requests")
    if not takes(mapper, 1):
        raise TypeError(f"{what}: {name} must take one argument: the object")


class MetadataMapper:
    """A mapper that looks at metadata only; nothing else of the object is decoded for it."""

    def __init__(self, requests: Callable[[Resource], Iterable[Request]]) -> None:
        self._requests = requests

    def __call__(self, obj: Resource) -> Iterable[Request]:
        return self._requests(obj)


def owner_label(key: str) -> MetadataMapper:
    """The label ``key`` holds the primary object's name; both are in one namespace, or the primary one is in none."""

    def to(obj: Resource) -> Iterable[Request]:
        name = (obj.metadata.labels or {}).get(key)
        return [Request(None, obj.namespace, name)] if name else []

    return MetadataMapper(to)


def owner(kind: type[Resource]) -> MetadataMapper:
    """The owner that is marked as the controller, where it is of ``kind``, whatever its version."""
    return _owners(resource_info(kind), lambda reference: bool(reference.controller))


def any_owner(kind: type[Resource]) -> MetadataMapper:
    """All owners of ``kind``, whatever its version, the controller among them."""
    return _owners(resource_info(kind), lambda _reference: True)


def _owners(info: ResourceInfo, counts: Callable[[OwnerReference], bool]) -> MetadataMapper:
    def to(obj: Resource) -> Iterable[Request]:
        return [
            Request(None, obj.namespace if info.namespaced else None, reference.name)
            for reference in obj.metadata.owner_references or ()
            if counts(reference)
            and reference.kind == info.kind
            and reference.api_version.rpartition("/")[0] == info.group
        ]

    return MetadataMapper(to)
