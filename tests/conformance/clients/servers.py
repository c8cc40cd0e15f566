"""The servers that the clients are let loose on: the embedded cluster as a process, others as given with ``--against``."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.resources import definitions
from tests.conformance.targets import Target
from tests.e2e.processes import Kubectl, kubectls, start_cluster

__all__ = ["Server", "eventually", "open_server"]

_MADE_HERE = "kubewright.dev/clients"


@dataclass(frozen=True)
class Server:
    """A running server with the suite's definitions in it."""

    name: str
    kubeconfig: Path
    home: Path
    """Where clients may leave what they leave."""
    _namespaces: list[str] = field(default_factory=list)

    def knows(self, resource: str) -> bool:
        """Whether it serves ``resource`` (``cronjobs.batch``); a real server here may know few kinds."""
        return resource in self.kubectl().run("api-resources", "-o", "name", "--cached").split()

    def new_namespace(self) -> str:
        """One that nobody has used; they are made by the dozen, which is quicker."""
        if not self._namespaces:
            self._namespaces.extend(f"clients-{random.getrandbits(40):010x}" for _ in range(12))
            labels = {_MADE_HERE: "yes"}
            items = [
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
                for name in self._namespaces
            ]
            self.kubectl().run(
                "create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
            )
        return self._namespaces.pop()

    def delete_namespaces(self) -> None:
        self.kubectl().run("delete", "namespaces", "-l", _MADE_HERE, "--wait=false")

    def kubectl(self, namespace: str = "default", binary: Path | None = None) -> Kubectl:
        """The newest one unless told otherwise."""
        return Kubectl(binary or kubectls()[-1], self.kubeconfig, self.home, namespace=namespace)


@contextmanager
def open_server(target: Target, home: Path) -> Iterator[Server]:
    if target.kubeconfig is not None:
        server = Server(target.name, target.kubeconfig, home)
        _install_definitions(server)
        try:
            yield server
        finally:
            server.delete_namespaces()
        return
    cluster = start_cluster(home)
    try:
        server = Server(target.name, cluster.kubeconfig, home)
        _install_definitions(server)
        yield server
    finally:
        cluster.kill()


def _install_definitions(server: Server) -> None:
    kubectl = server.kubectl()
    for definition in definitions():
        kubectl.run("apply", "--validate=false", "-f", "-", stdin=json.dumps(definition))  # 1.20 knows less of it
    kubectl.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=50s")
    kubectl.run("api-resources", "-o", "name")  # and from now on cached


async def eventually(look: Callable[[], Awaitable[bool]], *, within: float = 50.0) -> None:
    """Until ``look`` says yes; AssertionError when the time is up.

    ``within``, in seconds, is when to give up and not what a thing may take: the machine may be busy.
    """
    deadline = time.monotonic() + within
    while not await look():
        assert time.monotonic() < deadline, "it never came to be"
        await asyncio.sleep(0.05)
