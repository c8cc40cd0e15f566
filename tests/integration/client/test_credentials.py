"""What a server is sent to know us by, and what happens when it does not."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Literal

import pytest
from aiohttp import web
from msgspec.structs import replace

from kubewright.api import Unauthorized
from kubewright.client import (
    BasicAuth,
    Client,
    ClusterConfig,
    ConfigError,
    CredentialError,
    ExecPlugin,
    HttpRequest,
    HttpsTransport,
    TransportError,
)
from kubewright.telemetry import new_log
from tests.clocks import SetClock
from tests.integration.client.conftest import Connect, Server, identity
from tests.integration.client.listening import listening

V1: Literal["client.authentication.k8s.io/v1"] = "client.authentication.k8s.io/v1"


class OnlyToken:
    """A handler that knows one bearer token."""

    def __init__(self, server: Server, token: str) -> None:
        self.server = server
        self.token = token

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") == f"Bearer {self.token}":
            return await self.server.echo(request)
        status = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Unauthorized", "code": 401}
        return web.json_response({**status, "message": "Unauthorized"}, status=401)


def plugin(folder: Path, *tokens: str) -> ExecPlugin:
    """A program that gives one token after the other, and the last one again and again."""
    answers = folder / "answers"
    answers.mkdir()
    for number, token in enumerate(tokens):
        answer = {"apiVersion": V1, "kind": "ExecCredential", "status": {"token": token}}
        (answers / str(number)).write_text(json.dumps(answer))
    program = folder / "log-in"
    program.write_text(
        f"#!/bin/sh\nn=$(wc -l < {folder}/runs)\necho run >> {folder}/runs\n"
        f"cat {answers}/$n 2>/dev/null || cat {answers}/{len(tokens) - 1}\n"
    )
    program.chmod(0o755)
    (folder / "runs").touch()
    return ExecPlugin(api_version=V1, command=str(program), interactive_mode="Never")


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


async def test_a_refused_token_is_renewed_once_and_the_requests_sent_again(
    server: Server, connect: Connect, tmp_path: Path
) -> None:
    server.handler = OnlyToken(server, "new")
    transport = connect(replace(server.config, exec=plugin(tmp_path, "old", "new")))
    answers = await asyncio.gather(*[transport.request(HttpRequest("POST", "/", body=b"{}")) for _ in range(20)])
    assert {answer.status for answer in answers} == {200}
    assert runs(tmp_path) == 2
    async with transport.stream(HttpRequest("GET", "/")) as response:
        assert response.status == 200


async def test_a_stream_renews_too(server: Server, connect: Connect, tmp_path: Path) -> None:
    server.handler = OnlyToken(server, "new")
    transport = connect(replace(server.config, exec=plugin(tmp_path, "old", "new")))
    async with transport.stream(HttpRequest("GET", "/")) as response:
        assert response.status == 200
    assert runs(tmp_path) == 2


async def test_who_is_not_known_after_that_is_named(server: Server, connect: Connect, tmp_path: Path) -> None:
    server.handler = OnlyToken(server, "another")
    config = replace(server.config, exec=plugin(tmp_path, "hunter1", "hunter2"), user="joe", source="/the/file")
    client = Client(connect(config))
    with pytest.raises(Unauthorized, match="Unauthorized") as caught:
        await client.rest.authenticate()
    assert str(caught.value) == (
        f"user 'joe' of /the/file is not known to {server.config.server.rstrip('/')}: log in anew with what "
        f"'{tmp_path}/log-in' belongs to (the server says: Unauthorized)"
    )
    assert len(server.requests) == 2
    assert runs(tmp_path) == 2


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"token": "t"}, r"user 'joe' of /the/file is not known to .*: get a new token"),
        ({"basic": BasicAuth("a", "b")}, "API servers since 1.19 know no passwords"),
        ({}, "it has no credentials; add a token"),
    ],
)
async def test_what_helps_depends_on_the_credential(
    server: Server, connect: Connect, parts: dict[str, object], message: str
) -> None:
    server.handler = OnlyToken(server, "another")
    config = replace(server.config, user="joe", source="/the/file", **parts)
    with pytest.raises(Unauthorized, match=message):
        await Client(connect(config)).rest.authenticate()
    assert len(server.requests) == 1


async def test_a_service_account_is_named_by_its_folder(server: Server, connect: Connect, tmp_path: Path) -> None:
    server.handler = OnlyToken(server, "new")
    (tmp_path / "token").write_text("old")
    client = Client(connect(replace(server.config, token_file=tmp_path / "token")))
    with pytest.raises(Unauthorized, match=f"the service account in {tmp_path} is not known .*{tmp_path}/token holds"):
        await client.rest.authenticate()
    (tmp_path / "token").write_text("new")
    await client.rest.authenticate()


async def test_without_a_credential_nothing_is_sent(server: Server, connect: Connect, tmp_path: Path) -> None:
    transport = connect(replace(server.config, token_file=tmp_path / "nope"))
    with pytest.raises(CredentialError, match=r"no credential for .*: token file .*nope: no such file"):
        await transport.request(HttpRequest("POST", "/"))
    assert server.requests == []


@pytest.mark.parametrize("content", [b"two words", b"one\nline", b"\xff\xfe", "é".encode()])
async def test_a_file_that_holds_no_token_is_said_to(
    server: Server, connect: Connect, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "token").write_bytes(content)
    transport = connect(replace(server.config, token_file=tmp_path / "token"))
    with pytest.raises(CredentialError, match=r"no credential for .*: token file .*token holds no token"):
        await transport.request(HttpRequest("POST", "/"))
    assert server.requests == []


async def test_a_token_is_used_until_the_file_beside_it_can_be_read(
    server: Server, connect: Connect, tmp_path: Path
) -> None:
    clock, path = SetClock(), tmp_path / "token"
    transport = connect(replace(server.config, token="configured", token_file=path), clock=clock)

    async def sent() -> str:
        answer = await transport.request(HttpRequest("GET", "/"))
        return str(json.loads(answer.body)["headers"]["authorization"])

    assert await sent() == "Bearer configured"
    path.write_text("from-the-file\n")
    clock.move(61)
    assert await sent() == "Bearer from-the-file"
    path.unlink()
    clock.move(61)
    assert await sent() == "Bearer from-the-file"


async def test_a_refused_token_gives_way_to_the_file_beside_it(
    server: Server, connect: Connect, tmp_path: Path
) -> None:
    server.handler = OnlyToken(server, "right")
    transport = connect(replace(server.config, token="wrong", token_file=tmp_path / "token"), clock=SetClock())
    assert (await transport.request(HttpRequest("GET", "/"))).status == 401
    (tmp_path / "token").write_text("right")
    assert (await transport.request(HttpRequest("GET", "/"))).status == 200


async def test_who_has_a_client_certificate_runs_no_plugin(server: Server, connect: Connect, tmp_path: Path) -> None:
    config = replace(
        server.config,
        exec=plugin(tmp_path, "token"),
        client_certificate=server.client.certificate,
        client_key=server.client.key,
    )
    answer = json.loads((await connect(config).request(HttpRequest("GET", "/"))).body)
    assert "someone" in answer["client"]
    assert "authorization" not in answer["headers"]
    assert runs(tmp_path) == 0


async def test_files_with_a_client_certificate_are_read_again(server: Server, connect: Connect, tmp_path: Path) -> None:
    clock = SetClock()
    first, second = server.client, identity("someone-else", issuer=server.client)
    files = {"client_certificate_file": tmp_path / "tls.crt", "client_key_file": tmp_path / "tls.key"}

    def put(certificate: bytes, key: bytes) -> None:
        (tmp_path / "tls.crt").write_bytes(certificate)
        (tmp_path / "tls.key").write_bytes(key)

    put(first.certificate, first.key)
    transport = connect(replace(server.config, **files), clock=clock)
    answer = HttpRequest("GET", "/")
    assert b"'someone'" in (await transport.request(answer)).body
    put(second.certificate, first.key)  # half of it
    clock.move(10)
    assert b"'someone'" in (await transport.request(answer)).body
    put(second.certificate, second.key)
    clock.move(10)
    assert b"'someone-else'" in (await transport.request(answer)).body


async def test_a_new_client_certificate_is_tried_when_the_old_one_is_refused(
    server: Server, connect: Connect, tmp_path: Path
) -> None:
    second = identity("someone-else", issuer=server.client)
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(server.client.certificate)
    key.write_bytes(server.client.key)

    async def check(request: web.Request) -> web.StreamResponse:
        answer = await server.echo(request)
        assert isinstance(answer, web.Response)
        return answer if b"someone-else" in (answer.body or b"") else web.Response(status=401)  # type: ignore[operator]

    transport = connect(replace(server.config, client_certificate_file=certificate, client_key_file=key))
    server.handler = check
    assert (await transport.request(HttpRequest("GET", "/"))).status == 401
    certificate.write_bytes(second.certificate)
    key.write_bytes(second.key)
    answers = await asyncio.gather(*[transport.request(HttpRequest("GET", "/")) for _ in range(10)])
    assert {answer.status for answer in answers} == {200}


async def test_a_certificate_authority_is_read_again(server: Server, connect: Connect, tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_bytes(server.client.certificate)
    transport = connect(replace(server.config, ca=None, ca_file=authority))
    with pytest.raises(TransportError, match="certificate verify failed"):
        await transport.request(HttpRequest("GET", "/"))
    authority.write_bytes(server.identity.certificate)
    with pytest.raises(TransportError, match="certificate verify failed"):
        await transport.request(HttpRequest("GET", "/"))  # after which the file is looked at
    assert (await transport.request(HttpRequest("GET", "/"))).status == 200


async def test_a_plugin_may_give_a_client_certificate(server: Server, connect: Connect, tmp_path: Path) -> None:
    found = plugin(tmp_path, "unused")
    status = {"clientCertificateData": server.client.certificate.decode(), "clientKeyData": server.client.key.decode()}
    answer = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    (tmp_path / "answers" / "0").write_text(json.dumps(answer))
    body = (await connect(replace(server.config, exec=found)).request(HttpRequest("GET", "/"))).body
    assert b"'someone'" in body
    status["clientKeyData"] = server.identity.key.decode()
    (tmp_path / "answers" / "0").write_text(json.dumps(answer))
    with pytest.raises(CredentialError, match="client certificate and key can't be used"):
        await connect(replace(server.config, exec=found)).request(HttpRequest("GET", "/"))


async def test_compression_may_be_switched_off(server: Server, connect: Connect) -> None:
    for disabled, expected in ((True, "identity"), (False, "gzip")):
        await connect(replace(server.config, disable_compression=disabled)).request(HttpRequest("GET", "/"))
        assert expected in server.requests[-1].headers["Accept-Encoding"]


async def test_an_unverified_server_is_warned_of_once(server: Server, connect: Connect) -> None:
    stream = io.StringIO()
    config = replace(server.config, ca=None, insecure_skip_tls_verify=True)
    transport = connect(config, log=new_log("json", stream=stream))
    for _ in range(2):
        await transport.request(HttpRequest("GET", "/"))
    (line,) = stream.getvalue().splitlines()
    assert "insecure-skip-tls-verify" in line


async def test_an_address_may_be_ipv6(connect: Connect) -> None:
    transport = connect(ClusterConfig(server="http://[::1]:9"))
    with pytest.raises(TransportError, match=r"^GET http://\[::1\]:9/api: "):
        await transport.request(HttpRequest("GET", "/api"))


async def test_what_a_transport_cannot_work_with_is_said_when_it_is_made(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="client key .*nope: no such file"):
        HttpsTransport(
            replace(server.config, client_certificate=server.client.certificate, client_key_file=tmp_path / "nope")
        )
    with pytest.raises(ConfigError, match="HTTPS_PROXY in the environment can't be used"):
        HttpsTransport(replace(server.config, server="https://c"), environ={"HTTPS_PROXY": "ftp://p:1"})


class Proxy:
    """Takes CONNECT, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.url = ""
        self.answer = b"HTTP/1.1 200 Connection established\r\n\r\n"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        writer.write(self.answer)
        if b"200" in self.answer:
            host, _, port = head.split()[1].rpartition(":")
            there, back = await asyncio.open_connection(host, int(port))
            try:
                await asyncio.gather(self.copy(reader, back), self.copy(there, writer), return_exceptions=True)
            finally:
                back.close()
        writer.close()

    @staticmethod
    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_requests_go_through_the_proxy_with_its_user(server: Server, connect: Connect, scheme: str) -> None:
    proxy = Proxy()
    secure = server.tls if scheme == "https" else None
    async with listening(proxy.serve, tls=secure) as port:
        url = f"{scheme}://me:hunter2@127.0.0.1:{port}"
        transport = connect(replace(server.config, proxy_url=url, token="t"))
        assert (await transport.request(HttpRequest("GET", "/x"))).status == 200
        (asked,) = proxy.asked
        assert asked.startswith(f"CONNECT {server.config.server.split('/')[2]} HTTP/1.1")
        assert "Proxy-Authorization: Basic bWU6aHVudGVyMg==" in asked
        assert "Bearer" not in asked
        proxy.answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
        refused = connect(replace(server.config, proxy_url=url))
        with pytest.raises(TransportError, match=r"407.*through the proxy https?://127.0.0.1:\d+\)$") as caught:
            await refused.request(HttpRequest("POST", "/x"))
        assert not caught.value.may_be_applied
        assert "hunter2" not in str(caught.value)
        await transport.close()


