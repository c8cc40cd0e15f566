"""An operator that works in certain namespaces may look at nothing else."""

from __future__ import annotations

from typing import Any

from kubewright import Context, Operator, Resource, resource
from kubewright.kinds import core_v1, rbac_v1
from kubewright.manifests import manifests

TARGET = "things:operator"


@resource("example.com/v1")
class Thing(Resource): ...


async def nothing(thing: Thing, ctx: Context) -> None: ...


def documents(operator: Operator, *kinds: str, watched: list[str] | None = None) -> list[dict[str, Any]]:
    """Of those kinds, without what is for leader election."""
    found = manifests(operator, target=TARGET, watched=watched)
    return [each for each in found if each["kind"] in kinds and "leader-election" not in each["metadata"]["name"]]


def test_it_gets_a_role_in_each_of_them_and_no_cluster_role() -> None:
    operator = Operator("things", namespaces=["red", "blue"])
    operator.controller(Thing, owns=[core_v1.ConfigMap])(nothing)
    assert documents(operator, "ClusterRole", "ClusterRoleBinding") == []
    roles = documents(operator, "Role")
    assert [role["metadata"]["namespace"] for role in roles] == ["blue", "red"]
    assert {plural for rule in roles[0]["rules"] for plural in rule["resources"]} == {
        "configmaps",
        "events",
        "things",
        "things/finalizers",
    }
    binding = documents(operator, "RoleBinding")[0]
    assert binding["metadata"]["namespace"] == "blue"
    assert binding["roleRef"]["kind"] == "Role"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "things", "namespace": "things-system"}]


def test_kinds_without_a_namespace_still_need_a_cluster_role_of_their_own() -> None:
    operator = Operator("things", namespaces=["red"])
    operator.controller(Thing, reads=[core_v1.Node])(nothing)
    (role,) = documents(operator, "ClusterRole")
    assert [rule["resources"] for rule in role["rules"]] == [["nodes"]]
    (role,) = documents(operator, "Role")
    assert [rule["resources"] for rule in role["rules"]] == [["events"], ["things"]]


def test_what_it_asks_for_beside_its_declaration_is_in_the_role_of_its_scope() -> None:
    operator = Operator("things", namespaces=["red"])
    operator.controller(
        Thing,
        reads=[core_v1.Pod],
        permissions={rbac_v1.ClusterRole: ["bind"], core_v1.Pod: ["create"], (core_v1.Pod, "eviction"): ["create"]},
    )(nothing)
    (role,) = documents(operator, "ClusterRole")
    assert [(rule["resources"], rule["verbs"]) for rule in role["rules"]] == [(["clusterroles"], ["bind"])]
    (role,) = documents(operator, "Role")
    rules = {",".join(rule["resources"]): rule["verbs"] for rule in role["rules"]}
    assert rules["pods"] == ["create", "get", "list", "watch"]
    assert rules["pods/eviction"] == ["create"]


def test_namespaces_chosen_for_one_cluster_are_told_to_the_operator_there() -> None:
    operator = Operator("things")
    operator.controller(Thing)(nothing)
    (deployment,) = documents(operator, "Deployment", watched=["red", "blue"])
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "WATCH_NAMESPACE", "value": "blue,red"}]
    assert len(documents(operator, "Role", watched=["red", "blue"])) == 2
    (deployment,) = documents(operator, "Deployment")
    assert "env" not in deployment["spec"]["template"]["spec"]["containers"][0]


def test_events_about_what_has_no_namespace_may_be_written_where_they_are() -> None:
    operator = Operator("things", namespaces=["red"])
    operator.controller(core_v1.Node, owns=[core_v1.ConfigMap])(nothing)  # type: ignore[arg-type]  # of no matter here
    roles = {role["metadata"]["namespace"]: role["rules"] for role in documents(operator, "Role")}
    assert set(roles) == {"default", "red"}
    assert roles["default"] == [
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "get", "patch"]}
    ]
    assert {binding["metadata"]["namespace"] for binding in documents(operator, "RoleBinding")} == {"default", "red"}
