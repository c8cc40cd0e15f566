"""What ``kubewright manifests`` prints, as a server takes it."""

from __future__ import annotations

import json
import subprocess

from tests.e2e.conftest import EXAMPLE, Place, newest
from tests.e2e.processes import KUBEWRIGHT, Kubectl

HOME = "manifests-home"


def printed(*flags: str) -> str:
    command = [*KUBEWRIGHT, "manifests", str(EXAMPLE), "--namespace", HOME, *flags]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_server_takes_all_of_it_and_finds_nothing_to_change_the_second_time(place: Place) -> None:
    kubectl = Kubectl(newest(), place.kubeconfig, place.home, namespace=HOME)
    documents = printed("--metrics-bind-address=:8080")

    def versions() -> set[str]:
        """Without the Deployment, which changes as pods come up, and the Namespace, of which servers count the second apply."""
        found = json.loads(kubectl.run("get", "-f", "-", "-o=json", stdin=documents))["items"]
        every = {each["kind"]: each["metadata"]["resourceVersion"] for each in found}
        return {f"{kind} {version}" for kind, version in every.items() if kind not in {"Deployment", "Namespace"}}

    try:
        kubectl.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=documents)
        before = versions()
        assert len(before) == documents.count("---\n") - 2 == 7
        kubectl.run("apply", "--server-side", "-f", "-", stdin=documents)
        assert versions() == before
        (port,) = kubectl.json("service", "database-operator-metrics")["spec"]["ports"]
        assert (port["name"], port["port"], port["targetPort"]) == ("metrics", 8080, "metrics")
        (container,) = kubectl.json("deployment", "database-operator")["spec"]["template"]["spec"]["containers"]
        assert {each["name"]: each["containerPort"] for each in container["ports"]} == {"health": 8081, "metrics": 8080}
    finally:  # all but the definition, which other tests need, and the namespace, which takes its time
        rest = "---\n".join(documents.split("---\n")[3:])
        kubectl.run("delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=rest)
