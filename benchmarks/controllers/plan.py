"""What is measured, with how many objects, and how: each measurement in a process of its own, contestants in turns."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from database_operator.api.v1alpha1 import Database

from benchmarks.cache.resources import WIDGETS
from benchmarks.cache.stub import Stub
from benchmarks.controllers import databases, widgets
from benchmarks.controllers.contestant import WORKERS, Found
from benchmarks.controllers.embedded import Embedded, embedded
from benchmarks.controllers.processes import Failed, output, processor_seconds, resident_megabytes
from kubewright.api import Resource

__all__ = ["GO", "PARTS", "Measured", "Sizes", "measure"]

GO = "client-go"
PARTS = ("queue", "widgets", "databases")
_LIMIT = 1200.0
"""Seconds for one process: 40,000 writes take a while where others have the processor too."""
_GO_FOUND = {"work_reconciles_s": "work_s", "work_cpu_us_per_obj": "work_cpu_us", "reconciles_s": "all_s"}


class Sizes(NamedTuple):
    """Objects, and rounds."""

    reconciled: int = 20_000
    written: int = 10_000
    slow: int = 1_000
    """Of Kopf."""
    heard: int = 500
    on_the_embedded: int = 3_000
    databases: int = 10_000
    rounds: int = 3

    @classmethod
    def quick(cls) -> Sizes:
        return cls(5_000, 2_000, 300, 200, 500, 500, 1)


class Measured:
    """What was found, by measurement and contestant: medians. What fails is told of, and does not end the rest."""

    def __init__(self) -> None:
        self._found: defaultdict[tuple[str, str], list[Found]] = defaultdict(list)
        self.failures: list[str] = []

    @contextmanager
    def on_a_fresh_server(self, kind: type[Resource], objects: Sequence[dict[str, Any]]) -> Iterator[Embedded | None]:
        """An embedded cluster with these objects; None where it did not start."""
        with ExitStack() as stack:
            try:
                server = stack.enter_context(embedded())
                server.fill(kind, objects)
            except Failed as failed:
                self.failures.append(str(failed))
                yield None
                return
            yield server

    def take(self, measurement: str, contestant: str, measured: Callable[[], Found]) -> None:
        _show(f"{measurement}: {contestant} …")
        try:
            self._found[measurement, contestant].append(measured())
        except Failed as failed:
            self.failures.append(f"{measurement}, {contestant}: {failed}")

    def of(self, measurement: str, key: str, contestant: str = "kubewright") -> float | None:
        values = [each[key] for each in self._found[measurement, contestant] if key in each]
        return median(values) if values else None


def measure(program: Path, stub: Stub, sizes: Sizes, parts: Collection[str] = PARTS) -> Measured:
    """``program`` is the Go peer."""
    measured = Measured()
    if "queue" in parts:
        _queue(measured, program)
    if "widgets" in parts:
        for _ in range(sizes.rounds):
            _on_the_stub(measured, program, stub, sizes)
            _on_the_embedded(measured, sizes)
    if "databases" in parts:
        _with_databases(measured, sizes.databases)
    _show("")
    return measured


def _queue(measured: Measured, program: Path) -> None:
    measured.take("queue", "kubewright", partial(output, _module("queue"), limit=_LIMIT))
    go_queue = [str(program), "queue", "--n", "200000"]
    measured.take("queue", GO, partial(output, go_queue, limit=_LIMIT, environment=_ONE))


_ONE = {"GOMAXPROCS": "1"}


def _on_the_stub(measured: Measured, program: Path, stub: Stub, sizes: Sizes) -> None:
    for measurement, objects in (("reconcile", sizes.reconciled), ("write", sizes.written)):
        for contestant in ("kubewright", "bare loop", "Kopf"):
            count = sizes.slow if contestant == "Kopf" else objects
            stub.reset(WIDGETS, count)
            command = _contestant(contestant, measurement, stub.url, count)
            measured.take(measurement, contestant, partial(output, command, limit=_LIMIT))
        stub.reset(WIDGETS, objects)
        command = [str(program), "reconcile", "--server", stub.url, "--n", str(objects), "--workers", str(WORKERS)]
        if measurement == "write":
            command.append("--patch")
        measured.take(measurement, GO, partial(_of_go, command))
    for contestant in ("kubewright", "bare loop", "Kopf"):
        stub.reset(WIDGETS, sizes.heard)
        command = _contestant(contestant, "latency", stub.url, sizes.heard)
        measured.take("latency", contestant, partial(output, command, limit=_LIMIT))


def _of_go(command: list[str]) -> Found:
    found = output(command, limit=_LIMIT, environment=_ONE)
    return {ours: found[theirs] for theirs, ours in _GO_FOUND.items()}


def _on_the_embedded(measured: Measured, sizes: Sizes) -> None:
    for contestant in ("kubewright", "bare loop", "Kopf"):
        count = min(sizes.slow, sizes.on_the_embedded) if contestant == "Kopf" else sizes.on_the_embedded
        with measured.on_a_fresh_server(widgets.Widget, [widgets.body(number) for number in range(count)]) as server:
            if server is None:
                continue
            for measurement in ("reconcile", "write"):
                measured.take(
                    f"embedded {measurement}", contestant, partial(_costed, server, contestant, measurement, count)
                )


def _costed(server: Embedded, contestant: str, measurement: str, count: int) -> Found:
    used = server.processor_seconds
    found = output(_contestant(contestant, measurement, str(server.kubeconfig), count), limit=_LIMIT)
    return {**found, "server_cpu_us": (server.processor_seconds - used) / count * 1e6}


def _with_databases(measured: Measured, count: int) -> None:
    with measured.on_a_fresh_server(Database, []) as server:
        if server:
            measured.take("empty", "kubewright", partial(_empty, server))
    _show(f"{count} Databases are made …")
    with measured.on_a_fresh_server(Database, [databases.body(number) for number in range(count)]) as server:
        if server is None:
            return
        for measurement in ("fresh", "restart"):
            measured.take(measurement, "kubewright", partial(_databases, server, measurement, count))


def _databases(server: Embedded, measurement: str, count: int) -> Found:
    used = server.processor_seconds
    command = _module("databases", str(server.kubeconfig), measurement, "--objects", str(count))
    found = output([*command, "--begun", str(time.time())], limit=_LIMIT)
    used = server.processor_seconds - used
    return {**found, "server_cpu_s": used, "server_cpu_ms": used / max(1, found.get("writes", 1)) * 1e3}


def _empty(server: Embedded) -> Found:
    """``kubewright run`` of the example operator, a while after it began to have nothing to do."""
    target = "database_operator.operator:operator"
    program = "from kubewright.cli.main import main; main()"
    command = [sys.executable, "-c", program, "run", target, "--kubeconfig", str(server.kubeconfig)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        used = -1.0
        for _ in range(60):
            time.sleep(1)
            if process.poll() is not None:
                raise Failed(f"it ended with exit code {process.returncode}")
            before, used = used, processor_seconds(process.pid)
            if used - before <= 0.02:  # it has done what it starts with
                return {"resident_mb": resident_megabytes(process.pid)}
        raise Failed("it did not come to rest within a minute")
    finally:
        process.terminate()
        process.wait()


def _contestant(name: str, measurement: str, server: str, objects: int) -> list[str]:
    return _module("contestant", name, measurement, "--server", server, "--objects", str(objects))


def _module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.controllers.{name}", *arguments]


def _show(text: str) -> None:
    """What goes on, for who waits for it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
