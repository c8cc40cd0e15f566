"""`Registry`: how objects come to be, change and go, whoever asks for it and in whichever form.

Guarantees
    Each write is one synchronous step from reading the object to storing it, so two writes never interleave. A write
    that changes nothing stores nothing and keeps the resource version.

Errors
    `StatusError`, with the answer that a real server would give.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from kubewright.devcluster.admission import check_namespace
from kubewright.devcluster.metadata_errors import create_errors, update_errors
from kubewright.devcluster.object_meta import generated_name, kept_from, stamped
from kubewright.devcluster.objects import Object, metadata_of, name_of, timestamp, with_metadata, without_whole_floats
from kubewright.devcluster.statuses import StatusError, already_exists, conflict, not_found, status_body
from kubewright.devcluster.store import TooLarge
from kubewright.devcluster.versions import from_storage, is_as_stored, to_storage
from kubewright.patch.apply import equal_but_times, track_update
from kubewright.patch.fields import NOTHING, FieldSet
from kubewright.schema.errors import FieldError, invalid, invalid_status
from kubewright.schema.go_text import quoted

if TYPE_CHECKING:
    from datetime import datetime

    from kubewright.api import Clock
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.store import GroupResource, State, Store
    from kubewright.patch.shape import Shape

__all__ = ["Registry", "Write", "written_fields"]

_TRIES_FOR_A_NAME = 8
_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Write(Struct, frozen=True, kw_only=True):
    """How an object is written: by whom, through which subresource, and whether for real."""

    manager: str
    subresource: str = ""
    dry_run: bool = False
    tracked: bool = False
    """Whether the object's managed fields are up to date already, as after a server-side apply."""


