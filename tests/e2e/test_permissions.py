"""``kubewright run`` as a user with too few rights, on a server that has RBAC."""

from __future__ import annotations

import json
import shlex
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.e2e.conftest import EXAMPLE, SAMPLE, RealServer, install, newest
from tests.e2e.processes import KUBEWRIGHT, Cluster, Kubectl, Operator, eventually


def ready(port: int) -> str:
    """Empty, or why it is not."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            assert answer.status == 200
            return ""
    except urllib.error.HTTPError as error:
        return error.read().decode()
    except urllib.error.URLError as error:
        return str(error)


def as_alice(server: RealServer, folder: Path) -> Cluster:
    """The same server, with the kubeconfig of a user who may do nothing."""
    return with_token(server, server.token_of("alice"), folder)


def with_token(server: RealServer, token: str, folder: Path, *, namespace: str = "default") -> Cluster:
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["users"] = [{"name": "u", "user": {"token": token}}]
    config["contexts"][0]["context"]["namespace"] = namespace
    cluster = Cluster(folder)
    cluster.kubeconfig.write_text(json.dumps(config))
    return cluster


@pytest.mark.servers("1.20")
def test_it_says_what_is_missing_stays_up_and_is_ready_when_it_was_given_without_a_restart(
    real_server: RealServer, tmp_path: Path
) -> None:
    admin = Kubectl(newest(), real_server.kubeconfig, tmp_path)
    crd = install(real_server, tmp_path)
    with Operator(
        as_alice(real_server, tmp_path),
        EXAMPLE,
        tmp_path / "operator.log",
        "--health-probe-bind-address=127.0.0.1:0",
    ) as operator:
        port = operator.health_port()

        def told() -> list[str]:
            lines = operator.said("not everything is there")
            assert lines
            remedy: list[str] = lines[-1]["remedy"]
            assert "not allowed: get,list,patch,watch of databases.apps.example.com" in lines[-1]["missing"]
            assert "not allowed: update of databases.apps.example.com/finalizers" in lines[-1]["missing"]
            return remedy

        remedy = eventually(told)
        assert operator.process.poll() is None
        why = ready(port)
        assert 'User "alice" cannot' in why
        assert "not allowed: get,list,watch of pods" in why
        for command in remedy:
            program, *arguments = shlex.split(command)
            assert program == "kubectl"
            admin.run(*arguments)

        def is_ready() -> None:
            assert ready(port) == ""

        eventually(is_ready)
        admin.run("apply", "-f", str(SAMPLE))
        eventually(lambda: admin.run("get", "statefulset", "my-postgres"))
        admin.run("delete", "clusterrolebinding", *_bindings(remedy))

        def says_what_was_taken_away() -> None:
            assert "not allowed: create,delete,get,list,patch,watch of services" in ready(port)

        admin.run("scale", "db", "my-postgres", "--replicas=4")
        eventually(says_what_was_taken_away, within=90)
        assert operator.process.poll() is None
    admin.run("delete", "clusterrole", *_bindings(remedy))
    admin.run("delete", "-f", str(SAMPLE), "--ignore-not-found", "--wait=false")
    admin.run("patch", "db", "my-postgres", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    admin.run("delete", "-f", str(crd), "--timeout=50s")  # or the next test's would go with it


@pytest.mark.servers("1.20")
def test_what_the_manifests_grant_is_enough(real_server: RealServer, tmp_path: Path) -> None:
    admin = Kubectl(newest(), real_server.kubeconfig, tmp_path, namespace="granted")
    command = [*KUBEWRIGHT, "manifests", f"{failing(tmp_path)}", "--namespace", "granted"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    documents = "---\n".join(printed.split("---\n")[:-1])  # all but the Deployment, which is the process below
    admin.run("apply", "-f", "-", stdin=documents)
    token = admin.run("create", "token", "granted").strip()
    with Operator(
        with_token(real_server, token, tmp_path, namespace="granted"),
        failing(tmp_path),
        tmp_path / "operator.log",
        "--health-probe-bind-address=127.0.0.1:0",
        "--leader-elect",
        "--log-level=debug",
    ) as operator:
        port = operator.health_port()

        def is_ready() -> None:
            assert ready(port) == ""

        eventually(is_ready)
        admin.run("apply", "-f", "-", stdin=SAMPLE.read_text().replace("namespace: default", "namespace: granted"))

        def has_done_its_work() -> None:
            admin.run("get", "configmap", "of-my-postgres")
            (event,) = (
                each for each in admin.json("events.events.k8s.io")["items"] if each["reason"] == "ReconcileFailed"
            )
            assert event["series"]["count"] >= 2  # for which the event was changed
            assert admin.json("db", "my-postgres")["status"]["phase"] == "Pending"

        eventually(has_done_its_work)
        assert admin.json("lease", "granted")["spec"]["holderIdentity"]
        admin.run("delete", "db", "my-postgres", "--timeout=50s")  # by way of a finalizer
        assert operator.stop() == 0
        assert not admin.json("lease", "granted")["spec"].get("holderIdentity")
        assert operator.said("forbidden") == []
        assert operator.said("cannot") == []
    admin.run("delete", "clusterrole,clusterrolebinding", "granted")
    admin.run("delete", "namespace", "granted", "--wait=false")


def failing(folder: Path) -> Path:
    """An operator that does all that needs a permission: it applies, prunes, writes status and events, has a finalizer."""
    file = folder / "granted.py"
    file.write_text(
        "from database_operator.api.v1alpha1 import Database\n"
        "from kubewright import Context, ObjectMeta, Operator\n"
        "from kubewright.kinds import core_v1\n"
        "operator = Operator('granted')\n"
        "@operator.controller(Database, owns=[core_v1.ConfigMap])\n"
        "async def reconcile(db: Database, ctx: Context) -> None:\n"
        "    names = ['of-' + db.name, *(['first'] if db.status.phase is None else [])]\n"
        "    await ctx.apply_all(*(core_v1.ConfigMap(metadata=ObjectMeta(name=name)) for name in names))\n"
        "    if db.status.phase is None:\n"
        "        db.status.phase = 'Pending'\n"
        "    else:\n"
        "        raise RuntimeError('no luck')\n"
        "@operator.finalizer(Database, name='apps.example.com/granted')\n"
        "async def clean(db: Database, ctx: Context) -> None: ...\n"
    )
    return file


def _bindings(remedy: list[str]) -> list[str]:
    words = [shlex.split(command) for command in remedy]
    return [each[3] for each in words if each[2] == "clusterrolebinding"]
