"""`Context`: what a reconcile run may do, and what it knows about itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, TypeVarTuple, cast

from kubewright.api import (
    AlreadyExists,
    Conditions,
    DecodeError,
    NotFound,
    Resource,
    Status,
    decode,
    describe,
    resource_info,
    set_controller,
)
from kubewright.cache import WHOLE, Entry, Informer, NotHeld
from kubewright.client import Client
from kubewright.client.requests import Labels
from kubewright.controller.adoption import (
    adopt,
    check_that_it_can_be_a_child,
    check_that_nobody_else_controls,
    check_that_they_differ,
)
from kubewright.controller.children import Children
from kubewright.controller.environment import RunEnvironment, Start, Write
from kubewright.controller.events import EventType
from kubewright.controller.live import LiveReads
from kubewright.controller.status import WrittenStatus
from kubewright.controller.writes import Intent, IntentKey, intent_key, intent_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault  # the type checkers bring it; nothing needs it to run

    S_co = TypeVarWithDefault("S_co", covariant=True, default=object)
else:
    S_co = TypeVar("S_co", covariant=True)

__all__ = ["Context"]

R = TypeVar("R", bound=Resource)
Ts = TypeVarTuple("Ts")


class Context(Generic[S_co]):
    """One run for one object; ``Context[Clients]`` where the operator's ``lifespan`` gives ``Clients``.

    Reads come from the cache and see the run's own writes. `apply` sends nothing when nothing would change. Only
    `apply_all`, or leaving `owned` without an exception, says that the set of applied objects is complete, so that
    what was applied earlier and is no longer in it may be removed; a run that returns early removes nothing.
    """

    def __init__(self, env: RunEnvironment, obj: Resource, start: Start) -> None:
        self._env = env
        self._obj = obj
        self._start = start
        self.request = start.request
        self.log = start.log
        self.reconcile_id = start.reconcile_id
        self.attempt = start.attempt
        """How many runs for this object failed in a row before this one."""
        self.deadline = 0.0
        """When the run's time is up, in the event loop's seconds, as `asyncio.timeout_at` has it."""
        self.applied: set[IntentKey] = set()
        self.complete = False
        """Whether the run said that what it applied is all there should be."""
        self.unfinished = False
        """Whether it broke off applying a part of that: then nothing is removed, whatever it said."""

    @property
    def reason(self) -> str:
        """What woke the run, such as ``Modified Pod default/db-0``; for logs only, as several events make one run, and
        some make none. Runs that were asked for, or are tried again, say so.
        """
        causes = self._start.causes
        if causes:
            more = f" and {len(causes) - 1} more" if len(causes) > 1 else ""
            return f"{causes[-1]}{more}"
        return "tried again" if self.attempt else "asked for"

    @property
    def client(self) -> Client:
        """The live client, for what was not declared and for verbs that this context lacks.

        What it is to be allowed stands in the controller's ``permissions``.
        """
        return self._env.client

    @property
    def live(self) -> LiveReads:
        """Reads of declared kinds from the server: ``await ctx.live.get(Secret, name)``."""
        return LiveReads(self._env.client, namespace=self._obj.namespace, check=self._env.check_declared)

    @property
    def children(self) -> Children:
        """What this controller has applied for the object, in this run or an earlier one."""
        return Children(self._env, self._obj, self._start.entry)

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
            raise TypeError(
                f"{type(self._obj).__name__} has no status.conditions to set: its status needs a field "
                'conditions: Annotated[list[Condition], ListMap("type")]'
            )
        if status.conditions is None:
            status.conditions = []
        return Conditions(status.conditions, generation=self._obj.metadata.generation, clock=self._env.clock)

    async def apply(self, obj: R) -> R:
        """Makes ``obj``'s fields so, by server-side apply with force, owned by the reconciled object.

        The namespace defaults to the owner's. Returns the object as the server has it. Raises `AlreadyOwned` for an
        object with another controller, such as what is applied for another object by the same name, and the API's errors.
        """
        kind = type(obj)
        self._place(obj)
        if kind is type(self._obj) and (obj.namespace, obj.name) == (self._obj.namespace, self._obj.name):
            raise ValueError(
                f"{describe(obj)} is the object being reconciled and can't own itself: its status is written when the run "
                "ends; to change its spec use ctx.edit"
            )
        self._own(obj)
        intent = intent_of(obj)
        self.applied.add(intent.key)
        try:
            return await self._apply(obj, intent)
        finally:
            self._env.applied.ended(intent.key)

    async def _apply(self, obj: R, intent: Intent) -> R:
        kind = type(obj)
        informer = self._env.informer(kind)
        entry = informer.entry(obj.namespace, obj.name)
        body, before = intent.body, None
        if entry is not None:
            if entry.controller not in (None, self._obj.uid):
                with self._env.releases.told_to(self.request, intent.key):
                    check_that_nobody_else_controls(entry, obj, self._obj)
            settled = await self._settled(intent, entry, informer)
            if settled is None and await self._env.applied.heard_of_another(intent):
                entry = informer.entry(obj.namespace, obj.name) or entry
                settled = await self._settled(intent, entry, informer)
            if settled is not None:
                return decode(settled.raw, kind)
            before = informer.bodies.in_memory(entry)
            # never create anew what was deleted meanwhile
            body = {**body, "metadata": {**body["metadata"], "uid": entry.uid}}
        applied = self._env.applied
        answer = await self.client.apply_raw(informer.info, body, field_manager=applied.manager, force=True)
        made = decode(answer, kind)
        now = informer.entry(obj.namespace, obj.name)  # the client has folded the answer into the cache
        if now is None:
            return made
        after = informer.bodies.in_memory(now)
        if after is None or str(after.resource_version) != made.metadata.resource_version:
            # others were faster: whether what they left is as wanted, the next run finds out
            now = after = informer.bodies.parse(answer)
        applied.record(intent, after, answer, before=before)
        if entry is None or entry.resource_version != now.resource_version:
            if entry is not None and before is None:  # then metadata is what can be compared
                before, after = entry, now
            self._note(describe(obj), b"{}" if before is None else before.raw, after)
        return made

    async def _settled(self, intent: Intent, entry: Entry, informer: Informer[Any]) -> Entry | None:
        """The whole object, if applying ``intent`` would change nothing of it."""
        applied, bodies = self._env.applied, informer.bodies
        whole = bodies.in_memory(entry)
        if whole is not None and applied.is_settled(intent, whole):
            return whole
        if applied.wants_to_learn(intent, entry):
            try:  # a read, once for a kind, that saves the writes of all its objects after a start
                raw = await self.client.rest.get(informer.info, entry.name, namespace=entry.namespace or None)
            except NotFound:
                return None
            applied.learn(intent, raw)
            whole = bodies.fold(raw) or whole
        elif whole is None and applied.may_be_settled(intent, entry):
            whole = await bodies.of(entry)
        else:
            return None
        return whole if whole is not None and applied.is_settled(intent, whole) else None

    def _note(self, what: str, before: bytes, now: Entry) -> None:
        self._start.writes.append(Write(what, before, now.raw))
        self._env.own_writes.add(now.resource_version)

    def _note_answer(self, obj: Resource, what: str, before: Entry | None) -> None:
        """``obj`` is as the server answered a write, ``before`` as the cache had it; nothing where it was not written."""
        now = self._env.informer(type(obj)).entry(obj.namespace, obj.name)
        if now is None or str(now.resource_version) != obj.metadata.resource_version:
            return
        if before is None or before.resource_version != now.resource_version:
            self._note(what, b"{}" if before is None else before.raw, now)

    def note_status(self, written: WrittenStatus) -> None:
        """To be called after the status was written, so that storms can be told from others' doing."""
        self._start.writes.append(Write("status", written.before, written.after))
        self._env.own_writes.add(written.version)

    def knows(self, version: int) -> bool:
        """Whether the object's version is that which the run began with, or one that the controller wrote."""
        entry = self._start.entry
        return (entry is not None and entry.resource_version == version) or version in self._env.own_writes

    async def apply_all(self, *objects: *Ts) -> tuple[*Ts]:
        """Applies the complete set of what should exist for the object, in order.

        When the run then returns normally, what the controller applied earlier for this object and did not apply in this
        run is deleted. Volume claims, volumes, namespaces, CRDs and Secrets only where the controller's ``prune`` names
        them. Raises ValueError for an object that is there twice.
        """
        if len(objects) > 1:
            for obj in cast("tuple[Resource, ...]", objects):
                self._place(obj)
            check_that_they_differ(cast("tuple[Resource, ...]", objects))
        async with self.owned():
            return cast("tuple[*Ts]", tuple([await self.apply(obj) for obj in cast("tuple[Resource, ...]", objects)]))

    @asynccontextmanager
    async def owned(self) -> AsyncIterator[None]:
        """Left without an exception, what was applied in this run is the complete set, as with `apply_all`.

        Where one such set breaks off, nothing is removed in this run, even if the exception is caught.
        """
        try:
            yield
        except BaseException:
            self.unfinished = True
            raise
        self.complete = True

    async def ensure(self, obj: R) -> R:
        """Creates ``obj`` once and never overwrites it: for generated passwords and the like.

        What was applied earlier and is now ensured stays when the rest of the set is complete.
        """
        kind = type(obj)
        self._place(obj)
        self.applied.add(intent_key(obj))
        present = await self.read(kind, obj.name, namespace=obj.namespace)
        if present is not None:
            return present
        self._own(obj)
        try:
            return await self._create(obj)
        except AlreadyExists:
            return await self.client.get(kind, obj.name, namespace=obj.namespace)

    async def create(self, obj: R) -> R:
        """Creates ``obj``, owned by the reconciled object; for things that are new each time, such as a Job by
        ``metadata.generate_name``. Pruning leaves it alone. Raises `AlreadyExists`.
        """
        self._place(obj)
        self._env.check_declared(type(obj))
        self._own(obj)
        return await self._create(obj)

    async def _create(self, obj: R) -> R:
        what = describe(obj)  # the same for all whose names are generated alike
        made = await self.client.create(obj, field_manager=self._env.applied.manager)
        self._note_answer(made, what, None)
        return made

    async def edit(self, obj: R, change: Callable[[R], None], *, subresource: Literal["status"] | None = None) -> R:
        """Lets ``change`` edit ``obj`` as the server has it now, and sends the difference; see `Client.edit`.

        For fields of objects that somebody else owns; what this controller owns is applied. Raises `NotFound` also where
        another object has the name by now.
        """
        before = self._env.informer(type(obj)).entry(obj.namespace, obj.name)
        uid = obj.uid

        def guarded(live: R) -> None:
            if live.uid != uid:
                message = f"{describe(obj)} was replaced by another object of its name"
                raise NotFound(Status(message=message, reason="NotFound", code=404))
            return change(live)

        edited = await self.client.edit(
            type(obj),
            obj.name,
            guarded,
            namespace=obj.namespace,
            subresource=subresource,
            field_manager=self._env.applied.manager,
        )
        self._note_answer(edited, describe(edited), before)
        return edited

    async def adopt(self, obj: R) -> R:
        """Takes ``obj``, which nobody controls, as the reconciled object's own; returns it as it is then.

        Raises `AlreadyOwned` where another controller has it, across namespaces, and where one of both is being deleted.
        """
        self._env.check_declared(type(obj))
        self._check_that_it_is_there(obj)
        with self._env.releases.told_to(self.request, intent_key(obj)):
            return await adopt(self.client, obj, self._obj, field_manager=self._env.applied.manager)

    async def event(
        self,
        type: EventType,  # noqa: A002 - the field's own name
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        regarding: Resource | None = None,
        related: Resource | None = None,
    ) -> None:
        """Records an Event about the object, or what is ``regarding``: ``("Warning", "BackupFailed", "disk full")``.

        Never raises, and never floods: what repeats is counted, also across restarts. ``reason`` is one CamelCase word,
        the same for the same thing; so should ``message`` be, where it can.
        """
        await self._env.events.record(
            regarding or self._obj, type, reason, message, action=action, related=related, log=self.log
        )

    def span(self, name: str, **attributes: object) -> AbstractContextManager[None]:
        """Around a part of the run whose time is worth knowing: ``with ctx.span("backup", size=10):``."""
        return self._env.instruments.span(name, log=self.log, attributes=attributes)

    def get(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """A fresh copy from the cache, None where there is no such object. The namespace defaults to the object's.

        Raises `NotHeld` for kinds of which only metadata is cached, as Secrets and ConfigMaps: see `read` and `Whole`.
        """
        entry = self._whole(kind).entry(self._namespace(kind, namespace), name)
        return None if entry is None else decode(entry.raw, kind)

    async def read(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """As `get`, for every declared kind: an object of which only metadata is cached is read from the server, once
        for each of its versions. Raises what a request may raise.
        """
        informer = self._env.informer(kind)
        entry = informer.entry(self._namespace(kind, namespace), name)
        whole = None if entry is None else await informer.bodies.of(entry)
        return None if whole is None else decode(whole.raw, kind)

    def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        index: tuple[str, str] | None = None,
    ) -> list[R]:
        """Fresh copies from the cache, by label selector. The namespace defaults to the object's.

        ``index`` is an index of the kind's informer and the wanted value. Raises KeyError for one that it lacks, and
        `NotHeld` for kinds of which only metadata is cached.

        An object that does not fit ``kind`` is left out, and the log says so: it must not hide all others.
        """
        found = []
        for entry in self._whole(kind).entries(self._namespace(kind, namespace), labels=labels, index=index):
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

    def _whole(self, kind: type[R]) -> Informer[R]:
        informer = self._env.informer(kind)
        if informer.projection != WHOLE:
            name = kind.__name__
            raise NotHeld(
                f"only the metadata of {name} is cached: read one with `await ctx.read({name}, …)`, all with "
                f"`await ctx.live.list({name})`; or have them cached whole with reads=[Whole({name})]"
            )
        return informer

    def _place(self, obj: Resource) -> None:
        check_that_it_can_be_a_child(obj, self._obj)
        if obj.metadata.namespace is None and resource_info(type(obj)).namespaced:
            obj.metadata.namespace = self._obj.namespace

    def _own(self, obj: Resource) -> None:
        self._check_that_it_is_there(obj)
        set_controller(obj, self._obj)

    def _check_that_it_is_there(self, obj: Resource) -> None:
        if not self._obj.metadata.uid:
            raise ValueError(
                f"{describe(self._obj)} is gone, so {describe(obj)} can't belong to it: see whether ctx.get finds it first"
            )

    def _namespace(self, kind: type[Resource], namespace: str | None) -> str | None:
        return (namespace or self._obj.namespace) if resource_info(kind).namespaced else None
