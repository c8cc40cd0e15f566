"""What a manager tells of the permissions it lacks, and that it goes on when it has them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubewright import Context, Operator
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.operator.managers import running, thing, things, world


def test_missing_rules_are_told_exactly_and_it_goes_on_when_they_are_there() -> None:
    async def main() -> None:
        async with world(things()) as here:
            here.guard.forbidden = {
                *(("watch", plural) for plural in ("configmaps", "things")),
                ("list", "configmaps"),
                ("update", "things/finalizers"),
            }
            async with running(here):
                await asyncio.sleep(20)
                assert "not allowed: list,watch of configmaps" in (here.ready() or "")
                assert 'User "alice" cannot watch' in (here.ready() or "")
                (said,) = here.said("not everything is there that this operator needs")
                assert said["missing"] == [
                    "not allowed: watch of things.example.com",
                    "not allowed: list,watch of configmaps",
                    "not allowed: update of things.example.com/finalizers",
                ]
                roles = [command for command in said["remedy"] if command.startswith("kubectl create clusterrole ")]
                assert [command.split(maxsplit=4)[4] for command in roles] == [
                    "--verb=watch --resource=things.example.com",
                    "--verb=list,watch --resource=configmaps",
                    "--verb=update --resource=things.example.com/finalizers",
                ]
                here.guard.forbidden = {("update", "things/finalizers")}
                await asyncio.sleep(65)
                assert "caches" not in [
                    line[3:].split()[0] for line in (here.ready() or "").splitlines() if line.startswith("[-]")
                ]
                assert "not allowed: update of things.example.com/finalizers" in (here.ready() or "")
                here.guard.forbidden = set()
                await here.until_ready(within=40)

    run_in_virtual_time(main)


def test_an_operator_of_certain_namespaces_is_told_what_it_lacks_in_each() -> None:
    async def main() -> None:
        async with world(things(namespaces=["default", "red"])) as here:
            here.guard.forbidden = {("watch", "configmaps")}
            async with running(here):
                await asyncio.sleep(5)
                (said,) = here.said("not everything is there that this operator needs")
                assert said["missing"] == [
                    "not allowed: watch of configmaps in namespace default",
                    "not allowed: watch of configmaps in namespace red",
                ]
                roles = [command.split() for command in said["remedy"] if command.startswith("kubectl create role ")]
                assert [words[words.index("-n") + 1] for words in roles] == ["default", "red"]

    run_in_virtual_time(main)


def test_the_remedy_is_for_the_namespaces_that_were_chosen_and_leaves_the_deployment_alone() -> None:
    async def main() -> None:
        async with world(things(namespaces=["default", "red"]), lease=True) as here:
            here.guard.user = "system:serviceaccount:ops:things"
            here.guard.forbidden = {("list", "configmaps"), ("patch", "leases"), ("create", "selfsubjectreviews")}
            async with running(here):
                await asyncio.sleep(5)
                (said,) = here.said("not everything is there that this operator needs")
                assert "not allowed: patch of leases.coordination.k8s.io in namespace default" in said["missing"]
                everything, role, binding = said["remedy"]
                assert everything == (
                    "kubewright manifests things.py:operator --no-deployment --namespace ops --watch-namespace default "
                    "--watch-namespace red | kubectl apply -f -"
                )
                assert role.startswith("kubectl create role things-")
                assert "-n default --verb=patch --resource=leases.coordination.k8s.io" in role
                assert binding.endswith("--serviceaccount=ops:things")

    run_in_virtual_time(main)


def test_events_about_what_has_no_namespace_are_asked_for_where_they_are() -> None:
    operator: Operator[Any] = Operator("nodes", namespaces=["red"])

    @operator.controller(core_v1.Node)
    async def reconcile(node: core_v1.Node, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            here.guard.forbidden = {("patch", "events")}
            async with running(here):
                await asyncio.sleep(5)
                (said,) = here.said("not everything is there that this operator needs")
                assert said["missing"] == [
                    "not allowed: patch of events.events.k8s.io in namespace default",
                    "not allowed: patch of events.events.k8s.io in namespace red",
                ]

    run_in_virtual_time(main)


def test_a_role_that_names_the_lease_is_enough_for_it() -> None:
    async def main() -> None:
        async with world(things(), lease=True) as here, running(here):
            here.guard.named = {("get", "leases"): "things", ("patch", "leases"): "things"}
            await here.until_ready(within=5)
            here.guard.named = {("get", "leases"): "another", ("create", "leases"): "things"}
            await asyncio.sleep(400)
            assert "not allowed: create,get of leases.coordination.k8s.io in namespace default" in (here.ready() or "")

    run_in_virtual_time(main)


def test_permissions_are_asked_for_together_at_the_start_and_one_by_one_when_nobody_waits_for_it() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            assert here.guard.together > 1
            here.guard.together = here.guard.reviews = 0
            await asyncio.sleep(400)
            assert here.guard.reviews > 4
            assert here.guard.together == 1  # more at a time would be more connections each time

    run_in_virtual_time(main)


def test_a_permission_that_is_taken_away_is_noticed() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            here.guard.forbidden = {("watch", "configmaps"), ("list", "configmaps")}
            here.guard.break_connections()
            await asyncio.sleep(30)
            told = here.ready() or ""
            assert "configmaps is broken for" in told
            assert "not allowed: list,watch of configmaps" in told
            here.guard.forbidden = set()
            await here.until_ready(within=70)

    run_in_virtual_time(main)


def test_a_write_that_is_forbidden_without_a_sign_is_noticed_in_time() -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            await here.until_ready(within=5)
            here.guard.forbidden = {("patch", "configmaps")}
            await asyncio.sleep(360)
            assert "not allowed: patch of configmaps" in (here.ready() or "")
            here.guard.forbidden = set()
            await here.until_ready(within=60)
            here.guard.forbidden = {("apply", "configmaps"), ("patch", "configmaps")}
            await here.somebody.create(thing())
            await asyncio.sleep(40)
            assert "not allowed: patch of configmaps" in (here.ready() or ""), "sooner when a run fails"

    run_in_virtual_time(main)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/selfsubjectaccessreviews", "the server could not be asked: not a SelfSubjectAccessReview"),
        ("/apis/example.com/v1", "the server could not be asked: the server's description of its API does not fit"),
        ("/selfsubjectreviews", "not allowed: patch of configmaps"),  # which is to be mended by a USER
    ],
)
def test_an_answer_that_is_none_is_told_and_ends_nothing(path: str, told: str) -> None:
    async def main() -> None:
        async with world(things()) as here, running(here):
            here.guard.forbidden = {("patch", "configmaps")}  # so that it asks who it is
            here.guard.garbled = path
            await asyncio.sleep(400)
            assert f"[-]access failed: {told}" in (here.ready() or "")
            here.guard.forbidden = set()
            here.guard.garbled = ""
            await here.until_ready(within=60)

    run_in_virtual_time(main)
