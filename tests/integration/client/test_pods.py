"""Commands in pods and ports of pods, against a server that speaks WebSocket as an API server does."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from pathlib import Path

import pytest
from aiohttp import WSMessage, WSMsgType, web
from msgspec.structs import replace

from kubewright.api import BadRequest, Forbidden, InternalError
from kubewright.client import Client, TransportError
from tests.integration.client.conftest import Connect, Server
from tests.integration.client.test_credentials import plugin, runs
from tests.integration.passing_time import time_passes

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
Speak = Callable[[web.WebSocketResponse], Awaitable[None]]


def status(**parts: object) -> dict[str, object]:
    return {"metadata": {}, "status": "Failure", **parts}


def exit_status(code: int) -> dict[str, object]:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return status(reason="NonZeroExitCode", message=f"exit code {code}", details={"causes": causes})


class Kubelet:
    """Upgrades to the first of ``protocols`` that the client knows, opens the channels and lets a test speak."""

    def __init__(self, *protocols: str) -> None:
        self.protocols = protocols
        self.requests: list[web.Request] = []
        self.speak: Speak
        self.closed = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        socket = web.WebSocketResponse(protocols=self.protocols, autoclose=False)
        await socket.prepare(request)
        for channel in (STDIN, STDOUT, STDERR, ERROR):
            await socket.send_bytes(bytes((channel,)))
        try:
            await self.speak(socket)
        finally:
            await socket.close()
            self.closed.set()
        return socket


async def send(socket: web.WebSocketResponse, channel: int, data: bytes) -> None:
    await socket.send_bytes(bytes((channel,)) + data)


async def end(socket: web.WebSocketResponse, answer: object) -> None:
    await send(socket, ERROR, json.dumps(answer).encode())


async def received(socket: web.WebSocketResponse) -> bytes:
    message: WSMessage = await socket.receive()
    assert message.type is WSMsgType.BINARY, message
    return bytes(message.data)


@pytest.fixture
def kubelet(server: Server) -> Kubelet:
    made = Kubelet("v5.channel.k8s.io", "v4.channel.k8s.io")
    server.handler = made
    return made


@pytest.fixture
async def client(server: Server, connect: Connect) -> Client:
    return Client(connect(server.config))


async def test_a_command_is_asked_for_and_its_output_comes_in_order(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await send(socket, STDOUT, b"one\n")
        await send(socket, STDERR, b"two\n")
        await send(socket, STDOUT, b"three\n")
        await end(socket, exit_status(0))

    kubelet.speak = speak
    async with client.exec("web", ["sh", "-c", "a & b"], namespace="ns", container="app") as process:
        got = [(output.stream, output.data) async for output in process.output()]
        assert process.exit_code == 0
    assert got == [("stdout", b"one\n"), ("stderr", b"two\n"), ("stdout", b"three\n")]
    (request,) = kubelet.requests
    assert request.path == "/prefix/api/v1/namespaces/ns/pods/web/exec"
    assert list(request.query.items()) == [
        ("command", "sh"),
        ("command", "-c"),
        ("command", "a & b"),
        ("container", "app"),
        ("stdout", "true"),
        ("stderr", "true"),
    ]
    assert request.headers["Sec-WebSocket-Protocol"] == "v5.channel.k8s.io, v4.channel.k8s.io"


@pytest.mark.parametrize("code", [0, 1, 137])
async def test_the_exit_code_is_in_the_last_status(client: Client, kubelet: Kubelet, code: int) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await end(socket, exit_status(code))

    kubelet.speak = speak
    async with client.exec("web", ["x"], namespace="ns") as process:
        assert await process.wait() == code


async def test_input_is_sent_and_ended(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        whole = b""
        while (message := await received(socket)) != bytes((CLOSE, STDIN)):
            assert message[0] == STDIN
            assert len(message) <= 32 * 1024 + 1
            whole += message[1:]
        await send(socket, STDOUT, str(len(whole)).encode())
        await end(socket, exit_status(3))

    kubelet.speak = speak
    async with client.exec("web", ["wc"], namespace="ns", stdin=True) as process:
        result = await process.communicate(b"x" * 100_000)
    assert (result.exit_code, result.stdout, result.stderr) == (3, b"100000", b"")


async def test_a_command_that_does_not_read_is_not_waited_for(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await end(socket, exit_status(0))

    kubelet.speak = speak
    async with client.exec("web", ["true"], namespace="ns", stdin=True) as process:
        assert (await process.communicate(b"x" * 10_000_000)).exit_code == 0


async def test_a_terminal_has_a_size_and_no_stderr(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        message = await received(socket)
        await send(socket, STDOUT, message)
        await end(socket, exit_status(0))

    kubelet.speak = speak
    async with client.exec("web", ["sh"], namespace="ns", tty=True) as process:
        await process.resize(columns=80, rows=24)
        result = await process.communicate()
    assert json.loads(result.stdout[1:]) == {"Width": 80, "Height": 24}
    assert result.stdout[0] == RESIZE
    assert "stderr" not in kubelet.requests[0].query
    assert kubelet.requests[0].query["tty"] == "true"


async def test_an_older_server_speaks_v4_and_cannot_end_input(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await send(socket, STDOUT, await received(socket))
        await end(socket, exit_status(0))

    kubelet.protocols = ("v4.channel.k8s.io",)
    kubelet.speak = speak
    async with client.exec("web", ["head", "-1"], namespace="ns", stdin=True) as process:
        with pytest.raises(TransportError, match=r"exec in pod ns/web: .*can't end .*\(v4\.channel.*1\.30 or later"):
            await process.close_stdin()
        with pytest.raises(TransportError, match="can't end a command's standard input"):
            await process.communicate(b"line\n")
        await process.write(b"line\n")
        assert (await process.communicate()).stdout == b"\0line\n"


async def test_a_server_that_speaks_neither_is_named(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await end(socket, exit_status(0))

    kubelet.protocols = ()
    kubelet.speak = speak
    with pytest.raises(TransportError, match=r"the server speaks none of v5\.channel\.k8s\.io, v4"):
        async with client.exec("web", ["x"], namespace="ns"):
            pytest.fail("there is nothing to speak")


async def test_a_command_that_could_not_start_is_an_error(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await end(socket, status(reason="InternalError", code=500, message='exec: "nope": not found in $PATH'))

    kubelet.speak = speak
    async with client.exec("web", ["nope"], namespace="ns") as process:
        with pytest.raises(InternalError, match="not found in"):
            await process.wait()


async def test_a_connection_that_ends_early_is_not_taken_for_success(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await send(socket, STDOUT, b"half")

    kubelet.speak = speak
    async with client.exec("web", ["x"], namespace="ns") as process:
        with pytest.raises(TransportError, match="ended before the command did; it may still run") as caught:
            await process.communicate()
        assert caught.value.may_be_applied


async def test_a_connection_that_breaks_is_a_transport_error(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        transport = kubelet.requests[-1].transport
        assert transport is not None
        transport.abort()

    kubelet.speak = speak
    async with client.exec("web", ["x"], namespace="ns", stdin=True) as process:
        with pytest.raises(TransportError, match=r"^GET /api/v1/namespaces/ns/pods/web/exec: the connection was lost$"):
            await process.wait()
        with pytest.raises(TransportError):
            await process.write(b"x")


async def test_a_refusal_says_why(server: Server, client: Client) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        body = status(apiVersion="v1", kind="Status", reason="BadRequest", code=400, message="container x is not valid")
        return web.json_response(body, status=400)

    server.handler = refuse
    with pytest.raises(BadRequest, match="container x is not valid"):
        async with client.exec("web", ["x"], namespace="ns", container="x"):
            pytest.fail("it was refused")

    async def forbid(_: web.Request) -> web.StreamResponse:
        return web.Response(status=403, text="no")

    server.handler = forbid
    with pytest.raises(Forbidden, match=r"HTTP 403 \(Forbidden\): no"):
        async with client.exec("web", ["x"], namespace="ns"):
            pytest.fail("it was refused")


async def test_a_refused_token_is_renewed_for_websockets_too(
    server: Server, connect: Connect, kubelet: Kubelet, tmp_path: Path
) -> None:
    found = plugin(tmp_path, "old", "new")

    async def speak(socket: web.WebSocketResponse) -> None:
        await end(socket, exit_status(0))

    async def check(request: web.Request) -> web.StreamResponse:
        return await kubelet(request) if request.headers["Authorization"] == "Bearer new" else web.Response(status=401)

    kubelet.speak = speak
    server.handler = check
    async with Client(connect(replace(server.config, exec=found))).exec("web", ["x"], namespace="ns") as process:
        assert await process.wait() == 0
    assert runs(tmp_path) == 2


async def test_leaving_the_block_hangs_up(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await send(socket, STDOUT, b"x")
        await socket.receive()

    kubelet.speak = speak
    async with (
        client.exec("web", ["sleep", "1000"], namespace="ns") as process,
        aclosing(process.output()) as output,
    ):
        assert (await anext(output)).data == b"x"
    await asyncio.wait_for(kubelet.closed.wait(), 5)


@pytest.mark.parametrize(("command", "message"), [("ls -l", "command is 'ls -l': give a list"), ([], "give a list")])
async def test_a_command_is_a_list(client: Client, command: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        async with client.exec("web", command, namespace="ns"):
            pytest.fail("this is no command")


async def test_what_was_not_asked_for_is_not_there(client: Client, kubelet: Kubelet) -> None:
    async def speak(socket: web.WebSocketResponse) -> None:
        await end(socket, exit_status(0))

    kubelet.speak = speak
    async with client.exec("web", ["x"], namespace="ns") as process:
        with pytest.raises(ValueError, match="no standard input; ask for it with stdin=True"):
            await process.write(b"x")
        with pytest.raises(ValueError, match="only a command with tty=True"):
            await process.resize(columns=1, rows=1)


async def test_a_command_may_take_longer_than_a_request(server: Server, connect: Connect, kubelet: Kubelet) -> None:
    later = asyncio.Event()

    async def speak(socket: web.WebSocketResponse) -> None:
        await later.wait()
        await end(socket, exit_status(0))

    kubelet.speak = speak
    async with Client(connect(server.config, request_timeout=60)).exec("web", ["x"], namespace="ns") as process:
        await time_passes(120)
        later.set()
        assert await process.wait() == 0


class PodPort:
    """What a kubelet does with ``portforward``: both channels begin with the port, then data is echoed in capitals."""

    def __init__(self, kubelet: Kubelet) -> None:
        kubelet.protocols = ("v4.channel.k8s.io",)
        kubelet.speak = self.speak
        self.refusal = b""
        self.kubelet = kubelet

    async def speak(self, socket: web.WebSocketResponse) -> None:
        port = int(self.kubelet.requests[-1].query["ports"]).to_bytes(2, "little")
        for channel in (0, 1):
            await send(socket, channel, port)
        if self.refusal:
            await send(socket, 1, self.refusal)
            return
        while True:
            message = await socket.receive()
            if message.type is not WSMsgType.BINARY:
                return
            assert message.data[0] == 0
            if message.data[1:] == b"bye":
                return
            await send(socket, 0, message.data[1:].upper())


@pytest.fixture
def pod_port(server: Server) -> PodPort:
    kubelet = PortKubelet()
    server.handler = kubelet
    return PodPort(kubelet)


class PortKubelet(Kubelet):
    """Port forwarding opens its channels with the port, not with nothing."""

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        socket = web.WebSocketResponse(protocols=self.protocols)
        await socket.prepare(request)
        try:
            await self.speak(socket)
        finally:
            await socket.close()
            self.closed.set()
        return socket


async def test_a_port_of_a_pod_is_a_port_here(client: Client, pod_port: PodPort) -> None:
    async with client.port_forward("web", 8080, namespace="ns") as forwarded:
        pairs = [await asyncio.open_connection(forwarded.host, forwarded.port) for _ in range(2)]
        for number, (reader, writer) in enumerate(pairs):
            writer.write(b"hello %d" % number)
            assert await reader.readexactly(7) == b"HELLO %d" % number
        reader, writer = pairs[0]
        writer.write(b"bye")
        assert await reader.read() == b""
        writer.close()
    reader, writer = pairs[1]
    assert await reader.read() == b""  # leaving the block closed it
    writer.close()
    request = pod_port.kubelet.requests[0]
    assert request.path == "/prefix/api/v1/namespaces/ns/pods/web/portforward"
    assert request.query["ports"] == "8080"


async def test_large_data_goes_through_whole(client: Client, pod_port: PodPort) -> None:
    data = bytes(range(65, 91)) * 40_000
    async with client.port_forward("web", 8080, namespace="ns") as forwarded:
        reader, writer = await asyncio.open_connection(forwarded.host, forwarded.port)

        async def write() -> None:
            writer.write(data)
            await writer.drain()

        got, _ = await asyncio.gather(reader.readexactly(len(data)), write())
        assert got == data
        writer.close()


async def test_who_connects_and_does_not_read_keeps_nobody_in_the_block(
    client: Client, pod_port: PodPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = asyncio.Event()
    drain = asyncio.StreamWriter.drain

    async def noticed(writer: asyncio.StreamWriter) -> None:
        transport = writer.transport
        if transport.get_write_buffer_size() > transport.get_write_buffer_limits()[1]:
            full.set()
        await drain(writer)

    async def speak(pod: web.WebSocketResponse) -> None:
        for channel in (0, 1):
            await send(pod, channel, (8080).to_bytes(2, "little"))
        with suppress(ConnectionError):
            while True:
                await send(pod, 0, b"a" * 32_768)

    monkeypatch.setattr(asyncio.StreamWriter, "drain", noticed)
    pod_port.kubelet.speak = speak
    with socket.socket() as local:
        async with asyncio.timeout(10), client.port_forward("web", 8080, namespace="ns") as forwarded:
            local.connect((forwarded.host, forwarded.port))
            await full.wait()


async def test_what_comes_after_the_sender_has_ended_is_received(client: Client, pod_port: PodPort) -> None:
    async with client.port_forward("web", 8080, namespace="ns") as forwarded:
        reader, writer = await asyncio.open_connection(forwarded.host, forwarded.port)
        writer.write(b"hello")
        writer.write_eof()
        assert await reader.readexactly(5) == b"HELLO"
        writer.close()


async def test_a_port_on_which_nobody_listens_is_an_error(client: Client, pod_port: PodPort) -> None:
    pod_port.refusal = b"connection refused"
    async with client.open_port("web", 81, namespace="ns") as connection:
        with pytest.raises(TransportError, match="^port 81 of pod ns/web: connection refused$"):
            await connection.read()
    async with client.port_forward("web", 81, namespace="ns") as forwarded:
        reader, writer = await asyncio.open_connection(forwarded.host, forwarded.port)
        assert await reader.read() == b""
        writer.close()


async def test_one_connection_needs_no_port_here(client: Client, pod_port: PodPort) -> None:
    async with client.open_port("web", 8080, namespace="ns") as connection:
        await connection.write(b"hello")
        assert await connection.read() == b"HELLO"
        await connection.write(b"bye")
        assert await connection.read() == b""


@pytest.mark.parametrize("port", [0, 65536])
async def test_what_is_no_port_is_said_to_be(client: Client, port: int) -> None:
    with pytest.raises(ValueError, match=f"{port} is no port: use a number from 1 to 65535"):
        async with client.port_forward("web", port, namespace="ns"):
            pytest.fail("this is no port")
