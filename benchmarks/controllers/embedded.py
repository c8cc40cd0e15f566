"""The embedded cluster as a process of its own, without controllers, as a bare API server is.

``python -m benchmarks.controllers.embedded KUBECONFIG`` serves until SIGTERM and says so when it is ready. With its
controllers, what is measured would be how fast those make the pods of 10,000 StatefulSets.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.controllers.processes import Failed, processor_seconds
from benchmarks.devcluster.servers import address_in
from benchmarks.devcluster.wire import Connection
from kubewright.api import Resource, resource_info
from kubewright.api.collector import collect_seldom
from kubewright.crd import definition
from kubewright.devcluster.cluster import DevCluster, Https

__all__ = ["Embedded", "embedded"]

_CONNECTIONS = 32
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Embedded(NamedTuple):
    kubeconfig: Path
    pid: int

    @property
    def processor_seconds(self) -> float:
        return processor_seconds(self.pid)

    def fill(self, kind: type[Resource], objects: Sequence[dict[str, Any]]) -> None:
        """Installs the kind and creates the objects, all in namespace ``default``."""
        asyncio.run(self._fill(kind, objects))

    async def _fill(self, kind: type[Resource], objects: Sequence[dict[str, Any]]) -> None:
        address, info = address_in(self.kubeconfig), resource_info(kind)
        collection = f"/apis/{info.group}/{info.version}/namespaces/default/{info.plural}"
        async with AsyncExitStack() as stack:
            connections = [await stack.enter_async_context(Connection(address)) for _ in range(_CONNECTIONS)]
            await _created(connections[0], _DEFINITIONS, definition(kind))  # served at once
            waiting = iter(objects)

            async def work(connection: Connection) -> None:
                for each in waiting:
                    await _created(connection, collection, each)

            async with asyncio.TaskGroup() as group:
                for connection in connections:
                    group.create_task(work(connection))


async def _created(connection: Connection, path: str, body: dict[str, Any]) -> None:
    status, _ = await connection.request("POST", path, msgspec.json.encode(body))
    if status != 201:
        raise RuntimeError(f"the embedded cluster answers {status} to POST {path}")


@contextmanager
def embedded() -> Iterator[Embedded]:
    """A fresh one. Raises `Failed` where it does not start."""
    with tempfile.TemporaryDirectory() as scratch:
        kubeconfig = Path(scratch, "kubeconfig")
        command = [sys.executable, "-m", "benchmarks.controllers.embedded", str(kubeconfig)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            if not (process.stdout and process.stdout.readline()):
                raise Failed(f"the embedded cluster did not start: exit code {process.wait()}")
            yield Embedded(kubeconfig, process.pid)
        finally:
            process.terminate()
            process.wait()


async def _serve(kubeconfig: Path) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with DevCluster(https=Https(kubeconfig=kubeconfig), controllers=lambda _: ()):
        collect_seldom()  # as `kubewright cluster up` does
        print("ready", flush=True)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
