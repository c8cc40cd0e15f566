"""`Writer`: typed objects to an API server, so that nothing is lost that a class does not know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar, Unpack, overload

import msgspec

from kubewright.api import (
    JSON,
    AlreadyExists,
    Conflict,
    NotFound,
    Resource,
    ResourceInfo,
    decode,
    resource_info,
    to_dict,
)
from kubewright.client.edits import edit_operations
from kubewright.client.media_types import APPLY
from kubewright.client.patches import JsonPatch, Patch
from kubewright.client.reader import Reader
from kubewright.client.requests import (
    Fields,
    Labels,
    Propagation,
    WriteOptions,
    address,
    delete_options,
    intent,
    namespace_of,
    selection_to_delete,
    write_query,
)
from kubewright.client.rest import RestClient

__all__ = ["Writer"]

R = TypeVar("R", bound=Resource)

_ATTEMPTS = 5


class Writer(Reader):
    """The verbs that change something. All take `WriteOptions`, such as ``dry_run=True``.

    Guarantees: a typed object is never sent back whole except by `create`, so fields that its class does not know are
    never lost, in items of lists neither.
    """

    def __init__(self, rest: RestClient, *, field_manager: str) -> None:
        super().__init__(rest)
        self.field_manager = field_manager
        """Whose the fields are that this client writes."""

    async def create(self, obj: R, **options: Unpack[WriteOptions]) -> R:
        """Creates ``obj`` and returns what the server made of it. Raises `AlreadyExists`, `Invalid`.

        The status is not sent, as a server ignores it.
        """
        kind, info = type(obj), resource_info(type(obj))
        body = to_dict(obj)
        if info.has_status:
            body.pop("status", None)
        query = write_query(self.field_manager, **options)
        answer = await self.rest.create(info, msgspec.json.encode(body), namespace=namespace_of(obj), query=query)
        return decode(answer, kind)

    async def ensure(self, obj: R, **options: Unpack[WriteOptions]) -> R:
        """Creates ``obj`` unless something of that name is there; returns what is there. Never overwrites.

        For generated passwords and the like. Takes one read where the object is there already.
        """
        kind, name, namespace = type(obj), obj.name, namespace_of(obj)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self.get(kind, name, namespace=namespace)
            except NotFound:
                try:
                    return await self.create(obj, **options)
                except AlreadyExists:  # since the read; or it is going away
                    if attempt == _ATTEMPTS:
                        raise
        raise AssertionError("unreachable")

    async def apply(
        self, obj: R, *, force: bool = False, subresource: str | None = None, **options: Unpack[WriteOptions]
    ) -> R:
        """Server-side apply: ``obj`` says all that this field manager wants to own, and nothing else.

        What the server sets is left out, and so is the status unless it is the ``subresource``. A ``metadata.uid``
        stays: applying an object that was deleted meanwhile is then a `Conflict` and does not create it anew.
        Raises `Conflict` where another manager owns a field and ``force`` is not set.
        """
        kind = type(obj)
        answer = await self.apply_raw(
            resource_info(kind), to_dict(obj), force=force, subresource=subresource, **options
        )
        return decode(answer, kind)

    async def apply_raw(
        self,
        info: ResourceInfo,
        obj: dict[str, JSON],
        *,
        force: bool = False,
        subresource: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> bytes:
        """`apply` for decoded JSON; ``obj`` is not changed. Returns the server's JSON."""
        body = intent(info, obj, subresource)
        name, namespace = address(info, body)
        return await self.rest.patch(
            info,
            name,
            msgspec.json.encode(body),
            content_type=APPLY,
            namespace=namespace,
            subresource=subresource,
            query=[*write_query(self.field_manager, **options), ("force", "true" if force else "false")],
        )

    async def edit(
        self,
        kind: type[R],
        name: str,
        change: Callable[[R], None],
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> R:
        """Reads an object, lets ``change`` edit it and sends the difference, bound to the version that was read.

        Where someone else was faster, reads and changes again, a few times; ``change`` must bear that. Nothing is sent
        when nothing changed. Only the main resource or only the status (``subresource="status"``) is written, as the API
        has it.
        """
        info = resource_info(kind)
        for attempt in range(1, _ATTEMPTS + 1):
            raw = await self.rest.get(info, name, namespace=namespace)
            after = decode(raw, kind)
            _made(change(after))  # type: ignore[func-returns-value]  # by an `async def` function it would be dropped
            operations = edit_operations(raw, decode(raw, kind), after, subresource=subresource)
            if not operations:
                return after
            patch = JsonPatch(operations)
            try:
                return await self.patch(kind, name, patch, namespace=namespace, subresource=subresource, **options)
            except Conflict:
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    async def patch(
        self,
        kind: type[R],
        name: str,
        patch: Patch,
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> R:
        """Sends a patch as it is, once: a `JsonPatch`, a `MergePatch` or, for built-in kinds, a `StrategicMergePatch`."""
        answer = await self.rest.patch(
            resource_info(kind),
            name,
            msgspec.json.encode(patch.body),
            content_type=patch.content_type,
            namespace=namespace,
            subresource=subresource,
            query=write_query(self.field_manager, **options),
        )
        return decode(answer, kind)

    @overload
    async def delete(
        self,
        target: Resource,
        *,
        propagation: Propagation | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> None: ...

    @overload
    async def delete(
        self,
        target: type[Resource],
        name: str,
        *,
        namespace: str | None = None,
        propagation: Propagation | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> None: ...

    async def delete(
        self,
        target: Resource | type[Resource],
        name: str | None = None,
        *,
        namespace: str | None = None,
        propagation: Propagation | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Deletes one object. Raises `NotFound`, and `Conflict` when a precondition does not hold.

        An object that was read from a server is deleted only if it is still that one (its UID is a precondition).
        ``propagation`` says what becomes of those it owns; ``grace_period`` is in seconds.
        """
        if isinstance(target, Resource):
            kind, name, namespace = type(target), target.name, namespace_of(target)
            uid = uid or target.metadata.uid
        else:
            kind = target
        if name is None:
            raise ValueError(f"which {kind.__name__} to delete? Give its name")
        body = delete_options(
            propagation=propagation,
            uid=uid,
            resource_version=resource_version,
            grace_period=grace_period,
            dry_run=dry_run,
        )
        query = [("dryRun", "All")] if dry_run else []
        await self.rest.delete(resource_info(kind), name, body, namespace=namespace, query=query)

    async def delete_all_of(
        self,
        kind: type[Resource],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        everything: bool = False,
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Deletes what ``labels`` and ``fields`` select, of one namespace where the kind has them, in one request.

        Raises ValueError for a selector that selects everything, unless ``everything=True`` says that this is meant. Not
        all at once: where it fails half-way, some are gone. A cache sees it when the watch brings it.
        """
        info = resource_info(kind)
        query = selection_to_delete(info, namespace, labels, fields, everything=everything)
        if dry_run:
            query.append(("dryRun", "All"))
        body = delete_options(propagation=propagation, grace_period=grace_period, dry_run=dry_run)
        await self.rest.delete_collection(info, body, namespace=namespace, query=query)


def _made(change: object) -> None:
    """Raises TypeError where an object was not changed yet."""
    if not isinstance(change, Awaitable):
        return
    if isinstance(change, Coroutine):
        change.close()
    raise TypeError("edit: what changes the object must be a plain function: await what it needs before")
