"""What waits for the real world in virtual time is refused, named, and not to be hidden."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from kubewright.testing import RealWait, run_in_virtual_time


async def sleep() -> None:
    time.sleep(0.001)  # noqa: ASYNC251


async def connect() -> None:
    socket.create_connection(("127.0.0.1", 1))


async def connect_by_the_loop() -> None:
    await asyncio.open_connection("127.0.0.1", 1)


async def look_up() -> None:
    await asyncio.get_running_loop().getaddrinfo("localhost", 1)


async def listen() -> None:
    await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)


async def start_thread() -> None:
    threading.Thread(target=print).start()


async def use_a_pool_of_its_own() -> None:
    with ThreadPoolExecutor(1) as pool:
        await asyncio.wrap_future(pool.submit(print))


async def start_process() -> None:
    subprocess.run(["true"], check=True)  # noqa: ASYNC221


async def start_process_by_the_loop() -> None:
    await asyncio.create_subprocess_exec("true")


async def watch_a_file() -> None:
    one, other = socket.socketpair()
    with one, other:
        asyncio.get_running_loop().add_reader(one, print)


REAL_WAITS = {
    sleep: r"time\.sleep\(0\.001\) .*`await asyncio\.sleep",
    connect: r"socket\.connect\(\('127\.0\.0\.1', 1\)\) .*a real socket",
    connect_by_the_loop: r"connecting to \('127\.0\.0\.1', 1\)",
    look_up: "the address of localhost:1",
    listen: r"socket\.bind.*a real socket",
    start_thread: r"Thread\.start\(\) .*`asyncio\.to_thread",
    use_a_pool_of_its_own: r"Thread\.start\(\)",
    start_process: r"Popen\.__init__\(\['true'\]\) .*a process",
    start_process_by_the_loop: r"Popen\.__init__\(\('true',\)\) .*a process",
    watch_a_file: "waiting for <socket.*a real file or socket",
}


@pytest.mark.parametrize("wait", REAL_WAITS, ids=lambda wait: wait.__name__)
def test_a_real_wait_is_an_error_that_names_it(wait: Callable[[], Coroutine[None, None, None]]) -> None:
    with pytest.raises(RealWait, match=REAL_WAITS[wait]):
        run_in_virtual_time(wait)


def test_no_except_hides_it() -> None:
    async def main() -> None:
        with suppress(Exception):
            time.sleep(0.001)  # noqa: ASYNC251

    with pytest.raises(RealWait, match=r"time\.sleep"):
        run_in_virtual_time(main)


def test_other_loops_threads_and_code_after_it_may_wait() -> None:
    async def main() -> None:
        await asyncio.to_thread(time.sleep, 0.001)

    before = time.sleep
    run_in_virtual_time(main)
    assert time.sleep is before
    assert "connect" not in vars(socket.socket)

    async def real() -> None:
        time.sleep(0.001)  # noqa: ASYNC251

    asyncio.run(real())
