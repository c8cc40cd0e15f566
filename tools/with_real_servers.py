"""Runs a command with two real API servers beside it: ``with_real_servers.py COMMAND…``.

They come from the folder in ``KUBEWRIGHT_SERVERS`` (default ``../shared/kubernetes/servers``), are unpacked once into
``.tools/servers``, and listen on free ports. ``--against VERSION=KUBECONFIG --etcd VERSION=URL`` is added to the command
for each.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

UNPACKED = Path(".tools/servers").absolute()
VERSIONS = {"1.20": "kubeconfig", "1.36": "kubeconfig-1.36"}


def main(command: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the servers are stopped then, too
    servers = Path(os.environ.get("KUBEWRIGHT_SERVERS", "../shared/kubernetes/servers")).absolute()
    if not (servers / "start.sh").exists():
        print(
            f"the real servers are not in {servers}: set KUBEWRIGHT_SERVERS to the folder that has them",
            file=sys.stderr,
        )
        return 2
    subprocess.run(["bash", str(servers / "unpack.sh"), str(UNPACKED)], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        (home / "bin").symlink_to(UNPACKED / "bin")
        started = []
        try:
            for version, kubeconfig in VERSIONS.items():
                started.append(version)
                etcd = start(servers, home, version)
                command += ["--against", f"{version}={home / kubeconfig}", "--etcd", f"{version}={etcd}"]
            return subprocess.run(command, check=False).returncode
        finally:
            for version in started:
                script(servers / "stop.sh", home, {}, version, "--wipe")


def start(servers: Path, home: Path, version: str) -> str:
    """Returns the URL of the server's etcd. Tries again on other ports, since a free one may be taken meanwhile."""
    for attempt in range(3):
        ports = {"PORT": str(free_pair()), "ETCD_PORT": str(free_pair())}
        if script(servers / "start.sh", home, ports, version) == 0:
            return f"http://127.0.0.1:{ports['ETCD_PORT']}"
        script(servers / "stop.sh", home, {}, version, "--wipe")
        print(f"server {version} did not start (attempt {attempt + 1})", file=sys.stderr)
    raise SystemExit(f"server {version} does not start")


def script(path: Path, home: Path, extra: dict[str, str], *arguments: str) -> int:
    environment = {**os.environ, **extra, "K8S_DIR": str(home)}
    done = subprocess.run(
        ["bash", str(path), *arguments], env=environment, capture_output=True, text=True, check=False, timeout=180
    )
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
    return done.returncode


def free_pair() -> int:
    """A free port whose successor is free too: each server and its controller manager, etcd and its peer port."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
