"""How long commands take from their start as a process, and clusters in this process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from benchmarks.devcluster.servers import address_in
from benchmarks.devcluster.wire import Connection
from kubewright.devcluster.cluster import DevCluster

__all__ = ["cluster_up", "command", "help_shown", "in_process"]

_KUBEWRIGHT = str(Path(sys.executable).with_name("kubewright"))


def _timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def command(*arguments: str, rounds: int) -> float:
    """Seconds that Python takes for these arguments, the median; the first time, which may write byte code, not counted."""

    def run() -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    run()
    return median(_timed(run) for _ in range(rounds))


def help_shown(rounds: int) -> float:
    """Seconds for ``kubewright --help``."""
    return command(_KUBEWRIGHT, "--help", rounds=rounds)


def cluster_up(rounds: int) -> tuple[float, float]:
    """Seconds of ``kubewright cluster up``, and until ``/readyz`` is answered, medians.

    The first start, which makes the credentials and may write byte code, is not counted.
    """
    up, ready = [], []
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "KUBEWRIGHT_HOME": scratch}

        def run(name: str) -> None:
            subprocess.run([_KUBEWRIGHT, "cluster", name], env=environment, check=True, stdout=subprocess.DEVNULL)

        for number in range(rounds + 1):
            begin = time.perf_counter()
            try:
                run("up")
                seconds = time.perf_counter() - begin
                asyncio.run(_ready(Path(scratch, "kubeconfig")))
                if number:
                    up.append(seconds)
                    ready.append(time.perf_counter() - begin)
            finally:
                run("down")
    return median(up), median(ready)


async def _ready(kubeconfig: Path) -> None:
    async with Connection(address_in(kubeconfig)) as connection:
        status, _ = await connection.request("GET", "/readyz")
    if status != 200:
        raise RuntimeError(f"/readyz is answered with {status}")


async def in_process(rounds: int) -> tuple[float, float]:
    """Seconds until a cluster is entered, and until its controllers have nothing more to do, medians.

    The first cluster, which imports, is not counted.
    """
    entered, settled = [], []
    for number in range(rounds + 1):
        begin = time.perf_counter()
        async with DevCluster() as cluster:
            inside = time.perf_counter()
            written, quiet = begin, 0
            revision = cluster.server.store.revision
            while quiet < _QUIET_TURNS:
                await asyncio.sleep(0)
                quiet += 1
                if cluster.server.store.revision != revision:
                    revision, written, quiet = cluster.server.store.revision, time.perf_counter(), 0
        if number:
            entered.append(inside - begin)
            settled.append(written - begin)
    return median(entered), median(settled)


_QUIET_TURNS = 30
"""Turns of the event loop without a write after which no more is expected."""
