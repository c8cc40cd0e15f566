"""The server without sockets: processor time of writes and reads, and the way to many watchers."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from collections.abc import AsyncIterator
from statistics import median
from typing import Any, cast

import msgspec

from benchmarks.devcluster.objects import COLLECTION, DEFINITION, DEFINITIONS, body
from kubewright.api import SystemClock
from kubewright.client import HttpRequest, HttpResponse
from kubewright.devcluster.api_server import ApiServer

__all__ = ["rates", "watchers"]

_HEADERS = {"content-type": "application/json", "accept": "application/json", "user-agent": "bench/1"}


def _request(method: str, path: str, sent: bytes = b"", query: tuple[tuple[str, str], ...] = ()) -> HttpRequest:
    return HttpRequest(method, path, query, _HEADERS, sent)


def _server() -> ApiServer:
    server = ApiServer(clock=SystemClock(), rng=random.Random(1))
    answer = server.answer(_request("POST", DEFINITIONS, msgspec.json.encode(DEFINITION)))
    if answer.status != 201:
        raise RuntimeError(f"the definition is answered with {answer.status}")
    return server


def rates(*, rounds: int, size: int) -> tuple[float, float]:
    """Creates and gets a second of processor time, medians over the rounds."""
    server = _server()
    creating, getting = [], []
    for number in range(rounds):
        names = [f"g-{each:06}" for each in range(number * size, number * size + size)]
        writes = [_request("POST", COLLECTION, body(name)) for name in names]
        reads = [_request("GET", f"{COLLECTION}/{name}") for name in names]
        creating.append(_timed(server, writes, 201))
        getting.append(_timed(server, reads, 200))
    return median(creating), median(getting)


def _timed(server: ApiServer, requests: list[HttpRequest], expected: int) -> float:
    gc.collect()
    begin = time.process_time()
    answers = [server.answer(request) for request in requests]
    seconds = time.process_time() - begin
    if any(answer.status != expected for answer in answers):
        raise RuntimeError(f"not all answers were {expected}")
    return len(requests) / seconds


async def watchers(total: int, *, rounds: int) -> float:
    """Seconds from a write to the last of so many watchers having it, the median."""
    server = _server()
    query = (("watch", "1"), ("resourceVersion", str(server.store.revision)))
    streams: list[AsyncIterator[bytes]] = []
    for _ in range(total):
        answer = server.answer(_request("GET", COLLECTION, query=query))
        if isinstance(answer, HttpResponse):
            raise TypeError(f"a watch is answered with {answer.status}")
        streams.append(answer.chunks)
    found = []
    for number in range(rounds):
        async with asyncio.TaskGroup() as group:
            reads = [group.create_task(cast("Any", anext(stream))) for stream in streams]
            await asyncio.sleep(0.05)  # all of them wait now
            begin = time.perf_counter()
            server.answer(_request("POST", COLLECTION, body(f"g-{number}")))
            await asyncio.gather(*reads)
            found.append(time.perf_counter() - begin)
    for stream in streams:
        await cast("Any", stream).aclose()
    return median(found)
