"""The embedded cluster as a process of its own: start it in the background, find it, stop it.

Every function takes the cluster's home (see `cluster_files.state_directory`) and raises `ClusterError`, whose message
is one line for the user. ``monotonic`` gives seconds, as `time.monotonic` does.

This module and what it imports is all that the starter loads before the cluster's own process can begin, hence the
standard library only; what runs there is `foreground`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kubewright.devcluster.cluster_files import ClusterFiles, ClusterStatus, already_running
from kubewright.devcluster.errors import ClusterError

__all__ = ["ClusterOptions", "start_background", "status", "stop"]

START_SECONDS = 60.0
STOP_SECONDS = 20.0
"""How long a start, and a clean stop, may take before the process is killed."""

_POLL_SECONDS = 0.02


class ClusterOptions(NamedTuple):
    """What may be chosen when a cluster starts. It travels to the background process as a JSON object."""

    port: int | None = None
    """None: the port of the cluster that ran in this home before, if it is free, else any."""
    ready_after: float | None = None
    """Seconds until a simulated pod is ready; None: as `Simulation` has it."""


def status(home: Path) -> ClusterStatus:
    """Whether a cluster runs in this home, and where."""
    return ClusterFiles(home).status()


def start_background(
    home: Path, options: ClusterOptions | None = None, *, monotonic: Callable[[], float] = time.monotonic
) -> ClusterStatus:
    """Starts a cluster that outlives this process; returns once it listens and its kubeconfig is written."""
    files = ClusterFiles(home)
    if (found := files.status()).state != "stopped":
        raise ClusterError(already_running(found))
    files.prepare()
    reader, writer = os.pipe()
    try:
        arguments = json.dumps((options or ClusterOptions())._asdict())
        with files.new_log() as log:
            process = subprocess.Popen(  # noqa: S603 - this very package, run by this very interpreter
                [sys.executable, "-P", "-m", "kubewright.devcluster", str(home), arguments, str(writer)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=home,
                env={**os.environ, "PYTHONPATH": _absolute(os.environ.get("PYTHONPATH", ""))},
                start_new_session=True,
                pass_fds=(writer,),
            )
        os.close(writer)
        writer = -1
        try:
            process.wait()  # it forks at once; the cluster itself is the child, in the same process group
            _await_announcement(reader, files, group=process.pid, monotonic=monotonic)
        except (KeyboardInterrupt, SystemExit):  # which the signals that end this process raise
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    return files.status()


def _absolute(path: str) -> str:
    return os.pathsep.join(os.path.abspath(each) for each in path.split(os.pathsep) if each)


def _await_announcement(reader: int, files: ClusterFiles, *, group: int, monotonic: Callable[[], float]) -> None:
    """Waits for the one line that the cluster's process writes: empty once it listens, else why it never will."""
    deadline = monotonic() + START_SECONDS
    told = b""
    while not told.endswith(b"\n"):
        readable, _, _ = select.select([reader], [], [], max(0.0, deadline - monotonic()))
        if not readable:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
            raise ClusterError(f"the cluster did not start within {START_SECONDS:.0f} s; see {files.log}")
        part = os.read(reader, 65536)
        if not part:
            raise ClusterError(f"the cluster ended while starting: {files.last_words()}; see {files.log}")
        told += part
    if error := told.decode().strip():
        raise ClusterError(error)


def stop(home: Path, *, monotonic: Callable[[], float] = time.monotonic) -> bool:
    """Stops the cluster of this home and waits for its end; False where none runs."""
    files = ClusterFiles(home)
    if files.status().state == "stopped":
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _ends_after(number, files, monotonic):
            return True
    raise ClusterError(f"the cluster (process {files.status().pid}) does not end, even when killed")


def _ends_after(number: signal.Signals, files: ClusterFiles, monotonic: Callable[[], float]) -> bool:
    found = files.status()
    if found.state == "stopped":
        return True
    if not found.pid:
        message = f"a cluster runs in {files.home}, but its cluster.json does not tell which process it is"
        raise ClusterError(message)
    try:
        os.kill(found.pid, number)
    except ProcessLookupError:
        pass  # it ended by itself just now
    except PermissionError as error:
        raise ClusterError(f"the cluster (process {found.pid}) belongs to another user") from error
    deadline = monotonic() + STOP_SECONDS
    while files.status().state != "stopped":
        if monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
