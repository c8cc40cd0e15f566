"""``python -m benchmarks.controllers.contestant CLIENT MEASUREMENT …``: one measurement in a fresh process, as a line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Protocol

from benchmarks.cache.process import resident
from benchmarks.cache.resources import WIDGETS
from benchmarks.cache.stub import Stub
from benchmarks.controllers.access import Access
from benchmarks.controllers.handled import Handled

__all__ = ["Contestant", "Found", "main"]

WORKERS = 16
"""Objects at a time, also of the Go peer."""
_RATE = 100


class Contestant(Protocol):
    """One library's operator for widgets, which works for ever."""

    async def reconcile(self, handled: Handled) -> None:
        """Does nothing with each object."""
        ...

    async def write(self, handled: Handled) -> None:
        """Sees that each object's status says that it is ready."""
        ...

    async def hear(self, handled: Handled) -> None:
        """Takes down how long ago what it sees was sent."""
        ...


Found = dict[str, float]


async def _until(handled: Handled, running: asyncio.Task[None]) -> None:
    waiting = asyncio.create_task(handled.all())
    await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        await running
        raise RuntimeError("it stopped working")


async def _paced(work: Callable[[Handled], Coroutine[object, object, None]], objects: int) -> Found:
    handled = Handled()
    handled.expect(objects)
    begin, used = time.perf_counter(), time.process_time()
    running = asyncio.create_task(work(handled))
    await _until(handled, running)
    seconds, used = time.perf_counter() - begin, time.process_time() - used
    pace = handled.pace
    return {
        "work_s": pace.per_second,
        "work_cpu_us": pace.cpu,
        "all_s": objects / seconds,
        "all_cpu_us": used / objects * 1e6,
        "resident_mb": resident() / 1e6,
    }


async def reconcile(contestant: Contestant, options: argparse.Namespace) -> Found:
    """All objects are listed, and each is reconciled without anything to do."""
    return await _paced(contestant.reconcile, options.objects)


async def write(contestant: Contestant, options: argparse.Namespace) -> Found:
    """As `reconcile`, with one write of the status each."""
    return await _paced(contestant.write, options.objects)


async def latency(contestant: Contestant, options: argparse.Namespace) -> Found:
    """From an event's sending until the user's function is called, at 100 events a second."""
    handled = Handled()
    handled.expect(options.objects)
    running = asyncio.create_task(contestant.hear(handled))
    await _until(handled, running)
    await asyncio.sleep(0.5)  # those who list begin to watch
    handled.expect(options.objects)
    await asyncio.to_thread(Stub(options.server).emit, WIDGETS, options.objects, _RATE)
    await _until(handled, running)
    return {"p50_ms": handled.delay(0.5), "p99_ms": handled.delay(0.99)}


_CLIENTS = {"kubewright": "ours:Kubewright", "Kopf": "kopf_operator:Kopf", "bare loop": "floor:Floor"}
_MEASUREMENTS: dict[str, Callable[[Contestant, argparse.Namespace], Coroutine[object, object, Found]]] = {
    each.__name__: each for each in (reconcile, write, latency)
}


def _contestant(name: str, access: Access) -> Contestant:
    module, _, named = _CLIENTS[name].partition(":")
    made: Contestant = getattr(importlib.import_module(f"benchmarks.controllers.clients.{module}"), named)(
        access, WORKERS
    )
    return made


async def _finish(options: argparse.Namespace) -> None:
    """Ends the process from within: closing some clients takes longer than measuring them."""
    contestant = _contestant(options.client, Access(options.server))
    print(json.dumps(await _MEASUREMENTS[options.measurement](contestant, options)), flush=True)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.controllers.contestant")
    parser.add_argument("client", choices=_CLIENTS)
    parser.add_argument("measurement", choices=_MEASUREMENTS)
    parser.add_argument("--server", required=True, help="URL of the stub, or a kubeconfig")
    parser.add_argument("--objects", type=int, required=True)
    with suppress(KeyboardInterrupt):
        asyncio.run(_finish(parser.parse_args()))


if __name__ == "__main__":
    main()
