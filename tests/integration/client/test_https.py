"""`HttpsTransport` against an HTTPS server on loopback."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from kubewright.client import (
    BasicAuth,
    ClusterConfig,
    ConfigError,
    HttpRequest,
    HttpsTransport,
    TransportError,
)
from tests.integration.client.conftest import Connect, Server


async def get(transport: HttpsTransport, path: str = "/api", **parts: object) -> dict[str, object]:
    import json

    response = await transport.request(HttpRequest("GET", path, **parts))  # type: ignore[arg-type]  # forwarded
    assert response.status == 200
    return dict(json.loads(response.body))


async def test_a_request_arrives_as_it_was_meant(server: Server, connect: Connect) -> None:
    request = HttpRequest(
        "PATCH",
        "/apis/x/v1/roles/system:a%b c/é",
        (("labelSelector", "a in (b,c),d=e"), ("x", "&=?#+ ")),
        {"content-type": "application/json-patch+json", "user-agent": "me/1", "accept": "application/json"},
        b"[]",
    )
    response = await connect(server.config).request(request)
    assert response.headers["content-type"].startswith("application/json")
    assert server.requests[0].path == "/prefix/apis/x/v1/roles/system:a%b c/é"
    assert list(server.requests[0].query.items()) == list(request.query)
    for name, value in request.headers.items():
        assert server.requests[0].headers[name] == value
    assert b'"body": "[]"' in response.body


async def test_any_status_is_an_answer(server: Server, connect: Connect) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=503, headers={"Retry-After": "7"}, text="later")

    server.handler = refuse
    response = await connect(server.config).request(HttpRequest("GET", "/"))
    assert (response.status, response.headers["retry-after"], response.body) == (503, "7", b"later")


async def test_redirects_are_not_followed(server: Server, connect: Connect) -> None:
    async def redirect(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("https://elsewhere.invalid/")

    server.handler = redirect
    assert (await connect(server.config).request(HttpRequest("GET", "/"))).status == 302


async def test_tokens_are_sent_and_read_again_when_refused(server: Server, connect: Connect, tmp_path: Path) -> None:
    async def check(request: web.Request) -> web.StreamResponse:
        return web.Response(status=200 if request.headers["Authorization"] == "Bearer new" else 401)

    token = tmp_path / "token"
    token.write_text("old")
    transport = connect(replace(server.config, token_file=token, token="not this one"))
    server.handler = check
    assert (await transport.request(HttpRequest("GET", "/"))).status == 401
    token.write_text("new")
    assert (await transport.request(HttpRequest("GET", "/"))).status == 200


async def test_every_kind_of_identity_reaches_the_server(server: Server, connect: Connect) -> None:
    async def headers(config: ClusterConfig) -> dict[str, object]:
        return dict((await get(connect(config)))["headers"])  # type: ignore[call-overload,no-any-return]  # from JSON

    assert (await headers(replace(server.config, token="t")))["authorization"] == "Bearer t"
    basic = await headers(replace(server.config, basic=BasicAuth("joe", "pw")))
    assert basic["authorization"] == "Basic am9lOnB3"
    acting = replace(server.config, impersonate={"impersonate-user": ("admin",), "impersonate-group": ("a", "b")})
    await headers(acting)
    assert server.requests[-1].headers.getall("impersonate-group") == ["a", "b"]
    certified = replace(server.config, client_certificate=server.client.certificate, client_key=server.client.key)
    assert "someone" in str((await get(connect(certified)))["client"])


async def test_a_server_with_another_certificate_is_not_trusted(server: Server, connect: Connect) -> None:
    for config in (replace(server.config, ca=server.client.certificate), replace(server.config, ca=None)):
        with pytest.raises(TransportError, match=r"certificate verify failed: [\w -]+$") as caught:
            await connect(config).request(HttpRequest("POST", "/"))
        assert not caught.value.may_be_applied
    assert await get(connect(replace(server.config, ca=None, insecure_skip_tls_verify=True)))


async def test_the_name_to_expect_may_be_given(server: Server, connect: Connect) -> None:
    assert await get(connect(replace(server.config, tls_server_name="kubernetes")))
    with pytest.raises(TransportError, match="certificate verify failed"):
        await get(connect(replace(server.config, tls_server_name="other")))


async def test_certificates_that_cannot_be_used_are_said_to_be(server: Server) -> None:
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    with pytest.raises(ConfigError, match="the test: the certificate authority can't be read"):
        HttpsTransport(replace(server.config, ca=broken))
    mismatched = replace(server.config, client_certificate=server.client.certificate, client_key=server.identity.key)
    with pytest.raises(ConfigError, match="the test: client certificate and key can't be used"):
        HttpsTransport(mismatched)


async def test_nobody_listening_means_that_nothing_was_applied(connect: Connect) -> None:
    transport = connect(ClusterConfig(server="http://127.0.0.1:9"))
    with pytest.raises(TransportError, match=r"^POST http://127\.0\.0\.1:9/api: connection refused$") as caught:
        await transport.request(HttpRequest("POST", "/api", body=b"{}"))
    assert not caught.value.may_be_applied


async def test_a_host_that_nobody_knows_is_said_to_be(connect: Connect) -> None:
    with pytest.raises(TransportError, match=r"GET https://nowhere\.invalid/: (?!cannot connect).*"):
        await connect(ClusterConfig(server="https://nowhere.invalid")).request(HttpRequest("GET", "/"))


@pytest.mark.parametrize("host", ["my..cluster", f"{'a' * 64}.example.com"])
async def test_a_host_that_nobody_can_look_up_is_said_to_be_none(connect: Connect, host: str) -> None:
    with pytest.raises(TransportError, match=rf"GET https://{host}/: no host can have this name$"):
        await connect(ClusterConfig(server=f"https://{host}")).request(HttpRequest("GET", "/"))


async def test_a_connection_lost_before_the_answer_leaves_writes_in_doubt(server: Server, connect: Connect) -> None:
    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    server.handler = hang_up
    for method, in_doubt in (("POST", True), ("GET", False)):
        with pytest.raises(TransportError) as caught:
            await connect(server.config).request(HttpRequest(method, "/"))
        assert caught.value.may_be_applied is in_doubt
        assert ("may have been done" in str(caught.value)) is in_doubt


async def test_an_answer_that_takes_too_long_is_given_up(server: Server, connect: Connect) -> None:
    async def dawdle(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    server.handler = dawdle
    with pytest.raises(TransportError, match="no answer in time") as caught:
        await connect(server.config, request_timeout=0.05).request(HttpRequest("PUT", "/"))
    assert caught.value.may_be_applied


class Stream:
    """A handler whose chunks the test sends one by one, and that knows when its client has gone."""

    def __init__(self) -> None:
        self.chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.sent = asyncio.Semaphore(0)
        self.ended = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while (chunk := await self.chunks.get()) is not None:
                await response.write(chunk)
                self.sent.release()
        finally:
            self.ended.set()
        return response


async def test_chunks_arrive_as_they_are_sent(server: Server, connect: Connect) -> None:
    stream = server.handler = Stream()
    async with connect(server.config).stream(HttpRequest("GET", "/", (("watch", "true"),))) as response:
        assert response.status == 200
        for chunk in (b"a", b"b" * 100_000):
            stream.chunks.put_nowait(chunk)
            got = b""
            while len(got) < len(chunk):
                got += await anext(response.chunks)
            assert got == chunk
        stream.chunks.put_nowait(None)
        assert [rest async for rest in response.chunks] == []


async def test_leaving_a_stream_hangs_up(server: Server, connect: Connect) -> None:
    stream = server.handler = Stream()
    transport = connect(server.config)
    async with transport.stream(HttpRequest("GET", "/")) as response:
        stream.chunks.put_nowait(b"a")
        assert await anext(response.chunks) == b"a"
    server.handler = server.echo
    assert await get(transport)
    stream.chunks.put_nowait(b"b")
    stream.chunks.put_nowait(b"c")
    await asyncio.wait_for(stream.ended.wait(), 5)


async def test_a_cancelled_watcher_hangs_up(server: Server, connect: Connect) -> None:
    server.handler = Stream()
    started = asyncio.Event()

    async def watch() -> None:
        async with connect(server.config).stream(HttpRequest("GET", "/")) as response:
            started.set()
            async for _ in response.chunks:
                pass

    async with asyncio.TaskGroup() as group:
        task = group.create_task(watch())
        await asyncio.wait_for(started.wait(), 5)
        task.cancel()
    assert task.cancelled()


async def test_a_read_survives_a_kept_connection_that_ended(server: Server, connect: Connect) -> None:
    transport = connect(server.config)
    await get(transport)
    server.cut_off_unseen()
    assert await get(transport)


async def test_a_write_takes_no_connection_that_ended_unseen(server: Server, connect: Connect) -> None:
    transport = connect(server.config)
    for method in ("POST", "PATCH", "PUT", "DELETE"):
        await get(transport)
        before = len(server.requests)
        server.cut_off_unseen()
        response = await transport.request(HttpRequest(method, "/", body=b"{}"))
        assert response.status == 200
        assert len(server.requests) == before + 1


async def test_a_write_never_arrives_twice(server: Server, connect: Connect) -> None:
    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    transport = connect(server.config)
    for method in ("POST", "PATCH", "PUT", "DELETE"):
        server.handler = server.echo
        await get(transport)
        server.handler = hang_up
        before = len(server.requests)
        with pytest.raises(TransportError) as caught:
            await transport.request(HttpRequest(method, "/", body=b"{}"))
        assert caught.value.may_be_applied
        assert len(server.requests) == before + 1


async def test_a_cancelled_request_leaves_no_half_read_answer_behind(server: Server, connect: Connect) -> None:
    stream = server.handler = Stream()
    transport = connect(server.config)
    stream.chunks.put_nowait(b"half an answer")
    task = asyncio.create_task(transport.request(HttpRequest("GET", "/")))
    await asyncio.wait_for(stream.sent.acquire(), 5)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    stream.chunks.put_nowait(b"the other half")
    server.handler = server.echo
    assert (await get(transport, "/again"))["path"] == "/prefix/again"
    assert server.requests[-1].transport is not server.requests[-2].transport


async def test_a_deadline_ends_a_request_and_its_connection(server: Server, connect: Connect) -> None:
    stream = server.handler = Stream()
    transport = connect(server.config)
    deadline = asyncio.timeout(None)

    async def request() -> None:
        async with deadline:
            await transport.request(HttpRequest("GET", "/"))

    stream.chunks.put_nowait(b"half an answer")
    task = asyncio.create_task(request())
    await asyncio.wait_for(stream.sent.acquire(), 5)
    deadline.reschedule(asyncio.get_running_loop().time())
    with pytest.raises(TimeoutError):
        await task
    stream.chunks.put_nowait(b"late")
    server.handler = server.echo
    assert await get(transport)
    stream.chunks.put_nowait(b"too late")
    await asyncio.wait_for(stream.ended.wait(), 5)


async def test_a_broken_stream_is_a_transport_error(server: Server, connect: Connect) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"a")
        assert request.transport is not None
        request.transport.abort()
        return response

    server.handler = break_off
    with pytest.raises(TransportError):
        async with connect(server.config).stream(HttpRequest("GET", "/")) as response:
            assert [chunk async for chunk in response.chunks]


async def test_silence_in_a_stream_can_be_bounded(server: Server, connect: Connect) -> None:
    server.handler = Stream()
    with pytest.raises(TransportError, match="no answer in time"):
        async with connect(server.config, read_timeout=0.05).stream(HttpRequest("GET", "/")) as response:
            await anext(response.chunks)


async def test_many_streams_do_not_keep_requests_from_going_out(server: Server, connect: Connect) -> None:
    stream = Stream()
    transport = connect(server.config)

    async def watch(opened: asyncio.Semaphore) -> None:
        async with transport.stream(HttpRequest("GET", "/")) as response:
            opened.release()
            async for _ in response.chunks:
                pass

    server.handler = stream
    opened = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(watch(opened)) for _ in range(105)]
        for _ in tasks:
            await opened.acquire()
        server.handler = server.echo
        assert await get(transport)
        for task in tasks:
            task.cancel()


async def test_connections_that_ended_are_freed_at_once(server: Server, connect: Connect) -> None:
    transport = connect(server.config)

    def held() -> int:
        return sum(type(each).__name__ == "Connection" for each in gc.get_objects())

    gc.collect()
    gc.disable()  # what is left to it waits for long in a process that holds much
    try:
        before = held()
        for _ in range(5):
            await get(transport)
            server.cut_off_unseen()
            for _ in range(10):
                await asyncio.sleep(0)
        assert held() <= before + 1
    finally:
        gc.enable()
