"""Runs that wake each other, and those that only seem to. In virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubewright import Backoff, Context, ObjectMeta, Operator, Watch, Whole
from kubewright.client import MergePatch
from kubewright.controller import Request
from kubewright.controller.predicates import any_change
from kubewright.kinds import core_v1
from kubewright.testing import OpenHarness, run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


def child(name: str = "child", **data: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name), data=data)


def test_a_storm_of_own_writes_is_told_with_the_field_that_flips() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        now = asyncio.get_running_loop().time()
        await ctx.apply(child(at=f"{now:.6f}"))
        await asyncio.sleep(0.05)

    @operator.controller(Widget, owns=[core_v1.ConfigMap], name="calm")
    async def calm(widget: Widget, ctx: Context) -> None:
        await ctx.apply(child("calm", size=str(widget.spec.size)))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(5)
            (storm,) = here.said("runs of this object wake each other by what they write")
            assert storm["controller"] == "widget"
            assert list(storm["fields"]) == ["ConfigMap default/child .data.at"]

    run_in_virtual_time(main)


async def edits(widget: Widget, ctx: Context, run: int) -> None:
    def count(live: Widget) -> None:
        live.metadata.annotations = {"run": str(run)}

    await ctx.edit(widget, count)


async def creates(widget: Widget, ctx: Context, run: int) -> None:
    await ctx.create(core_v1.ConfigMap(metadata=ObjectMeta(generate_name="child-")))


async def applies(widget: Widget, ctx: Context, run: int) -> None:
    await ctx.apply(child(run=str(run)))


async def says(widget: Widget, ctx: Context, run: int) -> None:
    widget.status.seen = run


@pytest.mark.parametrize(
    ("writes", "field"),
    [(edits, "Widget default/w .metadata.annotations.run"), (creates, "ConfigMap default/child- .metadata")],
)
def test_a_storm_is_told_whatever_verb_makes_it(writes: Any, field: str) -> None:
    operator, runs = Operator("widgets"), list[int]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        runs.append(len(runs))
        await writes(widget, ctx, len(runs))
        await asyncio.sleep(0.05)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(3)
            (storm,) = here.said("runs of this object wake each other by what they write")
            assert field in storm["fields"]

    run_in_virtual_time(main)


@pytest.mark.parametrize("writes", [edits, applies, says])
def test_a_run_that_fails_comes_again_after_its_back_off_whatever_it_wrote_itself(writes: Any) -> None:
    operator, runs = Operator("widgets"), list[int]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap], when=any_change)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        runs.append(len(runs))
        if len(runs) > 100:
            await asyncio.sleep(3600)  # or time would never pass
        await writes(widget, ctx, len(runs))
        raise RuntimeError(f"failed for the {len(runs)}th time")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(60)
            assert 10 < len(runs) < 20
            assert here.said("runs of this object wake each other by what they write") == []
            before = len(runs)
            note = MergePatch({"metadata": {"labels": {"by": "somebody"}}})
            await here.client.patch(Widget, "w", note, namespace="default")
            await asyncio.sleep(0.5)
            assert len(runs) > before

    run_in_virtual_time(main)


async def test_who_changes_something_while_a_run_fails_is_heard_of_at_once(harness: OpenHarness) -> None:
    operator, runs = Operator("widgets"), list[int]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap], backoff=Backoff(first=600))
    async def reconcile(widget: Widget, ctx: Context) -> None:
        runs.append(len(runs))
        await ctx.apply(child(run=str(len(runs))))
        await asyncio.sleep(5)
        raise RuntimeError("always")

    here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w"))])
    await here.start()
    await asyncio.sleep(2)
    theirs = MergePatch({"data": {"theirs": "yes"}})
    await here.client.patch(core_v1.ConfigMap, "child", theirs, namespace=here.namespace)
    await asyncio.sleep(100)
    assert len(runs) == 2


def test_a_field_that_somebody_else_sets_back_again_and_again_is_told_once() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="child", labels={"by": "us"})))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            for _ in range(40):
                await here.client.patch(
                    core_v1.ConfigMap,
                    "child",
                    MergePatch({"metadata": {"labels": {"by": "them"}}}),
                    namespace="default",
                )
                await asyncio.sleep(0.5)
            (contest,) = here.said("somebody else sets back what this controller sets, again and again")
            assert contest["controller"] == "widget"
            assert contest["fields"] == {"ConfigMap default/child .metadata.labels.by": ["'them'", "'us'"]}
            assert here.said("runs of this object wake each other by what they write") == []

    run_in_virtual_time(main)


def test_progress_that_others_make_is_no_storm() -> None:
    operator = Operator("widgets")

    @operator.controller(
        Widget, owns=[core_v1.ConfigMap], watches=[Watch(core_v1.Secret, to=_the_widget)], reads=[Whole(core_v1.Secret)]
    )
    async def reconcile(widget: Widget, ctx: Context) -> None:
        widget.status.seen = len(ctx.list(core_v1.Secret))
        await ctx.apply(child(seen=str(widget.status.seen)))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            for number in range(30):
                await here.client.create(core_v1.Secret(metadata=ObjectMeta(name=f"s{number}", namespace="default")))
                await asyncio.sleep(0.1)
            assert (await here.widget()).status.seen == 30
            assert here.said("runs of this object wake each other by what they write") == []
            assert here.said("somebody else sets back what this controller sets, again and again") == []

    run_in_virtual_time(main)


def _the_widget(_secret: core_v1.Secret) -> list[Request]:
    return [Request(None, "default", "w")]
