"""Which connections are kept, for how long, and what a connection's timer does. In virtual time, without sockets."""

from __future__ import annotations

import asyncio
import gc
import ssl
import weakref
from collections.abc import Callable, Coroutine
from typing import cast

import pytest

from kubewright.client.connection import BrokenConnectionError, Connection
from kubewright.client.connections import Connections
from kubewright.client.dialing import Dialer
from kubewright.testing import run_in_virtual_time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Wire:
    """A transport whose peer answers each request after ``delay`` seconds, or never."""

    def __init__(self, delay: float | None) -> None:
        self.delay = delay
        self.connection: Connection
        self.open = True

    def write(self, _message: bytes) -> None:
        if self.delay is not None:
            asyncio.get_running_loop().call_later(self.delay, self.connection.data_received, ANSWER)

    def abort(self) -> None:
        self.open = False
        self.__dict__.pop("connection", None)  # as asyncio's forget their protocol

    def get_extra_info(self, _name: str) -> None:
        return None


class Dial:
    """Connects to wires of its own making."""

    def __init__(self, delay: float | None = 0.0) -> None:
        self.delay = delay
        self.wires: list[Wire] = []

    async def connect(self, context: ssl.SSLContext | None) -> Connection:
        wire = Wire(self.delay)
        wire.connection = Connection(context, memoryview(bytearray(1)))
        wire.connection.connection_made(cast("asyncio.Transport", wire))
        self.wires.append(wire)
        return wire.connection

    @property
    def open(self) -> list[bool]:
        return [wire.open for wire in self.wires]


def pool(dial: Dial) -> Connections:
    return Connections(cast("Dialer", dial))


async def use(connections: Connections, context: ssl.SSLContext | None = None) -> None:
    connection = await connections.take(context, writes=False)
    assert await connection.whole(b"", timeout=60) == b"ok"
    connections.give_back(connection)


def test_connections_grow_old_one_by_one_while_one_is_used() -> None:
    async def main() -> None:
        dial = Dial(delay=1.0)
        connections = pool(dial)
        await asyncio.gather(*[use(connections) for _ in range(3)])
        assert dial.open == [True, True, True]
        for _ in range(4):
            await asyncio.sleep(30)
            await use(connections)
        assert sorted(dial.open) == [False, False, True]
        await asyncio.sleep(51)
        assert dial.open == [False, False, False]
        await use(connections)
        connections.close()
        assert dial.open == [False] * 4

    run_in_virtual_time(main)


def test_another_context_takes_no_connection_of_the_old_one() -> None:
    async def main() -> None:
        dial = Dial()
        connections = pool(dial)
        first, second = ssl.create_default_context(), ssl.create_default_context()
        for context in (first, first, second, second):
            await use(connections, context)
        assert dial.open == [False, True]
        connections.close()

    run_in_virtual_time(main)


def test_a_connection_that_was_not_used_is_kept_too() -> None:
    async def main() -> None:
        dial = Dial()
        connections = pool(dial)
        connections.give_back(await connections.take(None, writes=True))
        await use(connections)
        assert dial.open == [True]
        connections.close()

    run_in_virtual_time(main)


def test_a_timeout_counts_from_its_own_request() -> None:
    async def main() -> None:
        dial = Dial(delay=40.0)
        connections = pool(dial)
        loop = asyncio.get_running_loop()
        for _ in range(3):
            await use(connections)  # the timer of the first would ring while the second is under way
        assert dial.open == [True]
        dial.wires[0].delay = None
        connection = await connections.take(None, writes=False)
        for seconds in (60.0, 5.0):
            begin = loop.time()
            with pytest.raises(TimeoutError):
                await connection.whole(b"", timeout=seconds)
            assert loop.time() - begin == seconds
            connections.give_back(connection)
            connection = await connections.take(None, writes=False)
            dial.wires[-1].delay = None
        connections.close()

    run_in_virtual_time(main)


def test_silence_is_bounded_only_while_somebody_waits() -> None:
    async def main() -> None:
        connection = await Dial(delay=None).connect(None)
        begun = asyncio.create_task(connection.begin(b"", silence=10))
        await asyncio.sleep(9)
        connection.data_received(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        await begun
        assert await connection.chunk(silence=10) == b"ab"
        await asyncio.sleep(100)
        connection.data_received(b"c")
        assert await connection.chunk(silence=10) == b"c"
        with pytest.raises(TimeoutError):
            await connection.chunk(silence=10)
        with pytest.raises(TimeoutError):
            await connection.chunk(silence=10)

    run_in_virtual_time(main)


def test_who_is_cancelled_leaves_a_closed_connection() -> None:
    async def main() -> None:
        dial = Dial(delay=None)
        connection = await dial.connect(None)
        task = asyncio.create_task(connection.whole(b"", timeout=60))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert dial.open == [False]
        assert not connection.reusable
        with pytest.raises(BrokenConnectionError):
            await connection.whole(b"", timeout=60)

    run_in_virtual_time(main)


@pytest.mark.parametrize("end", ["idle", "answered no more", "timed out", "cancelled", "lost"])
def test_a_connection_goes_with_its_end_and_not_when_garbage_is_looked_for(end: str) -> None:
    """Each holds a quarter of a megabyte with TLS, and a process that runs for long looks for garbage seldom."""

    async def main() -> weakref.ref[Connection]:
        connection = await Dial(delay=0.0 if end == "idle" else None).connect(None)
        if end == "idle":
            await connection.whole(b"", timeout=60)
            connection.abort()
        else:
            asked = asyncio.create_task(connection.whole(b"", timeout=60))
            await asyncio.sleep(1)
            if end == "answered no more":
                connection.data_received(b"SSH-2.0\r\n")
            elif end == "cancelled":
                asked.cancel()
            elif end == "lost":
                connection.connection_lost(ConnectionResetError(104, "reset"))
            await asyncio.wait([asked])
            assert asked.cancelled() or asked.exception() is not None
        return weakref.ref(connection)

    gc.disable()
    try:
        run_in_virtual_time(lambda: forgotten(main))
    finally:
        gc.enable()


async def forgotten(main: Callable[[], Coroutine[None, None, weakref.ref[Connection]]]) -> None:
    left = await main()
    await asyncio.sleep(0)
    assert left() is None
