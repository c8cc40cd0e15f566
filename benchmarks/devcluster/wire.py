"""A client that costs little: HTTP/1.1 over asyncio streams, without looking into what comes back."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import Self

__all__ = ["Address", "Connection", "head_of_request"]


@dataclass(frozen=True)
class Address:
    """Where a server listens, and how it knows us. ``tls`` is None for plain HTTP."""

    host: str
    port: int
    token: str = ""
    tls: ssl.SSLContext | None = None


def head_of_request(address: Address, method: str, path: str, length: int = 0) -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {address.host}\r\nAuthorization: Bearer {address.token}\r\n"
        f"Accept: application/json\r\nContent-Type: application/json\r\nUser-Agent: bench/1\r\n"
        f"Content-Length: {length}\r\n\r\n"
    )
    return head.encode()


class Connection:
    """One connection: ``async with Connection(address) as connection``."""

    def __init__(self, address: Address) -> None:
        self._address = address

    async def __aenter__(self) -> Self:
        address = self._address
        self._reader, self._writer = await asyncio.open_connection(
            address.host, address.port, ssl=address.tls, limit=2**24
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.transport.abort()

    async def request(self, method: str, path: str, body: bytes = b"") -> tuple[int, int]:
        """Sends a request and reads the answer; returns its status and how long its body was."""
        self.send(method, path, body)
        return await self.answer()

    def send(self, method: str, path: str, body: bytes = b"") -> None:
        self._writer.write(head_of_request(self._address, method, path, len(body)) + body)

    async def head(self) -> tuple[int, int | None]:
        """The status, and the length of the body, None for one in chunks."""
        lines = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        status = int(lines[0].split()[1])
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), None)
        return status, length

    async def text(self) -> bytes:
        """The body of an answer."""
        _, length = await self.head()
        if length is not None:
            return await self._reader.readexactly(length)
        parts = []
        while part := await self._part():
            parts.append(part)
        return b"".join(parts)

    async def answer(self) -> tuple[int, int]:
        status, length = await self.head()
        if length is not None:
            await self._reader.readexactly(length)
            return status, length
        total = 0
        while size := await self.chunk():
            total += size
        return status, total

    async def chunk(self) -> int:
        """Reads one chunk of a body in chunks; returns its size, 0 at the end."""
        return len(await self._part())

    async def _part(self) -> bytes:
        size = int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16)
        return (await self._reader.readexactly(size + 2))[:-2]
