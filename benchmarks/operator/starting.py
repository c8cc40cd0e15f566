"""How long it takes from a manager's start to its first reconcile, and to its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from kubewright import Client, Context, Manager, ObjectMeta, Operator
from kubewright.client.https import HttpsTransport
from kubewright.client.kubeconfig import load
from kubewright.kinds import core_v1

__all__ = ["Measured", "in_process", "local_cluster", "process"]

_KUBEWRIGHT = str(Path(sys.executable).with_name("kubewright"))
_OPERATOR = """
from kubewright import Context, Operator
from kubewright.kinds import core_v1

operator = Operator("first")

@operator.controller(core_v1.ConfigMap, owns=[core_v1.Secret], reads=[core_v1.Pod, core_v1.Service])
async def reconcile(obj: core_v1.ConfigMap, ctx: Context) -> None:
    print("reconciling", flush=True)
"""


class Measured(NamedTuple):
    """Seconds, medians."""

    first_reconcile: float
    stop: float


@contextmanager
def local_cluster() -> Iterator[Path]:
    """An embedded cluster in a process of its own, with one object more than it has anyway; its kubeconfig."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "KUBEWRIGHT_HOME": scratch}

        def run(name: str) -> None:
            subprocess.run([_KUBEWRIGHT, "cluster", name], env=environment, check=True, stdout=subprocess.DEVNULL)

        run("up")
        try:
            kubeconfig = Path(scratch, "kubeconfig")
            asyncio.run(_create(kubeconfig))
            yield kubeconfig
        finally:
            run("down")


async def _create(kubeconfig: Path) -> None:
    async with Client.connect(kubeconfig=kubeconfig) as client:
        await client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="first", namespace="default")))


async def in_process(kubeconfig: Path, rounds: int) -> Measured:
    """From `Manager.run`, with a client that has no connection yet, on an interpreter that has loaded everything."""
    first, stop = [], []
    for _ in range(rounds):
        reconciled = asyncio.Event()
        operator: Operator[object] = Operator("first")

        @operator.controller(core_v1.ConfigMap, owns=[core_v1.Secret], reads=[core_v1.Pod, core_v1.Service])
        async def reconcile(obj: core_v1.ConfigMap, ctx: Context, seen: asyncio.Event = reconciled) -> None:  # noqa: ARG001
            seen.set()

        client = Client(HttpsTransport(load(kubeconfig)))
        begin = time.perf_counter()
        manager = Manager(operator, client, start_checks=True)
        running = asyncio.create_task(manager.run())
        await reconciled.wait()
        first.append(time.perf_counter() - begin)
        await manager.settled()
        begin = time.perf_counter()
        manager.stop()
        await running
        stop.append(time.perf_counter() - begin)
        await client.close()
    return Measured(median(first), median(stop))


def process(kubeconfig: Path, rounds: int, *flags: str) -> Measured:
    """From the start of ``kubewright run``, Python's own included; the first round, which may write byte code, not counted."""
    first, stop = [], []
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "first.py")
        file.write_text(_OPERATOR)
        command = [_KUBEWRIGHT, "run", str(file), "--kubeconfig", str(kubeconfig), "--log-level", "error", *flags]
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
                if running.stdout is None or "reconciling" not in running.stdout.readline():
                    raise RuntimeError("the operator did not reconcile")
                first.append(time.perf_counter() - begin)
                time.sleep(0.5)
                begin = time.perf_counter()
                running.send_signal(signal.SIGTERM)
                if running.wait():
                    raise RuntimeError(f"the operator ended with {running.returncode}")
                stop.append(time.perf_counter() - begin)
    return Measured(median(first[1:]), median(stop[1:]))
