"""`Context`: what a reconcile run may do, and what it knows about itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, TypeVarTuple, cast

from kubewright.api import (
    AlreadyExists,
    Clock,
    Conditions,
    DecodeError,
    NotFound,
    Resource,
    Selector,
    decode,
    describe,
    resource_info,
    set_controller,
)
from kubewright.cache import Cache, Informer
from kubewright.client import Client
from kubewright.controller.children import Children
from kubewright.controller.request import Request
from kubewright.controller.writes import AppliedIntents, IntentKey, intent_key, intent_of
from kubewright.telemetry import Log

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault  # the type checkers bring it; nothing needs it to run

    S_co = TypeVarWithDefault("S_co", covariant=True, default=object)
else:
    S_co = TypeVar("S_co", covariant=True)

__all__ = ["Context", "NotDeclared", "RunEnvironment"]

R = TypeVar("R", bound=Resource)
Ts = TypeVarTuple("Ts")
Labels: TypeAlias = Selector | Mapping[str, str] | str | None


class NotDeclared(LookupError):
    """A kind was read that the controller did not declare."""


class RunEnvironment:
    """What the runs of one controller share: its client, cache, clock and memory of applied intents."""

    def __init__(
        self,
        *,
        name: str,
        kinds: Iterable[type[Resource]],
        client: Client,
        cache: Cache,
        clock: Clock,
        applied: AppliedIntents,
        optional: Iterable[type[Resource]] = (),
        may_be_deleted: Iterable[type[Resource]] = (),
    ) -> None:
        """``optional`` are those of ``kinds`` that may not be installed; ``may_be_deleted`` as in `Children`."""
        self.name = name
        self.client = client
        self.cache = cache
        self.clock = clock
        self.applied = applied
        self.may_be_deleted = tuple(may_be_deleted)
        self.state: object = None
        """What the operator's ``lifespan`` gave."""
        dispensable = set(optional)
        self._informers = {
            resource_info(kind).gvk: cache.informer(kind, optional=kind in dispensable) for kind in kinds
        }

    def informer(self, kind: type[R]) -> Informer[R]:
        """The cache of a declared kind. Raises `NotDeclared` for any other."""
        info = resource_info(kind)
        found = self._informers.get(info.gvk)
        if found is None:
            raise NotDeclared(
                f"controller {self.name} uses {info.kind} but does not declare it: add reads=[{kind.__name__}], or "
                f"owns=[{kind.__name__}] if it applies it, to @operator.controller; or read live with ctx.client.get"
            )
        return cast("Informer[R]", found)


