"""The processes that end-to-end tests start, and waiting for what they do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

ROOT = Path(__file__).parents[2]
KUBEWRIGHT = [str(Path(sys.executable).parent / "kubewright")]
T = TypeVar("T")
LEASE_DURATION, RENEW_DEADLINE, RETRY_PERIOD = 4, 3.0, 0.5
"""Seconds, of operators that have `REPLICA_FLAGS`."""
REPLICA_FLAGS = (
    "--leader-elect",
    f"--leader-elect-lease-duration={LEASE_DURATION}",
    f"--leader-elect-renew-deadline={RENEW_DEADLINE}",
    f"--leader-elect-retry-period={RETRY_PERIOD}",
    "--health-probe-bind-address=127.0.0.1:0",
)


def kubectls() -> list[Path]:
    """Old to new; a name that does not exist where there is none, for the tests to fail on."""
    folder = ROOT / ".tools/kubectl"
    return sorted(folder.glob("1.*[0-9]")) or [folder / "1.20"]


def eventually(look: Callable[[], T], *, within: float = 60.0) -> T:
    """Tries ``look`` until it raises nothing; its last error when the time is up.

    ``within``, in seconds, is when to give up and not what a thing may take: the machine may be busy.
    """
    deadline = time.monotonic() + within
    while True:
        try:
            return look()
        except Exception:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


class Cluster:
    """``kubewright cluster up`` in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.kubeconfig = home / "kubeconfig"
        self.environment = {**os.environ, "KUBEWRIGHT_HOME": str(home)}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*KUBEWRIGHT, "cluster", *arguments], env=self.environment, capture_output=True, text=True, check=False
        )

    @property
    def pid(self) -> int:
        return int(json.loads((self.home / "cluster.json").read_text())["pid"])

    def kill(self) -> None:
        """Without mercy, and without trace of what was in it."""
        if self.run("status").returncode == 0:
            os.kill(self.pid, signal.SIGKILL)
            eventually(lambda: _is(self.run("status").returncode, 1))


def start_cluster(home: Path) -> Cluster:
    cluster = Cluster(home)
    started = cluster.run("up", "--pod-ready-after", "0.1")
    assert started.returncode == 0, started.stderr
    return cluster


class Kubectl:
    """One kubectl with a home of its own, pointed at one cluster."""

    def __init__(self, binary: Path, kubeconfig: Path, home: Path, *, namespace: str = "default") -> None:
        self.binary = binary
        self.namespace = namespace
        self.environment = {"KUBECONFIG": str(kubeconfig), "HOME": str(home), "PATH": os.environ["PATH"]}

    def attempt(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.binary), "--namespace", self.namespace, *arguments],
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def run(self, *arguments: str, stdin: str | None = None) -> str:
        done = self.attempt(*arguments, stdin=stdin)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}"
        return done.stdout

    def refused(self, *arguments: str, stdin: str | None = None) -> str:
        """What kubectl says when the server refuses."""
        done = self.attempt(*arguments, stdin=stdin)
        assert done.returncode != 0, f"kubectl {' '.join(arguments)} was not refused: {done.stdout}"
        return done.stderr

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run("get", *arguments, "-o", "json"))

    def names(self, kind: str, *arguments: str) -> list[str]:
        """Names in its namespace."""
        return [item["metadata"]["name"] for item in self.json(kind, *arguments)["items"]]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.binary), "--namespace", self.namespace, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


class Reached(Protocol):
    """A cluster that has a kubeconfig."""

    @property
    def kubeconfig(self) -> Path: ...


class Operator:
    """``kubewright run``, its log in a file of JSON lines."""

    def __init__(self, cluster: Reached, target: Path | str, log: Path, *flags: str) -> None:
        self._command = [
            *KUBEWRIGHT,
            "run",
            str(target),
            "--kubeconfig",
            str(cluster.kubeconfig),
            "--log-format",
            "json",
            *flags,
        ]
        self._log = log
        self.start()

    def start(self) -> None:
        with self._log.open("a") as log:
            self.process = subprocess.Popen(self._command, stderr=log, stdout=log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM, *, within: float = 30) -> int:
        """As kubelet ends it; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=within)

    def restart(self) -> None:
        """As after kill -9."""
        self.kill()
        self.start()

    def lines(self) -> list[dict[str, Any]]:
        whole, _, _ = self._log.read_text().rpartition("\n")  # the last one may just be written
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def health_port(self) -> int:
        """Where it serves its health, once it does."""

        def look() -> int:
            return int(self.said("listening")[-1]["port"])

        return eventually(look)

    def said(self, text: str) -> list[dict[str, Any]]:
        """The log lines whose message, or any value, has ``text``."""
        return [line for line in self.lines() if text in json.dumps(line)]


def _is(value: object, expected: object) -> None:
    assert value == expected
