"""A cluster in a process of its own. Each test has its own home and leaves no process behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubewright.devcluster.cluster_files import ClusterStatus
from kubewright.devcluster.errors import ClusterError
from kubewright.devcluster.foreground import serve_foreground
from kubewright.devcluster.process import ClusterOptions, start_background, status, stop


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    stop(tmp_path / "home")


@pytest.fixture
def collector() -> Iterator[None]:
    """A process' garbage collector as Python starts it, and afterwards as it was."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def wait_until_stopped(home: Path) -> None:
    deadline = time.monotonic() + 60
    while status(home).state != "stopped":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def port_of(found: ClusterStatus) -> int:
    return int(found.server.rpartition(":")[2])


def test_a_cluster_in_the_background_can_be_found_and_stopped(home: Path) -> None:
    started = start_background(home)
    assert started.state == "running"
    assert started.kubeconfig == home / "kubeconfig"
    assert started.server in started.kubeconfig.read_text()
    assert started.pid is not None
    os.kill(started.pid, 0)
    assert status(home) == started
    assert stop(home) is True
    assert status(home).state == "stopped"
    assert stop(home) is False
    assert started.log.read_text() == ""  # nothing to worry about, and so no time spent on logging it


def test_a_restarted_cluster_has_the_same_address_and_the_same_credentials(home: Path) -> None:
    first = start_background(home)
    kubeconfig = first.kubeconfig.read_text()
    stop(home)
    second = start_background(home)
    assert second.pid != first.pid
    assert second.server == first.server
    assert second.kubeconfig.read_text() == kubeconfig


def test_a_second_start_is_refused(home: Path) -> None:
    first = start_background(home)
    with pytest.raises(ClusterError, match=f"already running at {first.server} \\(process {first.pid}\\)"):
        start_background(home)
    assert status(home) == first


def test_a_killed_cluster_is_stopped_and_can_be_started_again(home: Path) -> None:
    first = start_background(home)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    wait_until_stopped(home)
    assert start_background(home).state == "running"


def test_a_port_that_is_taken_is_told_by_the_starter(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ClusterError, match=f"port {port} on 127.0.0.1 is in use"):
            start_background(home, ClusterOptions(port=port))
    wait_until_stopped(home)


def test_a_chosen_port_is_taken(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert port_of(start_background(home, ClusterOptions(port=port))) == port


def test_a_home_that_can_not_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ClusterError, match="can't use"):
        start_background(tmp_path / "file" / "home")


def test_a_file_that_can_not_be_written_is_told_by_the_starter(home: Path) -> None:
    (home / "kubeconfig").mkdir(parents=True)  # as on a full disk, the log may have no room for the reason
    with pytest.raises(ClusterError, match=f"can't use {home} for the cluster's state: Is a directory; set KUBEWRIGHT"):
        start_background(home)
    wait_until_stopped(home)


@pytest.mark.usefixtures("collector")
async def test_the_foreground_cluster_says_when_it_is_ready_and_ends_with_a_signal(home: Path) -> None:
    seen: list[ClusterStatus] = []

    def ready(found: ClusterStatus) -> None:
        seen.append(found)
        assert gc.get_threshold()[0] > 700  # it looks for garbage seldom, as one in the background does
        os.kill(os.getpid(), signal.SIGTERM)

    async with asyncio.timeout(60):
        await serve_foreground(home, ready=ready)
    assert seen[0].state == "running"
    assert seen[0].pid == os.getpid()
    assert status(home).state == "stopped"
