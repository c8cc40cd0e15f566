"""``python -m benchmarks.controllers.databases KUBECONFIG fresh|restart …``: the example operator over many Databases.

One measurement in a fresh process, as a line of JSON. It has the operator as ``kubewright run`` has it, four workers.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from database_operator.api.v1alpha1 import Database
from database_operator.operator import operator

from benchmarks.cache.process import resident
from benchmarks.controllers.access import Access
from benchmarks.controllers.contestant import Found
from kubewright.api import ResourceInfo
from kubewright.client import Client, ClusterConfig, HttpRequest, HttpResponse, HttpsTransport, MergePatch
from kubewright.operator import Manager
from kubewright.telemetry import Metrics, new_log

__all__ = ["body", "main", "name_of"]

_IDLE = 10.0
"""Seconds for which a settled operator is watched."""


def name_of(number: int) -> str:
    return f"db-{number:05}"


def body(number: int) -> dict[str, Any]:
    spec = {"replicas": 1, "engine": "postgres", "version": "16", "storage": {"size": "1Gi"}}
    metadata = {"name": name_of(number), "namespace": "default"}
    return {"apiVersion": "apps.example.com/v1alpha1", "kind": "Database", "metadata": metadata, "spec": spec}


class _Counted(HttpsTransport):
    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self.reads = 0
        self.written: list[str] = []
        """The path of each write."""

    @property
    def writes(self) -> int:
        return len(self.written)

    async def request(self, request: HttpRequest) -> HttpResponse:
        if request.method == "GET":
            self.reads += 1
        else:
            self.written.append(request.path)
        return await super().request(request)


class _Operator:
    """The operator at work in this process."""

    def __init__(self, access: Access) -> None:
        self.transport = _Counted(access.config)
        client = Client(self.transport)
        self.manager = Manager(operator, client, log=new_log("json", level="warning"), metrics=Metrics())
        client.observe(self._written)
        self.children_written: dict[str, float] = {}
        """When the last StatefulSet of each name was written."""
        self._wanted = ""
        self._seen = asyncio.Event()
        gc.freeze()  # as `kubewright run` does
        self.task = asyncio.create_task(self.manager.run())

    def _written(self, info: ResourceInfo, raw: bytes) -> None:
        if info.kind == "StatefulSet":
            name = raw.split(b'"name":"', 1)[1].split(b'"', 1)[0].decode()
            self.children_written[name] = time.perf_counter()
            if name == self._wanted:
                self._seen.set()

    async def writes(self, name: str) -> None:
        """Waits until the StatefulSet of that name is written."""
        self._wanted = name
        if name not in self.children_written:
            await self._seen.wait()

    async def settled(self) -> None:
        """Raises what ended it."""
        waiting = asyncio.create_task(self.manager.settled())
        await asyncio.wait([self.task, waiting], return_when=asyncio.FIRST_COMPLETED)
        if self.task.done():
            self.task.result()
            raise RuntimeError("the operator ended")


async def fresh(access: Access, options: argparse.Namespace) -> Found:
    """From Databases that nobody has seen to the last of their StatefulSets, Services, finalizers and statuses."""
    used, begin = time.process_time(), time.perf_counter()
    at_work = _Operator(access)
    while len(at_work.children_written) < options.objects:
        await asyncio.sleep(0.05)
        await at_work.settled()
    return {
        "seconds": time.perf_counter() - begin,
        "cpu_s": time.process_time() - used,
        "writes": at_work.transport.writes,
        "writes_each": at_work.transport.writes / options.objects,
        "cpu_ms": (time.process_time() - used) / at_work.transport.writes * 1e3,
    }


async def restart(access: Access, options: argparse.Namespace) -> Found:
    """With everything as it should be; meanwhile somebody edits the last Database, and after that all is quiet."""
    at_work = _Operator(access)
    user = Client(HttpsTransport(access.config))
    await user.get(Database, name_of(0), namespace="default")  # so that the connection is there
    await at_work.manager.cache.synced()
    synced = time.time() - options.begun
    await asyncio.sleep(0.1)
    name = name_of(options.objects - 1)
    sent = time.perf_counter()
    change = MergePatch({"spec": {"version": f"16.{time.time_ns()}"}})
    await user.patch(Database, name, change, namespace="default")
    busy = not at_work.manager.controllers[0].is_idle
    await at_work.writes(name)
    edited = at_work.children_written[name] - sent
    await at_work.settled()
    seconds = time.time() - options.begun
    used = time.process_time()
    others = [path for path in at_work.transport.written if f"/{name}" not in path]
    memory = resident() / 1e6
    await asyncio.sleep(1)
    idle = time.process_time()
    await asyncio.sleep(_IDLE)
    return {
        "seconds": seconds,
        "synced_s": synced,
        "cpu_s": used,
        "edited_s": edited,
        "edited_while_busy": busy,
        "writes_of_others": len(others),
        "writes_of_the_edited": at_work.transport.writes - len(others),  # its StatefulSet and its status
        "reads": at_work.transport.reads,
        "resident_mb": memory,
        "idle_percent": (time.process_time() - idle) / _IDLE * 100,
    }


_MEASUREMENTS: dict[str, Callable[[Access, argparse.Namespace], Awaitable[Found]]] = {
    each.__name__: each for each in (fresh, restart)
}


async def _finish(options: argparse.Namespace) -> None:
    print(json.dumps(await _MEASUREMENTS[options.measurement](Access(options.kubeconfig), options)), flush=True)
    os._exit(0)  # freeing what is held takes a while


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.controllers.databases")
    parser.add_argument("kubeconfig")
    parser.add_argument("measurement", choices=_MEASUREMENTS)
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument(
        "--begun", type=float, required=True, help="when this process was started, in seconds since 1970"
    )
    asyncio.run(_finish(parser.parse_args()))


if __name__ == "__main__":
    main()
