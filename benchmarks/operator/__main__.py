"""``python -m benchmarks.operator``: a table on stdout, and benchmarks/out/operator.json."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
from pathlib import Path

from benchmarks.devcluster.report import Figure, Report
from benchmarks.devcluster.starting import command, help_shown
from benchmarks.operator import starting

_OUT = Path(__file__).parent.parent / "out" / "operator.json"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operator")
    parser.add_argument("--rounds", type=int, default=7, help="of which the median counts")
    rounds = parser.parse_args().rounds
    report = Report(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}")

    def add(name: str, target: str, seconds: float, bound: str) -> None:
        report.add(Figure(name, "ms", target, bound), {"kubewright": seconds * 1000})

    add("import kubewright", "< 50", command("-c", "import kubewright", rounds=rounds), "Python's own start")
    add("command: --help", "< 200", help_shown(rounds), "Python's own start, and click")
    with starting.local_cluster() as kubeconfig:
        found = asyncio.run(starting.in_process(kubeconfig, rounds))
        add("manager: start to first reconcile", "< 500", found.first_reconcile, "TLS, and the server's first lists")
        add("manager: stop when idle", "< 2000", found.stop, "cancelling tasks")
        found = starting.process(kubeconfig, rounds)
        add("command: run to first reconcile", "", found.first_reconcile, "imports: aiohttp, click, the kinds")
        add("command: run, stop when idle", "< 2000", found.stop, "closing connections")
        found = starting.process(kubeconfig, rounds, "--leader-elect", "--health-probe-bind-address=127.0.0.1:0")
        add("the same, with a lease and health, start", "", found.first_reconcile, "as above, and aiohttp's server")
        add("the same, with a lease and health, stop", "< 2000", found.stop, "releasing the lease")
    print(report.table())
    report.write(_OUT)


if __name__ == "__main__":
    main()
