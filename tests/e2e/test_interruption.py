"""Ctrl-C and SIGTERM end every command quietly, whatever it is loading."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT, eventually

INTERRUPTED_AT_AN_IMPORT = """
import os, sys
name, number, *arguments = sys.argv[1:]
class Interrupting:
    def find_spec(self, module, path=None, target=None):
        if module == name:
            print("interrupted", flush=True)
            os.kill(os.getpid(), int(number))
sys.meta_path.insert(0, Interrupting())
from kubewright.cli.main import main
main(arguments)
"""
INTERRUPTED_WHILE_A_CLUSTER_STARTS = """
import os, sys, time
from kubewright.devcluster import process
def interrupted(reader, files, *, group, monotonic):
    print(group, flush=True)
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(60)
process._await_announcement = interrupted
from kubewright.cli.main import main
main(["cluster", "up"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("--help", "click"),
        ("--help", "kubewright.cli.failure"),
        ("manifests", "kubewright.cli.manifests"),
        ("manifests", "msgspec"),
        ("manifests", "database_operator.operator"),
        ("run", "kubewright.operator.manager"),
        ("run", "database_operator.desired"),
        ("dev", "kubewright.devcluster.cluster"),
        ("cluster", "kubewright.devcluster.process"),
    ],
)
def test_a_signal_while_it_loads_ends_it_without_a_word(command: str, module: str, number: signal.Signals) -> None:
    arguments = [] if command in {"--help", "cluster"} else ["database_operator.operator"]
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT_AN_IMPORT, module, str(int(number)), command, *arguments],
        cwd=ROOT / "examples/database",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == "interrupted\n"
    assert ended.stderr == ""
    assert ended.returncode == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cluster_whose_start_is_given_up_does_not_go_on(tmp_path: Path, number: signal.Signals) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_A_CLUSTER_STARTS, str(int(number))],
        env={**os.environ, "KUBEWRIGHT_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr.strip() == ""
    assert ended.returncode == 128 + number
    eventually(lambda: _is_gone(int(ended.stdout)))


def _is_gone(group: int) -> None:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, found = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        assert state in "ZX" or int(found) != group
