from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kubewright.devcluster.cluster_files import ClusterFiles, state_directory
from kubewright.devcluster.errors import ClusterError

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def no_pause() -> None: ...


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "/home/me/.local/state/kubewright"),
        ({"XDG_STATE_HOME": "/state"}, "/state/kubewright"),
        ({"XDG_STATE_HOME": "relative"}, "/home/me/.local/state/kubewright"),
        ({"KUBEWRIGHT_HOME": "/mine", "XDG_STATE_HOME": "/state"}, "/mine"),
        ({"KUBEWRIGHT_HOME": ""}, "/home/me/.local/state/kubewright"),
    ],
)
def test_the_state_directory_follows_the_environment(environ: dict[str, str], expected: str) -> None:
    assert state_directory(environ, user_home=Path("/home/me")) == Path(expected)


def test_nothing_runs_in_a_directory_that_is_not_there(tmp_path: Path) -> None:
    status = ClusterFiles(tmp_path / "none").status()
    assert (status.state, status.pid, status.server) == ("stopped", None, "")


def test_a_cluster_is_starting_until_it_listens_and_stopped_when_its_lock_is_gone(tmp_path: Path) -> None:
    files = ClusterFiles(tmp_path)
    with files.held(pause=no_pause):
        starting = files.status()
        files.announce("https://127.0.0.1:1234", NOW)
        running = files.status()
    assert (starting.state, starting.pid) == ("starting", os.getpid())
    assert (running.state, running.server, running.started) == ("running", "https://127.0.0.1:1234", NOW)
    assert files.status().state == "stopped"


def test_a_process_id_left_behind_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(f'{{"pid":{os.getpid()},"server":"https://127.0.0.1:1"}}')
    (tmp_path / "cluster.lock").touch()
    assert ClusterFiles(tmp_path).status().state == "stopped"


def test_a_second_cluster_in_the_same_home_is_refused_with_the_firsts_address(tmp_path: Path) -> None:
    files = ClusterFiles(tmp_path)
    with files.held(pause=no_pause):
        files.announce("https://127.0.0.1:1234", NOW)
        second = ClusterFiles(tmp_path).held(pause=no_pause)
        with pytest.raises(ClusterError, match=r"already running at https://127\.0\.0\.1:1234 \(process \d+\)"):
            second.__enter__()
        assert files.status().state == "running"


def test_the_last_port_is_remembered(tmp_path: Path) -> None:
    files = ClusterFiles(tmp_path)
    assert files.last_port() == 0
    with files.held(pause=no_pause):
        files.announce("https://127.0.0.1:1234", NOW)
    with files.held(pause=no_pause):
        assert files.last_port() == 1234


def test_a_home_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ClusterError, match=r"can't use .*file/home .*set KUBEWRIGHT_HOME"):
        ClusterFiles(tmp_path / "file" / "home").prepare()


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("Traceback:\n  File x\nValueError: bad\n\n", "ValueError: bad"),
        ("", "it said nothing"),
        (None, "it left no log"),
    ],
)
def test_the_last_words_of_a_process_are_the_last_line_of_its_log(
    tmp_path: Path, log: str | None, expected: str
) -> None:
    files = ClusterFiles(tmp_path)
    if log is not None:
        files.log.write_text(log)
    assert files.last_words() == expected


def test_a_record_that_names_another_process_is_not_believed(tmp_path: Path) -> None:
    files = ClusterFiles(tmp_path)
    with files.held(pause=lambda: None):
        (tmp_path / "cluster.json").write_text('{"pid":1,"server":"https://elsewhere"}')
        found = files.status()
        assert (found.state, found.pid, found.server) == ("starting", os.getpid(), "")
        (tmp_path / "cluster.json").write_text("{")
        assert files.status().pid == os.getpid()


def test_a_log_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "cluster.log").mkdir()
    with pytest.raises(ClusterError, match=r"can't write .*cluster\.log: is a directory"):
        ClusterFiles(tmp_path).new_log()
