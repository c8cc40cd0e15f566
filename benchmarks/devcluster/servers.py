"""The servers that are measured, each a process of its own: ours, a real one, kmock."""

from __future__ import annotations

import base64
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from benchmarks.devcluster.wire import Address
from kubewright.devcluster.process import start_background, stop

__all__ = ["Server", "address_in", "kmock", "kubewright", "real", "real_servers"]


_UNPACKED = Path(".tools/servers").absolute()
"""Where the real server's programs are unpacked, once."""


@dataclass(frozen=True)
class Server:
    """A running server."""

    name: str
    address: Address
    pids: tuple[int, ...]
    """Its processes; what stores its objects is part of it."""
    started_in: float
    """Seconds until it was ready."""


def address_in(kubeconfig: Path) -> Address:
    """Where the cluster of a kubeconfig listens."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    url = urlsplit(cluster["server"])
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return Address(url.hostname or "", url.port or 0, user["token"], ssl.create_default_context(cadata=authority))


@contextmanager
def kubewright() -> Iterator[Server]:
    """Ours, as ``kubewright cluster up`` starts it."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        start_background(home)  # credentials and byte code are made once, not at each start
        stop(home)
        begin = time.perf_counter()
        status = start_background(home)
        seconds = time.perf_counter() - begin
        try:
            yield Server("kubewright", address_in(status.kubeconfig), (status.pid or 0,), seconds)
        finally:
            stop(home)


def real_servers() -> Path:
    return Path(os.environ.get("KUBEWRIGHT_SERVERS", "../shared/kubernetes/servers")).absolute()


@contextmanager
def real() -> Iterator[Server]:
    """The real 1.36: API server and etcd (which does not sync its files), without controllers."""
    scripts = real_servers()
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        subprocess.run(["bash", scripts / "unpack.sh", _UNPACKED], check=True, stdout=subprocess.DEVNULL)
        (home / "bin").symlink_to(_UNPACKED / "bin")
        ports = {"PORT": str(_free_port()), "ETCD_PORT": str(_free_port()), "KCM": "0"}
        environment = {**os.environ, **ports, "K8S_DIR": str(home)}
        try:
            for _ in range(2):  # certificates are made once, not at each start
                _run("stop.sh", environment, "1.36", "--wipe")
                begin = time.perf_counter()
                _run("start.sh", environment, "1.36")
                seconds = time.perf_counter() - begin
            pids = tuple(int(line) for line in (home / "pids-1.36").read_text().split())
            yield Server("Kubernetes 1.36", address_in(home / "kubeconfig-1.36"), pids, seconds)
        finally:
            _run("stop.sh", environment, "1.36", "--wipe")


def _run(script: str, environment: dict[str, str], *arguments: str) -> None:
    log = Path(environment["K8S_DIR"], "scripts.log")
    with log.open("ab") as file:
        command = ["bash", str(real_servers() / script), *arguments]
        done = subprocess.run(command, env=environment, stdout=file, stderr=file, check=False)
    if done.returncode:
        raise RuntimeError(f"{script} failed:\n{log.read_text()}")


def _free_port() -> int:
    """A free port whose successor was free a moment ago: etcd takes two."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        port: int = first.getsockname()[1]
        try:
            second.bind(("127.0.0.1", port + 1))
        except OSError:
            return _free_port()
        return port


_KMOCK = """
import asyncio, kmock
async def main():
    emulator = kmock.KubernetesEmulator()
    emulator.resources["benchmarks.kubewright.dev/v1/gadgets"] = {"namespaced": True, "kind": "Gadget"}
    async with emulator, kmock.Server(emulator) as server:
        print(server.port, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@contextmanager
def kmock() -> Iterator[Server]:
    """Kmock's emulator. It speaks plain HTTP, validates nothing and keeps every request for assertions."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", _KMOCK], stdout=subprocess.PIPE, text=True)
    try:
        told = process.stdout.readline() if process.stdout else ""
        seconds = time.perf_counter() - begin
        if not told.strip().isdigit():
            raise RuntimeError("kmock did not start; is it installed? (make bench-devcluster installs it)")
        yield Server("kmock", Address("127.0.0.1", int(told)), (process.pid,), seconds)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
