"""Controllers that watch kinds which may not be there, and clusters that have names. In virtual time."""

from __future__ import annotations

import asyncio
import random

from kubewright import Client, Context, ObjectMeta, Operator, Resource, resource
from kubewright.api import LoopClock
from kubewright.cache import Cache
from kubewright.controller import Controller, Request, Watch
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.telemetry import null_log
from kubewright.testing import install, run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


@resource("other.example.com/v1")
class Certificate(Resource):
    """A kind of somebody else's, which not every cluster has."""

    spec: dict[str, str] | None = None


def of_the_same_name(obj: Resource) -> list[Request]:
    return [Request(None, obj.namespace, obj.name)]


def test_an_optional_kind_is_worked_without_and_with_once_it_is_there() -> None:
    operator, seen = Operator("widgets"), list[int]()

    @operator.controller(Widget, watches=[Watch(Certificate, to=of_the_same_name, optional=True)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        seen.append(len(ctx.list(Certificate)))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert seen == [0]
            await install(here.client, Certificate)
            await asyncio.sleep(3)
            await here.client.create(Certificate(metadata=ObjectMeta(name="w", namespace="default")))
            await asyncio.sleep(1)
            assert seen == [0, 1]

    run_in_virtual_time(main)


def test_a_kind_that_is_not_optional_is_waited_for() -> None:
    operator, seen = Operator("widgets"), list[str]()

    @operator.controller(Widget, watches=[Watch(Certificate, to=of_the_same_name, optional=True)], reads=[Certificate])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        seen.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(10)
            assert seen == []
            await install(here.client, Certificate)
            await asyncio.sleep(5)
            assert seen == ["w"]

    run_in_virtual_time(main)


def test_requests_name_the_cluster_that_their_events_came_from() -> None:
    operator, requests = Operator("widgets"), list[Request]()

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=of_the_same_name)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        requests.append(ctx.request)

    async def main() -> None:
        clock, rng = LoopClock(), random.Random(1)
        async with DevCluster(clock=clock, rng=rng) as cluster, asyncio.TaskGroup() as tasks:
            client = Client(cluster.transport(), clock=clock, rng=rng)
            await install(client, operator)
            cache = Cache(client, cluster="east", clock=clock, rng=rng)
            (spec,) = operator.controllers
            controller = Controller(
                spec, client=client, cache=cache, clock=clock, rng=rng, log=null_log(), field_manager="m"
            )
            running = [tasks.create_task(cache.run()), tasks.create_task(controller.run())]
            await client.create(Widget(metadata=ObjectMeta(name="w", namespace="default")))
            await asyncio.sleep(1)
            await client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="w", namespace="default")))
            await asyncio.sleep(1)
            assert requests == [Request("east", "default", "w")] * 2
            for task in running:
                task.cancel()

    run_in_virtual_time(main)
