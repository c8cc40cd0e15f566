"""`PodExec`: a command in a running container, over a WebSocket.

Each message is one channel's: its first byte says which
(https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal

import msgspec
from msgspec import Struct

from kubewright.api import DecodeError, Status, api_error, decode
from kubewright.client.requests import pod_path
from kubewright.client.rest import RestClient
from kubewright.client.transport import TransportError, WebSocket

__all__ = ["ExecResult", "Output", "PodExec", "Process"]

_V5, _V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
_STDIN, _STDOUT, _STDERR, _ERROR, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
_LARGEST = 32 * 1024
"""Bytes of standard input in one message; servers read them into buffers of this size."""


class Output(Struct, frozen=True):
    """A part of what a command writes."""

    stream: Literal["stdout", "stderr"]
    data: bytes


class ExecResult(Struct, frozen=True):
    """What came of a command that has ended."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Process:
    """A command that runs in a container; made by `Client.exec`.

    Guarantees
        Output comes in the order in which the server sends it. Who does not read holds the command back, and fills no
        memory. One task may read while others write.
    Errors
        `ApiError` where the command could not be started, `TransportError` where the connection broke: the command may
        then go on.
    """

    def __init__(self, socket: WebSocket, *, stdin: bool, tty: bool, where: str) -> None:
        self._socket = socket
        self._stdin = stdin
        self._tty = tty
        self._where = where
        self._exit_code: int | None = None
        self._ended = False

    @property
    def exit_code(self) -> int | None:
        """None until `output` or `wait` has come to the end."""
        return self._exit_code

    async def write(self, data: bytes) -> None:
        """Sends to standard input; waits while the command does not read. Raises ValueError without ``stdin=True``."""
        self._needs_stdin()
        for start in range(0, len(data), _LARGEST):
            await self._socket.send(bytes((_STDIN,)) + data[start : start + _LARGEST])

    async def close_stdin(self) -> None:
        """Ends standard input. Raises `TransportError` where the server can't: before Kubernetes 1.30."""
        self._needs_closable_stdin()
        await self._socket.send(bytes((_CLOSE, _STDIN)))

    async def resize(self, *, columns: int, rows: int) -> None:
        """Tells the terminal's size. Raises ValueError without ``tty=True``."""
        if not self._tty:
            raise ValueError("only a command with tty=True has a terminal to resize")
        size = msgspec.json.encode({"Width": columns, "Height": rows})
        await self._socket.send(bytes((_RESIZE,)) + size)

    async def output(self) -> AsyncGenerator[Output, None]:
        """What the command writes, until it ends; with ``tty`` all of it is stdout."""
        while not self._ended:
            message = await self._socket.receive()
            if message is None:
                break
            if len(message) < 2:
                continue  # servers open channels with empty messages
            channel, data = message[0], message[1:]
            if channel == _STDOUT:
                yield Output("stdout", data)
            elif channel == _STDERR:
                yield Output("stderr", data)
            elif channel == _ERROR:
                self._exit_code = _exit_code(data)
        self._ended = True
        if self._exit_code is None:
            raise TransportError(
                f"{self._where}: the connection ended before the command did; it may still run", may_be_applied=True
            )

    async def wait(self) -> int:
        """Reads what is left, throws it away, and returns the exit code."""
        async for _ in self.output():
            pass
        return self._exit_code or 0

    async def communicate(self, stdin: bytes | None = None) -> ExecResult:
        """Writes all of ``stdin`` and ends it, reads to the end. A command that does not read is not waited for."""
        parts: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        if stdin is None:
            async for output in self.output():
                parts[output.stream].append(output.data)
        else:
            await self._feed_and_read(stdin, parts)
        return ExecResult(self._exit_code or 0, b"".join(parts["stdout"]), b"".join(parts["stderr"]))

    async def _feed_and_read(self, stdin: bytes, parts: dict[str, list[bytes]]) -> None:
        self._needs_closable_stdin()  # or what is read might wait for an end that can't be sent
        feeding = asyncio.create_task(self._feed(stdin), name=f"stdin of {self._where}")
        try:
            async for output in self.output():
                parts[output.stream].append(output.data)
        finally:
            feeding.cancel()
            await asyncio.wait([feeding])
        if not feeding.cancelled() and (failure := feeding.exception()) is not None and self._exit_code is None:
            raise failure

    async def _feed(self, stdin: bytes) -> None:
        await self.write(stdin)
        await self.close_stdin()

    def _needs_stdin(self) -> None:
        if not self._stdin:
            raise ValueError("this command has no standard input; ask for it with stdin=True")

    def _needs_closable_stdin(self) -> None:
        self._needs_stdin()
        if self._socket.protocol != _V5:
            raise TransportError(
                f"{self._where}: this server can't end a command's standard input ({self._socket.protocol}); "
                "write what ends the command, or use Kubernetes 1.30 or later",
                may_be_applied=True,
            )


class PodExec:
    """A part of `Client`."""

    rest: RestClient

    @asynccontextmanager
    async def exec(
        self,
        pod: str,
        command: Sequence[str],
        *,
        namespace: str,
        container: str | None = None,
        stdin: bool = False,
        tty: bool = False,
    ) -> AsyncIterator[Process]:
        """Starts ``command`` (program and arguments, no shell) in a running container; leaving the block hangs up:
        ``async with client.exec("web", ["ls"], namespace="ns") as process: result = await process.communicate()``

        ``container`` may be left out where the pod has one. With ``tty`` there is a terminal, and no stderr of its own.
        Raises `NotFound`, `BadRequest` for a container that does not run, `Forbidden` without ``create`` (since 1.35) or
        ``get`` on ``pods/exec``.
        """
        if isinstance(command, str) or not command:
            raise ValueError(f"command is {command!r}: give a list of the program and its arguments")
        path = pod_path(namespace, pod, "exec")
        flags = {"stdin": stdin, "stdout": True, "stderr": not tty, "tty": tty}
        query = [("command", part) for part in command]
        query += [("container", container)] if container else []
        query += [(name, "true") for name, value in flags.items() if value]
        async with self.rest.websocket(path, query, (_V5, _V4)) as socket:
            yield Process(socket, stdin=stdin, tty=tty, where=f"exec in pod {namespace}/{pod}")


def _exit_code(data: bytes) -> int:
    """Of the Status that ends a command. Raises `ApiError` where there was no command to end."""
    try:
        status = decode(data, Status)
    except DecodeError:
        status = Status(status="Failure", reason="InternalError", code=500, message=data.decode(errors="replace"))
    if status.status == "Success":
        return 0
    causes = (status.details.causes if status.details else None) or []
    for cause in causes:
        if status.reason == "NonZeroExitCode" and cause.reason == "ExitCode" and (cause.message or "").isdecimal():
            return int(cause.message or "")
    raise api_error(status)
