"""``python -m benchmarks.devcluster``: a table on stdout, and benchmarks/out/devcluster.json."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.devcluster import controllers, in_process, starting
from benchmarks.devcluster.floors import tls_to_many
from benchmarks.devcluster.load import CONNECTIONS, Load, Pace, megabytes
from benchmarks.devcluster.report import Figure, Report
from benchmarks.devcluster.servers import Server, kmock, kubewright, real, real_servers

_FOR_KMOCK = 64
_EVENT_SIZE = 2000
"""Bytes of a watch event about an object of 1 KB."""
_OUT = Path(__file__).parent.parent / "out" / "devcluster.json"


def _in_process(report: Report, rounds: int) -> None:
    found = in_process.rates(rounds=rounds, size=300)
    for name, target, value, bound in (
        (
            "create",
            "≥ 5000",
            found.create,
            "Python on one core: who owns what a fifth, the schema a fifth, storing a tenth; the rest is small",
        ),
        ("get", "≥ 20000", found.get, "Python on one core: routing and headers; the bytes are ready"),
        ("merge patch of a status", "≥ 3000", found.patch_status, "as a create, and decoding and comparing"),
        ("apply that changes nothing", "", found.apply_again, "merging, and comparing who owns what"),
    ):
        report.add(Figure(f"in process: {name}", "/s", target, bound), {"kubewright": value})
    report.add(
        Figure("in process: one write to 1000 watchers", "ms", "< 50", "waking 1000 tasks; the event is encoded once"),
        {"kubewright": asyncio.run(in_process.watchers(1000, rounds=rounds)) * 1000},
    )
    report.add(
        Figure(
            "in process: processor time of 200 StatefulSets at once",
            "s",
            "",
            "some 48 writes for each, a third of them Events; grows with their number, not with its square",
        ),
        {"kubewright": asyncio.run(controllers.statefulsets(200))},
    )


def _starting(report: Report, rounds: int) -> None:
    entered, settled = asyncio.run(starting.in_process(rounds))
    report.add(
        Figure("in process: start", "ms", "< 5", "creating four namespaces and the controllers' objects"),
        {"kubewright": entered * 1000},
    )
    report.add(
        Figure("in process: start until quiet", "ms", "", "some twenty lists, watches and writes of the controllers"),
        {"kubewright": settled * 1000},
    )
    up, ready = starting.cluster_up(rounds)
    report.add(
        Figure(
            "command: cluster up", "ms", "< 1000", "imports in two processes, one after the other; aiohttp is a third"
        ),
        {"kubewright": up * 1000},
    )
    report.add(
        Figure("command: cluster up until /readyz is answered", "ms", "< 1000", "as before, and the client's TLS"),
        {"kubewright": ready * 1000},
    )
    report.add(
        Figure("command: --help", "ms", "< 200", "Python's own start, and click"),
        {"kubewright": starting.help_shown(rounds) * 1000},
    )
    report.add(
        Figure("import kubewright", "ms", "< 50", "Python's own start"),
        {"kubewright": starting.command("-c", "import kubewright", rounds=rounds) * 1000},
    )


def _add_paces(report: Report, verb: str, target: str, bound: str, paces: dict[str, list[Pace]]) -> None:
    name = f"HTTPS, {CONNECTIONS} connections: {verb}"
    middle = {server: Pace(*map(median, zip(*found, strict=True))) for server, found in paces.items()}
    report.add(Figure(name, "/s", target, bound), {server: pace.per_second for server, pace in middle.items()})
    report.add(
        Figure(f"{name}, server's processor time", "µs", "", "of all its cores; in steps of 10 ms, so rough for kmock"),
        {server: pace.server * 1e6 for server, pace in middle.items()},
    )
    report.add(
        Figure(f"{name}, client's processor time", "µs", "", "ours, for comparison: less than the server's"),
        {server: pace.client * 1e6 for server, pace in middle.items()},
    )


async def _over_sockets(report: Report, servers: list[Server], options: argparse.Namespace) -> None:
    loads = [Load(server) for server in servers]
    for load in loads:
        await load.prepare()
    # in turns, so that whatever else the machine does hits all of them
    creates: dict[str, list[Pace]] = {load.server.name: [] for load in loads}
    gets: dict[str, list[Pace]] = {load.server.name: [] for load in loads}
    for number in range(options.rounds):
        for load in loads:
            if load.server.name != "kmock":
                creates[load.server.name].append(await load.creates(options.requests))
                gets[load.server.name].append(await load.gets(options.requests))
            elif not number:  # each request costs it more than the one before
                creates["kmock"].append(await load.creates(_FOR_KMOCK))
                gets["kmock"].append(await load.gets(_FOR_KMOCK))
    _add_paces(
        report,
        "create",
        "≥ 1500",
        "the server's one core, two thirds of it HTTP, TLS, sending; the real one: etcd; kmock (plain HTTP, its first 64): looks through all earlier requests",
        creates,
    )
    _add_paces(report, "get", "", "the server's one core: HTTP, TLS, sending", gets)
    loads = [load for load in loads if load.server.name != "kmock"]  # which answers lists and watches otherwise
    memory: dict[str, float] = {}
    listing: dict[str, float] = {}
    extra: dict[str, float] = {}
    for load in loads:
        before = megabytes(load.server)
        await load.creates(options.objects)
        memory[load.server.name] = (megabytes(load.server) - before) * 1024 / options.objects
        seconds, _, more = await load.list_all()
        listing[load.server.name], extra[load.server.name] = seconds * 1000, more
    many = f"{options.objects} objects"
    report.add(
        Figure(
            "memory per stored 1 KB object", "KB", "< 3", "its JSON with managedFields; the real one: etcd and caches"
        ),
        memory,
    )
    report.add(Figure(f"HTTPS: list of {many}", "ms", "", "TLS and the client's reading"), listing)
    report.add(
        Figure(f"extra memory of a list of {many}", "MB", "≤ 32", "chunks of 64 KB; a list of references"), extra
    )
    reached = {load.server.name: await load.reach_watchers(1000, 9) for load in loads}
    report.add(
        Figure(
            "HTTPS: one write to 1000 watchers",
            "ms",
            "< 50",
            "the server's one core: the way to 1000 tasks, TLS, sending; our reading runs on the other core",
        ),
        {name: found[0] * 1000 for name, found in reached.items()},
    )
    report.add(
        Figure("of that, the server's processor time", "ms", "", "of all its cores"),
        {name: found[1] * 1000 for name, found in reached.items()},
    )
    report.add(
        Figure("of that, encrypting and sending alone", "ms", "", "OpenSSL and the kernel, called in a bare loop"),
        {"kubewright": tls_to_many(1000, _EVENT_SIZE, rounds=7) * 1000},
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.devcluster")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=800, help="of a round, over 32 connections")
    parser.add_argument("--objects", type=int, default=50_000, help="in the long list")
    parser.add_argument("--without", action="append", default=[], choices=["real", "kmock"])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers are stopped then, too
    if "real" not in options.without and not (real_servers() / "start.sh").exists():
        print(f"the real server is not in {real_servers()}: set KUBEWRIGHT_SERVERS, or use --without real")
        return 2
    report = Report(machine=f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    _starting(report, options.rounds)
    _in_process(report, options.rounds)
    with ExitStack() as stack:
        started = [stack.enter_context(kubewright())]
        started += [stack.enter_context(real())] if "real" not in options.without else []
        started += [stack.enter_context(kmock())] if "kmock" not in options.without else []
        report.add(
            Figure("process: start to ready", "ms", "< 1000", "imports; the real one: etcd, waiting for its answer"),
            {server.name: server.started_in * 1000 for server in started},
        )
        asyncio.run(_over_sockets(report, started, options))
    print(report.table())
    report.write(_OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
