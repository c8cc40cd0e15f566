"""What an operator's code raises that is no Exception, such as SystemExit: a failure of its own, of no harm to others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubewright import Context, ObjectMeta, Operator, Request, Watch
from kubewright.cache import Event
from kubewright.controller import BlockingContext, SourceContext
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


class Odd(BaseException):
    """As pytest's own outcomes, or trio's cancellation."""


def configmap() -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name="c", namespace="default"))


every_kind = pytest.mark.parametrize("error", [SystemExit, GeneratorExit, Odd, asyncio.CancelledError])


@every_kind
@pytest.mark.parametrize("waits", [False, True])
def test_a_run_fails_alone_and_its_object_shows_it(error: type[BaseException], waits: bool) -> None:
    operator, done = Operator("widgets"), set[str]()

    @operator.controller(Widget, workers=1)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if waits:
            await asyncio.sleep(0.1)
        if widget.name == "bad":
            raise error("why")
        done.add(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create("bad")
            await asyncio.sleep(10)
            await here.create("good")
            await asyncio.sleep(1)
            assert done == {"good"}
            assert len(here.said("reconcile failed")) > 3
            [condition] = (await here.widget("bad")).status.conditions
            assert (condition.type, condition.reason) == ("Reconciling", "RetryAfterError")

    run_in_virtual_time(main)


@every_kind
def test_a_clean_up_fails_alone_and_its_object_shows_it(error: type[BaseException]) -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/x")
    async def clean(widget: Widget, ctx: Context) -> None:
        raise error

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(5)
            [condition] = (await here.widget()).status.conditions
            assert condition.reason == "FinalizerFailed"

    run_in_virtual_time(main)


@pytest.mark.parametrize("error", [SystemExit, Odd])
def test_what_a_run_waits_for_may_raise_it_and_the_run_may_catch_it(error: type[BaseException]) -> None:
    operator, caught = Operator("widgets"), list[str]()

    async def elsewhere() -> None:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.1, future.set_exception, error("from a thread"))
        await future

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await asyncio.sleep(0.1)
        try:
            await elsewhere()
        except error as raised:
            caught.append(str(raised))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert caught == ["from a thread"]
            assert not here.said("reconcile failed")

    run_in_virtual_time(main)


@every_kind
def test_what_the_loop_does_for_a_thread_may_raise_it_and_the_thread_goes_on(error: type[BaseException]) -> None:
    operator, caught = Operator("widgets"), list[type[BaseException]]()

    async def failing() -> None:
        raise error

    @operator.controller(Widget, threads=True)
    def reconcile(widget: Widget, ctx: BlockingContext) -> None:
        try:
            ctx.wait(failing())
        except BaseException as raised:
            caught.append(type(raised))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert caught == [error]

    before = set(threading.enumerate())
    run_in_virtual_time(main)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)  # it was told to end; that takes it a moment
        assert not thread.is_alive()


@every_kind
@pytest.mark.parametrize("slow", [False, True])
def test_mappers_and_predicates_may_raise_it(error: type[BaseException], slow: bool) -> None:
    operator, woken = Operator("widgets"), list[str]()

    def trips(event: Event[Any]) -> bool:
        raise error

    def at_once(found: core_v1.ConfigMap) -> list[Request]:
        raise error

    async def later(found: core_v1.ConfigMap) -> list[Request]:
        raise error

    mapper: Any = later if slow else at_once

    @operator.controller(Widget, when=trips, watches=[Watch(core_v1.ConfigMap, to=mapper, predicate=trips)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(configmap())
            await asyncio.sleep(1)
            await here.create()
            await asyncio.sleep(60)
            assert woken == ["w"]
            assert here.said("a mapper failed; its event is given up")

    run_in_virtual_time(main)


@every_kind
def test_a_source_may_raise_it_and_is_called_anew(error: type[BaseException]) -> None:
    operator, woken, calls = Operator("widgets"), list[str](), list[int]()

    async def source(around: SourceContext) -> AsyncIterator[Request]:
        calls.append(1)
        if len(calls) < 3:
            raise error
        yield Request(None, "default", "w")

    @operator.controller(Widget, watches=[source])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(ctx.reason)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(60)
            assert len(calls) == 3
            assert len(here.said("a source failed")) == 2
            assert len(woken) >= 1

    run_in_virtual_time(main)
