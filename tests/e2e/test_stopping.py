"""How ``kubewright run`` ends: at any moment, in time, by force, and what it takes from its environment."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.e2e.conftest import EXAMPLE, SAMPLE, newest
from tests.e2e.processes import KUBEWRIGHT, Cluster, Kubectl, Operator, eventually

LONG_BEFORE_ITS_TIME_IS_UP = 20
"""Seconds, of the 25 that an operator has to stop. Not what it takes, as machines may be busy."""


@pytest.fixture
def kubectl(cluster: Cluster, crd: Path) -> Kubectl:
    del crd
    return Kubectl(newest(), cluster.kubeconfig, cluster.home)


def operator_file(folder: Path, body: str) -> Path:
    """An operator of Databases whose reconciler does ``body``."""
    file = folder / "custom.py"
    file.write_text(
        "import asyncio, time\n"
        "from database_operator.api.v1alpha1 import Database\n"
        "from kubewright import Context, Operator\n"
        "operator = Operator('custom')\n"
        "@operator.controller(Database)\n"
        "async def reconcile(db: Database, ctx: Context) -> None:\n"
        f"    print('reconciling', flush=True)\n    {body}\n"
    )
    return file


def begun(log: Path) -> Callable[[], None]:
    def look() -> None:
        assert "reconciling" in log.read_text()

    return look


@pytest.mark.parametrize("moment", [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.1, 1.5])
def test_a_signal_at_any_moment_of_its_start_ends_it_cleanly(
    cluster: Cluster, kubectl: Kubectl, tmp_path: Path, moment: float
) -> None:
    kubectl.run("apply", "-f", str(SAMPLE))
    log = tmp_path / "operator.log"
    with Operator(cluster, EXAMPLE, log, "--leader-elect", "--health-probe-bind-address=127.0.0.1:0") as operator:
        time.sleep(moment)
        code = operator.stop(within=LONG_BEFORE_ITS_TIME_IS_UP)
        text = log.read_text()
        assert code in {0, 128 + signal.SIGTERM, -signal.SIGTERM}, text
        if '"starting"' in text:
            assert code == 0
            assert operator.lines()[-1]["msg"] == "stopped"
        assert "Traceback" not in text


def test_idle_it_stops_at_once_and_lets_go_of_its_lease(cluster: Cluster, kubectl: Kubectl, tmp_path: Path) -> None:
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log", "--leader-elect") as operator:
        eventually(lambda: _some(operator.said("leading")))
        assert operator.stop(within=LONG_BEFORE_ITS_TIME_IS_UP) == 0
        assert not kubectl.json("lease", "database-operator")["spec"].get("holderIdentity")


def test_the_lease_is_named_and_labelled_as_settings_have_it(
    cluster: Cluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    flags = (
        "--leader-elect",
        "--leader-elect-resource-name=theirs",
        "--leader-elect-resource-namespace=kube-system",
        "--leader-elect-resource-labels=team=db,example.com/tier=infra",
        "--leader-elect-identity=replica-1",
    )
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log", *flags) as operator:
        eventually(lambda: _some(operator.said("leading")))
        lease = kubectl.json("lease", "theirs", "--namespace=kube-system")
        assert lease["spec"]["holderIdentity"] == "replica-1"
        assert lease["metadata"]["labels"] == {"team": "db", "example.com/tier": "infra"}
        assert {line["identity"] for line in operator.said("leading")} == {"replica-1"}
        assert operator.stop() == 0


def test_who_loses_the_lease_ends_with_a_code_of_its_own(cluster: Cluster, kubectl: Kubectl, tmp_path: Path) -> None:
    flags = ("--leader-elect", "--leader-elect-retry-period=0.3")
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log", *flags) as operator:
        eventually(lambda: _some(operator.said("leading")))
        taken = json.dumps({"spec": {"holderIdentity": "somebody else"}})
        kubectl.run("patch", "lease", "database-operator", "--type=merge", "-p", taken)
        assert operator.process.wait(timeout=60) == 3
        assert operator.said("leadership lost")
        last = operator.lines()[-1]
        assert (last["msg"], last["exit_code"]) == ("failed", 3)
        assert last["error"].startswith("the lease was lost")
        assert_json(tmp_path / "operator.log")


def test_who_loses_the_lease_ends_although_a_run_does_not_let_go(
    cluster: Cluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    log = tmp_path / "operator.log"
    stubborn = "while True:\n        try: await asyncio.sleep(1000)\n        except asyncio.CancelledError: pass"
    flags = ("--leader-elect", "--leader-elect-retry-period=0.3")
    with Operator(cluster, operator_file(tmp_path, stubborn), log, *flags) as operator:
        kubectl.run("apply", "-f", str(SAMPLE))
        eventually(begun(log))
        taken = json.dumps({"spec": {"holderIdentity": "somebody else"}})
        kubectl.run("patch", "lease", "custom", "--type=merge", "-p", taken)
        assert operator.process.wait(timeout=60) == 3
        assert (operator.lines()[-1]["msg"], operator.lines()[-1]["exit_code"]) == ("failed", 3)
        assert_json(log)


def assert_json(log: Path) -> None:
    """Whatever ends a process, and however, all that it says is JSON."""
    for line in log.read_text().splitlines():
        if line != "reconciling":  # which the reconciler prints
            json.loads(line)


def test_a_run_in_flight_is_finished(cluster: Cluster, kubectl: Kubectl, tmp_path: Path) -> None:
    log = tmp_path / "operator.log"
    file = operator_file(tmp_path, "await asyncio.sleep(1.5); db.status.phase = 'Running'")
    with Operator(cluster, file, log) as operator:
        kubectl.run("apply", "-f", str(SAMPLE))
        eventually(begun(log))
        assert operator.stop() == 0
        assert kubectl.json("db", "my-postgres")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    "body",
    [
        "await asyncio.sleep(1000)",
        "while True:\n        try: await asyncio.sleep(1000)\n        except asyncio.CancelledError: pass",
        "time.sleep(1000)",
    ],
    ids=["waits", "heeds no cancellation", "blocks the loop"],
)
def test_it_is_gone_within_its_bound_whatever_a_run_does(
    cluster: Cluster, kubectl: Kubectl, tmp_path: Path, body: str
) -> None:
    log = tmp_path / "operator.log"
    with Operator(cluster, operator_file(tmp_path, body), log, "--stop-within=2") as operator:
        kubectl.run("apply", "-f", str(SAMPLE))
        eventually(begun(log))
        started = time.monotonic()
        code = operator.stop()
        assert time.monotonic() - started > 1.9
        for ended in operator.said("not stopped in time and ended"):
            assert ended["seconds"] < 2 + 5  # the Deployment's grace period
        assert code in {0, 128 + signal.SIGTERM}
        assert "Traceback" not in log.read_text()
        assert_json(log)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("body", ["await asyncio.sleep(1000)", "time.sleep(1000)"])
def test_a_second_signal_forces(
    cluster: Cluster, kubectl: Kubectl, tmp_path: Path, number: signal.Signals, body: str
) -> None:
    log = tmp_path / "operator.log"
    with Operator(cluster, operator_file(tmp_path, body), log, "--stop-within=60") as operator:
        kubectl.run("apply", "-f", str(SAMPLE))
        eventually(begun(log))
        before = threads(operator)
        operator.process.send_signal(number)
        eventually(lambda: _some([*threads(operator) - before]))  # the one that ends it once its time is up: it heeded
        assert operator.process.poll() is None
        assert operator.stop(number) == 128 + number


def threads(operator: Operator) -> set[str]:
    return set(os.listdir(f"/proc/{operator.process.pid}/task"))


@pytest.mark.parametrize("redirected", ["2>/dev/full", "2>&-", "2>&- <&-"])
def test_it_works_although_its_log_can_not_be_written(
    cluster: Cluster, kubectl: Kubectl, tmp_path: Path, redirected: str
) -> None:
    kubectl.run("apply", "-f", str(SAMPLE))
    output, file = tmp_path / "output", operator_file(tmp_path, "ctx.log.info('found')")
    command = [*KUBEWRIGHT, "run", str(file), "--kubeconfig", str(cluster.kubeconfig)]
    with (
        output.open("w") as stdout,
        subprocess.Popen(["sh", "-c", f'exec "$@" {redirected}', "sh", *command], stdout=stdout) as process,
    ):
        try:
            eventually(begun(output))
            time.sleep(0.5)  # in which it could fail, but says nothing
            process.terminate()
            assert process.wait(timeout=LONG_BEFORE_ITS_TIME_IS_UP) == 0
        finally:
            process.kill()


def test_the_log_level_follows_its_file(cluster: Cluster, kubectl: Kubectl, tmp_path: Path) -> None:
    level = tmp_path / "level"
    level.write_text("warning\n")
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log", f"--log-level-file={level}") as operator:
        kubectl.run("apply", "-f", str(SAMPLE))
        eventually(lambda: _is(kubectl.json("db", "my-postgres").get("status", {}).get("phase"), "Running"))
        assert [line for line in operator.lines() if line["level"] == "info" and line["msg"] != "connected"] == []
        level.write_text("debug\n")
        operator.process.send_signal(signal.SIGHUP)
        eventually(lambda: _some(operator.said("log level set")))
        level.write_text("loud\n")
        operator.process.send_signal(signal.SIGHUP)
        eventually(lambda: _some(operator.said("names no level")))
        assert operator.stop() == 0


def run(*arguments: str, command: str = "run", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KUBEWRIGHT, command, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        ((), {"KUBEWRIGHT_STOP_WITHN": "3"}, "did you mean KUBEWRIGHT_STOP_WITHIN?"),
        ((), {"KUBEWRIGHT_STOP_WITHIN": "soon"}, "KUBEWRIGHT_STOP_WITHIN: 'soon' is no positive number of seconds"),
        (("--stop-within", "0"), {}, "--stop-within: "),
        (("--stop-withn", "3"), {}, "Did you mean '--stop-within'?"),
        (("--log-level", "warn"), {}, "--log-level: 'warn' is none of its values: did you mean warning?"),
        (("--health-probe-bind-address", "8081"), {}, "use HOST:PORT"),
    ],
)
def test_a_setting_of_no_use_is_refused_by_name(
    arguments: tuple[str, ...], environment: dict[str, str], said: str
) -> None:
    done = run(str(EXAMPLE), *arguments, **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    in_json = run(str(EXAMPLE), *arguments, KUBEWRIGHT_LOG_FORMAT="json", **environment)
    assert said in json.loads(in_json.stderr)["error"]


def test_help_shows_each_setting_with_its_default_and_where_its_value_is_from(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from kubewright import Operator\nfrom kubewright.operator import Settings\n"
        "from database_operator.api.v1alpha1 import Database\n"
        "operator = Operator('own', settings=Settings(stop_within=40))\n"
        "@operator.controller(Database)\nasync def reconcile(db, ctx): ...\n"
    )
    shown = run(str(file), "--help", KUBEWRIGHT_LOG_LEVEL="debug")
    assert shown.returncode == 0, shown.stderr
    text = re.sub(r"\s+", " ", shown.stdout)
    assert "[KUBEWRIGHT_STOP_WITHIN; now: 40, the operator's own; default: 25]" in text
    assert "[KUBEWRIGHT_LOG_LEVEL; now: debug, set there; default: info]" in text
    assert "[KUBEWRIGHT_LEADER_ELECT; default: false]" in text
    assert "[KUBEWRIGHT_STOP_WITHIN; default: 25]" in re.sub(r"\s+", " ", run("--help").stdout)
    shown = run(str(file), "--help", KUBEWRIGHT_LEADER_ELECT_RESOURCE_LABELS="team=db", command="dev")
    text = re.sub(r"\s+", " ", shown.stdout)
    assert "[KUBEWRIGHT_STOP_WITHIN; now: 40, the operator's own; default: 25]" in text
    assert "[KUBEWRIGHT_LOG_LEVEL; default: warning]" in text
    assert "[KUBEWRIGHT_LEADER_ELECT_RESOURCE_LABELS; now: team=db, set there; default: none]" in text
    assert "[KUBEWRIGHT_LEADER_ELECT_IDENTITY; default: none]" in text


@pytest.mark.parametrize("variable", ["KUBEWRIGHT_STOP_WITHIN", "KUBEWRIGHT_STOP_WITHN"])
def test_help_comes_although_the_environment_is_of_no_use(variable: str) -> None:
    shown = run("--help", **{variable: "soon"})
    assert shown.returncode == 0, shown.stderr
    text = re.sub(r"\s+", " ", shown.stdout)
    assert "[KUBEWRIGHT_STOP_WITHIN; default: 25]" in text
    assert f"it can't be used: {variable}: " in text


def _some(found: Sequence[object]) -> None:
    assert found, json.dumps(found)


def _is(value: object, expected: object) -> None:
    assert value == expected


@pytest.mark.parametrize("arguments", ["nothing", "run missing.py:operator"])
def test_wrong_usage_is_told_by_the_exit_code_where_it_can_not_be_written(arguments: str) -> None:
    command = ["sh", "-c", f'exec "$@" {arguments} 2>/dev/full', "sh", *KUBEWRIGHT]
    assert subprocess.run(command, timeout=30, check=False).returncode == 2
