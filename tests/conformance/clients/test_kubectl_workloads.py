"""kubectl, old and new: what runs, and what it says."""

from __future__ import annotations

import json
import threading

import pytest

from tests.conformance.clients.bodies import deployment
from tests.conformance.clients.test_kubectl_objects import new
from tests.e2e.processes import Kubectl, eventually

pytestmark = pytest.mark.servers("embedded")


def test_a_deployment_is_rolled_out_changed_and_rolled_back(kubectl: Kubectl) -> None:
    kubectl.run("create", "deployment", "web", "--image=nginx:1")
    assert "successfully rolled out" in kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
    kubectl.run("wait", "--for=condition=Available", "deploy/web", "--timeout=50s")
    assert kubectl.run("set", "image", "deploy/web", "nginx=nginx:2").strip() == "deployment.apps/web image updated"
    kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
    kubectl.run("set", "env", "deploy/web", "MODE=fast")
    kubectl.run("set", "resources", "deploy/web", "--limits=cpu=200m")
    history = kubectl.run("rollout", "history", "deploy/web").splitlines()
    assert [line.split()[0] for line in history if line[:1].isdigit()] == ["1", "2", "3", "4"]
    assert "nginx:1" in kubectl.run("rollout", "history", "deploy/web", "--revision=1")
    assert kubectl.run("rollout", "undo", "deploy/web", "--to-revision=1").startswith("deployment.apps/web rolled back")
    container = kubectl.json("deploy", "web")["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "nginx:1"
    assert "env" not in container
    kubectl.run("rollout", "restart", "deploy/web")
    kubectl.run("rollout", "pause", "deploy/web")
    kubectl.run("rollout", "resume", "deploy/web")
    kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
    described = kubectl.run("describe", "deploy", "web")
    assert "1 desired | 1 updated | 1 total" in described
    assert "ScalingReplicaSet" in described


def test_scale_is_followed_and_checks_what_is_expected(kubectl: Kubectl) -> None:
    kubectl.run("create", "-f", "-", stdin=json.dumps(deployment("web")))
    assert kubectl.run("scale", "deploy/web", "--replicas=3").strip() == "deployment.apps/web scaled"
    kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
    assert len(kubectl.names("pods", "-l", "app=web")) == 3
    refused = kubectl.refused("scale", "deploy/web", "--current-replicas=9", "--replicas=1")
    assert "Expected replicas to be 9, was 3" in refused
    kubectl.run("scale", "deploy/web", "--replicas=0")

    def none() -> None:
        assert kubectl.names("pods", "-l", "app=web") == []

    eventually(none)
    row = kubectl.run("get", "deploy", "web", "--no-headers").split()
    assert row[:4] == ["web", "0/0", "0", "0"]


def test_a_pod_is_run_described_logged_and_deleted(kubectl: Kubectl) -> None:
    kubectl.run("run", "web", "--image=nginx", "--labels=app=web")
    kubectl.run("wait", "--for=condition=Ready", "pod/web", "--timeout=50s")
    described = {" ".join(line.split()) for line in kubectl.run("describe", "pod", "web").splitlines()}
    assert {"Status: Running", "Image: nginx", "Ready True", "Restart Count: 0"} <= described
    assert kubectl.run("get", "pods", "-o", "wide", "--no-headers").split()[1:3] == ["1/1", "Running"]
    kubectl.run("logs", "web")
    kubectl.run("logs", "-l", "app=web", "--tail=5", "--timestamps")
    assert "not found" in kubectl.refused("logs", "none")
    events = kubectl.run(
        "get", "events", "--field-selector=involvedObject.name=web", "-o", "jsonpath={.items[*].reason}"
    )
    assert {"Scheduled", "Started"} <= set(events.split())
    if new(kubectl):
        assert "Scheduled" in kubectl.run("events", "--for=pod/web")
    kubectl.run("delete", "pod", "web", "--now")
    assert kubectl.names("pods") == []


def test_what_needs_a_real_machine_is_refused_clearly(kubectl: Kubectl) -> None:
    kubectl.run("run", "web", "--image=nginx")
    kubectl.run("wait", "--for=condition=Ready", "pod/web", "--timeout=50s")
    for command in (["exec", "web", "--", "ls"], ["attach", "web"], ["port-forward", "pod/web", ":80"]):
        assert "this cluster does not serve pods/" in kubectl.refused(*command)
    assert "Metrics" in kubectl.refused("top", "pods")


def test_a_pod_is_watched_from_nothing_to_gone(kubectl: Kubectl) -> None:
    kubectl.run("run", "earlier", "--image=nginx")
    kubectl.run("wait", "--for=condition=Ready", "pod/earlier", "--timeout=50s")
    with kubectl.start("get", "pods", "-w", "--output-watch-events", "--no-headers") as watch:
        too_late = threading.Timer(100, watch.kill)
        too_late.start()
        try:
            assert watch.stdout is not None
            assert next(watch.stdout).split()[:2] == ["ADDED", "earlier"]  # from now on it sees all
            kubectl.run("run", "web", "--image=nginx")
            kubectl.run("wait", "--for=condition=Ready", "pod/web", "--timeout=50s")
            kubectl.run("delete", "pod", "web", "--wait=false")
            seen = [next(watch.stdout).split()]
            while seen[-1][0] != "DELETED":
                seen.append(next(watch.stdout).split())
        finally:
            too_late.cancel()
            watch.kill()
    assert seen[0][:2] == ["ADDED", "web"]
    assert ["web", "1/1", "Running"] in [event[1:4] for event in seen]


def test_a_job_is_made_from_a_cron_job(kubectl: Kubectl) -> None:
    kubectl.run("create", "job", "once", "--image=busybox", "--", "true")
    assert "Parallelism:" in kubectl.run("describe", "job", "once")
    cron = ("create", "cronjob", "often", "--image=busybox", "--schedule=0 0 1 1 *")
    if not new(kubectl):  # it makes cron jobs of a version that is gone since 1.25
        assert "batch/v1beta1" in kubectl.refused(*cron) or "could not find" in kubectl.refused(*cron)
        return
    kubectl.run(*cron)
    kubectl.run("create", "job", "by-hand", "--from=cronjob/often")
    owner = kubectl.json("job", "by-hand")["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"]) == ("CronJob", "often")
    assert kubectl.run("get", "cronjob", "often", "--no-headers").split()[0] == "often"


def test_a_node_is_cordoned_and_a_pod_evicted(kubectl: Kubectl) -> None:
    """Not drained: other tests have pods on the only node."""
    node = kubectl.names("nodes")[0]
    assert "Ready" in kubectl.run("describe", "node", node)
    assert "cordoned" in kubectl.run("cordon", node, "--dry-run=server")
    kubectl.run("create", "-f", "-", stdin=json.dumps(deployment("web")))
    kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
    pod = kubectl.names("pods")[0]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    path = f"/api/v1/namespaces/{kubectl.namespace}/pods/{pod}/eviction"
    kubectl.run("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))
    kubectl.run("wait", "--for=delete", f"pod/{pod}", "--timeout=50s")
    kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