class Context(Generic[S_co]):
    """One run for one object; ``Context[Clients]`` where the operator's ``lifespan`` gives ``Clients``.

    Reads come from the cache and see the run's own writes. `apply` sends nothing when nothing would change. Only
    `apply_all`, or leaving `owned` without an exception, says that the set of applied objects is complete, so that
    what was applied earlier and is no longer in it may be removed; a run that returns early removes nothing.
    """

    def __init__(
        self, env: RunEnvironment, obj: Resource, request: Request, *, log: Log, reconcile_id: str, attempt: int
    ) -> None:
        self._env = env
        self._obj = obj
        self.request = request
        self.log = log
        self.reconcile_id = reconcile_id
        self.attempt = attempt
        """How many runs for this object failed in a row before this one."""
        self.applied: set[IntentKey] = set()
        self.complete = False

    @property
    def client(self) -> Client:
        """The live client, for reads that must not come from the cache and for kinds that were not declared."""
        return self._env.client

    @property
    def children(self) -> Children:
        """What this controller has applied for the object, in this run or an earlier one."""
        return Children(self._env, self._obj)

    @property
    def state(self) -> S_co:
        """What the operator's ``lifespan`` gave: one for all runs, which use it side by side."""
        return cast("S_co", self._env.state)

    def now(self) -> datetime:
        return self._env.clock.now()

    @property
    def conditions(self) -> Conditions:
        """The object's ``status.conditions``, for reading and setting; written with the rest of the status."""
        status = getattr(self._obj, "status", None)
        if status is None or not hasattr(status, "conditions"):
            raise TypeError(f"{type(self._obj).__name__} has no status.conditions to set")
        if status.conditions is None:
            status.conditions = []
        return Conditions(status.conditions, generation=self._obj.metadata.generation, clock=self._env.clock)

    async def apply(self, obj: R) -> R:
        """Makes ``obj``'s fields so, by server-side apply with force, owned by the reconciled object.

        The namespace defaults to the owner's. Returns the object as the server has it. Raises `AlreadyOwned` for an
        object with another controller, and the API's errors.
        """
        kind = type(obj)
        info = resource_info(kind)
        if info.namespaced and obj.metadata.namespace is None:
            obj.metadata.namespace = self._obj.namespace
        if kind is type(self._obj) and (obj.namespace, obj.name) == (self._obj.namespace, self._obj.name):
            raise ValueError(
                f"{describe(obj)} is the object being reconciled and can't own itself: its status is written when the run "
                "ends; to change its spec use ctx.client.edit"
            )
        self._own(obj)
        intent = intent_of(obj)
        self.applied.add(intent.key)
        informer = self._env.informer(kind)
        entry = informer.entry(obj.namespace, obj.name)
        live = informer.raw(obj.namespace, obj.name)
        if entry is not None and live is not None:
            if self._env.applied.is_settled(intent, entry, live):
                current = informer.get(obj.namespace, obj.name)
                if current is not None:
                    return current
            intent.body["metadata"]["uid"] = entry.uid  # never create anew what was deleted meanwhile
        answer = await self.client.apply_raw(info, intent.body, field_manager=self._env.applied.manager, force=True)
        entry = informer.entry(obj.namespace, obj.name)  # the client has folded the answer into the cache
        if entry is not None:
            self._env.applied.record(intent, entry, answer)
        return decode(answer, kind)

    async def apply_all(self, *objects: *Ts) -> tuple[*Ts]:
        """Applies the complete set of what should exist for the object, in order.

        When the run then returns normally, what the controller applied earlier for this object and did not apply in this
        run is deleted. Volume claims, volumes, namespaces, CRDs and Secrets only where the controller's ``prune`` names
        them.
        """
        applied = [await self.apply(obj) for obj in cast("tuple[Resource, ...]", objects)]
        self.complete = True
        return cast("tuple[*Ts]", tuple(applied))

    @asynccontextmanager
    async def owned(self) -> AsyncIterator[None]:
        """Left without an exception, what was applied in this run is the complete set, as with `apply_all`."""
        yield
        self.complete = True

    async def ensure(self, obj: R) -> R:
        """Creates ``obj`` once and never overwrites it: for generated passwords and the like."""
        kind = type(obj)
        info = resource_info(kind)
        if info.namespaced and obj.metadata.namespace is None:
            obj.metadata.namespace = self._obj.namespace
        present = self._env.informer(kind).get(obj.namespace, obj.name)
        if present is not None:
            return present
        self._own(obj)
        try:
            return await self.client.create(obj)
        except AlreadyExists:
            return await self.client.get(kind, obj.name, namespace=obj.namespace)

    def get(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """A fresh copy from the cache, None where there is no such object. The namespace defaults to the object's."""
        return self._env.informer(kind).get(self._namespace(kind, namespace), name)

    def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        index: tuple[str, str] | None = None,
    ) -> list[R]:
        """Fresh copies from the cache, by label selector. The namespace defaults to the object's.

        ``index`` is an index of the kind's informer and the wanted value. Raises KeyError for one that it lacks.

        An object that does not fit ``kind`` is left out, and the log says so: it must not hide all others.
        """
        found = []
        for entry in self._env.informer(kind).entries(
            self._namespace(kind, namespace), labels=_selector(labels), index=index
        ):
            try:
                found.append(decode(entry.raw, kind))
            except DecodeError as error:
                self.log.warning("object left out of a list", listed=entry.name, error=str(error))
        return found

    async def delete(self, obj: Resource) -> None:
        """Deletes ``obj`` as it was read (UID and resource version must still be those); gone already is fine."""
        self._env.applied.forget(intent_key(obj))
        with suppress(NotFound):
            await self.client.delete(
                type(obj),
                obj.name,
                namespace=obj.namespace,
                uid=obj.uid,
                resource_version=obj.metadata.resource_version,
            )

    def _own(self, obj: Resource) -> None:
        if not self._obj.uid:
            raise ValueError(
                f"{describe(self._obj)} is gone, so {describe(obj)} can't belong to it: see whether ctx.get finds it first"
            )
        set_controller(obj, self._obj)

    def _namespace(self, kind: type[Resource], namespace: str | None) -> str | None:
        return (namespace or self._obj.namespace) if resource_info(kind).namespaced else None


def _selector(labels: Labels) -> Selector | None:
    if labels is None or isinstance(labels, Selector):
        return labels
    return Selector.parse(labels) if isinstance(labels, str) else Selector.from_labels(labels)
