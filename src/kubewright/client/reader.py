"""`Reader`: typed objects from an API server, live."""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

from msgspec import Struct

from kubewright.api import Gone, ListMeta, Resource, decode, resource_info, split_list
from kubewright.client.requests import Fields, Labels, Query, selection
from kubewright.client.rest import RestClient
from kubewright.client.watch import WatchEvent

__all__ = ["Page", "Reader"]

R = TypeVar("R", bound=Resource)


class Page(Struct, Generic[R], frozen=True):
    """A part of a list. All pages of one list show the same moment, that of ``resource_version``."""

    items: list[R]
    resource_version: str
    """From where a watch goes on after the list."""
    remaining: int | None = None
    """How many objects follow, where the server says so: not for lists that were selected."""


class Reader:
    """The verbs that change nothing. Reads are live: for a view that is kept current, use an informer."""

    def __init__(self, rest: RestClient) -> None:
        self.rest = rest
        """The same verbs on raw JSON."""

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
        """All objects that match, fetched in pages of ``limit`` (0: at once); they show the state at one moment.

        Where the server forgot that moment before the last page, everything is asked for anew, in one piece.
        """
        selected = selection(labels, fields)
        found: builtins.list[R] = []
        try:
            async for page in self._pages(kind, namespace, selected, limit):
                found.extend(page.items)
        except Gone:
            if limit == 0:
                raise
            return [obj async for page in self._pages(kind, namespace, selected, 0) for obj in page.items]
        return found

    def pages(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        limit: int = 500,
    ) -> AsyncGenerator[Page[R], None]:
        """As `list`, page by page, for what is too much to be held at once: ``async for page in client.pages(Pod)``.

        Raises `Expired` where the server forgot the list's moment before the last page, which it does after some
        minutes: what was given out until then is true of that moment, and the rest can only be had by beginning anew.
        """
        return self._pages(kind, namespace, selection(labels, fields), limit)

    async def _pages(
        self, kind: type[R], namespace: str | None, selected: Query, limit: int
    ) -> AsyncGenerator[Page[R], None]:
        query = [*selected, ("limit", str(limit))] if limit else [*selected]
        token: str | None = None
        while True:
            asked = query if token is None else [*query, ("continue", token)]
            meta, items = split_list(await self.rest.list(resource_info(kind), namespace=namespace, query=asked))
            yield _page(meta, [decode(item, kind) for item in items])
            token = meta.continue_
            if not token:
                return

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

        Leave early under `contextlib.aclosing`, or the connection stays open until the generator is collected. Raises
        `Expired` for a resource version that is too old: list, and watch from there. For a view that survives
        disconnection, use an informer.
        """
        query = selection(labels, fields)
        if resource_version is not None:
            query.append(("resourceVersion", resource_version))
        if timeout_seconds is not None:
            query.append(("timeoutSeconds", str(timeout_seconds)))
        async with self.rest.watch(resource_info(kind), namespace=namespace, query=query) as events:
            async for event in events:
                yield WatchEvent(event.type, decode(event.object, kind))


def _page(meta: ListMeta, items: builtins.list[R]) -> Page[R]:
    return Page(items, meta.resource_version or "", meta.remaining_item_count)
