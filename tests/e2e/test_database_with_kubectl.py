"""The Database operator as its users see it: through kubectl, old and new."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import SAMPLE
from tests.e2e.processes import Kubectl, Operator, eventually

pytestmark = pytest.mark.usefixtures("shared_operator")


def sample(kubectl: Kubectl) -> str:
    return SAMPLE.read_text().replace("namespace: default", f"namespace: {kubectl.namespace}")


def apply_sample(kubectl: Kubectl) -> str:
    return kubectl.run("apply", "-f", "-", stdin=sample(kubectl))


def await_running(kubectl: Kubectl, ready: int = 3) -> None:
    def look() -> None:
        status = kubectl.json("db", "my-postgres").get("status", {})
        assert (status.get("phase"), status.get("readyReplicas")) == ("Running", ready)

    eventually(look)


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def test_a_database_comes_up_and_get_shows_it(kubectl: Kubectl) -> None:
    apply_sample(kubectl)
    await_running(kubectl)
    header, row = columns(kubectl.run("get", "db"))
    assert header == ["NAME", "ENGINE", "REPLICAS", "READY", "PHASE", "AGE"]
    assert row[:5] == ["my-postgres", "postgres", "3", "3", "Running"]
    assert columns(kubectl.run("get", "db", "-o", "wide"))[1][:5] == row[:5]
    everything = kubectl.run("get", "crd,db,sts,svc,pods", "-A")
    for part in (
        "customresourcedefinition.apiextensions.k8s.io/databases.apps.example.com",
        "database.apps.example.com/my-postgres",
        "statefulset.apps/my-postgres   3/3",
        "service/my-postgres   ClusterIP   None         <none>        5432/TCP",
        "pod/my-postgres-2   1/1     Running",
    ):
        assert part in everything
    assert "  phase: Running\n" in kubectl.run("get", "db", "my-postgres", "-o", "yaml")


def test_describe_shows_spec_status_and_conditions(kubectl: Kubectl) -> None:
    apply_sample(kubectl)
    await_running(kubectl)
    described = kubectl.run("describe", "db", "my-postgres")
    for part in ("Kind:         Database", "Engine:    postgres", "ReplicasReady", "3/3 replicas are ready", "Phase:"):
        assert part in described


def test_api_resources_lists_the_database_by_its_short_name(kubectl: Kubectl) -> None:
    row = next(line for line in kubectl.run("api-resources").splitlines() if "databases" in line)
    assert row.split()[:2] == ["databases", "db"]
    assert row.split()[-2:] == ["true", "Database"]
    assert "apps.example.com" in row


def test_applying_twice_changes_nothing_the_second_time(kubectl: Kubectl) -> None:
    assert "created" in apply_sample(kubectl)
    assert apply_sample(kubectl).strip().endswith("unchanged")


def test_server_side_apply_merge_patch_and_scale_are_followed(kubectl: Kubectl) -> None:
    assert "serverside-applied" in kubectl.run("apply", "--server-side", "-f", "-", stdin=sample(kubectl))
    await_running(kubectl)
    kubectl.run("patch", "db", "my-postgres", "--type", "merge", "-p", '{"spec":{"replicas":2}}')
    await_running(kubectl, ready=2)
    assert "scaled" in kubectl.run("scale", "db", "my-postgres", "--replicas=5")
    await_running(kubectl, ready=5)
    assert kubectl.names("pods") == [f"my-postgres-{ordinal}" for ordinal in range(5)]


def test_wait_returns_when_the_condition_is_true(kubectl: Kubectl) -> None:
    apply_sample(kubectl)
    waited = kubectl.run("wait", "--for=condition=Available", "db/my-postgres", "--timeout=50s")
    assert "condition met" in waited


def test_watching_shows_each_step(kubectl: Kubectl) -> None:
    apply_sample(kubectl)
    await_running(kubectl)
    with kubectl.start("get", "db", "-w", "--no-headers") as watch:
        try:
            assert watch.stdout is not None
            assert watch.stdout.readline().split()[:4] == ["my-postgres", "postgres", "3", "3"]
            kubectl.run("scale", "db", "my-postgres", "--replicas=4")
            seen = [watch.stdout.readline().split()[2:5]]
            while seen[-1] != ["4", "4", "Running"]:
                seen.append(watch.stdout.readline().split()[2:5])
        finally:
            watch.kill()
    assert ["4", "3", "Pending"] in seen


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("replicas", 0, "spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1"),
        ("replicas", 11, "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10"),
        (
            "engine",
            "oracle",
            'spec.engine: Unsupported value: "oracle": supported values: "postgres", "mysql", "mariadb"',
        ),
        (
            "storage",
            {"size": "10GB"},
            "spec.storage.size: Invalid value: \"10GB\": spec.storage.size in body should match '^[0-9]+[KMGT]i$'",
        ),
        ("version", None, "spec.version: Required value"),
    ],
)
def test_a_bad_database_is_refused_with_field_and_reason(
    kubectl: Kubectl, field: str, value: object, said: str
) -> None:
    spec: dict[str, object] = {"replicas": 3, "engine": "postgres", "version": "16", "storage": {"size": "1Gi"}}
    spec[field] = value
    body = {
        "apiVersion": "apps.example.com/v1alpha1",
        "kind": "Database",
        "metadata": {"name": "bad"},
        "spec": {key: item for key, item in spec.items() if item is not None},
    }
    refusal = kubectl.refused("create", "--validate=false", "-f", "-", stdin=json.dumps(body))
    assert f'The Database "bad" is invalid: {said}' in refusal.replace("* ", "")


def test_a_deleted_child_comes_back_and_a_changed_one_is_put_right(kubectl: Kubectl) -> None:
    apply_sample(kubectl)
    await_running(kubectl)
    first = kubectl.json("sts", "my-postgres")["metadata"]["uid"]
    kubectl.run("delete", "sts", "my-postgres")

    def comes_back() -> None:
        assert kubectl.names("sts") == ["my-postgres"]
        assert kubectl.json("sts", "my-postgres")["metadata"]["uid"] != first

    eventually(comes_back)
    await_running(kubectl)
    kubectl.run("scale", "sts", "my-postgres", "--replicas=1")

    def put_right() -> None:
        assert kubectl.json("sts", "my-postgres")["spec"]["replicas"] == 3

    eventually(put_right)
    await_running(kubectl)


def test_deleting_a_database_leaves_nothing(kubectl: Kubectl, shared_operator: Operator) -> None:
    apply_sample(kubectl)
    await_running(kubectl)
    assert len(kubectl.names("pvc")) == 3
    kubectl.run("delete", "db", "my-postgres", "--timeout=50s")
    claims = [line for line in shared_operator.said("volume claim deleted") if line["namespace"] == kubectl.namespace]
    assert len(claims) == 3

    def nothing() -> None:
        for kind in ("db", "sts", "svc", "pods", "pvc", "controllerrevisions"):
            assert kubectl.names(kind) == []

    eventually(nothing)


def test_a_pod_that_cannot_start_makes_the_database_failed_with_the_reason(kubectl: Kubectl) -> None:
    apply_sample(kubectl)
    await_running(kubectl)
    kubectl.run("annotate", "pod", "my-postgres-1", "kubewright.dev/simulate=crash-loop")

    def failed() -> None:
        status = kubectl.json("db", "my-postgres")["status"]
        assert status["phase"] == "Failed"
        progressing = next(entry for entry in status["conditions"] if entry["type"] == "Progressing")
        assert progressing["reason"] == "CrashLoopBackOff"
        assert "my-postgres-1" in progressing["message"]

    eventually(failed)
    kubectl.run("annotate", "pod", "my-postgres-1", "kubewright.dev/simulate-")
    await_running(kubectl)
