"""Kopf: an operator written with it, as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.clients.bodies import config_map
from tests.conformance.clients.servers import Server
from tests.conformance.resources import widget
from tests.e2e.processes import Kubectl, eventually

OPERATOR = Path(__file__).parent / "operators/widgets.py"


@pytest.fixture
def objects(server: Server, namespace: str) -> Kubectl:
    return server.kubectl(namespace)


@pytest.fixture
def early(objects: Kubectl) -> None:
    """A widget that is there before the operator."""
    objects.run("create", "-f", "-", stdin=json.dumps(widget("early", size=1)))


@pytest.fixture
def operator(early: None, objects: Kubectl, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """The process and its log."""
    log = tmp_path / "kopf.log"
    command = [sys.executable, "-m", "kopf", "run", str(OPERATOR), "--standalone", "--namespace", objects.namespace]
    with (
        log.open("wb") as stream,
        subprocess.Popen(command, env=objects.environment, stdout=stream, stderr=stream) as process,
    ):
        yield process, log
        process.kill()


def test_every_handler_of_an_operator_is_called(
    objects: Kubectl, operator: tuple[subprocess.Popen[bytes], Path]
) -> None:
    process, log = operator
    objects.run("create", "-f", "-", stdin=json.dumps(config_map("known", labels={"named": "w"})))
    objects.run("create", "-f", "-", stdin=json.dumps(widget("w", size=1)))

    def created() -> None:
        found = objects.json("widget", "w")
        assert found.get("status") == {"phase": "Created", "ready": 3}, log.read_text()
        assert found["metadata"]["finalizers"] == ["kopf.kubewright.dev/finalizer"]
        assert "with-w" in objects.names("cm")
        assert objects.json("cm", "of-w")["data"] == {"size": "1"}
        assert {"of-early", "with-early"} <= set(objects.names("cm"))

    eventually(created)
    objects.run("patch", "widget", "w", "--type=merge", "-p", '{"spec": {"size": 2}}')

    def resized() -> None:
        found = objects.json("widget", "w")
        assert found["status"]["phase"] == "From1To2", log.read_text()
        assert found["metadata"]["annotations"]["indexed"] == "known"
        assert objects.json("cm", "of-w")["data"] == {"size": "2"}

    eventually(resized)
    objects.run("delete", "widget", "w", "early", "--timeout=50s")
    objects.run("wait", "--for=delete", "cm/of-w", "--timeout=50s")
    assert "left-by-w" in objects.names("cm")
    assert "with-w" not in objects.names("cm")
    events = objects.run("get", "events", "-o", "jsonpath={.items[*].reason}").split()
    assert "Resized" in events
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert "Traceback" not in log.read_text()
