"""Many watches on one server, read with as little work as can be, so that it is the server that is measured."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Self

from benchmarks.devcluster.wire import Address, head_of_request

__all__ = ["Audience"]

_AT_A_TIME = 50
_END_OF_HEAD = b"\r\n\r\n"
_END_OF_EVENT = b"\n\r\n"
"""Of a line, which is a chunk."""


class _Listener(asyncio.Protocol):
    def __init__(self, audience: Audience, request: bytes) -> None:
        self._audience = audience
        self._request = request
        self._head = b""
        self._open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if not self._open:
            self._head += data
            if not self._head.endswith(_END_OF_HEAD):
                return
            if b" 200 " not in self._head[:16]:
                raise RuntimeError(f"a watch is answered with {self._head!r}")
            self._open = True
        elif not data.endswith(_END_OF_EVENT):
            return
        self._audience.heard()


class Audience:
    """So many watches of a path: ``async with Audience(address, path, 1000) as audience``."""

    def __init__(self, address: Address, path: str, total: int) -> None:
        self._address = address
        self._request = head_of_request(address, "GET", path)
        self._total = total
        self._left = 0
        self._all = asyncio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        loop, address = asyncio.get_running_loop(), self._address
        for begin in range(0, self._total, _AT_A_TIME):
            number = min(_AT_A_TIME, self._total - begin)
            self._expect(number)
            opened = await asyncio.gather(
                *(
                    loop.create_connection(
                        lambda: _Listener(self, self._request), address.host, address.port, ssl=address.tls
                    )
                    for _ in range(number)
                )
            )
            for transport, _ in opened:
                self._stack.callback(transport.abort)
            await self._all.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def expect_all(self) -> None:
        """Counts anew who hears something."""
        self._expect(self._total)

    def _expect(self, number: int) -> None:
        self._left = number
        self._all.clear()

    def heard(self) -> None:
        self._left -= 1
        if self._left <= 0:
            self._all.set()

    async def all_heard(self) -> None:
        await self._all.wait()
