"""`serve`: the plain HTTP on which a manager tells its health and its metrics."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from msgspec import Struct

__all__ = ["Address", "HttpAnswer", "HttpHandler", "serve"]


class Address(Struct, frozen=True):
    """Where to listen: ``host`` None is everywhere, ``port`` 0 any that is free."""

    host: str | None
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """From ``:8081``, ``127.0.0.1:8081`` or ``[::1]:8081``. Raises ValueError."""
        host, colon, port = text.rpartition(":")
        host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        written_well = colon and port.isascii() and port.isdecimal() and not any(map(str.isspace, host))
        if not written_well or int(port) > 65535:
            raise ValueError(f"{text!r} is no address: use HOST:PORT, or :PORT for all of this machine's")
        return cls(host or None, int(port))


class HttpAnswer(Struct, frozen=True):
    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


HttpHandler = Callable[[str, Mapping[str, list[str]]], HttpAnswer]
"""Answers a GET of what follows the handler's own path, with the query's values by name."""


@asynccontextmanager
async def serve(
    address: Address, handlers: Mapping[str, HttpHandler], *, bound: Callable[[int], None] = lambda _: None
) -> AsyncIterator[None]:
    """Serves ``handlers`` by the first part of their path; ``bound`` is told the port. Raises OSError."""
    from aiohttp import web  # noqa: PLC0415 - takes long to load, and only who listens needs it

    async def handle(request: web.BaseRequest) -> web.Response:
        first, _, rest = request.path.lstrip("/").partition("/")
        handler = handlers.get(first)
        if handler is None:
            paths = ", ".join(f"/{name}" for name in handlers)
            return web.Response(status=404, text=f"there are {paths}\n")
        if request.method not in {"GET", "HEAD"}:
            return web.Response(status=405, headers={"Allow": "GET, HEAD"})
        query = {name: request.query.getall(name) for name in request.query}
        answer = handler(rest.rstrip("/"), query)
        headers = {"Content-Type": answer.content_type, "X-Content-Type-Options": "nosniff"}
        return web.Response(status=answer.status, body=answer.body, headers=headers)

    runner = web.ServerRunner(web.Server(handle, access_log=None, logger=_logger()), shutdown_timeout=0.5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host, address.port, reuse_address=True)
        await site.start()
        bound(int(runner.addresses[0][1]))
        yield
    finally:
        await runner.cleanup()


def _logger() -> logging.Logger:
    """aiohttp's, but for what is no HTTP: whoever reaches the port could fill our log with tracebacks of it."""
    from aiohttp.http import HttpProcessingError  # noqa: PLC0415 - as above

    def is_ours(record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))

    logger = logging.Logger("kubewright.http")  # of this server alone
    logger.parent = logging.getLogger("aiohttp.server")
    logger.addFilter(is_ours)
    return logger
