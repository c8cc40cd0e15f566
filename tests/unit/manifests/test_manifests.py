from __future__ import annotations

import yaml
from database_operator.operator import operator

from kubewright.manifests import manifests, policy_rules, to_yaml
from kubewright.operator import STOP_WITHIN

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
    }


def test_the_order_is_that_in_which_they_can_be_applied() -> None:
    assert [document["kind"] for document in manifests(operator, target=TARGET)] == [
        "CustomResourceDefinition",
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Deployment",
    ]


def test_the_deployment_gives_the_manager_more_time_than_it_takes_to_stop() -> None:
    pod = manifests(operator, target=TARGET)[-1]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > STOP_WITHIN


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
