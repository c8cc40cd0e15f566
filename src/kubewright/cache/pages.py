"""`pages`: a list in pages, each of which is asked for while the one before it is looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from kubewright.cache.page import Page
from kubewright.client.requests import Query

__all__ = ["pages"]


async def pages(fetch: Callable[[Query], Awaitable[bytes]], query: Query) -> AsyncGenerator[Page, None]:
    """``fetch`` gets an answer to a LIST. Raises what it raises, and `DecodeError` for what is no list."""
    answer = await fetch(query)
    coming: asyncio.Task[bytes] | None = None
    try:
        while True:
            page = Page(answer)
            token = page.meta.continue_
            if not token:
                yield page
                return
            coming = asyncio.ensure_future(fetch([*query, ("continue", token)]))
            yield page
            answer = await coming
    finally:
        if coming is not None and not coming.done():
            coming.cancel()
            await asyncio.wait([coming])
