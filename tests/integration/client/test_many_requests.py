"""Many requests at once over one transport, cancelled and timed out at any moment, to a server that answers in any way."""

from __future__ import annotations

import asyncio
import gzip
import random
import re
import ssl
import warnings
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import cast

import pytest

from kubewright.client import ClusterConfig, HttpRequest, HttpsTransport, TransportError
from tests.integration.client.conftest import identity
from tests.integration.left_open import closed_again, open_files

REQUESTS = 400
TASKS = 16


class Moody:
    """Answers with the request's own id, many times over, and now and then breaks off, dawdles or hangs up."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.arrived: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self.answer(reader, writer):
                pass
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            # asyncio forgets a TLS connection whose peer went while much of what it sent lay unread
            cast("asyncio.Transport", writer.transport).resume_reading()
            writer.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection is still good."""
        rng = self.rng
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r" /id/(\w+) ", head)
        assert found is not None
        name = found[1]
        self.arrived[name] += 1
        length = re.search(r"content-length: (\d+)", head)
        mood = rng.random()
        if mood < 0.03:
            writer.transport.abort()  # without having read all
            return False
        if mood > 0.06:
            await reader.readexactly(int(length[1]) if length else 0)
        if mood < 0.09:
            return False
        message, lasts = self.made(name)
        if mood < 0.15 and re.search(b"Content-Length|chunked", message):  # without those nobody could tell
            message, lasts = message[: rng.randrange(len(message))], False
        while message:
            size = rng.choice([1, 7, 100, 5_000, 100_000, len(message)])
            writer.write(message[:size])
            message = message[size:]
            if rng.random() < 0.2:
                await asyncio.sleep(rng.choice([0, 0.001, 0.01]))
            await writer.drain()
        if mood > 0.97:
            await asyncio.sleep(rng.choice([0, 0.001, 0.01]))
            return False  # though it said otherwise
        return lasts and mood > 0.06

    def made(self, name: str) -> tuple[bytes, bool]:
        rng = self.rng
        body = f"{name} ".encode() * rng.choice([0, 1, 10, 1_000, 40_000])
        lines = ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"] if rng.random() < 0.1 else ["HTTP/1.1 200 OK"]
        lines.append(f"X-Id: {name}")
        lasts = rng.random() < 0.8
        if not lasts:
            lines.append("Connection: close")
        if rng.random() < 0.3:
            lines.append("Content-Encoding: gzip")
            half = len(body) // 2
            body = gzip.compress(body[:half]) + gzip.compress(body[half:])
        form = rng.random()
        if form < 0.4:
            lines.append("Transfer-Encoding: chunked")
            chunks = []
            while body:
                size = rng.choice([1 + len(body) // 50, 1 + len(body) // 3, len(body)])
                chunks.append(b"%x\r\n%s\r\n" % (len(body[:size]), body[:size]))
                body = body[size:]
            body = b"".join([*chunks, b"0\r\n\r\n"])
        elif form < 0.9 or lasts:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode() + body, lasts


class Told:
    """What became of each request."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()
        self.certain: set[str] = set()
        """Of which an error said that they certainly were not done."""
        self.retriable: set[str] = set()


async def ask(transport: HttpsTransport, rng: random.Random, name: str, told: Told) -> None:
    write = rng.random() < 0.5
    body = b"x" * rng.choice([0, 10, 300_000]) if write else b""
    request = HttpRequest("POST" if write else "GET", f"/id/{name}", body=body)
    if not write:
        told.retriable.add(name)
    streamed, leave_early = rng.random() < 0.3, rng.random() < 0.2
    try:
        async with asyncio.timeout(rng.choice([0.0, 0.001, 0.005, 0.02, 5, 5, 5])):
            if not streamed:
                response = await transport.request(request)
                headers, got = response.headers, response.body
            else:
                got = b""
                async with transport.stream(request) as stream:
                    headers = stream.headers
                    async for chunk in stream.chunks:
                        got += chunk
                        if leave_early:
                            break
    except TimeoutError:
        told.ends["timed out"] += 1
    except TransportError as error:
        told.ends[str(error).partition(": ")[2]] += 1
        if not error.may_be_applied and write:
            told.certain.add(name)
    else:
        told.ends["answered"] += 1
        assert headers["x-id"] == name
        unit = f"{name} ".encode()
        assert got == (unit * (len(got) // len(unit) + 1))[: len(got)]
        assert leave_early or len(got) % len(unit) == 0


async def worker(transport: HttpsTransport, rng: random.Random, told: Told, names: list[str]) -> None:
    while names:
        task = asyncio.create_task(ask(transport, rng, names.pop(), told))
        if rng.random() < 0.2:
            await asyncio.sleep(rng.choice([0, 0, 0.001, 0.003, 0.01]))
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def served(server: Moody, folder: Path, secure: bool) -> AsyncIterator[ClusterConfig]:
    context = None
    mine = identity("kubernetes")
    if secure:
        (folder / "server.pem").write_bytes(mine.certificate + mine.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    address = "{}:{}".format(*listening.sockets[0].getsockname())
    try:
        yield ClusterConfig(server=f"https://{address}" if secure else f"http://{address}", ca=mine.certificate)
    finally:
        listening.close()


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
async def test_every_answer_is_its_own_requests_and_nothing_is_left(tmp_path: Path, secure: bool, seed: int) -> None:
    rng = random.Random(seed)
    loop = asyncio.get_running_loop()
    reported: list[dict[str, object]] = []
    loop.set_exception_handler(lambda _, context: reported.append(context))
    files, tasks = open_files(), len(asyncio.all_tasks())
    told, server = Told(), Moody(random.Random(seed))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        async with served(server, tmp_path, secure) as config:
            transport = HttpsTransport(config, environ={}, request_timeout=2.0)
            names = [f"n{number}" for number in range(REQUESTS)]
            async with asyncio.TaskGroup() as group:
                for _ in range(TASKS):
                    group.create_task(worker(transport, rng, told, names))
            await transport.close()
        async with asyncio.timeout(30):  # the server's part ends when it hears of it
            while len(asyncio.all_tasks()) > tasks:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
        await closed_again(files)
    assert reported == []
    assert [str(each.message) for each in warned if each.category is not DeprecationWarning] == []
    assert told.ends["answered"] > REQUESTS / 10
    assert {name for name, times in server.arrived.items() if times > 1} <= told.retriable
    assert not {name for name in told.certain if server.arrived[name]}
    assert not any("can't be read" in end for end in told.ends)
