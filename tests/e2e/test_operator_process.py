"""``kubewright run`` as a process: killed, cut off, misdirected."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.conftest import EXAMPLE, SAMPLE, newest
from tests.e2e.processes import KUBEWRIGHT, Cluster, Kubectl, Operator, eventually


@pytest.fixture
def kubectl(cluster: Cluster) -> Kubectl:
    return Kubectl(newest(), cluster.kubeconfig, cluster.home)


def await_running(kubectl: Kubectl) -> None:
    def look() -> None:
        assert kubectl.json("db", "my-postgres").get("status", {}).get("phase") == "Running"

    eventually(look)


def outcome(kubectl: Kubectl) -> dict[str, list[str]]:
    return {kind: kubectl.names(kind) for kind in ("db", "sts", "svc", "pods", "pvc")}


@pytest.mark.parametrize("moment", [0.3, 0.5, 0.7, 0.9, 1.2])
def test_killed_at_any_moment_it_goes_on_to_the_same_end(kubectl: Kubectl, operator: Operator, moment: float) -> None:
    kubectl.run("apply", "-f", str(SAMPLE))
    time.sleep(moment - 0.3)
    operator.restart()
    await_running(kubectl)
    assert outcome(kubectl) == {
        "db": ["my-postgres"],
        "sts": ["my-postgres"],
        "svc": ["kubernetes", "my-postgres"],
        "pods": [f"my-postgres-{ordinal}" for ordinal in range(3)],
        "pvc": [f"data-my-postgres-{ordinal}" for ordinal in range(3)],
    }
    assert operator.said("reconcile failed") == []


def test_it_survives_a_cluster_that_restarts_empty(
    cluster: Cluster, kubectl: Kubectl, operator: Operator, crd: Path
) -> None:
    kubectl.run("apply", "-f", str(SAMPLE))
    await_running(kubectl)
    before = int(kubectl.json("db", "my-postgres")["metadata"]["resourceVersion"])
    cluster.kill()
    assert cluster.run("up", "--pod-ready-after", "0.1").returncode == 0

    def says_what_is_missing() -> None:
        assert operator.said("does not know databases.apps.example.com in version v1alpha1: install its")

    eventually(says_what_is_missing)
    assert kubectl.names("sts") == [], "it acted on what the old cluster had"
    kubectl.run("apply", "-f", str(crd))
    kubectl.run("apply", "-f", str(SAMPLE))
    await_running(kubectl)
    assert int(kubectl.json("db", "my-postgres")["metadata"]["resourceVersion"]) > before
    assert operator.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly(operator: Operator, kubectl: Kubectl, number: signal.Signals) -> None:
    kubectl.run("apply", "-f", str(SAMPLE))
    await_running(kubectl)
    assert operator.stop(number, within=20) == 0  # not only when its time is up
    assert operator.lines()[-1]["msg"] == "stopped"


def test_a_failing_object_is_reported_once_for_each_try_and_disturbs_no_other(
    cluster: Cluster, crd: Path, kubectl: Kubectl, tmp_path: Path
) -> None:
    file = tmp_path / "failing.py"
    file.write_text(
        "from database_operator.api.v1alpha1 import Database\n"
        "from kubewright import Context, Operator\n"
        "operator = Operator('failing')\n"
        "@operator.controller(Database)\n"
        "async def reconcile(db: Database, ctx: Context) -> None:\n"
        "    if db.name == 'broken':\n"
        "        raise RuntimeError('no luck')\n"
        "    db.status.phase = 'Running'\n"
    )
    with Operator(cluster, file, tmp_path / "failing.log") as operator:
        sample = SAMPLE.read_text()
        kubectl.run("apply", "-f", "-", stdin=sample.replace("my-postgres", "broken"))
        kubectl.run("apply", "-f", "-", stdin=sample)
        await_running(kubectl)

        def growing() -> None:
            failures = operator.said("reconcile failed")
            assert len(failures) >= 5
            delays = [line["retry_in"] for line in failures]
            assert delays[4] > 4 * delays[0]
            assert {(line["namespace"], line["name"]) for line in failures} == {("default", "broken")}
            assert len({line["reconcile_id"] for line in failures}) == len(failures)
            assert all("RuntimeError: no luck" in line["exception"] for line in failures)

        eventually(growing)


def test_what_code_logs_by_other_means_is_in_the_same_log_with_its_run(
    cluster: Cluster, crd: Path, kubectl: Kubectl, tmp_path: Path
) -> None:
    del crd
    file = tmp_path / "talking.py"
    file.write_text(
        "import logging, warnings\n"
        "from database_operator.api.v1alpha1 import Database\n"
        "from kubewright import BlockingContext, Operator\n"
        "operator = Operator('talking')\n"
        "@operator.controller(Database, threads=True)\n"
        "def reconcile(db: Database, ctx: BlockingContext) -> None:\n"
        "    logging.getLogger('library').info('asked with Bearer abcdefgh12345678')\n"
        "    warnings.warn('old ways')\n"
    )
    with Operator(cluster, file, tmp_path / "talking.log") as operator:
        kubectl.run("apply", "-f", str(SAMPLE))

        def told() -> None:
            said, warned = operator.said("asked with Bearer"), operator.said("UserWarning: old ways")
            assert said
            assert warned
            for line in (said[0], warned[0]):
                assert (line["controller"], line["name"]) == ("database", "my-postgres")
                assert line["reconcile_id"]
            assert (said[0]["logger"], said[0]["level"], warned[0]["level"]) == ("library", "info", "warning")
            assert said[0]["msg"] == "asked with Bearer …"

        eventually(told)
        assert operator.stop() == 0
        for line in (tmp_path / "talking.log").read_text().splitlines():
            json.loads(line)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KUBEWRIGHT, "run", *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def kubeconfig(tmp_path: Path, server: str) -> str:
    file = tmp_path / "config"
    file.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "c",
            }
        )
    )
    return str(file)


def test_no_cluster_configured_is_one_line() -> None:
    done = run(str(EXAMPLE))
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "no cluster configured" in done.stderr


def test_no_cluster_reachable_is_one_line(tmp_path: Path) -> None:
    variables = {"KUBECONFIG": kubeconfig(tmp_path, "https://127.0.0.1:9"), "KUBEWRIGHT_LOG_LEVEL": "error"}
    done = run(str(EXAMPLE), "--wait-for-server=0", **variables)
    assert done.returncode == 1
    assert done.stderr.strip().count("\n") == 0
    assert "no API server at https://127.0.0.1:9" in done.stderr
    done = run(str(EXAMPLE), "--wait-for-server=2", "--log-format=json", **variables)
    assert done.returncode == 1
    assert json.loads(done.stderr)["error"].endswith("connection refused; given up after 2 s")


def test_a_server_that_is_away_at_the_start_is_waited_for_and_not_crashed_on(
    cluster: Cluster, kubectl: Kubectl, crd: Path, tmp_path: Path
) -> None:
    cluster.kill()
    flags = ("--health-probe-bind-address=127.0.0.1:0", "--leader-elect")
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log", *flags) as operator:
        port = operator.health_port()

        def waits() -> None:
            healthy, why = asked(port, "healthz"), asked(port, "readyz")
            assert healthy == (200, "ok")
            assert why[0] == 500
            assert "[-]server failed: no API server at https://127.0.0.1" in why[1]

        eventually(waits)
        time.sleep(4)  # longer than a request is tried for
        waits()
        assert operator.said("waiting for the API server")
        assert cluster.run("up", "--pod-ready-after", "0.1").returncode == 0
        eventually(lambda: kubectl.run("apply", "-f", str(crd)))
        kubectl.run("apply", "-f", str(SAMPLE))
        await_running(kubectl)
        eventually(lambda: _is(asked(port, "readyz"), (200, "ok")))
        assert operator.stop() == 0
        assert len(operator.said("starting")) == 1


def asked(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        raise AssertionError(str(error)) from error


def _is(value: object, expected: object) -> None:
    assert value == expected


def test_a_missing_credential_plugin_is_named_and_not_taken_for_a_missing_server(tmp_path: Path) -> None:
    file = Path(kubeconfig(tmp_path, "https://127.0.0.1:9"))
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-log-in", "interactiveMode": "Never"}
    config = json.loads(file.read_text())
    config["users"] = [{"name": "u", "user": {"exec": {**plugin, "installHint": "Get it."}}}]
    file.write_text(json.dumps(config))
    done = run(str(EXAMPLE), KUBECONFIG=str(file))
    assert done.returncode == 1
    assert "no credential for user 'u' of" in done.stderr
    assert "'no-such-log-in': there is no such program" in done.stderr
    assert "Get it." in done.stderr
    assert "no API server" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clusters: [", "is not YAML"),
        ("- a\n", "config"),
        ('{"current-context": "gone"}', "gone"),
        ("", "current-context"),
    ],
)
def test_a_broken_kubeconfig_is_one_line_that_names_the_file(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    done = run(str(EXAMPLE), "--kubeconfig", str(file))
    assert done.returncode in {1, 2}
    assert done.stderr.strip().count("\n") == 0
    assert str(file) in done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no.such.module:operator", "there is no module"),
        (f"{EXAMPLE}:reconciler", "has no attribute 'reconciler'"),
        ("json:loads", "not a kubewright.Operator"),
    ],
)
def test_a_wrong_target_is_one_line(target: str, said: str) -> None:
    done = run(target)
    assert done.returncode in {1, 2}
    assert done.stderr.strip().count("\n") == 0
    assert said in done.stderr


def test_an_operator_file_with_a_syntax_error_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def x(:\n")
    done = run(str(file))
    assert done.returncode in {1, 2}
    assert done.stderr.strip() == f"kubewright: {file}:1: syntax error: invalid syntax"
