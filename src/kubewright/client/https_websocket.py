"""A `WebSocket` over aiohttp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubewright.client.transport import HttpRequest, HttpResponse, TransportError, UpgradeRefused

if TYPE_CHECKING:
    import aiohttp
    from aiohttp import ClientHandlerType

__all__ = ["HttpsWebSocket", "refusals_have_bodies"]


async def refusals_have_bodies(request: aiohttp.ClientRequest, send: ClientHandlerType) -> aiohttp.ClientResponse:
    """A middleware: aiohttp throws a refused handshake's body away, which says why it was refused."""
    response = await send(request)
    if response.status == 101:
        return response
    async with response:
        body = await response.read()
    headers = {name.lower(): value for name, value in response.headers.items()}
    raise UpgradeRefused(HttpResponse(response.status, headers, body))


class HttpsWebSocket:
    """Satisfies `kubewright.client.transport.WebSocket`."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, request: HttpRequest) -> None:
        import aiohttp  # noqa: PLC0415 - see `kubewright.client.https`

        self._socket = socket
        self._where = f"{request.method} {request.path}"
        self._types = aiohttp.WSMsgType

    @property
    def protocol(self) -> str:
        return self._socket.protocol or ""

    async def send(self, message: bytes) -> None:
        try:
            await self._socket.send_bytes(message)
        except (OSError, RuntimeError) as error:  # the latter where it was closed before
            raise self._broken(str(error)) from error

    async def receive(self) -> bytes | None:
        message = await self._socket.receive()
        types = self._types
        if message.type is types.BINARY:
            return bytes(message.data)
        if message.type is types.TEXT:
            return str(message.data).encode()
        if message.type is types.ERROR:
            raise self._broken(str(message.data))
        code = self._socket.close_code
        if code is not None and code not in {1000, 1001, 1005}:
            raise self._broken("the connection was lost" if code == 1006 else f"the server closed with code {code}")
        return None

    def _broken(self, why: str) -> TransportError:
        return TransportError(f"{self._where}: {why or 'the connection was lost'}", may_be_applied=True)
