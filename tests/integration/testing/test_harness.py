"""The harness on the Database example: what its words mean."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from database_operator.api.v1alpha1 import Database
from database_operator.operator import operator

from kubewright import Client, Context, NotFound, ObjectMeta, Operator, Result
from kubewright.controller import BlockingContext
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import apps_v1, core_v1
from kubewright.operator import Settings
from kubewright.testing import ABSENT, ANYTHING, NotSettled, OpenHarness, containing, like
from tests.integration.testing.samples import DATABASE, database

STATEFULSET = (apps_v1.StatefulSet, "db")


async def test_one_pass_does_one_run_and_nothing_else(harness: OpenHarness) -> None:
    counting = Operator("counting")

    @counting.controller(Database, owns=[core_v1.ConfigMap])
    async def reconcile(db: Database, ctx: Context) -> None:
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name=db.name)))
        db.status.ready_replicas = (db.status.ready_replicas or 0) + 1

    here = await harness(counting, objects=[database()])
    await here.advance(minutes=10)
    assert here.requests == []
    await here.reconcile(DATABASE)
    wanted = ["apply configmaps default/db", "patch databases.apps.example.com default/db/status"]
    assert [str(sent.call) for sent in here.writes] == wanted
    await here.advance(minutes=10)
    assert len(here.writes) == len(wanted)  # though both have changed
    await here.reconcile(DATABASE)
    await here.assert_object(DATABASE, {"status": {"readyReplicas": 2}})


async def test_the_result_of_a_pass_reaches_the_test(harness: OpenHarness) -> None:
    patient = Operator("patient")

    @patient.controller(Database)
    async def reconcile(db: Database, ctx: Context) -> Result:
        return Result(requeue_after=30)

    here = await harness(patient, objects=[database()])
    result = await here.reconcile(DATABASE)
    assert result is not None
    assert result.requeue_after == 30


async def test_a_pass_sees_what_others_did_right_before_it(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.reconcile(DATABASE)
    await here.reconcile(DATABASE)
    await here.client.scale(Database, "db", 4, namespace="default")
    await here.reconcile(DATABASE)
    await here.assert_object(STATEFULSET, {"spec": {"replicas": 4}})


async def test_an_operator_that_serves_health_and_metrics_is_tested_without(harness: OpenHarness) -> None:
    settings = Settings(health_probe_bind_address=":8081", metrics_bind_address=":8080", leader_elect=True)
    serving = Operator("serving", settings=settings)

    @serving.controller(Database)
    async def reconcile(db: Database, ctx: Context) -> None:
        db.status.ready_replicas = 1

    here = await harness(serving, objects=[database()])
    await here.settle()
    await here.restart()
    await here.assert_object(DATABASE, {"status": {"readyReplicas": 1}})


async def test_the_error_of_a_pass_reaches_the_test(harness: OpenHarness) -> None:
    failing = Operator("failing")

    @failing.controller(Database)
    async def reconcile(db: Database, ctx: Context) -> None:
        raise LookupError(db.name)

    here = await harness(failing, objects=[database()])
    with pytest.raises(LookupError, match="db"):
        await here.reconcile(DATABASE)


async def test_which_controller_is_meant_has_to_be_clear(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    with pytest.raises(
        ValueError, match="0 controllers of operator database-operator fit the kind Pod; it has: database"
    ):
        await here.reconcile((core_v1.Pod, "db"))


@pytest.mark.parametrize("named", ["db", Database, ("db", Database), (Database, "db", None), None])
async def test_what_names_no_object_is_told(harness: OpenHarness, named: Any) -> None:
    here = await harness(operator)
    with pytest.raises(
        TypeError, match=r"names no object: give one, or its kind and name, such as \(Deployment, 'web'\)"
    ):
        await here.reconcile(named)


async def test_an_object_of_another_namespace_is_named_with_it(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[core_v1.Namespace(metadata=ObjectMeta(name="elsewhere"))])
    config = core_v1.ConfigMap(metadata=ObjectMeta(name="c", namespace="elsewhere"), data={"a": "b"})
    await here.create(config)
    await here.assert_object((core_v1.ConfigMap, "c", "elsewhere"), {"data": {"a": "b"}})
    await here.assert_absent((core_v1.ConfigMap, "c"))
    with pytest.raises(AssertionError, match="ConfigMap elsewhere/c is still there"):
        await here.assert_absent((core_v1.ConfigMap, "c", "elsewhere"))
    with pytest.raises(AssertionError, match="Namespace nowhere is not there"):
        await here.assert_object((core_v1.Namespace, "nowhere"), {})


async def test_time_only_goes_on_in_words_that_there_are(harness: OpenHarness) -> None:
    here = await harness(operator)
    for parts in ({"seconds": -1}, {}):
        with pytest.raises(ValueError, match="time goes on; give how much, such as hours=1"):
            await here.advance(**parts)
    with pytest.raises(TypeError, match=r"advance\(fortnights=1\): say weeks, days, hours, minutes or seconds"):
        await here.advance(fortnights=1)


@pytest.mark.parametrize("given", [None, "operator", Operator])
async def test_what_is_no_operator_is_told(harness: OpenHarness, given: Any) -> None:
    with pytest.raises(TypeError, match="is no operator: give the Operator that the controllers are registered at"):
        await harness(given)


async def test_an_operator_settles_with_the_cluster(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database(replicas=3)])
    await here.settle()
    await here.assert_object(DATABASE, {"status": {"phase": "Running", "readyReplicas": 3}})
    assert {pod.name for pod in await here.list(core_v1.Pod)} == {"db-0", "db-1", "db-2"}
    assert (await here.get(core_v1.Service, "db")).spec.cluster_ip == "None"


async def test_settled_means_no_writes_for_hours_nor_at_another_pass(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.settle()
    here.forget()
    await here.advance(hours=10)
    await here.reconcile(DATABASE)
    assert here.writes == []
    assert len(here.requests) > 500  # watches do not last for hours


async def test_a_restarted_operator_comes_to_rest_too(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.settle()
    await here.restart()
    await here.settle()
    here.forget()
    await here.reconcile(DATABASE)
    assert here.writes == []


async def test_what_does_not_settle_is_named(harness: OpenHarness) -> None:
    restless = Operator("restless")

    @restless.controller(Database)
    async def reconcile(db: Database, ctx: Context) -> None:
        db.status.ready_replicas = (db.status.ready_replicas or 0) + 1
        raise RuntimeError("no licence")

    here = await harness(restless, objects=[database()])
    with pytest.raises(NotSettled) as caught:
        await here.settle(within=30)
    assert "not settled after 30 s: controller database tries default/db again and again" in str(caught.value)
    assert "no licence" in str(caught.value)
    assert "patch databases.apps.example.com default/db/status -> 200" in str(caught.value)


async def test_the_history_has_every_state(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database(replicas=2)])
    await here.settle()
    history = here.history(DATABASE)
    assert history.values("status.phase") == [None, "Pending", "Running"]
    assert history.values("status.readyReplicas") == [None, 0, 1, 2]
    assert history.condition("Available") == [None, "False", "True"]
    assert history.reasons("Available") == [None, "ReplicasPending", "ReplicasReady"]
    assert [db.status.phase for db in history][-1] == "Running"
    await here.client.delete(Database, "db", namespace="default")
    await here.settle()
    assert history.seen[-1].raw is not None
    assert here.history(DATABASE).seen[-1].raw is None
    with pytest.raises(ValueError, match="Node is none of the kinds that the operator declares"):
        here.history((core_v1.Node, "kubewright"))


async def test_a_difference_is_shown_as_yaml(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.settle()
    expected = {
        "metadata": {"uid": ANYTHING, "generateName": ABSENT},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [{"image": like("^postgres:")}]}}},
        "status": {"readyReplicas": 2, "conditions": containing({"type": "Odd"})},
    }
    with pytest.raises(AssertionError) as caught:
        await here.assert_object(STATEFULSET, expected)
    lines = str(caught.value).splitlines()
    assert lines[0] == "StatefulSet default/db is not as expected:"
    assert "-  replicas: 3" in lines
    assert "+  replicas: 2" in lines
    assert not [line for line in lines if "image" in line and not line.startswith(" ")]
    assert [line for line in lines if line.startswith("-") and "Odd" in line]


async def test_what_should_be_gone_and_is_not_is_told_with_what_holds_it(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.reconcile(DATABASE)
    await here.client.delete(Database, "db", namespace="default")
    with pytest.raises(AssertionError, match="still there, being deleted since .*finalizers: .*volumes"):
        await here.assert_absent(DATABASE)
    await here.settle()
    await here.assert_absent(DATABASE)
    with pytest.raises(AssertionError, match="Database default/db is not there"):
        await here.assert_object(DATABASE, {})
    with pytest.raises(NotFound):
        await here.get(Database, "db")


async def test_events_are_found_and_shown(harness: OpenHarness) -> None:
    here = await harness(operator, objects=[database()])
    await here.settle()
    pod = (core_v1.Pod, "db-0")
    await here.assert_event(pod, {"reason": "Scheduled", "message": like("Successfully assigned default/db-0")})
    with pytest.raises(
        AssertionError, match="no event about Pod default/db-0 has .*Evicted.*\n(.*\n)*  Normal Scheduled: "
    ):
        await here.assert_event(pod, {"reason": "Evicted"})


async def test_the_cluster_of_the_harness_is_that_of_the_test(harness: OpenHarness, cluster: DevCluster) -> None:
    here = await harness(operator)
    assert here.cluster is cluster


async def test_two_operators_share_a_cluster(harness: OpenHarness) -> None:
    labelling = Operator("labelling")

    @labelling.controller(apps_v1.StatefulSet)
    async def reconcile(found: apps_v1.StatefulSet, ctx: Context) -> None:
        def label(obj: apps_v1.StatefulSet) -> None:
            obj.metadata.labels = {**(obj.metadata.labels or {}), "seen": "yes"}

        await ctx.client.edit(apps_v1.StatefulSet, found.name, label, namespace=found.namespace)

    first = await harness(operator, objects=[database()])
    second = await harness(labelling)
    await second.start()
    await first.settle()
    await second.settle()
    await first.assert_object(STATEFULSET, {"metadata": {"labels": {"seen": "yes", "app": "db"}}})
    assert {sent.call.resource for sent in second.writes} == {"statefulsets.apps"}


@pytest.mark.seeds(1, 2)
async def test_plain_functions_in_threads_run_in_virtual_time(harness: OpenHarness) -> None:
    plain = Operator("plain")

    @plain.controller(Database, owns=[core_v1.ConfigMap], threads=True)
    def reconcile(db: Database, ctx: BlockingContext) -> None:
        ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name=db.name), data={"size": str(db.spec.replicas)}))
        db.status.ready_replicas = db.spec.replicas

    here = await harness(plain)
    for number in range(4):
        await here.create(database(f"db-{number}", replicas=number + 1))
    await here.settle()
    for number in range(4):
        await here.assert_object((core_v1.ConfigMap, f"db-{number}"), {"data": {"size": str(number + 1)}})
    await here.reconcile((Database, "db-0"))


async def test_what_the_operator_shares_is_opened_for_a_pass_and_for_each_start(harness: OpenHarness) -> None:
    steps: list[str] = []

    @asynccontextmanager
    async def lifespan(_client: Client) -> AsyncIterator[str]:
        steps.append("opened")
        yield "shared"
        steps.append("closed")

    sharing = Operator("sharing", lifespan=lifespan)

    @sharing.controller(Database)
    async def reconcile(db: Database, ctx: Context[str]) -> None:
        steps.append(ctx.state)

    here = await harness(sharing, objects=[database()])
    await here.reconcile(DATABASE)
    await here.settle()
    await here.stop()
    assert steps == ["opened", "shared", "closed", "opened", "shared", "closed"]
