"""Long lists leave in pieces, of objects as they are stored: the list itself is never in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import msgspec

from kubewright.devcluster.compression import compressed_stream
from kubewright.devcluster.reading import item_of_built_in
from kubewright.devcluster.versions import is_as_stored

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.reading import Page
    from kubewright.devcluster.store import State

__all__ = ["is_long", "long_list"]

_LONG = 500
_CHUNK = 64 * 1024

_encode = msgspec.json.Encoder().encode


def is_long(resource: ServedResource, page: Page) -> bool:
    """Whether a list is worth it, and can be made from stored objects as they are."""
    return len(page.states) > _LONG and all(is_as_stored(resource, state) for state in page.states)


async def long_list(resource: ServedResource, page: Page, *, compress: bool) -> AsyncIterator[bytes]:
    """The list in pieces. It shows what was there when it was asked for, whatever is written meanwhile."""
    chunks = _chunks(resource, page)
    for chunk in compressed_stream(chunks) if compress else chunks:
        yield chunk


def _chunks(resource: ServedResource, page: Page) -> Iterator[bytes]:
    kind, version = resource.listed_kind, resource.info.api_version
    empty = _encode({"kind": kind, "apiVersion": version, "metadata": page.metadata, "items": []})
    waiting, size = [empty[:-2]], 0
    for index, state in enumerate(page.states):
        if size > _CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
        item = state.data if resource.custom else _built_in(state)
        waiting += (b",", item) if index else (item,)
        size += len(item)
    yield b"".join([*waiting, b"]}\n"])


def _built_in(state: State) -> bytes:
    return _encode(item_of_built_in(state.obj))
