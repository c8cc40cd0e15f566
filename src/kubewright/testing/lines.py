"""`Lines`: a watch's lines one by one, with a time limit that loses nothing."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from kubewright.client.watch import LineSplitter

__all__ = ["Lines"]


class Lines:
    """Reads ``chunks``; close it when done."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._splitter = LineSplitter()
        self._ready: deque[bytes] = deque()
        self._pending: asyncio.Future[bytes] | None = None

    def __bool__(self) -> bool:
        """Whether the next line is here already."""
        return bool(self._ready)

    async def next(self, within: float | None = None) -> bytes | None:
        """The next line, None at the end. Raises TimeoutError after ``within`` seconds; the line then comes next time."""
        while not self._ready:
            if self._pending is None:
                self._pending = asyncio.ensure_future(_next(self._chunks))
            done, _ = await asyncio.wait([self._pending], timeout=within)
            if not done:
                raise TimeoutError
            pending, self._pending = self._pending, None
            try:
                chunk = pending.result()
            except _End:
                return None
            self._ready.extend(line for line in self._splitter.feed(chunk) if line and not line.isspace())
        return self._ready.popleft()

    async def close(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.wait([self._pending])
            if not self._pending.cancelled():
                self._pending.exception()  # nobody is left to tell
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()


class _End(Exception):
    """There are no more chunks; StopAsyncIteration can't be a future's result."""


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    try:
        return await anext(chunks)
    except StopAsyncIteration:
        raise _End from None
