"""Objects that don't fit their class: told of, deletable, and of no harm to others."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from kubewright import Context, NotFound, ObjectMeta, Operator, Requeue
from kubewright.api import DecodeError
from kubewright.client import JsonPatch
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Strict, Widget, WidgetSpec, World, world


async def create(here: World, name: str) -> None:
    await here.client.create(Strict(metadata=ObjectMeta(name=name, namespace="default"), spec=WidgetSpec(size=1)))


async def spoil(here: World, name: str) -> None:
    """Takes away the spec that its class wants it to have."""
    with pytest.raises(DecodeError):
        await here.client.patch(Strict, name, JsonPatch([{"op": "remove", "path": "/spec"}]), namespace="default")


def test_an_object_that_no_longer_fits_its_class_is_told_of_and_can_be_deleted() -> None:
    operator, cleaned = Operator("widgets"), list[str]()

    @operator.controller(Strict)
    async def reconcile(strict: Strict, ctx: Context) -> None: ...

    @operator.finalizer(Strict, name="example.com/clean")
    async def clean(strict: Strict, ctx: Context) -> None:
        cleaned.append(strict.name)

    async def main() -> None:
        async with world(operator) as here:
            await create(here, "s")
            await asyncio.sleep(1)
            await spoil(here, "s")
            await asyncio.sleep(1)
            assert here.said("object can't be decoded; it is left alone until it changes, or goes")
            await here.client.delete(Strict, "s", namespace="default")
            await asyncio.sleep(1)
            assert cleaned == ["s"]
            with pytest.raises(NotFound):
                await here.client.get(Strict, "s", namespace="default")

    run_in_virtual_time(main)


def test_a_clean_up_of_what_does_not_fit_its_class_may_ask_for_another_run() -> None:
    operator, times = Operator("widgets"), list[float]()

    @operator.controller(Strict)
    async def reconcile(strict: Strict, ctx: Context) -> None: ...

    @operator.finalizer(Strict, name="example.com/clean")
    async def clean(strict: Strict, ctx: Context) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) < 3:
            raise Requeue(5)

    async def main() -> None:
        async with world(operator) as here:
            await create(here, "s")
            await asyncio.sleep(1)
            await spoil(here, "s")
            await here.client.delete(Strict, "s", namespace="default")
            await asyncio.sleep(20)
            assert [round(later - earlier) for earlier, later in pairwise(times)] == [5, 5]
            assert not here.said("reconcile failed")

    run_in_virtual_time(main)


def test_an_object_that_does_not_fit_hides_no_other_from_a_list() -> None:
    operator, listed = Operator("widgets"), list[list[str]]()

    @operator.controller(Widget, reads=[Strict])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        listed.append([strict.name for strict in ctx.list(Strict)])

    @operator.controller(Strict)
    async def ignore(strict: Strict, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            for name in ("bad", "good"):
                await create(here, name)
            await spoil(here, "bad")
            await asyncio.sleep(1)
            await here.create()
            await asyncio.sleep(1)
            assert listed == [["good"]]
            assert here.said("object left out of a list")[0]["listed"] == "bad"

    run_in_virtual_time(main)