class Socks:
    """RFC 1928 with the names and passwords of RFC 1929; ``reply`` 0 connects, as any other number does not."""

    def __init__(self, port: int) -> None:
        self.asked: list[tuple[str, int]] = []
        self.users: list[bytes] = []
        self.reply = 0
        self._port = port

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, methods = await reader.readexactly(2)
        offered = await reader.readexactly(methods)
        method = 2 if 2 in offered else 0
        writer.write(bytes((5, method)))
        if method == 2:
            name = await reader.readexactly((await reader.readexactly(2))[1])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            self.users.append(name + b":" + password)
            writer.write(b"\x01\x00")
        _, _, _, kind = await reader.readexactly(4)
        assert kind == 3, "the proxy looks names up, not we"
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        self.asked.append((host, int.from_bytes(await reader.readexactly(2))))
        writer.write(bytes((5, self.reply, 0, 1, 0, 0, 0, 0, 0, 0)))
        if self.reply == 0:
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
            try:
                await asyncio.gather(Proxy.copy(reader, back), Proxy.copy(there, writer), return_exceptions=True)
            finally:
                back.close()
        writer.close()


@pytest.mark.parametrize("user", ["", "me:hunter2@"])
async def test_requests_go_through_a_socks_proxy(server: Server, connect: Connect, user: str) -> None:
    port = int(server.config.server.split("/")[2].rpartition(":")[2])
    proxy = Socks(port)
    async with listening(proxy.serve) as entrance:
        url = f"socks5://{user}127.0.0.1:{entrance}"
        config = replace(server.config, server=f"https://kubernetes:{port}/prefix", proxy_url=url)
        transport = connect(config)
        assert (await transport.request(HttpRequest("GET", "/x"))).status == 200
        assert proxy.asked == [("kubernetes", port)]
        assert proxy.users == ([b"me:hunter2"] if user else [])
        proxy.reply = 5
        with pytest.raises(
            TransportError, match=r"proxy refused.*through the proxy socks5://127.0.0.1:\d+\)$"
        ) as caught:
            await connect(config).request(HttpRequest("POST", "/x"))
        assert not caught.value.may_be_applied
        assert "hunter2" not in str(caught.value)
        await transport.close()


async def test_a_proxy_that_is_not_there_is_named(server: Server, connect: Connect) -> None:
    for url in ("http://127.0.0.1:9", "socks5://127.0.0.1:9"):
        with pytest.raises(TransportError, match=rf"connection refused \(through the proxy {url}\)$") as caught:
            await connect(replace(server.config, proxy_url=url)).request(HttpRequest("POST", "/x"))
        assert not caught.value.may_be_applied
