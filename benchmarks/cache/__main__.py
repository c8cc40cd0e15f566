"""``python -m benchmarks.cache``: a table on stdout, and benchmarks/out/cache.json."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
from pathlib import Path

from benchmarks.cache.figures import add_figures
from benchmarks.cache.plan import cells
from benchmarks.cache.report import Report
from benchmarks.cache.resources import PODS, WIDGETS
from benchmarks.cache.running import run_all
from benchmarks.cache.stub import NotThere, stub, unpack

_OUT = Path(__file__).parent.parent / "out" / "cache.json"
_SECONDS, _LIMIT = 360.0, 90.0
"""After how long no round is begun any more, and what one process may take."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.cache")
    parser.add_argument("--quick", action="store_true", help="a fifth of the objects, once: under 2 minutes")
    parser.add_argument(
        "--only", action="append", metavar="CONTESTANT", help="and no other; may be given several times"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the stub is stopped then, too
    try:
        program = unpack()
    except NotThere as missing:
        print(missing)
        return 2
    planned = [cell for cell in cells(quick=options.quick) if not options.only or cell.contestant in options.only]
    if not planned:
        print(f"--only {options.only[0]}: there is no such contestant")
        return 2
    with stub(program) as server:
        lengths = {kind.plural: server.length(kind) for kind in (WIDGETS, PODS)}
        results = run_all(planned, program, server, seconds=_SECONDS, limit=_LIMIT)
    most = max(cell.objects for cell in planned if cell.measurement == "follow")
    report = Report(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}", most)
    add_figures(report, results, lengths)
    print(report.table())
    report.write(_OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
