"""The server without sockets: processor time of writes and reads, and the way to many watchers."""

from __future__ import annotations

import asyncio
import gc
import random
import time
from collections.abc import AsyncIterator
from statistics import median
from typing import Any, NamedTuple, cast

import msgspec

from benchmarks.devcluster.objects import COLLECTION, DEFINITION, DEFINITIONS, body
from kubewright.api import SystemClock
from kubewright.client import HttpRequest, HttpResponse
from kubewright.devcluster.api_server import ApiServer

__all__ = ["Rates", "rates", "watchers"]

_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"
_HEADERS = {"content-type": "application/json", "accept": "application/json", "user-agent": "bench/1"}


def _request(method: str, path: str, sent: bytes = b"", query: tuple[tuple[str, str], ...] = ()) -> HttpRequest:
    return HttpRequest(method, path, query, _HEADERS, sent)


def _patch(name: str, sent: bytes, media_type: str, query: tuple[tuple[str, str], ...] = ()) -> HttpRequest:
    headers = {**_HEADERS, "content-type": media_type}
    return HttpRequest("PATCH", f"{COLLECTION}/{name}", query, headers, sent)


def _server() -> ApiServer:
    server = ApiServer(clock=SystemClock(), rng=random.Random(1))
    answer = server.answer(_request("POST", DEFINITIONS, msgspec.json.encode(DEFINITION)))
    if answer.status != 201:
        raise RuntimeError(f"the definition is answered with {answer.status}")
    return server


class Rates(NamedTuple):
    """How many of each a second of processor time, medians over the rounds."""

    create: float
    get: float
    patch_status: float
    apply_again: float
    """Server-side applies that change nothing."""


def rates(*, rounds: int, size: int) -> Rates:
    server = _server()
    found: list[Rates] = []
    for number in range(rounds):
        names = [f"g-{each:06}" for each in range(number * size, number * size + size)]
        writes = [_request("POST", COLLECTION, body(name)) for name in names]
        reads = [_request("GET", f"{COLLECTION}/{name}") for name in names]
        patches = [_patch(f"{name}/status", b'{"status":{"ready":"yes"}}', _MERGE) for name in names]
        applies = [_patch(f"a-{name}", body(f"a-{name}"), _APPLY, (("fieldManager", "bench"),)) for name in names]
        _timed(server, applies, 201)
        found.append(
            Rates(
                create=_timed(server, writes, 201),
                get=_timed(server, reads, 200),
                patch_status=_timed(server, patches, 200),
                apply_again=_timed(server, applies, 200),
            )
        )
    return Rates(*(median(values) for values in zip(*found, strict=True)))


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
