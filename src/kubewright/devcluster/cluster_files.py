"""`ClusterFiles`: the state directory of an embedded cluster, and how to tell whether one runs there.

The cluster's process holds ``cluster.lock`` locked for as long as it lives. So whether it runs is a question to the
kernel, not to a process id that may be stale or belong to somebody else by now.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from kubewright.devcluster.errors import ClusterError
from kubewright.devcluster.private_files import private_directory, write_private

__all__ = ["ClusterFiles", "ClusterStatus", "already_running", "state_directory"]


def state_directory(environ: Mapping[str, str], *, user_home: Path | None = None) -> Path:
    """Where a cluster lives unless told otherwise.

    ``KUBEWRIGHT_HOME``, else ``kubewright`` in ``XDG_STATE_HOME``, else ``~/.local/state/kubewright``.
    """
    if home := environ.get("KUBEWRIGHT_HOME"):
        return Path(home).expanduser().absolute()
    state = environ.get("XDG_STATE_HOME") or ""
    if not Path(state).is_absolute():  # the XDG specification wants relative ones ignored
        state = str((user_home or Path.home()) / ".local" / "state")
    return Path(state) / "kubewright"


class ClusterStatus(NamedTuple):
    """What is known of a cluster from outside. ``pid``, ``server`` and ``started`` are those of a running one."""

    state: Literal["stopped", "starting", "running"]
    home: Path
    kubeconfig: Path
    log: Path
    pid: int | None = None
    server: str = ""
    started: datetime | None = None


class _Record(NamedTuple):
    """``cluster.json``. ``server`` is empty until the cluster listens; ``last_port`` outlives it."""

    pid: int
    server: str = ""
    started: datetime | None = None
    last_port: int = 0


class ClusterFiles:
    """The files of one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.kubeconfig = home / "kubeconfig"
        self.log = home / "cluster.log"
        self.credentials = home / "credentials"
        self._lock = home / "cluster.lock"
        self._record = home / "cluster.json"

    def prepare(self) -> None:
        """Makes the directories. Raises `ClusterError` where that is not allowed."""
        with self.written():
            private_directory(self.home)
            private_directory(self.credentials)

    @contextmanager
    def written(self) -> Iterator[None]:
        """A block in which files of this home are written: where one can't be, it raises `ClusterError`."""
        try:
            yield
        except OSError as error:
            why = error.strerror or str(error)
            message = f"can't use {self.home} for the cluster's state: {why}; set KUBEWRIGHT_HOME to another"
            raise ClusterError(message) from error

    def new_log(self) -> BinaryIO:
        """The log, emptied. Raises `ClusterError` where it can't be written."""
        try:
            return open(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        except OSError as error:
            message = (
                f"can't write {self.log}: {(error.strerror or str(error)).lower()}; set KUBEWRIGHT_HOME to another"
            )
            raise ClusterError(message) from error

    def status(self) -> ClusterStatus:
        if not self._is_locked():
            return ClusterStatus(state="stopped", home=self.home, kubeconfig=self.kubeconfig, log=self.log)
        record = self._read()
        pid = self._holder(record.pid if record else None)
        if record and record.pid != pid:
            record = None  # it tells of another process than the one that holds the lock
        return ClusterStatus(
            state="running" if record and record.server else "starting",
            home=self.home,
            kubeconfig=self.kubeconfig,
            log=self.log,
            pid=pid,
            server=record.server if record else "",
            started=record.started if record else None,
        )

    @contextmanager
    def held(self, *, pause: Callable[[], None]) -> Iterator[None]:
        """Holds the lock and records this process; raises `ClusterError` while another cluster runs here.

        ``pause`` is called between attempts: someone asking for the status holds the lock for an instant, too.
        """
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            for _ in range(10):
                if _try_lock(descriptor, fcntl.LOCK_EX):
                    break
                pause()
            else:
                raise ClusterError(already_running(self.status()))
            self._write(_Record(pid=os.getpid(), last_port=self.last_port()))
            yield
        finally:
            os.close(descriptor)

    def announce(self, server: str, started: datetime) -> None:
        """Records that the cluster, whose process holds the lock, now listens at ``server``, a URL that ends in a port."""
        port = int(server.rpartition(":")[2])
        self._write(_Record(pid=os.getpid(), server=server, started=started, last_port=port))

    def last_port(self) -> int:
        """The port of the cluster that ran here last; 0 where there was none."""
        record = self._read()
        return record.last_port if record else 0

    def last_words(self) -> str:
        """The last line of the log: of a process that died, what it died of."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return "it left no log"
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")

    def _is_locked(self) -> bool:
        try:
            descriptor = os.open(self._lock, os.O_RDONLY)
        except OSError:
            return False
        try:
            return not _try_lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def _holder(self, told: int | None) -> int | None:
        """The process that has the lock file open: the one that was told of, if it has, else any other.

        Where the system has no /proc, what was told is believed.
        """
        if not Path("/proc/self/fd").exists():
            return told
        candidates = [Path(f"/proc/{told}"), *Path("/proc").glob("[0-9]*")]
        return next((int(each.name) for each in candidates if self._opened_by(each)), None)

    def _opened_by(self, process: Path) -> bool:
        lock = str(self._lock.resolve())
        try:
            return any(os.readlink(descriptor) == lock for descriptor in (process / "fd").iterdir())
        except OSError:
            return False  # it ended, or is somebody else's

    def _read(self) -> _Record | None:
        """None where there is none, or where something else than a cluster wrote it."""
        try:
            found = json.loads(self._record.read_bytes())
            started = datetime.fromisoformat(found["started"]) if found.get("started") else None
            return _Record(int(found["pid"]), str(found.get("server", "")), started, int(found.get("last_port", 0)))
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def _write(self, record: _Record) -> None:
        write_private(self._record, json.dumps(record._asdict(), default=datetime.isoformat).encode())


def already_running(status: ClusterStatus) -> str:
    """Why a second cluster can't start in the same home."""
    where = f" at {status.server}" if status.server else ""
    process = f" (process {status.pid})" if status.pid else ""
    return (
        f"a cluster is already running{where}{process}: stop it with `kubewright cluster down`, or set KUBEWRIGHT_HOME"
    )


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
