"""`Dialer`: how a connection to an API server comes about, also through a proxy."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import TypeVar, cast
from urllib.parse import urlsplit

from kubewright.client.connection import BrokenConnectionError, Connection
from kubewright.client.proxies import Proxy
from kubewright.client.reaching import reach

__all__ = ["Dialer"]

_P = TypeVar("_P", bound=asyncio.BaseProtocol)
_RECEIVED_AT_ONCE = 256 * 1024
_STREAM_LIMIT = 1024 * 1024
_UNACKNOWLEDGED = 60
"""Seconds."""


class Dialer:
    """Connects to the server of one URL.

    A connection's peer that is gone is noticed within a minute, also while a watch waits for its next event.
    """

    def __init__(self, server: str, *, proxy: Proxy | None, server_name: str | None, timeout: float) -> None:
        """``server_name`` is whose certificate is expected, the URL's host unless given; ``timeout`` in seconds."""
        parts = urlsplit(server)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._proxy = proxy
        self._server_name = server_name
        self._timeout = timeout
        self._buffer = memoryview(bytearray(_RECEIVED_AT_ONCE))

    async def connect(self, context: ssl.SSLContext | None) -> Connection:
        """Raises OSError, among them ``TimeoutError`` and ``ssl.SSLCertVerificationError``."""
        transport, connection = await self._connected(context, lambda: Connection(context, self._buffer))
        connection.must_be_open()  # or nothing could be sent, and whoever waits for an answer would be in doubt
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # without which a request that nobody acknowledges waits 15 minutes
            opened = transport.get_extra_info("socket")
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED * 1000)
        return connection

    async def connect_stream(self, context: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """For what is not HTTP, or soon not any more. Raises as `connect`."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_STREAM_LIMIT, loop=loop)
        transport, protocol = await self._connected(context, lambda: asyncio.StreamReaderProtocol(reader, loop=loop))
        if reader.at_eof():
            transport.abort()
            raise BrokenConnectionError("the server disconnected")
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _connected(self, context: ssl.SSLContext | None, make: Callable[[], _P]) -> tuple[asyncio.Transport, _P]:
        proxy = self._proxy
        async with asyncio.timeout(self._timeout):
            if proxy is None:
                return await _dial(self._host, self._port, context, self._server_name or self._host, make)
            if proxy.scheme.startswith("socks"):
                return await self._through_socks(proxy, context, make)
            if context is None:
                return await _dial(proxy.host, proxy.port, _for_proxy(proxy, context), proxy.host, make)
            return await self._through_tunnel(proxy, context, make)

    async def _through_tunnel(
        self, proxy: Proxy, context: ssl.SSLContext, make: Callable[[], _P]
    ) -> tuple[asyncio.Transport, _P]:
        """https://www.rfc-editor.org/rfc/rfc9110#name-connect"""
        secure = _for_proxy(proxy, context)
        outer, tunnel = await _dial(
            proxy.host, proxy.port, secure, proxy.host, lambda: Connection(secure, self._buffer)
        )
        try:
            target = f"[{self._host}]:{self._port}" if ":" in self._host else f"{self._host}:{self._port}"
            lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
            if proxy.authorization:
                lines.append(f"Proxy-Authorization: {proxy.authorization}")
            await tunnel.begin("\r\n".join([*lines, "", ""]).encode(), silence=self._timeout)
            _must_be_open(tunnel)
        except BaseException:
            outer.abort()
            raise
        return await _secured(outer, context, self._server_name or self._host, make)

    async def _through_socks(
        self, proxy: Proxy, context: ssl.SSLContext | None, make: Callable[[], _P]
    ) -> tuple[asyncio.Transport, _P]:
        """https://www.rfc-editor.org/rfc/rfc1928; the proxy looks the server's name up, as in Go's programs."""
        from python_socks import ProxyError, ProxyType  # noqa: PLC0415 - few need it
        from python_socks.async_.asyncio import Proxy as Socks  # noqa: PLC0415 - as above

        user, password = proxy.user or (None, None)
        way = cast("Socks", _Way())
        socks = Socks(ProxyType.SOCKS5, proxy.host, proxy.port, user, password, rdns=True, forward=way)
        try:
            opened = await socks.connect(self._host, self._port, timeout=self._timeout)
        except ProxyError as error:
            raise BrokenConnectionError(f"the proxy refused: {error}") from error
        return await _carried(opened, context, self._server_name or self._host, make)


class _Way:
    """How python-socks comes to the proxy: by itself it tries one of its addresses only."""

    async def connect(self, dest_host: str, dest_port: int, **_: object) -> socket.socket:
        return await reach(dest_host, dest_port)


async def _dial(
    host: str, port: int, context: ssl.SSLContext | None, server_name: str, make: Callable[[], _P]
) -> tuple[asyncio.Transport, _P]:
    return await _carried(await reach(host, port), context, server_name, make)


async def _carried(
    opened: socket.socket, context: ssl.SSLContext | None, server_name: str, make: Callable[[], _P]
) -> tuple[asyncio.Transport, _P]:
    _keep_alive(opened)
    loop = asyncio.get_running_loop()
    if context is None:
        return await loop.create_connection(make, sock=opened)
    # asyncio's own way to TLS forgets a connection whose handshake is about to begin when it is cancelled
    outer, _ = await loop.create_connection(_Silent, sock=opened)
    return await _secured(outer, context, server_name, make)


class _Silent(asyncio.Protocol):
    """Leaves what comes to the protocol that takes its place."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).pause_reading()


async def _secured(
    outer: asyncio.Transport, context: ssl.SSLContext, server_name: str, make: Callable[[], _P]
) -> tuple[asyncio.Transport, _P]:
    protocol = make()
    try:
        inner = await asyncio.get_running_loop().start_tls(outer, protocol, context, server_hostname=server_name)
    except BaseException:
        outer.abort()
        raise
    if inner is None:
        outer.abort()
        raise BrokenConnectionError("the peer disconnected")
    protocol.connection_made(inner)
    return inner, protocol


def _must_be_open(tunnel: Connection) -> None:
    if tunnel.status != 200:
        raise BrokenConnectionError(f"the proxy answered {tunnel.status} {tunnel.reason}".rstrip())


def _for_proxy(proxy: Proxy, context: ssl.SSLContext | None) -> ssl.SSLContext | None:
    """Whom to trust as the proxy: whom we trust as the server, as Go's programs do."""
    return (context or ssl.create_default_context()) if proxy.scheme == "https" else None


def _keep_alive(opened: socket.socket) -> None:
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):  # not every system has them all
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
