"""What happens around a running operator: its CRD goes and comes back, namespaces end, names are taken again."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from database_operator.api.v1alpha1 import Database, DatabaseSpec, Storage
from database_operator.operator import operator

from kubewright import ApiError, Client, Manager, NotFound, ObjectMeta
from kubewright.api import LoopClock, Resource
from kubewright.client import HttpRequest
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import apps_v1, core_v1
from kubewright.testing import install, run_in_virtual_time
from tests.complaints import Complaints

DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/databases.apps.example.com"


class World:
    """A cluster, somebody who uses it, and an operator that can be started and stopped."""

    def __init__(self, cluster: DevCluster, tasks: asyncio.TaskGroup, rng: random.Random) -> None:
        self.cluster = cluster
        self.client = Client(cluster.transport(), field_manager="somebody", clock=cluster.clock, rng=rng)
        self.log = Complaints()
        self._tasks = tasks
        self._rng = rng
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        client = Client(self.cluster.transport(), clock=self.cluster.clock, rng=self._rng)
        manager = Manager(operator, client, clock=self.cluster.clock, rng=self._rng, log=self.log)
        self._running = self._tasks.create_task(manager.run())

    async def stop(self) -> None:
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait([self._running])

    async def is_there(self, kind: type[Resource], name: str, namespace: str | None = "default") -> bool:
        try:
            await self.client.get(kind, name, namespace=namespace)
        except ApiError:
            return False
        return True

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"content-type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.cluster.transport().request(HttpRequest(method, path, (), headers, data))
        assert answer.status < 300, answer.body
        return json.loads(answer.body)

    async def until_running(self, name: str = "db", namespace: str = "default", replicas: int = 2) -> Database:
        async with asyncio.timeout(120):
            while True:
                try:
                    found = await self.client.get(Database, name, namespace=namespace)
                except ApiError:
                    found = None
                if found and found.status.phase == "Running" and found.status.ready_replicas == replicas:
                    return found
                await asyncio.sleep(0.05)

    async def until_gone(self, kind: type[Resource], name: str, namespace: str | None = "default") -> None:
        async with asyncio.timeout(120):
            while await self.is_there(kind, name, namespace):  # noqa: ASYNC110 - what is awaited happens in the cluster
                await asyncio.sleep(0.05)


@asynccontextmanager
async def world(seed: int = 1, *, started: bool = True) -> AsyncIterator[World]:
    rng = random.Random(seed)
    async with DevCluster(clock=LoopClock(), rng=rng) as cluster, asyncio.TaskGroup() as tasks:
        here = World(cluster, tasks, rng)
        await install(here.client, operator)
        if started:
            here.start()
        try:
            yield here
        finally:
            if here._running is not None:
                here._running.cancel()


def database(name: str = "db", namespace: str = "default", replicas: int = 2) -> Database:
    return Database(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=DatabaseSpec(replicas=replicas, engine="postgres", version="16", storage=Storage(size="1Gi")),
    )


@pytest.mark.parametrize("pause", [0.0, 0.01, 1.0, 100.0])
def test_a_definition_that_goes_and_comes_back_is_worked_on_again(pause: float) -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await here.until_running()
            await here.request("DELETE", DEFINITION)
            async with asyncio.timeout(60):
                while True:
                    try:
                        await here.request("GET", DEFINITION)
                    except AssertionError:
                        break
                    await asyncio.sleep(0.05)
            await here.until_gone(apps_v1.StatefulSet, "db")
            await asyncio.sleep(pause)
            await install(here.client, operator)
            await here.client.create(database("again"))
            await here.until_running("again")
            await here.client.delete(Database, "again", namespace="default")
            await here.until_gone(Database, "again")

    run_in_virtual_time(main)


@pytest.mark.parametrize("after", [0.0, 0.01, 0.5, 1.0, 5.0])
def test_a_namespace_that_ends_while_its_databases_are_reconciled_takes_them_along(after: float) -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(core_v1.Namespace(metadata=ObjectMeta(name="gone")))
            for number in range(3):
                await here.client.create(database(f"db{number}", "gone"))
            await asyncio.sleep(after)
            await here.client.delete(core_v1.Namespace, "gone")
            await here.until_gone(core_v1.Namespace, "gone", None)
            await here.client.create(core_v1.Namespace(metadata=ObjectMeta(name="gone")))
            await here.client.create(database("db0", "gone"))
            await here.until_running("db0", "gone")

    run_in_virtual_time(main)


@pytest.mark.parametrize("after", [0.0, 0.001, 0.01, 0.1, 0.6, 1.0, 2.5, 10.0])
def test_a_name_that_is_taken_again_at_once_gets_children_of_its_own(after: float) -> None:
    async def main() -> None:
        async with world() as here:
            for replicas in (1, 2, 3):
                made = await here.client.create(database(replicas=replicas))
                await asyncio.sleep(after)
                await here.client.delete(Database, "db", namespace="default")
                async with asyncio.timeout(60):
                    while True:
                        try:
                            if (await here.client.get(Database, "db", namespace="default")).uid != made.uid:
                                break
                        except NotFound:
                            break
                        await asyncio.sleep(0.001)
            last = await here.client.create(database(replicas=2))
            assert (await here.until_running()).uid == last.uid
            await asyncio.sleep(200)
            found = await here.until_running()
            assert found.uid == last.uid
            statefulset = await here.client.get(apps_v1.StatefulSet, "db", namespace="default")
            assert [owner.uid for owner in statefulset.metadata.owner_references or []] == [last.uid]
            assert statefulset.spec.replicas == 2

    run_in_virtual_time(main)


def test_what_was_deleted_while_the_operator_was_away_is_cleaned_up_when_it_is_back() -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await here.until_running()
            await here.stop()
            await here.client.delete(Database, "db", namespace="default")
            await asyncio.sleep(60)
            assert await here.is_there(Database, "db")
            here.start()
            await here.until_gone(Database, "db")
            await here.until_gone(apps_v1.StatefulSet, "db")
            await here.until_gone(core_v1.PersistentVolumeClaim, "data-db-0")

    run_in_virtual_time(main)


@pytest.mark.parametrize("stored", ["v1alpha1", "v1"])
def test_a_definition_that_gains_a_version_is_served_on_and_worked_on(stored: str) -> None:
    async def main() -> None:
        async with world() as here:
            await here.client.create(database())
            await here.until_running()
            definition = await here.request("GET", DEFINITION)
            (first,) = definition["spec"]["versions"]
            versions = [
                {**first, "storage": stored == "v1alpha1"},
                {**first, "name": "v1", "storage": stored == "v1"},
            ]
            await here.request("PATCH", DEFINITION, {"spec": {"versions": versions}})
            await here.client.scale(Database, "db", 3, namespace="default")
            await here.until_running(replicas=3)
            path = "/apis/apps.example.com/v1/namespaces/default/databases"
            await here.request("PATCH", f"{path}/db", {"spec": {"replicas": 1}})
            await here.until_running(replicas=1)
            body = {
                "apiVersion": "apps.example.com/v1",
                "kind": "Database",
                "metadata": {"name": "new"},
                "spec": {"replicas": 2, "engine": "mysql", "version": "8", "storage": {"size": "1Gi"}},
            }
            await here.request("POST", path, body)
            await here.until_running("new")
            await here.client.delete(Database, "new", namespace="default")
            await here.until_gone(Database, "new")
            assert here.log.lines == []

    run_in_virtual_time(main)
