"""Where JSON is asked for, standard error has nothing else, whatever goes wrong in whose code."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import SAMPLE, newest
from tests.e2e.processes import Cluster, Kubectl, Operator, eventually

CARELESS = """
import asyncio, logging, threading, warnings
from database_operator.api.v1alpha1 import Database
from kubewright import Context, Operator

warnings.warn("old ways at import")
logging.getLogger("library").warning("early")
operator = Operator("careless")


class Fails:
    def __del__(self):
        raise RuntimeError("in a finalizer")


def dies():
    raise RuntimeError("in a thread")


async def forgotten():
    raise RuntimeError("in a task")


@operator.controller(Database)
async def reconcile(db: Database, ctx: Context) -> None:
    logging.getLogger("library").warning("%d", "no number")
    Fails()
    threading.Thread(target=dies).start()
    asyncio.create_task(forgotten())
    asyncio.get_running_loop().call_soon(dies)
    await asyncio.sleep(0.1)
"""
SAID = (
    "old ways at import",
    "early",
    "a line could not be logged",
    "in a finalizer",
    "in a thread",
    "in a task",
    "Exception in callback dies",
)


def test_nothing_that_code_does_by_mistake_is_said_otherwise(cluster: Cluster, crd: Path, tmp_path: Path) -> None:
    del crd
    Kubectl(newest(), cluster.kubeconfig, cluster.home).run("apply", "-f", str(SAMPLE))
    file, log = tmp_path / "careless.py", tmp_path / "operator.log"
    file.write_text(CARELESS)
    with Operator(cluster, file, log) as operator:

        def all_said() -> None:
            assert [text for text in SAID if not operator.said(text)] == []

        eventually(all_said)
        assert operator.stop() == 0
    for line in log.read_text().splitlines():
        assert {"msg", "level", "timestamp"} <= json.loads(line).keys()
