from __future__ import annotations

from typing import Any

import pytest
import yaml
from database_operator.operator import operator

from kubewright import Operator
from kubewright.manifests import manifests, policy_rules, to_yaml
from kubewright.operator import Settings

TARGET = "database_operator.operator:operator"


def test_rbac_is_what_the_controller_declares_and_no_more() -> None:
    rules = {
        (rule.api_groups or [])[0] + "/" + ",".join(rule.resources or []): rule.verbs for rule in policy_rules(operator)
    }
    assert rules == {
        "/persistentvolumeclaims": ["delete", "get", "list", "watch"],
        "/pods": ["get", "list", "watch"],
        "/services": ["create", "delete", "get", "list", "patch", "watch"],
        "apps/statefulsets": ["create", "delete", "get", "list", "patch", "watch"],
        "apps.example.com/databases": ["get", "list", "patch", "watch"],
        "apps.example.com/databases/finalizers": ["update"],
        "apps.example.com/databases/status": ["patch"],
        "events.k8s.io/events": ["create", "get", "patch"],
    }


def test_the_order_is_that_in_which_they_can_be_applied() -> None:
    assert [document["kind"] for document in manifests(operator, target=TARGET)] == [
        "CustomResourceDefinition",
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "Deployment",
    ]


def test_what_an_operator_needs_may_be_had_without_the_operator() -> None:
    measured = Settings(metrics_bind_address=":8080")
    kinds = [each["kind"] for each in manifests(operator, target=TARGET, settings=measured, deployed=False)]
    whole = [each["kind"] for each in manifests(operator, target=TARGET, settings=measured)]
    assert whole == [*kinds, "Service", "Deployment"]


def test_the_deployment_gives_the_manager_more_time_than_it_takes_to_stop() -> None:
    pod = manifests(operator, target=TARGET)[-1]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > operator.settings.stop_within


def test_candidates_may_use_leases_in_their_own_namespace_only() -> None:
    role, binding = (each for each in manifests(operator, target=TARGET) if each["kind"] in {"Role", "RoleBinding"})
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "database-operator-system"
    assert role["rules"] == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "patch"]}
    ]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_the_deployment_asks_for_health_where_it_tells_the_operator_to_serve_it() -> None:
    pod = manifests(operator, target=TARGET)[-1]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    port = container["ports"][0]["containerPort"]
    assert f"--health-probe-bind-address=:{port}" in container["args"]
    assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "health"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
    assert pod["enableServiceLinks"] is False


def test_image_and_namespace_can_be_chosen() -> None:
    documents = manifests(operator, target=TARGET, image="registry.example.com/db:1", namespace="databases")
    deployment, binding = documents[-1], documents[-2]
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.com/db:1"
    assert deployment["metadata"]["namespace"] == binding["subjects"][0]["namespace"] == "databases"


def test_the_text_reads_back_as_the_documents() -> None:
    documents = manifests(operator, target=TARGET)
    text = to_yaml(documents)
    assert list(yaml.safe_load_all(text)) == documents
    assert "\n    - db\n" in text
    assert "status: {}\nmetadata" not in text


def test_names_that_would_read_as_booleans_are_quoted() -> None:
    assert to_yaml([{"y": "n", "yes": "off", "N": 1}]) == "---\n'y': 'n'\n'yes': 'off'\n'N': 1\n"


def serving(address: str, **settings: Any) -> dict[str, dict[str, Any]]:
    """The documents, by their kind, of an operator that serves metrics there."""
    chosen = Settings(metrics_bind_address=address, **settings)
    documents = manifests(operator, target=TARGET, namespace="home", settings=chosen)
    return {each["kind"]: each for each in documents}


def container_of(deployment: dict[str, Any]) -> dict[str, Any]:
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(container)


def test_metrics_have_a_port_and_a_service_that_leads_to_it() -> None:
    found = serving(":8080")
    container, service = container_of(found["Deployment"]), found["Service"]
    assert "--metrics-bind-address=:8080" in container["args"]
    assert {"name": "metrics", "containerPort": 8080} in container["ports"]
    assert service["metadata"]["name"] == "database-operator-metrics"
    assert service["metadata"]["namespace"] == "home"
    assert service["spec"]["ports"] == [{"name": "metrics", "port": 8080, "targetPort": "metrics"}]
    pod = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= pod.items()


def test_metrics_where_health_is_served_share_its_port() -> None:
    found = serving("0.0.0.0:8081")
    container, service = container_of(found["Deployment"]), found["Service"]
    assert container["ports"] == [{"name": "health", "containerPort": 8081}]
    assert "--health-probe-bind-address=0.0.0.0:8081" in container["args"]
    assert "--metrics-bind-address=0.0.0.0:8081" in container["args"]
    assert service["spec"]["ports"] == [{"name": "metrics", "port": 8081, "targetPort": "health"}]


@pytest.mark.parametrize("address", ["0", "127.0.0.1:8080", ":0"])
def test_metrics_that_nobody_can_reach_have_no_service(address: str) -> None:
    found = serving(address)
    assert "Service" not in found
    assert [port["name"] for port in container_of(found["Deployment"])["ports"]] == ["health"]


def test_the_role_for_leader_election_is_where_the_lease_is() -> None:
    found = serving("0", leader_elect_resource_namespace="leases")
    role, binding = found["Role"], found["RoleBinding"]
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "leases"
    assert binding["subjects"][0]["namespace"] == "home"


def test_names_that_are_too_long_for_what_they_become_are_refused() -> None:
    long = Operator("x" * 60, settings=Settings(metrics_bind_address=":8080"))
    with pytest.raises(ValueError, match=f"^namespace is '{'x' * 60}-system': "):
        manifests(long, target=TARGET)
    with pytest.raises(ValueError, match="^the name of the metrics' Service is 'x+-metrics': "):
        manifests(long, target=TARGET, namespace="home")
