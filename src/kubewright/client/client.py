"""`Client`: the Kubernetes API with typed objects."""

from __future__ import annotations

import builtins
import random
from collections.abc import AsyncGenerator, Callable
from typing import TypeVar, overload

import msgspec

from kubewright.api import (
    JSON,
    Clock,
    Conflict,
    Gone,
    Resource,
    ResourceInfo,
    SystemClock,
    decode,
    describe,
    resource_info,
    split_list,
    to_dict,
)
from kubewright.client.edits import edit_operations
from kubewright.client.patches import JsonPatch, MergePatch, Patch
from kubewright.client.pod_streams import PodStreams
from kubewright.client.requests import Fields, Labels, Propagation, address, delete_options, intent, selection
from kubewright.client.rest import Deleted, RestClient, Written
from kubewright.client.transport import Transport
from kubewright.client.watch import WatchEvent
from kubewright.telemetry import Log

__all__ = ["Client"]

R = TypeVar("R", bound=Resource)

_EDIT_ATTEMPTS = 5


class Client(PodStreams):
    """Reads and writes objects of any declared kind on one API server.

    Guarantees
        Reads are live. A typed object is never sent back whole except by `create`, so fields that its class does not
        know are never lost. Observers of a client hear of each write before the writer goes on.
    Errors
        `ApiError` by reason, `TransportError` when the server was not reached, `DecodeError` for an answer that does
        not fit its class, ValueError for an address that makes no sense (a namespaced object without a namespace).
    """

    def __init__(
        self,
        transport: Transport,
        *,
        field_manager: str = "kubewright",
        clock: Clock | None = None,
        rng: random.Random | None = None,
        user_agent: str = "kubewright",
        log: Log | None = None,
    ) -> None:
        self.field_manager = field_manager
        self.clock = clock or SystemClock()
        self.rest = RestClient(transport, user_agent=user_agent, clock=self.clock, rng=rng, log=log)

    def observe(self, written: Written, deleted: Deleted | None = None) -> Callable[[], None]:
        """Hears of every write's result; returns what ends it. See `RestClient.observe`."""
        return self.rest.observe(written, deleted)

    async def close(self) -> None:
        await self.rest.transport.close()

    # reading

    async def get(self, kind: type[R], name: str, *, namespace: str | None = None) -> R:
        """One object as the server has it now. Raises `NotFound`."""
        return decode(await self.rest.get(resource_info(kind), name, namespace=namespace), kind)

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        limit: int = 500,
    ) -> builtins.list[R]:
        """All objects that match, fetched in pages of ``limit``; they show the state at one moment."""
        selected = selection(labels, fields)
        try:
            return await self._pages(kind, namespace, [*selected, ("limit", str(limit))])
        except Gone:  # the first page's snapshot went while we read: ask for everything at once
            return await self._pages(kind, namespace, selected)

    async def _pages(
        self, kind: type[R], namespace: str | None, query: builtins.list[tuple[str, str]]
    ) -> builtins.list[R]:
        found: builtins.list[R] = []
        token: str | None = None
        while True:
            page = query if token is None else [*query, ("continue", token)]
            meta, items = split_list(await self.rest.list(resource_info(kind), namespace=namespace, query=page))
            found.extend(decode(item, kind) for item in items)
            token = meta.continue_
            if not token:
                return found

    async def watch(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        resource_version: str | None = None,
        timeout_seconds: int | None = None,
    ) -> AsyncGenerator[WatchEvent[R], None]:
        """One watch, until the server ends it; without a resource version, what exists comes first as ADDED.

        Leave early under `contextlib.aclosing`, or the connection stays open until the generator is collected. For a
        view that survives disconnection, use an informer.
        """
        query = selection(labels, fields)
        if resource_version is not None:
            query.append(("resourceVersion", resource_version))
        if timeout_seconds is not None:
            query.append(("timeoutSeconds", str(timeout_seconds)))
        async with self.rest.watch(resource_info(kind), namespace=namespace, query=query) as events:
            async for event in events:
                yield WatchEvent(event.type, decode(event.object, kind))

    # writing

    async def create(self, obj: R) -> R:
        """Creates ``obj`` and returns what the server made of it. Raises `AlreadyExists`, `Invalid`."""
        kind, info = type(obj), resource_info(type(obj))
        body = to_dict(obj)
        if info.has_status:
            body.pop("status", None)
        answer = await self.rest.create(
            info, msgspec.json.encode(body), namespace=_namespace(obj), query=[("fieldManager", self.field_manager)]
        )
        return decode(answer, kind)

    async def apply(
        self, obj: R, *, field_manager: str | None = None, force: bool = False, subresource: str | None = None
    ) -> R:
        """Server-side apply: ``obj`` says all that this field manager wants to own, and nothing else.

        What the server sets is left out, and so is the status unless it is the ``subresource``. A ``metadata.uid``
        stays: applying an object that was deleted meanwhile is then a `Conflict` and does not create it anew.
        Raises `Conflict` where another manager owns a field and ``force`` is not set.
        """
        kind = type(obj)
        answer = await self.apply_raw(
            resource_info(kind), to_dict(obj), field_manager=field_manager, force=force, subresource=subresource
        )
        return decode(answer, kind)

    async def apply_raw(
        self,
        info: ResourceInfo,
        obj: dict[str, JSON],
        *,
        field_manager: str | None = None,
        force: bool = False,
        subresource: str | None = None,
    ) -> bytes:
        """`apply` for decoded JSON; ``obj`` is not changed. Returns the server's JSON."""
        body = intent(info, obj, subresource)
        name, namespace = address(info, body)
        return await self.rest.patch(
            info,
            name,
            msgspec.json.encode(body),
            content_type="application/apply-patch+yaml",  # JSON is YAML; the other spelling is newer than some servers
            namespace=namespace,
            subresource=subresource,
            query=[("fieldManager", field_manager or self.field_manager), ("force", "true" if force else "false")],
        )

    async def edit(
        self,
        kind: type[R],
        name: str,
        change: Callable[[R], None],
        *,
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> R:
        """Reads an object, lets ``change`` edit it and sends the difference, bound to the version that was read.

        Where someone else was faster, reads and changes again, a few times; ``change`` must bear that. Nothing is sent
        when nothing changed. Only the main resource or only the status is written, as the API has it.
        """
        info = resource_info(kind)
        for attempt in range(1, _EDIT_ATTEMPTS + 1):
            raw = await self.rest.get(info, name, namespace=namespace)
            after = decode(raw, kind)
            change(after)
            operations = edit_operations(raw, decode(raw, kind), after, subresource=subresource)
            if not operations:
                return after
            try:
                return await self.patch(kind, name, JsonPatch(operations), namespace=namespace, subresource=subresource)
            except Conflict:
                if attempt == _EDIT_ATTEMPTS:
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
    ) -> R:
        """Sends a patch as it is, once."""
        answer = await self.rest.patch(
            resource_info(kind),
            name,
            msgspec.json.encode(patch.body),
            content_type=patch.content_type,
            namespace=namespace,
            subresource=subresource,
            query=[("fieldManager", self.field_manager)],
        )
        return decode(answer, kind)

    async def scale(self, kind: type[Resource], name: str, replicas: int, *, namespace: str | None = None) -> None:
        """Sets the wanted replicas through the scale subresource, as ``kubectl scale`` does.

        The answer is no object of the kind, so informers see the change when the watch brings it.
        """
        await self.rest.patch(
            resource_info(kind),
            name,
            msgspec.json.encode(MergePatch({"spec": {"replicas": replicas}}).body),
            content_type="application/merge-patch+json",
            namespace=namespace,
            subresource="scale",
            query=[("fieldManager", self.field_manager)],
        )

    @overload
    async def delete(
        self,
        target: Resource,
        *,
        propagation: Propagation | None = None,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period: int | None = None,
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
    ) -> None:
        """Deletes one object. Raises `NotFound`, and `Conflict` when a precondition does not hold.

        An object that was read from a server is deleted only if it is still that one (its UID is a precondition).
        ``propagation`` says what becomes of those it owns; ``grace_period`` is in seconds.
        """
        if isinstance(target, Resource):
            kind, name, namespace = type(target), target.name, _namespace(target)
            uid = uid or target.metadata.uid
        else:
            kind = target
        if name is None:
            raise ValueError(f"which {kind.__name__} to delete? Give its name")
        body = delete_options(
            propagation=propagation, uid=uid, resource_version=resource_version, grace_period=grace_period
        )
        await self.rest.delete(resource_info(kind), name, body, namespace=namespace)


def _namespace(obj: Resource) -> str | None:
    info = resource_info(type(obj))
    if info.namespaced and not obj.namespace:
        raise ValueError(f"{describe(obj)} needs a metadata.namespace")
    return obj.namespace
