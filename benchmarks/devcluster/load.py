"""Load on one server over its socket, and what it does to it."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from benchmarks.devcluster.audience import Audience
from benchmarks.devcluster.objects import COLLECTION, DEFINITION, DEFINITIONS, body
from benchmarks.devcluster.servers import Server
from benchmarks.devcluster.wire import Connection

__all__ = ["CONNECTIONS", "Load", "Pace", "megabytes"]

CONNECTIONS = 32


def megabytes(server: Server, *, peak: bool = False) -> float:
    """What the server's processes have in memory now, or had at most since the peak was forgotten."""
    key = "VmHWM:" if peak else "VmRSS:"
    lines = [line for pid in server.pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024


_TICKS = os.sysconf("SC_CLK_TCK")


def _processor_seconds(server: Server) -> float:
    """What the server's processes have used so far; of all cores."""
    spent = 0
    for pid in server.pids:
        numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        spent += int(numbers[11]) + int(numbers[12])
    return spent / _TICKS


class Pace(NamedTuple):
    """How fast requests were answered, and seconds of processor time for each, on both sides."""

    per_second: float
    server: float
    client: float


def _forget_peak(server: Server) -> None:
    for pid in server.pids:
        Path(f"/proc/{pid}/clear_refs").write_text("5")


class Load:
    """Writes and reads on one server; every object gets another name."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._numbers = count()

    async def prepare(self) -> None:
        """Installs the custom resource and waits until it is served."""
        async with Connection(self.server.address) as connection:
            if self.server.name == "kmock":
                return
            status, _ = await connection.request("POST", DEFINITIONS, msgspec.json.encode(DEFINITION))
            if status != 201:
                raise RuntimeError(f"{self.server.name} answers {status} to the definition")
            for _ in range(200):
                if (await connection.request("GET", COLLECTION))[0] == 200:
                    return
                await asyncio.sleep(0.05)
            raise RuntimeError(f"{self.server.name} does not serve the kind that was defined")

    async def creates(self, total: int) -> Pace:
        """Creates so many objects over 32 connections."""
        begin = next(self._numbers)
        for _ in range(total - 1):
            next(self._numbers)
        bodies = [body(f"g-{number:06}") for number in range(begin, begin + total)]
        return await self._spread([("POST", COLLECTION, each) for each in bodies], expected=201)

    async def gets(self, total: int) -> Pace:
        """Reads the first objects over 32 connections."""
        return await self._spread(
            [("GET", f"{COLLECTION}/g-{number:06}", b"") for number in range(total)], expected=200
        )

    async def _spread(self, requests: list[tuple[str, str, bytes]], *, expected: int) -> Pace:
        async with AsyncExitStack() as stack:
            connections = [await stack.enter_async_context(Connection(self.server.address)) for _ in range(CONNECTIONS)]
            waiting = iter(requests)

            async def work(connection: Connection) -> None:
                for method, path, sent in waiting:
                    status, _ = await connection.request(method, path, sent)
                    if status not in {expected, 200}:
                        raise RuntimeError(f"{self.server.name} answers {status} to {method} {path}")

            spent, own, begin = _processor_seconds(self.server), time.process_time(), time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for connection in connections:
                    group.create_task(work(connection))
            seconds = time.perf_counter() - begin
            total = len(requests)
            return Pace(
                per_second=total / seconds,
                server=(_processor_seconds(self.server) - spent) / total,
                client=(time.process_time() - own) / total,
            )

    async def reach_watchers(self, total: int, rounds: int) -> tuple[float, float]:
        """Opens so many watches; returns how many seconds after a write was sent the last of them had it, the median,
        and how many seconds of processor time a write took the server.
        """
        path = f"{COLLECTION}?watch=1&resourceVersion={await self._revision()}"
        address = self.server.address
        async with Audience(address, path, total) as audience, Connection(address) as writer:
            found, spent = [], _processor_seconds(self.server)
            for _ in range(rounds):
                await asyncio.sleep(0.2)
                sent = body(f"g-{next(self._numbers):06}")
                audience.expect_all()
                begin = time.perf_counter()
                writer.send("POST", COLLECTION, sent)
                await audience.all_heard()
                found.append(time.perf_counter() - begin)
                await writer.answer()
            return median(found), (_processor_seconds(self.server) - spent) / rounds

    async def _revision(self) -> str:
        """A revision from which on nothing was written."""
        async with Connection(self.server.address) as connection:
            connection.send("GET", f"{COLLECTION}?limit=1")
            text = await connection.text()
        found: str = msgspec.json.decode(text)["metadata"]["resourceVersion"]
        return found

    async def list_all(self) -> tuple[float, int, float]:
        """Lists everything; returns the seconds, the bytes, and the megabytes that it took the server besides."""
        _forget_peak(self.server)
        before = megabytes(self.server)
        async with Connection(self.server.address) as connection:
            begin = time.perf_counter()
            _, size = await connection.request("GET", COLLECTION)
            seconds = time.perf_counter() - begin
        return seconds, size, megabytes(self.server, peak=True) - before
