"""``python -m benchmarks.cache.contestant CLIENT MEASUREMENT …``: one measurement in a fresh process, as a line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import os
import resource
import time
from collections.abc import Callable, Coroutine
from typing import Protocol, cast

from benchmarks.cache.process import Pauses, collected, collection, resident
from benchmarks.cache.resources import RESOURCES, Resource
from benchmarks.cache.stub import Stub
from benchmarks.cache.told import Told

__all__ = ["Client", "main"]

_CONNECTIONS = 32
_AT_RATE, _RATE = 2000, 1000


class Client(Protocol):
    """One library's way of following a resource, and of reading one object."""

    async def warm(self) -> None:
        """Reads something, so that what is loaded late is loaded."""
        ...

    async def follow(self, told: Told) -> None:
        """Keeps all objects and tells of each, then of each change, for ever."""
        ...

    async def get(self, number: int) -> object: ...


class Readable(Client, Protocol):
    """A client whose cache is read."""

    def key_seconds(self, objects: int) -> float:
        """Seconds of one read by key."""
        ...

    def index_seconds(self, objects: int) -> float:
        """Seconds of one list by index of 100 objects."""
        ...


Found = dict[str, float]


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def _following(client: Client, objects: int) -> tuple[Told, asyncio.Task[None]]:
    told = Told()
    told.expect(objects)
    task = asyncio.create_task(client.follow(told))
    waiting = asyncio.create_task(told.all())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        await task
        raise RuntimeError("it stopped following")
    return told, task


async def follow(client: Client, stub: Stub, options: argparse.Namespace) -> Found:
    """From nothing to the last handler called, and the memory of what is kept; then changes, if there are to be any."""
    await client.warm()
    before = collected()
    begin, used = time.perf_counter(), _processor()
    told, _ = await _following(client, options.objects)
    seconds, used = time.perf_counter() - begin, _processor() - used
    peak = resident(peak=True)
    after = collected()
    found = {
        "objects_s": options.objects / seconds,
        "cpu_us": used / options.objects * 1e6,
        "bytes": (after - before) / options.objects,
        "peak_mb": peak / 1e6,
        "collection_ms": collection(),
    }
    if options.events:
        await asyncio.sleep(0.3)  # those who list begin to watch
        found |= await _changes(told, stub, RESOURCES[options.resource], options.events)
    return found


async def _changes(told: Told, stub: Stub, kind: Resource, events: int) -> Found:
    """Of one object after the other at full speed, then at 1,000 a second."""
    used = _processor()
    told.expect(events)
    await asyncio.to_thread(stub.emit, kind, events, 0)
    await told.all()
    found = {"events_s": (events - 1) / told.seconds, "event_cpu_us": (_processor() - used) / events * 1e6}
    gc.collect()
    await asyncio.sleep(0.2)
    slow = min(_AT_RATE, events)
    told.expect(slow, timed=True)
    await asyncio.to_thread(stub.emit, kind, slow, _RATE)
    await told.all()
    return {**found, "p50_ms": told.delay(0.5), "p99_ms": told.delay(0.99)}


async def pause(client: Client, _: Stub, options: argparse.Namespace) -> Found:
    """What the loop's other tasks wait at most while everything is listed, and for a full collection after it."""
    await client.warm()
    gc.collect()
    async with Pauses.watched() as during:
        await _following(client, options.objects)
        await asyncio.sleep(0.2)
    async with Pauses.watched() as after:
        gc.collect()
        await asyncio.sleep(0.2)
    return {
        "during_ms": during.longest,
        "after_ms": after.longest,
        "during_cpu_ms": during.worked,
        "after_cpu_ms": after.worked,
    }


async def reads(client: Client, _: Stub, options: argparse.Namespace) -> Found:
    """From the cache."""
    await _following(client, options.objects)
    await asyncio.sleep(0.2)
    readable = cast("Readable", client)
    return {
        "key_us": readable.key_seconds(options.objects) * 1e6,
        "index_ms": readable.index_seconds(options.objects) * 1e3,
    }


async def gets(client: Client, _: Stub, options: argparse.Namespace) -> Found:
    """So many GETs over one pool of 32 connections."""
    await client.warm()
    numbers = iter(range(options.objects))

    async def work() -> None:
        for number in numbers:
            await client.get(number)

    begin, used = time.perf_counter(), _processor()
    async with asyncio.TaskGroup() as group:
        for _worker in range(_CONNECTIONS):
            group.create_task(work())
    seconds, used = time.perf_counter() - begin, _processor() - used
    return {"gets_s": options.objects / seconds, "get_cpu_us": used / options.objects * 1e6}


_CLIENTS = {
    "kubewright": "ours:Kubewright",
    "Kopf": "kopf_operator:Kopf",
    "official": "official:Official",
    "official aio": "official_aio:OfficialAio",
    "kubernetes_asyncio": "kubernetes_asyncio_client:KubernetesAsyncio",
    "lightkube": "lightkube_client:Lightkube",
    "kr8s": "kr8s_client:Kr8s",
    "httpx": "bare:Httpx",
    "httpx2": "bare:Httpx2",
}
_MEASUREMENTS: dict[str, Callable[[Client, Stub, argparse.Namespace], Coroutine[object, object, Found]]] = {
    each.__name__: each for each in (follow, pause, reads, gets)
}


def _client(name: str, server: str, kind: Resource, form: str) -> Client:
    module, _, named = _CLIENTS[name].partition(":")
    made: Client = getattr(importlib.import_module(f"benchmarks.cache.clients.{module}"), named)(server, kind, form)
    return made


async def _run(options: argparse.Namespace) -> Found:
    client = _client(options.client, options.server, RESOURCES[options.resource], options.form)
    return await _MEASUREMENTS[options.measurement](client, Stub(options.server), options)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.cache.contestant")
    parser.add_argument("client", choices=_CLIENTS)
    parser.add_argument("measurement", choices=_MEASUREMENTS)
    parser.add_argument("--server", required=True)
    parser.add_argument("--resource", choices=RESOURCES, default="widgets")
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument("--events", type=int, default=0, help="changes that follow, at most one of each object")
    parser.add_argument(
        "--form",
        choices=["list", "stream", "function", "metadata"],
        default="list",
        help="how everything is read first",
    )
    asyncio.run(_finish(parser.parse_args()))


async def _finish(options: argparse.Namespace) -> None:
    """Ends the process from within: closing some clients, and freeing what they hold, takes longer than measuring them."""
    print(json.dumps(await _run(options)), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
