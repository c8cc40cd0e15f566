"""Every line of a run says of which one, in virtual time."""

from __future__ import annotations

import asyncio

from kubewright import Context, ObjectMeta, Operator, Requeue, TerminalError
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, world

ABOUT = {"controller", "kind", "namespace", "name", "uid", "generation", "reconcile_id"}


def test_every_line_of_a_run_names_its_object_and_the_run() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        ctx.log.info("at work", size=widget.spec.size)
        with ctx.span("thinking"):
            await ctx.event("Normal", "no word " * 40, "refused")
        names = ["a", "b"] if widget.spec.size == 1 else ["a"]
        await ctx.apply_all(*(core_v1.ConfigMap(metadata=ObjectMeta(name=name)) for name in names))
        match widget.spec.size:
            case 3:
                raise RuntimeError("no")
            case 4:
                raise TerminalError("never")
            case 5:
                raise Requeue(after=1000)

    @operator.finalizer(Widget, name="example.com/clean")
    async def clean(widget: Widget, ctx: Context) -> None:
        ctx.log.info("cleaning up")

    async def main() -> None:
        async with world(operator) as here:
            created = await here.create()
            for size in (2, 3, 4, 5):
                await asyncio.sleep(1)
                await here.resize(size)
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            lines = [line for line in here.log() if "controller" in line]
            expected = {
                "at work",
                "span",
                "event not recorded",
                "pruned",
                "reconcile failed",
                "cleaning up",
                "finalized",
            }
            assert expected <= {line["msg"] for line in lines}
            assert any(line["msg"].startswith("reconcile failed for good") for line in lines)
            for line in lines:
                assert line.keys() >= ABOUT, line
                assert (line["controller"], line["kind"], line["uid"]) == ("widget", "Widget", created.uid)
                assert (line["namespace"], line["name"]) == ("default", "w")
            generations = [line["generation"] for line in lines if line["msg"] == "at work"]
            assert sorted(set(generations)) == [1, 2, 3, 4, 5]
            by_run = {(line["reconcile_id"], line["generation"]) for line in lines}
            assert len(by_run) == len({run for run, _ in by_run})

    run_in_virtual_time(main)
