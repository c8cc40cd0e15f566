"""`Transport`: how requests reach an API server. HTTPS and the in-process cluster have the same shape."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct, field

__all__ = ["HttpRequest", "HttpResponse", "StreamingResponse", "Transport", "TransportError"]


class HttpRequest(Struct, frozen=True):
    """One request: ``path`` is absolute and not escaped, ``query`` and ``headers`` hold no credentials.

    Header names are lower-case.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class HttpResponse(Struct, frozen=True):
    """A whole answer; header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class StreamingResponse(Struct, frozen=True):
    """An answer whose body arrives in chunks of any size, such as a watch or a followed log."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


class TransportError(Exception):
    """The server was not reached or the connection broke; ``may_be_applied`` tells whether a write may have landed."""

    def __init__(self, message: str, *, may_be_applied: bool) -> None:
        super().__init__(message)
        self.may_be_applied = may_be_applied


class Transport(Protocol):
    """Carries requests to one API server, with its credentials.

    Guarantees: any HTTP status is an answer, never an exception; cancellation leaves no half-read connection behind.
    Errors: `TransportError`.
    """

    async def request(self, request: HttpRequest) -> HttpResponse: ...

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[StreamingResponse]:
        """Opens a streamed answer and closes it on leaving the block."""
        ...

    async def close(self) -> None: ...
