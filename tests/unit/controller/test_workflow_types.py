"""What the type checkers make of workflows: checked with ``make lint``, where each ``ignore`` must be needed."""

# pyright: strict, reportUnusedFunction=false, reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import assert_type

from kubewright import Client, Context, ObjectMeta, Operator, Resource, resource
from kubewright.controller.workflow import NotReady, Outcome, Step, Workflow
from kubewright.kinds import apps_v1, core_v1


@resource("example.com/v1")
class Thing(Resource):
    size: int = 1


class Cloud:
    region = "north"


@asynccontextmanager
async def cloud(client: Client) -> AsyncGenerator[Cloud]:
    yield Cloud()


def content(thing: Thing) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=thing.name))


def pair(thing: Thing) -> tuple[core_v1.ConfigMap, core_v1.Service]:
    return content(thing), core_v1.Service(metadata=ObjectMeta(name=thing.name))


async def by_region(thing: Thing, ctx: Context[Cloud]) -> list[core_v1.ConfigMap]:
    return [content(thing)] if ctx.state.region else []


def of_anything(obj: Resource) -> bool:
    return bool(obj.name)


def filled(found: core_v1.ConfigMap) -> bool | NotReady:
    return bool(found.data) or NotReady("empty")


def both(found: tuple[core_v1.ConfigMap, core_v1.Service]) -> bool:
    return bool(found[0].data and found[1].spec.ports)


def all_of(found: list[core_v1.ConfigMap]) -> bool:
    return all(filled(each) for each in found)


def rolled_out(found: apps_v1.Deployment) -> bool:
    return bool(found.status.ready_replicas)


async def exists(thing: Thing, ctx: Context) -> bool:
    return ctx.get(core_v1.ConfigMap, thing.name) is not None


def of_pod(pod: core_v1.Pod) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=pod.metadata)


def test_what_is_right_passes_the_checkers() -> None:
    flow = Workflow(
        Step.apply("content", content, ready=filled, when=lambda thing: thing.size > 1),
        Step.apply("pair", pair, ready=both, after=["content"], when=of_anything),
        Step.apply("by-region", by_region, ready=all_of, when=exists),
        Step.check("anything", of_anything),
        Step.check("exists", exists, when=exists),
        condition="Ready",
    )
    assert_type(flow, Workflow[Thing])

    operator = Operator("things", lifespan=cloud)

    @operator.controller(Thing)
    async def reconcile(thing: Thing, ctx: Context) -> None:
        assert_type(await flow.run(thing, ctx), Outcome)

    @operator.finalizer(Thing, name="example.com/in-order")
    async def cleanup(thing: Thing, ctx: Context[Cloud]) -> None:
        await flow.tear_down(thing, ctx)

    assert [len(spec.finalizers) for spec in operator.controllers] == [1]


async def mistakes(pod: core_v1.Pod, ctx: Context) -> None:
    """For the checkers alone; nothing calls it."""
    Step.apply("content", content, ready=rolled_out)  # type: ignore[misc]
    Step.apply("content", content, ready=content)  # type: ignore[arg-type]
    Step.apply("pair", pair, ready=filled)  # type: ignore[misc]
    Step.check("content", content)  # type: ignore[arg-type]
    Step.apply("anything", of_anything)  # type: ignore[type-var]
    Workflow[Thing](Step.apply("pod", of_pod))  # type: ignore[arg-type]
    await Workflow(Step.apply("content", content)).run(pod, ctx)  # type: ignore[arg-type]
