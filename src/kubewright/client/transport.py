"""`Transport`: how requests reach an API server. HTTPS and the in-process cluster have the same shape."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct, field

__all__ = [
    "SAFE_METHODS",
    "CredentialError",
    "HttpRequest",
    "HttpResponse",
    "NotLeading",
    "StreamingResponse",
    "Transport",
    "TransportError",
    "UpgradeRefused",
    "WebSocket",
]


SAFE_METHODS = frozenset({"GET", "HEAD"})
"""Those that change nothing on the server (RFC 9110, section 9.2.1)."""


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
    refused_identity: str = ""
    """With status 401: who the server did not know, and what helps; for messages."""


class StreamingResponse(Struct, frozen=True):
    """An answer whose body arrives in chunks of any size, such as a watch or a followed log."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]
    refused_identity: str = ""


class TransportError(Exception):
    """The server was not reached or the connection broke; ``may_be_applied`` tells whether a write may have landed."""

    def __init__(self, message: str, *, may_be_applied: bool) -> None:
        super().__init__(message)
        self.may_be_applied = may_be_applied


class CredentialError(TransportError):
    """There is no credential to send: a plugin failed, or a token's file is gone. Nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, may_be_applied=False)


class NotLeading(TransportError):
    """No lease lets this process write, or not any more. Nothing was sent, and trying again can't help."""

    def __init__(self, message: str) -> None:
        super().__init__(message, may_be_applied=False)


class UpgradeRefused(Exception):
    """The server answered, and not with a WebSocket; ``response`` is its answer."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class WebSocket(Protocol):
    """Messages both ways. One task may receive while others send.

    Errors: `TransportError` where the connection broke.
    """

    @property
    def protocol(self) -> str:
        """The subprotocol that the server chose; empty: none."""
        ...

    async def send(self, message: bytes) -> None:
        """Waits while the peer does not read."""
        ...

    async def receive(self) -> bytes | None:
        """The next message, text as UTF-8; None once the peer has closed."""
        ...


class Transport(Protocol):
    """Carries requests to one API server, with its credentials.

    Guarantees: any HTTP status is an answer, never an exception; cancellation leaves no half-read connection behind.
    Errors: `TransportError`.
    """

    async def request(self, request: HttpRequest) -> HttpResponse: ...

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[StreamingResponse]:
        """Opens a streamed answer and closes it on leaving the block."""
        ...

    def websocket(self, request: HttpRequest, protocols: Sequence[str], /) -> AbstractAsyncContextManager[WebSocket]:
        """Opens a WebSocket that speaks one of ``protocols``, dearest first, and closes it on leaving the block.

        Raises `UpgradeRefused` where the server answers with anything else.
        """
        ...

    async def close(self) -> None: ...
