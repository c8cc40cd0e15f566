"""`Fence`: who no longer leads starts no write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar

from msgspec.structs import replace

from kubewright.api import Clock
from kubewright.client.transport import (
    SAFE_METHODS,
    HttpRequest,
    HttpResponse,
    NotLeading,
    StreamingResponse,
    Transport,
    TransportError,
    WebSocket,
)

__all__ = ["PERMIT", "Fence", "FencedTransport"]


PERMIT: ContextVar[Callable[[], None] | None] = ContextVar("PERMIT", default=None)
"""What a transport that waits before it sends asks once more right before bytes leave; it raises `NotLeading`."""


class Fence:
    """Says until when this process may write, and how long what it has written may still land.

    Guarantees
        It is closed until `extend` opens it, and closed for good once a deadline has passed or `close` was called. A
        write of a client behind it (`Client.fenced`) starts only before the deadline: each attempt is checked, and
        checked again right before its bytes leave, after waits for credentials and connections. It is given up after
        ``write_timeout`` seconds, which the server is told, so that it gives up too.
    Assumptions
        ``clock.monotonic()`` goes on while the machine is suspended, as `SystemClock` does.
    Caveats
        A process that is stopped between the check and the system call sends those bytes when it goes on.
    Errors
        `NotLeading`, which tells that nothing was sent.
    """

    def __init__(self, *, identity: str, lease: str, write_timeout: float, clock: Clock) -> None:
        """``identity`` is who writes, ``lease`` which Lease (``namespace/name``) allows it."""
        self.identity = identity
        self.write_timeout = write_timeout
        self._lease = lease
        self._clock = clock
        self._deadline = float("-inf")
        self._opened = self._closed = False
        self._under_way = 0
        self._idle = asyncio.Event()
        self._may_land_until = float("-inf")

    @property
    def left(self) -> float:
        """Seconds in which writes may start; 0 when none may."""
        return max(0.0, self._deadline - self._clock.monotonic())

    def extend(self, deadline: float) -> None:
        """Opens it until ``deadline`` on the clock's monotonic time, unless it was closed or an earlier one has passed."""
        now = self._clock.monotonic()
        if self._opened and now >= self._deadline:
            self.close()
        elif not self._closed and deadline > now:
            self._opened = True
            self._deadline = max(self._deadline, deadline)

    def close(self) -> None:
        """Nothing starts any more, ever."""
        self._closed = True
        self._deadline = float("-inf")

    def check(self) -> None:
        """Raises `NotLeading` where no write may start now."""
        if self._clock.monotonic() >= self._deadline:
            raise NotLeading(f"{self.identity} does not hold the lease {self._lease} (any more), so nothing was sent")

    @contextmanager
    def write(self) -> Iterator[None]:
        """One attempt at a write. Raises `NotLeading`."""
        self.check()
        started = self._clock.monotonic()
        self._under_way += 1
        try:
            yield
        except TransportError as error:
            if error.may_be_applied:
                self._may_land_until = max(self._may_land_until, started + self.write_timeout)
            raise
        except BaseException:
            self._may_land_until = max(self._may_land_until, started + self.write_timeout)
            raise
        finally:
            self._under_way -= 1
            self._idle.set()

    async def settled(self) -> None:
        """Waits until nothing that was begun can land any more: at most ``write_timeout`` once it is closed."""
        while self._under_way:
            self._idle.clear()
            await self._idle.wait()
        await asyncio.sleep(max(0.0, self._may_land_until - self._clock.monotonic()))


class FencedTransport:
    """Passes on what a `Fence` allows: every read, and writes and WebSockets (which run commands) while it is open.

    A WebSocket that is open stays open.
    """

    def __init__(self, inner: Transport, fence: Fence) -> None:
        self._inner = inner
        self._fence = fence
        self._told = ("timeout", f"{round(fence.write_timeout * 1000)}ms")

    async def request(self, request: HttpRequest) -> HttpResponse:
        if request.method in SAFE_METHODS:
            return await self._inner.request(request)
        with self._fence.write(), self._asked():
            try:
                async with asyncio.timeout(self._fence.write_timeout):
                    return await self._inner.request(replace(request, query=(*request.query, self._told)))
            except TimeoutError as error:
                raise TransportError(
                    f"{request.method} {request.path}: no answer within the {self._fence.write_timeout:g} s that a "
                    "leader's write may take",
                    may_be_applied=True,
                ) from error

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[StreamingResponse]:
        return self._inner.stream(request)

    @asynccontextmanager
    async def websocket(self, request: HttpRequest, protocols: Sequence[str]) -> AsyncIterator[WebSocket]:
        self._fence.check()
        async with AsyncExitStack() as stack:
            with self._asked():
                socket = await stack.enter_async_context(self._inner.websocket(request, protocols))
            yield socket

    async def close(self) -> None:
        await self._inner.close()

    @contextmanager
    def _asked(self) -> Iterator[None]:
        before = PERMIT.set(self._fence.check)
        try:
            yield
        finally:
            PERMIT.reset(before)
