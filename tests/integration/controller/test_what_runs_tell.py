"""What a run knows of itself, and how failures and misfits show. In virtual time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubewright import (
    Context,
    Model,
    NotFound,
    ObjectMeta,
    Operator,
    Resource,
    TerminalError,
    field,
    resource,
)
from kubewright.api import Conditions, DecodeError
from kubewright.cache import InformerState
from kubewright.cache.state import Phase
from kubewright.client import HttpRequest, HttpResponse, JsonPatch, MergePatch
from kubewright.controller.predicates import generation_changed
from kubewright.kinds import core_v1, events_v1
from kubewright.testing import install, run_in_virtual_time
from tests.integration.controller.worlds import Strict, Widget, WidgetSpec, WidgetStatus, World, world


def child(name: str = "child", **data: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name), data=data)


async def events(here: World) -> list[events_v1.Event]:
    return await here.client.list(events_v1.Event, namespace="default")


def test_a_run_knows_what_woke_it_when_its_time_is_up_and_how_often_it_failed() -> None:
    operator, seen = Operator("widgets"), list[tuple[str, int, float]]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap], timeout=50)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        seen.append((ctx.reason, ctx.attempt, round(ctx.deadline - asyncio.get_running_loop().time(), 3)))
        with ctx.span("thinking", size=widget.spec.size):
            await asyncio.sleep(0.5)
        if len(seen) == 2:
            raise RuntimeError("once")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.resize(2)
            await asyncio.sleep(5)
            assert seen == [
                ("Added Widget default/w", 0, 50),
                ("Modified Widget default/w", 0, 50),
                ("tried again", 1, 50),
            ]
            (span, *_) = here.said("span")
            assert (span["span"], span["size"], span["seconds"]) == ("thinking", 1, 0.5)

    run_in_virtual_time(main)


def test_of_a_kind_that_fell_out_of_step_nothing_is_removed() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply_all(child("a"), *([child("b")] if widget.spec.size == 1 else []))
        if widget.spec.size == 2:  # while the run goes on
            informer = next(each for each in world_.manager.cache if each.kind is core_v1.ConfigMap)
            informer._shared._turn(InformerState(Phase.BROKEN, "the server is away"))
        widget.status.seen = widget.spec.size

    world_: Any = None

    async def main() -> None:
        nonlocal world_
        async with world(operator) as here:
            world_ = here
            await here.create()
            await asyncio.sleep(1)
            await here.resize(2)
            await asyncio.sleep(0.5)
            assert (await here.widget()).status.seen == 2
            assert await here.client.get(core_v1.ConfigMap, "b", namespace="default")

    run_in_virtual_time(main)


class NewerSpec(Model):
    size: int | str = 1


@resource("example.com/v1", kind="Widget")
class NewerWidget(Resource):
    """What a newer version of the operator made of the kind."""

    spec: NewerSpec = field(default_factory=NewerSpec)
    status: WidgetStatus = field(default_factory=WidgetStatus)


def test_an_object_that_does_not_fit_its_class_gets_an_event_and_one_that_has_conditions_is_stalled() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        widget.status.seen = widget.spec.size

    @operator.controller(Strict)
    async def strict(obj: Strict, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            await install(here.client, NewerWidget)
            await here.create()
            metadata = ObjectMeta(name="s", namespace="default")
            await here.client.create(Strict(metadata=metadata, spec=WidgetSpec(size=1)))
            await asyncio.sleep(1)
            with pytest.raises(DecodeError):
                drop = JsonPatch([{"op": "remove", "path": "/spec"}])
                await here.client.patch(Strict, "s", drop, namespace="default")
            await here.client.patch(NewerWidget, "w", MergePatch({"spec": {"size": "large"}}), namespace="default")
            await asyncio.sleep(1)
            widget = await here.client.get(NewerWidget, "w", namespace="default")
            assert widget.status.seen == 1
            (condition,) = widget.status.conditions
            assert (condition.type, condition.status, condition.reason) == ("Stalled", "True", "DoesNotFit")
            assert "size" in condition.message
            assert condition.observed_generation == widget.metadata.generation == 2
            found = await events(here)
            assert {event.reason for event in found} == {"DoesNotFit"}
            assert {event.regarding.kind for event in found if event.regarding} == {"Widget", "Strict"}
            await here.client.patch(NewerWidget, "w", MergePatch({"spec": {"size": 4}}), namespace="default")
            await asyncio.sleep(1)
            status = (await here.widget()).status
            assert (status.seen, status.conditions) == (4, [])

    run_in_virtual_time(main)


def test_a_status_that_the_server_refuses_gets_an_event_since_it_can_say_nothing_itself() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        widget.status.seen = "many"  # type: ignore[assignment]

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(5)
            (event,) = await events(here)
            assert (event.reason, event.type) == ("ReconcileFailed", "Warning")
            assert "status.seen: Invalid value" in (event.note or "")

    run_in_virtual_time(main)


def test_how_failures_show_can_be_chosen_and_what_goes_wrong_there_hides_nothing() -> None:
    operator = Operator("widgets")

    def show(widget: Widget, error: Exception, conditions: Conditions | None) -> None:
        widget.status.note = f"failed: {error}"
        if widget.spec.size == 2:
            raise KeyError("in the hook")

    @operator.controller(Widget, error_status=show)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        raise RuntimeError("always")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            widget = await here.widget()
            assert widget.status.note == "failed: always"
            assert widget.status.conditions == []
            await here.resize(2)
            await asyncio.sleep(1)
            assert here.said("error_status failed itself")
            assert "always" in here.said("reconcile failed")[-1]["error"]

    run_in_virtual_time(main)


def test_events_about_one_object_are_limited_in_their_rate() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        for number in range(100):
            await ctx.event("Normal", "Counted", f"number {number}")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await here.create("other")
            await asyncio.sleep(1)
            found = [event.regarding.name for event in await events(here) if event.regarding]
            assert (found.count("w"), found.count("other")) == (25, 25)

    run_in_virtual_time(main)


def test_a_repeated_event_is_written_again_once_a_minute_at_most() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        for _ in range(200):
            await ctx.event("Warning", "Same", "all the time")
            await asyncio.sleep(1)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(250)
            about = [
                request
                for request in here.sent.writes
                if "/events/" in request.path or request.path.endswith("/events")
            ]
            assert len(about) == 5  # the first, its series, and one a minute
            (event,) = await events(here)
            assert event.series is not None
            assert event.series.count > 150

    run_in_virtual_time(main)


def test_finalizers_are_added_whatever_filter_the_controller_has() -> None:
    operator, seen = Operator("widgets"), list[object]()

    @operator.controller(Widget, when=generation_changed)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        seen.append((widget.metadata.finalizers, ctx.attempt))

    @operator.finalizer(Widget, name="example.com/clean")
    async def clean(widget: Widget, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert seen == [(["example.com/clean"], 0)]

    run_in_virtual_time(main)


def test_a_clean_up_that_fails_for_good_is_stalled_and_no_longer_reconciling() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/clean")
    async def clean(widget: Widget, ctx: Context) -> None:
        raise TerminalError("no such bucket") if ctx.attempt else OSError("the store is away")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(20)
            [condition] = (await here.widget()).status.conditions
            assert (condition.type, condition.reason) == ("Stalled", "FinalizerFailed")
            assert condition.message == "example.com/clean: no such bucket"

    run_in_virtual_time(main)


def test_a_clean_up_that_overran_its_time_is_a_failed_one() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, timeout=5)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/clean")
    async def clean(widget: Widget, ctx: Context) -> None:
        if not ctx.attempt:
            await asyncio.sleep(100)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(20)
            assert "took longer than 5 s" in here.said("reconcile failed")[0]["error"]
            with pytest.raises(NotFound):
                await here.widget()

    run_in_virtual_time(main)


def test_drift_that_the_watch_brought_before_the_answer_to_an_apply_is_set_right() -> None:
    operator, overtaken = Operator("widgets"), list[str]()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(child(a="ours"))

    async def main() -> None:
        async with world(operator) as here:
            request = here.sent.request

            async def slow(asked: HttpRequest) -> HttpResponse:
                answer = await request(asked)
                if asked.path.endswith("/configmaps/child") and asked.method == "PATCH" and not overtaken:
                    overtaken.append(asked.path)
                    theirs = MergePatch({"data": {"a": "theirs"}})
                    await here.client.patch(core_v1.ConfigMap, "child", theirs, namespace="default")
                    await asyncio.sleep(0.1)
                return answer

            here.sent.request = slow  # type: ignore[method-assign,assignment]
            await here.create()
            await asyncio.sleep(2)
            assert overtaken
            assert (await here.client.get(core_v1.ConfigMap, "child", namespace="default")).data == {"a": "ours"}

    run_in_virtual_time(main)
