"""``python -m benchmarks.controllers``: a table on stdout, and benchmarks/out/controllers.json."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
from pathlib import Path

from benchmarks.cache.stub import NotThere, stub, unpack
from benchmarks.controllers.figures import add_figures
from benchmarks.controllers.plan import PARTS, Sizes, measure
from benchmarks.controllers.report import Report

_OUT = Path(__file__).parent.parent / "out" / "controllers.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.controllers")
    parser.add_argument("--quick", action="store_true", help="fewer objects, once: under 2 minutes")
    parser.add_argument("--only", choices=PARTS, help="a part, whose figures are shown and not kept")
    options = parser.parse_args()
    sizes = Sizes.quick() if options.quick else Sizes()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers are stopped then, too
    try:
        program = unpack()
    except NotThere as missing:
        print(missing)
        return 2
    with stub(program) as server:
        measured = measure(program, server, sizes, [options.only] if options.only else PARTS)
    report = Report(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    add_figures(report, measured, sizes)
    print(report.table())
    if not options.only:
        report.write(_OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
