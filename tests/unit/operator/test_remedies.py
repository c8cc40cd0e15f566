"""The commands that give an operator what it lacks are those to be typed."""

from __future__ import annotations

import shlex
from typing import Any

from kubewright import Context, Operator, Resource, resource
from kubewright.api import resource_info
from kubewright.kinds import core_v1
from kubewright.operator.access import Need, needs
from kubewright.operator.remedies import Missing, grants, installs


@resource("example.com/v1")
class Thing(Resource):
    status: dict[str, str] | None = None


def missing(kind: type[Resource], *verbs: str, subresource: str = "", namespace: str | None = None) -> Missing:
    return Missing(Need(resource_info(kind), subresource, frozenset(verbs)), namespace)


def test_what_lacks_everywhere_is_given_by_cluster_roles_one_for_each_set_of_verbs() -> None:
    commands = grants(
        [
            missing(Thing, "watch", "get"),
            missing(core_v1.Pod, "get", "watch"),
            missing(Thing, "patch", subresource="status"),
        ],
        operator="things",
        identity="alice",
    )
    role, binding, other, _ = map(shlex.split, commands)
    assert role[:3] == ["kubectl", "create", "clusterrole"]
    assert role[4:] == ["--verb=get,watch", "--resource=pods,things.example.com"]
    assert binding == ["kubectl", "create", "clusterrolebinding", role[3], f"--clusterrole={role[3]}", "--user=alice"]
    assert other[4:] == ["--verb=patch", "--resource=things.example.com/status"]
    assert role[3].startswith("things-")
    assert role[3] != other[3]


def test_what_lacks_in_a_namespace_is_given_there_to_service_accounts_too() -> None:
    role, binding = map(
        shlex.split,
        grants(
            [missing(core_v1.Pod, "list", namespace="red")],
            operator="things",
            identity="system:serviceaccount:ops:robot",
        ),
    )
    assert role[2] == "role"
    assert role[4:] == ["-n", "red", "--verb=list", "--resource=pods"]
    assert binding[4:] == ["-n", "red", f"--role={role[3]}", "--serviceaccount=ops:robot"]


def test_who_is_not_known_has_a_place_to_be_filled_in() -> None:
    _, binding = grants([missing(core_v1.Pod, "list")], operator="things", identity=None)
    assert binding.endswith("--user=USER")


def test_everything_is_installed_by_the_manifests_of_the_same_target() -> None:
    given = {
        installs("my file.py", None, None): "'my file.py' --no-deployment",
        installs("a.b:c", "ops", None): "a.b:c --no-deployment --namespace ops",
        installs(None, None, ["red", "blue"]): "TARGET --no-deployment --watch-namespace red --watch-namespace blue",
    }
    assert list(given) == [f"kubewright manifests {words} | kubectl apply -f -" for words in given.values()]


def test_each_resource_is_needed_once_with_all_verbs_of_all_controllers() -> None:
    operator: Operator[Any] = Operator("things")

    async def nothing(obj: Resource, ctx: Context) -> None: ...

    operator.controller(Thing, owns=[core_v1.ConfigMap])(nothing)
    operator.controller(core_v1.ConfigMap, reads=[Thing])(nothing)
    found = {(need.info.kind, need.subresource): set(need.verbs) for need in needs(operator.controllers)}
    assert len(found) == len(needs(operator.controllers))
    assert found["ConfigMap", ""] == {"get", "list", "watch", "create", "delete", "patch"}
    assert found["Thing", ""] == {"get", "list", "watch"}
    assert found["Thing", "status"] == {"patch"}
