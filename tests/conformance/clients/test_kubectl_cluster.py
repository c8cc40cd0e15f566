"""kubectl, old and new: what a server says of itself, and the makers of built-in kinds."""

from __future__ import annotations

import json

import pytest

from tests.conformance.clients.servers import Server
from tests.conformance.clients.test_kubectl_objects import new
from tests.conformance.resources import GROUP
from tests.e2e.processes import Kubectl


def test_a_server_tells_what_it_is_and_serves(kubectl: Kubectl, server: Server) -> None:
    versions = kubectl.run("api-versions").split()
    assert {"v1", "apps/v1", "apiextensions.k8s.io/v1", f"{GROUP}/v1"} <= set(versions)
    listed = kubectl.run("api-resources", "--api-group", GROUP, "--no-headers", "--verbs=list,get").splitlines()
    assert {line.split()[0] for line in listed} == {"widgets", "specimens", "sites"}
    named = kubectl.run("api-resources", "--namespaced=false", "-o", "name").split()
    assert {"namespaces", f"sites.{GROUP}"} <= set(named)
    assert "is running at" in kubectl.run("cluster-info")
    told = json.loads(kubectl.run("version", "-o", "json"))["serverVersion"]
    assert told["major"] == "1"
    assert kubectl.run("get", "--raw", "/readyz") == "ok"
    assert json.loads(kubectl.run("get", "--raw", "/version"))["gitVersion"] == told["gitVersion"]
    found = json.loads(kubectl.run("get", "--raw", f"/apis/{GROUP}/v1"))
    assert "widgets/status" in [each["name"] for each in found["resources"]]
    assert "the server could not find the requested resource" in kubectl.refused("get", "--raw", "/nowhere")
    assert 'doesn\'t have a resource type "nothing"' in kubectl.refused("get", "nothing")


def test_fields_are_explained(kubectl: Kubectl) -> None:
    explained = kubectl.run("explain", "configmap.data")
    assert "map[string]string" in explained
    assert "ConfigMap" in explained
    explained = kubectl.run("explain", "widget.spec")
    assert "Widget" in explained
    assert "colour" in explained
    assert "size" in kubectl.run("explain", "widget", "--recursive")
    assert 'field "nothing" does not exist' in kubectl.refused("explain", "configmap.nothing")


def test_rights_are_told(kubectl: Kubectl, server: Server) -> None:
    assert kubectl.run("auth", "can-i", "create", "pods").strip() == "yes"
    assert kubectl.run("auth", "can-i", "*", "*", "--all-namespaces").strip() == "yes"
    if server.knows("selfsubjectrulesreviews.authorization.k8s.io"):
        assert "[*]" in kubectl.run("auth", "can-i", "--list")
    if new(kubectl) and server.knows("selfsubjectreviews.authentication.k8s.io"):
        assert "system:masters" in kubectl.run("auth", "whoami")


MAKERS = [
    "clusterrole {} --verb=get --resource=pods",
    "configmap {} --from-literal=a=b",
    "ingress {} --rule=example.org/*=web:80",
    "namespace {}",
    "poddisruptionbudget {} --selector=app=web --min-available=1",
    "priorityclass {} --value=10",
    "quota {} --hard=pods=10",
    "role {} --verb=get,list --resource=pods",
    "rolebinding {} --clusterrole=view --user=jane",
    "clusterrolebinding {} --clusterrole=view --user=jane",
    "secret generic {} --from-literal=password=secret",
    "secret docker-registry {} --docker-username=u --docker-password=p --docker-email=e@example.org",
    "service clusterip {} --tcp=80:8080",
    "service nodeport {} --tcp=80",
    "service loadbalancer {} --tcp=443",
    "service externalname {} --external-name=example.org",
    "serviceaccount {}",
]


@pytest.mark.servers("embedded")
def test_everything_that_kubectl_makes_is_taken_and_described(kubectl: Kubectl) -> None:
    beta = {"ingress", "poddisruptionbudget"}  # kubectl 1.20 makes these in versions that are gone since 1.25
    made: list[str] = []
    for number, maker in enumerate(MAKERS):
        name = f"{kubectl.namespace}-{number}"
        if new(kubectl) or maker.split()[0] not in beta:
            made.append(kubectl.run("create", *maker.format(name).split(), "-o", "name").strip())
    shown = kubectl.run("get", *made)
    assert all(each.partition("/")[2] in shown for each in made)
    described = kubectl.run("describe", *made)
    assert described.count("\nName:") + 1 == len(made)
    kubectl.run("delete", *made, "--wait=false")


@pytest.mark.servers("embedded")
def test_services_are_exposed_and_workloads_scaled_automatically(kubectl: Kubectl) -> None:
    kubectl.run("create", "deployment", "web", "--image=nginx")
    kubectl.run("rollout", "status", "deploy/web", "--timeout=50s")
    kubectl.run("expose", "deploy/web", "--port=80", "--target-port=8080")
    service = kubectl.json("svc", "web")["spec"]
    assert service["selector"] == {"app": "web"}
    assert service["ports"][0]["targetPort"] == 8080
    assert "Endpoints:" in kubectl.run("describe", "svc", "web")
    if new(kubectl):  # the old one asks for autoscaling/v1 in a way of its own
        kubectl.run("autoscale", "deploy/web", "--min=1", "--max=3", "--cpu=50%")
        assert kubectl.run("get", "hpa", "web", "--no-headers").split()[:2] == ["web", "Deployment/web"]
        assert kubectl.run("create", "token", "default").count(".") == 2
    shown = kubectl.run("get", "all")
    for part in ("pod/web-", "service/web ", "deployment.apps/web ", "replicaset.apps/web-"):
        assert part in shown
