"""A server on loopback whose connections end with it.

One that is left to wait for a peer that has gone is garbage: asyncio tells of it whenever it is found, in another test.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def listening(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    host: str = "127.0.0.1",
    *,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[int]:
    """The port where ``serve`` has each connection, within the block."""
    serving: set[asyncio.Task[Any] | None] = set()

    async def own(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        serving.add(task)
        try:
            await serve(reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            serving.discard(task)

    server = await asyncio.start_server(own, host, 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        left = [task for task in serving if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left)
        await asyncio.sleep(0)  # in which what was aborted closes
