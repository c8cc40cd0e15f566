"""``python -m benchmarks.soak --minutes 20``: benchmarks/out/soak.json, and exit code 1 where something grows."""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from database_operator.api.v1alpha1 import Database

from benchmarks.controllers.access import Access
from benchmarks.controllers.processes import descriptors, resident_megabytes
from benchmarks.soak.churn import Churn
from benchmarks.soak.samples import Sample, Samples
from kubewright.api import resource_info
from kubewright.client import Client, HttpsTransport
from kubewright.crd import definition
from kubewright.devcluster.cluster_files import ClusterStatus
from kubewright.devcluster.process import ClusterOptions, start_background, stop
from kubewright.kinds import apiextensions_v1

_OUT = Path(__file__).parent.parent / "out" / "soak.json"
_EVERY = 2.0


@asynccontextmanager
async def _operator(kubeconfig: Path) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.soak.operator_process", str(kubeconfig), stdin=PIPE, stdout=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _sampled(process: Process, cluster: ClusterStatus, samples: Samples, seconds: float, churn: Churn) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert cluster.pid is not None
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < seconds:
        process.stdin.write(b"\n")
        told = await process.stdout.readline()
        if not told:
            raise RuntimeError(f"the operator ended with exit code {await process.wait()}")
        pid, (tasks, blocks) = process.pid, map(int, told.split())
        samples.all.append(
            Sample(passed, resident_megabytes(pid), blocks, tasks, descriptors(pid), resident_megabytes(cluster.pid))
        )
        if sys.stderr.isatty():
            print(
                f"\r\033[K{passed:.0f} s, {churn.steps} steps: {samples.all[-1]}", end="", file=sys.stderr, flush=True
            )
        await asyncio.sleep(_EVERY)


async def _soak(cluster: ClusterStatus, options: argparse.Namespace) -> tuple[Samples, int]:
    samples = Samples()
    kubeconfig = cluster.kubeconfig
    client = Client(HttpsTransport(Access(str(kubeconfig)).config))
    churn = Churn(client, options.objects, random.Random(options.seed))
    try:
        crd = resource_info(apiextensions_v1.CustomResourceDefinition)
        await client.apply_raw(crd, definition(Database))
        await churn.fill()
        async with _operator(kubeconfig) as process:
            churning = asyncio.create_task(churn.run(options.rate))
            sampling = asyncio.create_task(_sampled(process, cluster, samples, options.minutes * 60, churn))
            await asyncio.wait([churning, sampling], return_when=asyncio.FIRST_COMPLETED)
            if churning.done():
                sampling.cancel()
                churning.result()
            churning.cancel()
            await sampling
    finally:
        await client.close()
    return samples, churn.steps


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.soak")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--objects", type=int, default=50, help="Databases")
    parser.add_argument("--rate", type=float, default=3, help="steps of churn a second, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.minutes < 0.5:
        parser.error("--minutes: less than half a minute shows nothing")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the cluster is stopped then, too
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        status = start_background(home, ClusterOptions(ready_after=0.1))
        try:
            samples, steps = asyncio.run(_soak(status, options))
        finally:
            stop(home)
    samples.write(_OUT, steps=steps)
    print(f"{steps} steps of churn in {options.minutes:g} minutes\n{samples.summary()}")
    for fault in samples.faults:
        print(f"NOT FLAT: {fault}")
    return 1 if samples.faults else 0


if __name__ == "__main__":
    sys.exit(main())
