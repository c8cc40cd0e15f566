"""``kubewright dev`` and ``kubewright cluster`` as commands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from tests.e2e.conftest import EXAMPLE, SAMPLE, newest
from tests.e2e.processes import KUBEWRIGHT, Cluster, Kubectl, eventually


def dev(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KUBEWRIGHT, "dev", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_dev_once_shows_how_the_sample_comes_up_and_ends_well() -> None:
    done = dev(str(EXAMPLE), "--apply", str(SAMPLE), "--once")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    steps = [line for line in lines if line.startswith(("Database", "StatefulSet"))]
    assert steps.index("Database default/my-postgres: Pending") < steps.index("StatefulSet default/my-postgres: 1/3")
    assert steps[-1] == "Database default/my-postgres: Running"
    assert steps[-2] == "StatefulSet default/my-postgres: 3/3"


def test_dev_looks_for_garbage_seldom_as_run_and_clusters_do(tmp_path: Path) -> None:
    told = tmp_path / "told.py"
    told.write_text("""
import atexit, gc
from kubewright import Context, Operator
from kubewright.kinds import core_v1
operator = Operator("told")
@operator.controller(core_v1.ConfigMap)
async def nothing(config: core_v1.ConfigMap, ctx: Context) -> None: ...
atexit.register(lambda: print("after", gc.get_threshold()[0]))
""")
    done = dev(str(told), "--once")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.rpartition("after ")[2]) > 2000  # Python's own is 700, or 2000


def test_dev_heeds_variables_and_tells_of_its_end_in_the_log_s_format(tmp_path: Path) -> None:
    variables = {
        "KUBEWRIGHT_LOG_FORMAT": "json",
        "KUBEWRIGHT_LOG_LEVEL": "info",
        "KUBEWRIGHT_LEADER_ELECT": "true",
        "KUBEWRIGHT_METRICS_BIND_ADDRESS": "127.0.0.1:0",
    }
    done = dev(str(EXAMPLE), "--apply", str(SAMPLE), "--once", **variables)
    assert done.returncode == 0, done.stderr
    said = [json.loads(line)["msg"] for line in done.stderr.splitlines()]
    assert {"listening", "leading", "lease released", "stopped"} <= set(said)
    done = dev(str(EXAMPLE), "--apply", str(tmp_path / "none.yaml"), **variables)
    assert done.returncode == 2
    assert "none.yaml" in json.loads(done.stderr)["error"]
    done = dev(str(EXAMPLE), KUBEWRIGHT_STOP_WITHN="3")
    assert done.returncode == 2
    assert "did you mean KUBEWRIGHT_STOP_WITHIN?" in done.stderr


def test_dev_once_ends_with_the_reason_when_time_is_up(tmp_path: Path) -> None:
    done = dev(str(EXAMPLE), "--apply", str(SAMPLE), "--once", "--timeout", "2")  # three pods take three
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("kubewright: Database my-postgres is not ready after 2 s: ")
    assert last.count("\n") == 0
    assert len(last.partition(" s: ")[2]) > 10


def test_dev_once_ends_although_a_run_does_not(tmp_path: Path) -> None:
    operator = tmp_path / "endless.py"
    operator.write_text(
        "import asyncio\n"
        "from database_operator.api.v1alpha1 import Database\n"
        "from kubewright import Context, Operator\n"
        "from kubewright.operator import Settings\n"
        "operator = Operator('endless', settings=Settings(stop_within=0.1))\n"
        "def running(db: Database) -> None:\n"
        "    db.status.phase = 'Running'\n"
        "@operator.controller(Database)\n"
        "async def reconcile(db: Database, ctx: Context) -> None:\n"
        "    await ctx.edit(db, running, subresource='status')\n"
        "    while True:\n"
        "        try:\n"
        "            await asyncio.sleep(100)\n"
        "        except asyncio.CancelledError:\n"
        "            continue\n"
    )
    done = dev(str(operator), "--apply", str(SAMPLE), "--once", KUBEWRIGHT_LOG_FORMAT="json")
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stderr.splitlines()[-1])
    assert (last["msg"], last["task"]) == ("does not end and is left behind", "controller-database")


def test_dev_refuses_a_bad_sample_in_the_servers_words(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(SAMPLE.read_text().replace("replicas: 3", "replicas: 0"))
    done = dev(str(EXAMPLE), "--apply", str(bad), "--once")
    assert done.returncode == 1
    assert "should be greater than or equal to 1" in done.stderr
    assert "Traceback" not in done.stderr


def test_dev_stays_with_something_to_try_until_ctrl_c(tmp_path: Path) -> None:
    log = tmp_path / "dev.log"
    command = [*KUBEWRIGHT, "dev", str(EXAMPLE), "--apply", str(SAMPLE)]
    with log.open("w") as stream, subprocess.Popen(command, stdout=stream, stderr=stream) as process:
        try:
            text = eventually(lambda: _has(log.read_text(), "Ctrl-C stops"))
            kubeconfig = re.search(r"export KUBECONFIG=(\S+)", text)
            assert kubeconfig is not None
            commands = [line.split()[1:] for line in text.splitlines() if line.startswith("  kubectl ")]
            assert len(commands) == 3
            kubectl = Kubectl(newest(), Path(kubeconfig[1]), tmp_path)
            for command in commands:
                kubectl.run(*command)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
    assert not Path(kubeconfig[1]).exists()


def _has(text: str, part: str) -> str:
    assert part in text
    return text


def test_a_cluster_is_up_found_and_down(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "home")
    assert cluster.run("status").returncode == 1
    up = cluster.run("up")
    assert up.returncode == 0, up.stderr
    assert f"export KUBECONFIG={cluster.kubeconfig}" in up.stdout
    assert cluster.kubeconfig.stat().st_mode & 0o077 == 0
    assert "running" in cluster.run("status").stdout
    again = cluster.run("up")
    assert again.returncode == 1
    assert "already running" in again.stderr
    assert cluster.run("down").stdout.strip() == "stopped"
    assert cluster.run("down").stdout.strip() == "no cluster is running"


def test_a_port_that_is_taken_is_one_line(cluster: Cluster, tmp_path: Path) -> None:
    port = re.search(r":(\d+)", cluster.run("status").stdout)
    assert port is not None
    other = Cluster(tmp_path / "other")
    done = other.run("up", "--port", port[1])
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert port[1] in done.stderr


def test_a_killed_cluster_leaves_no_belief_that_it_runs(cluster: Cluster) -> None:
    os.kill(cluster.pid, signal.SIGKILL)
    eventually(lambda: _stopped(cluster))
    assert cluster.run("up").returncode == 0


def _stopped(cluster: Cluster) -> None:
    assert cluster.run("status").returncode == 1
