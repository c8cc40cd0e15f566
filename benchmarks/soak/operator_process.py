"""``python -m benchmarks.soak.operator_process KUBECONFIG``: the example operator, which tells of itself when asked.

For each line on standard input it prints one with the number of its tasks, and that of the blocks of memory in use.
"""

from __future__ import annotations

import asyncio
import sys

from database_operator.operator import operator

from benchmarks.controllers.access import Access
from kubewright.api.collector import collect_seldom
from kubewright.client import Client, HttpsTransport
from kubewright.operator import Manager
from kubewright.telemetry import Metrics, new_log

__all__ = ["main"]


async def _work(kubeconfig: str) -> None:
    client = Client(HttpsTransport(Access(kubeconfig).config))
    manager = Manager(operator, client, log=new_log("json", level="error"), metrics=Metrics())
    asyncio.get_running_loop().add_reader(sys.stdin, _answer)
    collect_seldom()  # as `kubewright run` does
    await manager.run()


def _answer() -> None:
    if not sys.stdin.readline():
        sys.exit(0)
    print(len(asyncio.all_tasks()), sys.getallocatedblocks(), flush=True)


def main() -> None:
    asyncio.run(_work(sys.argv[1]))


if __name__ == "__main__":
    main()
