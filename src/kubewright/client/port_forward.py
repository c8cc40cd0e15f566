"""`PodPorts`: a port of a pod as a port of this machine, or one connection to it.

Over WebSockets servers speak ``v4.channel.k8s.io`` here, one WebSocket a connection: channel 0 carries data, channel 1
an error, and both begin with the port's number. What newer kubectls speak is SPDY inside of a WebSocket.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from kubewright.api import ApiError
from kubewright.client.requests import pod_path
from kubewright.client.rest import RestClient
from kubewright.client.transport import TransportError, WebSocket

__all__ = ["ForwardedPort", "PodPorts", "PortConnection"]

_PROTOCOL = "v4.channel.k8s.io"
_DATA, _ERROR = 0, 1
_LARGEST = 32 * 1024
_SILENCE = 5.0
"""Seconds after which a connection ends whose sender has ended their half."""


class PortConnection:
    """One connection to a port of a pod; made by `Client.open_port`. One task may read while another writes."""

    def __init__(self, socket: WebSocket, *, where: str) -> None:
        self._socket = socket
        self._where = where
        self._begun: set[int] = set()

    async def write(self, data: bytes) -> None:
        """Waits while the peer does not read."""
        for start in range(0, len(data), _LARGEST):
            await self._socket.send(bytes((_DATA,)) + data[start : start + _LARGEST])

    async def read(self) -> bytes:
        """What arrives next; empty at the end. Raises `TransportError` where nothing listens on the port."""
        while (message := await self._socket.receive()) is not None:
            if not message:
                continue
            channel, data = message[0], message[1:]
            if channel not in self._begun:
                self._begun.add(channel)
                data = data[2:]  # the port
            if not data:
                continue
            if channel == _DATA:
                return data
            if channel == _ERROR:
                raise TransportError(f"{self._where}: {data.decode(errors='replace').strip()}", may_be_applied=True)
        return b""


class ForwardedPort:
    """Where a pod's port is to be found here, while the block of `Client.port_forward` runs."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port


class PodPorts:
    """A part of `Client`."""

    rest: RestClient

    @asynccontextmanager
    async def open_port(self, pod: str, port: int, *, namespace: str) -> AsyncIterator[PortConnection]:
        """Opens one connection to a port of a pod. Raises `NotFound`, `BadRequest` for a pod that does not run."""
        _check_port(port)
        path = pod_path(namespace, pod, "portforward")
        async with self.rest.websocket(path, [("ports", str(port))], (_PROTOCOL,)) as socket:
            yield PortConnection(socket, where=f"port {port} of pod {namespace}/{pod}")

    @asynccontextmanager
    async def port_forward(
        self,
        pod: str,
        port: int,
        *,
        namespace: str,
        local_port: int = 0,
        host: str = "127.0.0.1",
    ) -> AsyncIterator[ForwardedPort]:
        """Listens on ``host`` and carries each connection to the pod's port; ``local_port`` 0 takes a free one.

        Leaving the block closes all of them. A connection that can't be carried is closed, and noted in the client's
        log. Raises OSError where the local port is in use, and ValueError for what is no port.
        """
        _check_port(port)
        connections: set[asyncio.Task[None]] = set()
        log = self.rest.log.bind(pod=f"{namespace}/{pod}", port=port)

        def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(carry(reader, writer), name=f"connection to port {port} of pod {pod}")
            connections.add(task)
            task.add_done_callback(connections.discard)

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                try:
                    async with self.open_port(pod, port, namespace=namespace) as remote:
                        await _both_ways(reader, writer, remote)
                except (ApiError, TransportError) as error:
                    log.warning("a forwarded connection failed", error=str(error))
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
            finally:
                writer.transport.abort()  # whoever leaves the block waits for nobody who does not read

        server = await asyncio.start_server(accepted, host, local_port)
        try:
            yield ForwardedPort(host, server.sockets[0].getsockname()[1])
        finally:
            server.close()
            for task in connections:
                task.cancel()
            if connections:
                await asyncio.wait(connections)
            await server.wait_closed()


def _check_port(port: int) -> None:
    if not 0 < port < 65536:
        raise ValueError(f"{port} is no port: use a number from 1 to 65535")


async def _both_ways(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, remote: PortConnection) -> None:
    """Until the pod ends the connection.

    That who connected here has ended their half can't be passed on: they get what still comes, until there is silence.
    """
    loop = asyncio.get_running_loop()
    sending = asyncio.create_task(_outwards(reader, remote))
    try:
        async with asyncio.timeout(None) as silence:

            def wait_no_longer(_: object) -> None:
                silence.reschedule(loop.time() + _SILENCE)

            sending.add_done_callback(wait_no_longer)
            try:
                while data := await remote.read():
                    if sending.done():
                        wait_no_longer(sending)
                    writer.write(data)
                    await writer.drain()
            finally:
                sending.remove_done_callback(wait_no_longer)
    except (TimeoutError, ConnectionError):  # silence, or nobody is here any more
        pass
    finally:
        sending.cancel()
        await asyncio.wait([sending])


async def _outwards(reader: asyncio.StreamReader, remote: PortConnection) -> None:
    with suppress(OSError, TransportError):  # who reads from the pod is told of its end
        while data := await reader.read(_LARGEST):
            await remote.write(data)
