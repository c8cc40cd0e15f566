"""What an operator's runs share, and where it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kubewright import Client, Context, ObjectMeta, Operator
from kubewright.controller import BlockingContext
from kubewright.kinds import core_v1
from kubewright.operator.lifecycle import StartFailed
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, WidgetSpec, world


class Cloud:
    def __init__(self) -> None:
        self.open = True
        self.calls: list[str] = []


def test_a_lifespan_is_entered_once_before_the_first_run_and_left_after_the_last() -> None:
    clouds: list[Cloud] = []
    clients: list[Client] = []

    @asynccontextmanager
    async def cloud(client: Client) -> AsyncIterator[Cloud]:
        clients.append(client)
        await asyncio.sleep(1)
        clouds.append(Cloud())
        yield clouds[-1]
        clouds[-1].open = False

    operator = Operator("widgets", lifespan=cloud)

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context[Cloud]) -> None:
        assert ctx.state.open
        await asyncio.sleep(3)
        assert ctx.state.open
        ctx.state.calls.append(widget.name)

    @operator.controller(Widget, threads=True, name="blocking")
    def blocking(widget: Widget, ctx: BlockingContext[Cloud]) -> None:
        ctx.state.calls.append(f"{widget.name} in a thread")

    async def main() -> None:
        async with world(operator) as here:
            for name in ("a", "b"):
                await here.create(name)
            await asyncio.sleep(3)
            here.manager.stop()
            await asyncio.sleep(20)
            (only,) = clouds
            assert sorted(only.calls) == ["a", "a in a thread", "b", "b in a thread"]
            assert not only.open
            assert clients == [here.manager.client]

    run_in_virtual_time(main)


def test_a_lifespan_that_fails_keeps_the_operator_from_starting() -> None:
    @asynccontextmanager
    async def cloud(client: Client) -> AsyncIterator[Cloud]:
        raise OSError("no credentials for the cloud")
        yield Cloud()

    operator = Operator("widgets", lifespan=cloud)

    async def main() -> None:
        async with world(operator):
            await asyncio.sleep(5)

    with pytest.raises(BaseExceptionGroup) as caught:
        run_in_virtual_time(main)
    assert caught.group_contains(
        StartFailed, match="the operator.s lifespan did not start: no credentials for the cloud"
    )


def test_an_operator_sees_nothing_outside_of_its_namespaces() -> None:
    operator, seen = Operator("widgets", namespaces=["red", "blue"]), list[str]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap], reads=[core_v1.Node])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        seen.append(f"{widget.namespace}/{widget.name} of {len(ctx.list(core_v1.Node))}")

    async def main() -> None:
        async with world(operator) as here:
            for namespace in ("red", "blue", "green"):
                await here.client.create(core_v1.Namespace(metadata=ObjectMeta(name=namespace)))
                metadata = ObjectMeta(name="w", namespace=namespace)
                await here.client.create(Widget(metadata=metadata, spec=WidgetSpec(size=1)))
            await asyncio.sleep(3)
            assert sorted(seen) == ["blue/w of 1", "red/w of 1"]
            for plural in ("widgets", "configmaps"):
                asked = {each.path for each in here.sent.requests if each.path.endswith(f"/{plural}")}
                assert {path.split("/")[-2] for path in asked} == {"red", "blue"}
            assert any(each.path.endswith("/v1/nodes") for each in here.sent.requests)

    run_in_virtual_time(main)
