"""The embedded cluster as a process of its own: start it in the background, find it, stop it.

Every function takes the cluster's home (see `cluster_files.state_directory`) and raises `ClusterError`, whose message
is one line for the user.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kubewright.api import Clock, SystemClock
from kubewright.devcluster.cluster_files import ClusterFiles, ClusterStatus, already_running
from kubewright.devcluster.errors import ClusterError
from kubewright.telemetry import Log, null_log

if TYPE_CHECKING:
    from kubewright.devcluster.cluster import DevCluster

__all__ = ["Announcement", "ClusterOptions", "serve_foreground", "start_background", "status", "stop"]

START_SECONDS = 60.0
STOP_SECONDS = 20.0
"""How long a start, and a clean stop, may take before the process is killed."""

_POLL_SECONDS = 0.02


class ClusterOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What may be chosen when a cluster starts. It travels to the background process as JSON."""

    port: int | None = None
    """None: the port of the cluster that ran in this home before, if it is free, else any."""
    ready_after: float | None = None
    """Seconds until a simulated pod is ready; None: as `Simulation` has it."""


class Announcement(msgspec.Struct):
    """What the background process tells the one that started it, once: that it listens, or why it never will."""

    error: str = ""


def status(home: Path) -> ClusterStatus:
    """Whether a cluster runs in this home, and where."""
    return ClusterFiles(home).status()


async def serve_foreground(
    home: Path,
    options: ClusterOptions | None = None,
    *,
    ready: Callable[[ClusterStatus], None] = lambda _: None,
    clock: Clock | None = None,
    log: Log | None = None,
) -> None:
    """Runs a cluster until SIGINT or SIGTERM; ``ready`` is called once it listens and its kubeconfig is written."""
    files = ClusterFiles(home)
    files.prepare()
    clock = clock or SystemClock()
    with files.held(pause=_pause), _signals() as stopped:
        async with _cluster(files, options or ClusterOptions(), clock, log or null_log()) as cluster:
            files.announce(cluster.server_url, clock.now())
            ready(files.status())
            await stopped.wait()


def _cluster(files: ClusterFiles, options: ClusterOptions, clock: Clock, log: Log) -> DevCluster:
    from kubewright.devcluster.certificates import load_or_create  # noqa: PLC0415 - not for `status` and `stop`
    from kubewright.devcluster.cluster import DevCluster, Https  # noqa: PLC0415
    from kubewright.devcluster.controllers import Simulation  # noqa: PLC0415

    credentials = load_or_create(files.credentials, clock.now())
    https = Https(
        port=files.last_port() if options.port is None else options.port,
        port_is_a_wish=options.port is None,
        credentials=credentials,
        kubeconfig=files.kubeconfig,
    )
    simulation = Simulation() if options.ready_after is None else Simulation(ready_after=options.ready_after)
    return DevCluster(https=https, simulation=simulation, clock=clock, log=log)


@contextmanager
def _signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set while the block runs."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        yield stopped
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def start_background(home: Path, options: ClusterOptions | None = None, *, clock: Clock | None = None) -> ClusterStatus:
    """Starts a cluster that outlives this process; returns once it listens and its kubeconfig is written."""
    clock = clock or SystemClock()
    files = ClusterFiles(home)
    if (found := files.status()).state != "stopped":
        raise ClusterError(already_running(found))
    files.prepare()
    reader, writer = os.pipe()
    try:
        arguments = msgspec.json.encode(options or ClusterOptions()).decode()
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
        process.wait()  # it forks at once; the cluster itself is the child, in the same process group
        try:
            _await_announcement(reader, files, group=process.pid, clock=clock)
        except KeyboardInterrupt:
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


def _await_announcement(reader: int, files: ClusterFiles, *, group: int, clock: Clock) -> None:
    deadline = clock.monotonic() + START_SECONDS
    told = b""
    while not told.endswith(b"\n"):
        readable, _, _ = select.select([reader], [], [], max(0.0, deadline - clock.monotonic()))
        if not readable:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
            raise ClusterError(f"the cluster did not start within {START_SECONDS:.0f} s; see {files.log}")
        part = os.read(reader, 65536)
        if not part:
            raise ClusterError(f"the cluster ended while starting: {files.last_words()}; see {files.log}")
        told += part
    if error := msgspec.json.decode(told, type=Announcement).error:
        raise ClusterError(error)


def stop(home: Path, *, clock: Clock | None = None) -> bool:
    """Stops the cluster of this home and waits for its end; False where none runs."""
    clock = clock or SystemClock()
    files = ClusterFiles(home)
    if files.status().state == "stopped":
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _ends_after(number, files, clock):
            return True
    raise ClusterError(f"the cluster (process {files.status().pid}) does not end, even when killed")


def _ends_after(number: signal.Signals, files: ClusterFiles, clock: Clock) -> bool:
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
    deadline = clock.monotonic() + STOP_SECONDS
    while files.status().state != "stopped":
        if clock.monotonic() > deadline:
            return False
        _pause()
    return True


def _pause() -> None:
    time.sleep(_POLL_SECONDS)