class Registry:
    """Objects of any served kind over a `Store`; what strategies may look at (`Surroundings`)."""

    def __init__(self, store: Store, *, clock: Clock, rng: random.Random) -> None:
        self.store = store
        self.clock = clock
        self.rng = rng
        self._moment: datetime | None = None
        self._timestamp = ""

    def objects(self, resource: GroupResource, namespace: str = "") -> Sequence[Object]:
        return self.store.list(resource, namespace)

    def now(self) -> str:
        """The time as objects have it."""
        moment = self.clock.now().replace(microsecond=0)
        if moment != self._moment:
            self._moment, self._timestamp = moment, timestamp(moment)
        return self._timestamp

    def stored(self, resource: ServedResource, namespace: str, name: str) -> Object:
        """One object in its stored version; raises `StatusError` (404)."""
        found = self.store.get(resource.storage, namespace, name)
        if found is None:
            raise not_found(resource.info, name)
        return found

    def exists(self, resource: ServedResource, namespace: str, name: str) -> bool:
        return self.store.state(resource.storage, namespace, name) is not None

    def state(self, resource: ServedResource, namespace: str, name: str) -> State | None:
        """What is stored, if it can go out in the version of ``resource`` as it is."""
        found = self.store.state(resource.storage, namespace, name)
        return found if found is not None and is_as_stored(resource, found) else None

    def get(self, resource: ServedResource, namespace: str, name: str) -> Object:
        """One object in the version of ``resource``; raises `StatusError` (404)."""
        return from_storage(resource, self.stored(resource, namespace, name))

    # Creating

    def create(self, resource: ServedResource, namespace: str, obj: Object, write: Write) -> Object:
        """Stores a new object, as `incoming` read it; it has a name, or a prefix to make one of."""
        if metadata_of(obj).get("resourceVersion") and not write.tracked:
            raise StatusError(status_body(500, "", "resourceVersion should not be set on objects to be created"))
        obj = self._named(resource, namespace, resource.strategy.default(obj, applied=write.tracked))
        name = name_of(obj)
        if namespace:
            check_namespace(self.store, resource.info, namespace=namespace, name=name)
        obj = stamped(obj, namespace=namespace, now=self.now(), rng=self.rng)
        if not write.tracked:
            if "managedFields" in obj["metadata"]:
                obj = with_metadata(obj, managedFields=None)
            obj = self._tracked(resource, _empty(resource), obj, write)
        obj = resource.strategy.prepare_create(obj, self)
        errors = create_errors(resource.info, metadata_of(obj), resource.strategy.name_errors, custom=resource.custom)
        self._refuse(resource, name, [*errors, *resource.strategy.validate(obj, None, subresource="")])
        if self.exists(resource, namespace, name):
            raise already_exists(resource.info, name)
        if write.dry_run:
            return without_whole_floats(obj)
        kept = to_storage(resource, obj)
        try:
            stored = self.store.create(resource.storage, namespace, name, kept, largest=_LARGEST_STORED)
        except TooLarge as error:
            raise _too_large() from error
        return from_storage(resource, stored)

    def _named(self, resource: ServedResource, namespace: str, obj: Object) -> Object:
        metadata = metadata_of(obj)
        prefix = metadata.get("generateName")
        if metadata.get("name") or not prefix:
            return obj
        name = generated_name(prefix, self.rng)
        for _ in range(_TRIES_FOR_A_NAME - 1):
            if not self.exists(resource, namespace, name):
                break
            name = generated_name(prefix, self.rng)
        return with_metadata(obj, name=name)

    # Updating

    def update(
        self,
        resource: ServedResource,
        namespace: str,
        name: str,
        change: Callable[[Object], Object],
        write: Write,
        *,
        unconditional: bool = True,
        whole: bool = False,
    ) -> Object:
        """Replaces an object by what ``change`` makes of it.

        ``change`` gets the object as it is and returns the new one, as `incoming` read it, with the resource version and
        uid that the caller insists on. ``unconditional`` tells whether it may insist on no resource version, ``whole``
        whether it was sent as a whole, so that a uid in it is a precondition.
        """
        old = self.get(resource, namespace, name)
        new = change(old)
        self._check_preconditions(resource, old, new, unconditional=unconditional, whole=whole)
        held = metadata_of(old)
        new = resource.strategy.default(kept_from(old, new), applied=write.tracked)
        new = resource.strategy.prepare_update(new, old, subresource=write.subresource, around=self)
        new = with_metadata(new, resourceVersion=held.get("resourceVersion"))
        if not write.tracked:
            new = self._tracked(resource, old, new, write)
        errors = update_errors(resource.info, metadata_of(new), held, custom=resource.custom)
        errors += resource.strategy.validate(new, old, subresource=write.subresource)
        self._refuse(resource, name, errors)
        if self.may_go(resource, new):
            if not write.dry_run:
                self.store.delete(resource.storage, namespace, name)
            return new
        if equal_but_times(new, old):
            return old  # when the fields of a manager were last written is no change by itself
        if write.dry_run:
            return without_whole_floats(new)
        kept = to_storage(resource, new)
        try:
            stored = self.store.update(resource.storage, namespace, name, kept, largest=_LARGEST_STORED)
        except TooLarge as error:
            raise _too_large() from error
        return from_storage(resource, stored)

    def _check_preconditions(
        self, resource: ServedResource, old: Object, new: Object, *, unconditional: bool, whole: bool
    ) -> None:
        info, name = resource.info, name_of(old)
        held, given = metadata_of(old), metadata_of(new)
        if (uid := given.get("uid")) and whole and uid != held.get("uid"):
            parts = ("registry", info.group if resource.custom else "", info.plural, held.get("namespace"), name)
            key = "".join(f"/{part}" for part in parts if part)
            text = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {held.get('uid')}"
            why = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {text}"
            raise conflict(info, name, why)
        version = given.get("resourceVersion")
        if version and not version.isdigit():
            why = f"strconv.ParseUint: parsing {quoted(version)}: invalid syntax"
            raise StatusError(status_body(500, "", why))
        if not version or version == "0":
            if unconditional or resource.unconditional_update:
                return
            error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise StatusError.of(invalid_status([error], kind=info.plural, group=info.group, name=name))
        if version != held.get("resourceVersion"):
            raise conflict(info, name, _MODIFIED)

    def may_go(self, resource: ServedResource, obj: Object) -> bool:
        """Whether an object that is being deleted has nothing left that holds it."""
        metadata = metadata_of(obj)
        if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
            return False
        grace = metadata.get("deletionGracePeriodSeconds") or 0
        return grace == 0 and not resource.strategy.deletion(obj, 0).held

    # Both

    def _tracked(self, resource: ServedResource, old: Object | None, new: Object, write: Write) -> Object:
        ignored, only = written_fields(resource, write.subresource)
        return track_update(
            old,
            new,
            manager=write.manager,
            shape=resource.shape,
            api_version=resource.api_version,
            subresource=write.subresource,
            now=self.now(),
            ignored=ignored,
            only=only,
            versions=resource.shapes,
        )

    def _refuse(self, resource: ServedResource, name: str, errors: Sequence[FieldError]) -> None:
        if errors:
            info = resource.info
            raise StatusError.of(invalid_status(errors, kind=info.kind, group=info.group, name=name))


_LARGEST_STORED = 1536 * 1024


def _too_large() -> StatusError:
    """What etcd, with its default settings, does not take."""
    return StatusError(status_body(500, "", "etcdserver: request is too large"))


_BY_VALUE = (
    "containers",
    "involvedObject",
    "jobTemplate",
    "metadata",
    "names",
    "source",
    "spec",
    "strategy",
    "template",
    "updateStrategy",
)


def _empty(resource: ServedResource) -> Object | None:
    """What a new object is before its creator says anything.

    A built-in kind is a struct, and the structs in it are there from the beginning: nobody owns the empty ones.
    """
    return None if resource.custom else _empty_parts(resource.shape)


def _empty_parts(shape: Shape) -> Object:
    parts: Object = {}
    for name in _BY_VALUE:
        part = shape.property(name) if shape.declares(name) else None
        if part is not None:
            parts[name] = [] if part.type == "array" else _empty_parts(part)
    return parts


_STATUS = FieldSet.of_names("status")
_SPEC = FieldSet.of_names("spec")


def written_fields(resource: ServedResource, subresource: str) -> tuple[FieldSet, FieldSet | None]:
    """The fields that a write leaves alone, and those that it touches at most, None for any: what it can't own."""
    if subresource == "status":
        return (NOTHING, _STATUS) if resource.custom else (_SPEC, None)
    if not subresource and resource.subresource("status") is not None:
        return _STATUS, None
    return NOTHING, None
