"""What a reconciler does wrong: reported, and of no harm to others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubewright import Backoff, Context, ObjectMeta, Operator, Request, Requeue, Result, TerminalError, Watch
from kubewright.cache import Event
from kubewright.kinds import core_v1, events_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Widget, world


@pytest.mark.parametrize("result", [5, {"requeue_after": 1}, "soon"])
def test_a_wrong_return_value_is_a_failed_run_of_that_object_only(result: object) -> None:
    operator, done = Operator("widgets"), set[str]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> Result | None:
        if widget.name == "wrong":
            return result  # type: ignore[return-value]  # what is tested
        done.add(widget.name)
        return None

    async def main() -> None:
        async with world(operator) as here:
            await here.create("wrong")
            await asyncio.sleep(1)
            await here.create("right")
            await asyncio.sleep(1)
            assert done == {"right"}
            assert "it must return a Result or None" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


def test_a_mapper_that_gives_no_requests_is_reported_and_disturbs_nobody() -> None:
    operator, done = Operator("widgets"), list[str]()

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=lambda _: "abc")])  # type: ignore[arg-type,return-value]
    async def reconcile(widget: Widget, ctx: Context) -> None:
        done.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert done == ["w"]
            assert "it must give Requests" in here.said("a mapper failed; its event is given up")[0]["exception"]

    run_in_virtual_time(main)


@pytest.mark.parametrize("slow", [False, True])
def test_a_predicate_that_fails_lets_the_change_pass(slow: bool) -> None:
    operator, woken, asked = Operator("widgets"), list[str](), list[str]()

    def trips(event: Event[Any]) -> bool:
        asked.append(event.key[1])
        raise KeyError("app")

    def at_once(found: core_v1.ConfigMap) -> list[Request]:
        return [Request(None, "default", "w")]

    async def later(found: core_v1.ConfigMap) -> list[Request]:
        return at_once(found)

    mapper: Any = later if slow else at_once

    @operator.controller(Widget, when=trips, watches=[Watch(core_v1.ConfigMap, to=mapper, predicate=trips)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(ctx.reason)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert woken
            await here.client.create(core_v1.ConfigMap(metadata=ObjectMeta(name="c", namespace="default")))
            await asyncio.sleep(1)
            assert {"w", "c"} <= set(asked)
            assert woken[-1] == "Added ConfigMap default/c"
            said = here.said("a predicate failed; the change is taken for one that matters")
            assert {line["changed"] for line in said} == {"Widget", "ConfigMap"}
            assert {line["controller"] for line in said} == {"widget"}

    run_in_virtual_time(main)


def test_asking_for_another_run_at_once_is_slowed_down() -> None:
    operator, runs = Operator("widgets"), list[str]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> Result | None:
        runs.append(widget.name)
        return Result(requeue_after=0) if widget.name == "eager" else None

    async def main() -> None:
        async with world(operator) as here:
            await here.create("eager")
            await here.create("calm")
            await asyncio.sleep(60)
            assert 5 < runs.count("eager") < 30
            assert runs.count("calm") == 1

    run_in_virtual_time(main)


@pytest.mark.parametrize("delay", [-1, float("nan"), float("inf")])
def test_a_delay_that_is_none_is_refused(delay: float) -> None:
    with pytest.raises(ValueError, match="give 0 or more seconds"):
        Result(requeue_after=delay)
    with pytest.raises(ValueError, match="give 0 or more seconds"):
        Requeue(delay)


def test_a_status_of_another_type_is_refused_and_removes_nothing() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.spec.size == 1:
            ctx.conditions.set("Available", True, reason="Yes")
        else:
            widget.status = {"seen": 2}  # type: ignore[assignment]  # the mistake

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.resize(2)
            await asyncio.sleep(1)
            assert here.said("reconcile failed")[0]["error"] == (
                "TypeError: the status of Widget default/w was made {'seen': 2}: it must be a WidgetStatus; set its fields, "
                "such as obj.status.phase"
            )
            assert [each.type for each in (await here.widget()).status.conditions] == ["Available"]

    run_in_virtual_time(main)


def test_a_group_of_anything_is_a_failed_run_too() -> None:
    operator, done = Operator("widgets"), list[str]()

    @operator.controller(Widget, workers=1)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.name == "bad":
            raise BaseExceptionGroup("several", [SystemExit(3), ValueError("no")])
        done.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create("bad")
            await asyncio.sleep(1)
            await here.create("good")
            await asyncio.sleep(1)
            assert done == ["good"]
            assert len(here.said("reconcile failed")) > 3

    run_in_virtual_time(main)


def test_a_failure_that_names_a_place_in_memory_is_the_same_each_time() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, backoff=Backoff(first=1, longest=1))
    async def reconcile(widget: Widget, ctx: Context) -> None:
        raise ValueError(f"what is {object()}?")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(30)
            [condition] = (await here.widget()).status.conditions
            assert condition.message == "ValueError: what is <object object>?"
            statuses = [request for request in here.sent.writes if request.path.endswith("/status")]
            assert len(statuses) == 1

    run_in_virtual_time(main)


class Mute(Exception):
    def __str__(self) -> str:
        raise AttributeError("of no message")


class MuteForGood(TerminalError):
    def __str__(self) -> str:
        raise AttributeError("of no message")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no file na\udcffme"), "ValueError: no file na\\udcffme"),
        (Mute(), "Mute: (its message can't be made: AttributeError)"),
        (MuteForGood(), "(its message can't be made: AttributeError)"),
    ],
)
def test_a_failure_that_can_not_be_written_is_told_of_as_any(error: Exception, told: str) -> None:
    operator, done = Operator("widgets"), list[str]()

    @operator.controller(Widget)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        done.append(widget.name)
        if widget.name == "bad":
            ctx.log.info("found", file="na\udcffme")
            raise error

    async def main() -> None:
        async with world(operator) as here:
            await here.create("bad")
            await asyncio.sleep(10)
            await here.create("good")
            await asyncio.sleep(1)
            assert "good" in done
            [condition] = (await here.widget("bad")).status.conditions
            [event] = await here.client.list(events_v1.Event, namespace="default")
            assert {condition.message, event.note} == {told}
            assert {line["error"] for line in here.log() if "reconcile failed" in line["msg"]} == {told}

    run_in_virtual_time(main)
