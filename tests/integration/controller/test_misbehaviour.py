"""What a reconciler does wrong, and objects that don't fit: reported, and of no harm to others."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from kubewright import Backoff, Context, NotFound, ObjectMeta, Operator, Request, Requeue, Result, Watch
from kubewright.api import AlreadyOwned, DecodeError, OwnerReference
from kubewright.cache import Event
from kubewright.client import JsonPatch
from kubewright.controller import Whole
from kubewright.kinds import core_v1
from kubewright.testing import run_in_virtual_time
from tests.integration.controller.worlds import Strict, Widget, WidgetSpec, world


def new_operator() -> Operator:
    return Operator("widgets")


@pytest.mark.parametrize("result", [5, {"requeue_after": 1}, "soon"])
def test_a_wrong_return_value_is_a_failed_run_of_that_object_only(result: object) -> None:
    operator, done = new_operator(), set[str]()

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


@pytest.mark.parametrize("error", [asyncio.CancelledError, SystemExit])
def test_a_run_that_cancels_or_exits_is_a_failed_run_and_costs_no_worker(error: type[BaseException]) -> None:
    operator, done = new_operator(), set[str]()

    @operator.controller(Widget, workers=2)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        if widget.name == "bad":
            raise error
        done.add(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.create("bad")
            await asyncio.sleep(60)
            await here.create("good")
            await asyncio.sleep(1)
            assert done == {"good"}
            assert len(here.said("reconcile failed")) > 5

    run_in_virtual_time(main)


def test_a_mapper_that_gives_no_requests_is_reported_and_disturbs_nobody() -> None:
    operator, done = new_operator(), list[str]()

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
    operator, woken, asked = new_operator(), list[str](), list[str]()

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
    operator, runs = new_operator(), list[str]()

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


def test_an_object_that_no_longer_fits_its_class_is_told_of_and_can_be_deleted() -> None:
    operator, cleaned = new_operator(), list[str]()

    @operator.controller(Strict)
    async def reconcile(strict: Strict, ctx: Context) -> None: ...

    @operator.finalizer(Strict, name="example.com/clean")
    async def clean(strict: Strict, ctx: Context) -> None:
        cleaned.append(strict.name)

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(
                Strict(metadata=ObjectMeta(name="s", namespace="default"), spec=WidgetSpec(size=1))
            )
            await asyncio.sleep(1)
            drop = JsonPatch([{"op": "remove", "path": "/spec"}])
            with pytest.raises(DecodeError):
                await here.client.patch(Strict, "s", drop, namespace="default")
            await asyncio.sleep(1)
            assert here.said("object can't be decoded; it is left alone until it changes, or goes")
            await here.client.delete(Strict, "s", namespace="default")
            await asyncio.sleep(1)
            assert cleaned == ["s"]
            with pytest.raises(NotFound):
                await here.client.get(Strict, "s", namespace="default")

    run_in_virtual_time(main)


def test_a_clean_up_of_what_does_not_fit_its_class_may_ask_for_another_run() -> None:
    operator, times = new_operator(), list[float]()

    @operator.controller(Strict)
    async def reconcile(strict: Strict, ctx: Context) -> None: ...

    @operator.finalizer(Strict, name="example.com/clean")
    async def clean(strict: Strict, ctx: Context) -> None:
        times.append(asyncio.get_running_loop().time())
        if len(times) < 3:
            raise Requeue(5)

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(
                Strict(metadata=ObjectMeta(name="s", namespace="default"), spec=WidgetSpec(size=1))
            )
            await asyncio.sleep(1)
            drop = JsonPatch([{"op": "remove", "path": "/spec"}])
            with pytest.raises(DecodeError):
                await here.client.patch(Strict, "s", drop, namespace="default")
            await here.client.delete(Strict, "s", namespace="default")
            await asyncio.sleep(20)
            assert [round(later - earlier) for earlier, later in pairwise(times)] == [5, 5]
            assert not here.said("reconcile failed")

    run_in_virtual_time(main)


def test_two_objects_do_not_fight_over_one_child() -> None:
    operator, runs, refused = new_operator(), list[str](), list[str]()

    @operator.controller(Widget, owns=[core_v1.Service])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        runs.append(widget.name)
        if len(runs) > 100:
            await asyncio.sleep(3600)  # or a fight would never let time pass
        service = core_v1.Service(metadata=ObjectMeta(name="same"))
        service.spec.ports = [core_v1.ServicePort(port=80)]
        try:
            await ctx.apply(service)
        except AlreadyOwned as error:
            refused.append(str(error))
            raise

    async def main() -> None:
        async with world(operator) as here:
            await here.create("first")
            await asyncio.sleep(1)
            await here.create("second")
            await asyncio.sleep(30)
            service = await here.client.get(core_v1.Service, "same", namespace="default")
            assert [owner.name for owner in service.metadata.owner_references or ()] == ["first"]
            assert runs.count("first") < 5
            assert len(runs) < 30
            assert refused[0] == (
                "Widget default/second can't apply Service default/same: it is already controlled by Widget first; give it a "
                "name that follows from its owner's"
            )
            await here.client.delete(Widget, "first", namespace="default")
            await asyncio.sleep(1)  # far less than the back-off has come to: it is heard of
            service = await here.client.get(core_v1.Service, "same", namespace="default")
            assert [owner.name for owner in service.metadata.owner_references or ()] == ["second"]

    run_in_virtual_time(main)


def test_who_was_refused_an_object_takes_it_as_soon_as_its_controller_lets_go_of_it() -> None:
    operator, refused = new_operator(), list[float]()

    @operator.controller(Widget, reads=[Whole(core_v1.ConfigMap)], backoff=Backoff(first=600))
    async def reconcile(widget: Widget, ctx: Context) -> None:
        found = ctx.get(core_v1.ConfigMap, "same")
        assert found is not None
        try:
            await ctx.adopt(found)
        except AlreadyOwned:
            refused.append(asyncio.get_running_loop().time())
            raise

    async def main() -> None:
        async with world(operator) as here:
            holder = core_v1.ConfigMap(metadata=ObjectMeta(name="holder", namespace="default"))
            uid = (await here.client.create(holder)).uid
            owner = OwnerReference(api_version="v1", kind="ConfigMap", name="holder", uid=uid, controller=True)
            held = ObjectMeta(name="same", namespace="default", owner_references=[owner])
            await here.client.create(core_v1.ConfigMap(metadata=held))
            widget = await here.create()
            await asyncio.sleep(300)
            assert len(refused) == 1

            def relabel(found: core_v1.ConfigMap) -> None:
                found.metadata.labels = {"who": "cares"}

            def let_go(found: core_v1.ConfigMap) -> None:
                found.metadata.owner_references = []

            await here.client.edit(core_v1.ConfigMap, "same", relabel, namespace="default")
            await asyncio.sleep(1)
            assert len(refused) == 1
            await here.client.edit(core_v1.ConfigMap, "same", let_go, namespace="default")
            await asyncio.sleep(1)
            same = await here.client.get(core_v1.ConfigMap, "same", namespace="default")
            assert [each.uid for each in same.metadata.owner_references or ()] == [widget.uid]

    run_in_virtual_time(main)


def test_an_object_can_not_be_applied_as_its_own_child() -> None:
    operator = new_operator()

    @operator.controller(Widget, owns=[Widget])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(widget)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.003)
            assert "can't own itself" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


def test_an_object_that_does_not_fit_hides_no_other_from_a_list() -> None:
    operator, listed = new_operator(), list[list[str]]()

    @operator.controller(Widget, reads=[Strict])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        listed.append([strict.name for strict in ctx.list(Strict)])

    @operator.controller(Strict)
    async def ignore(strict: Strict, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            for name in ("bad", "good"):
                metadata = ObjectMeta(name=name, namespace="default")
                await here.client.create(Strict(metadata=metadata, spec=WidgetSpec(size=1)))
            with pytest.raises(DecodeError):
                drop = JsonPatch([{"op": "remove", "path": "/spec"}])
                await here.client.patch(Strict, "bad", drop, namespace="default")
            await asyncio.sleep(1)
            await here.create()
            await asyncio.sleep(1)
            assert listed == [["good"]]
            assert here.said("object left out of a list")[0]["listed"] == "bad"

    run_in_virtual_time(main)


@pytest.mark.parametrize("given", [{"kind": "ConfigMap"}, None, core_v1.ConfigMap, [core_v1.ConfigMap()]])
@pytest.mark.parametrize("verb", ["apply", "apply_all", "ensure", "create"])
def test_what_is_no_object_is_refused_by_name(given: object, verb: str) -> None:
    operator = new_operator()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await getattr(ctx, verb)(given)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            assert "is no object of a kind: give a ConfigMap, say" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


def test_a_child_has_metadata_of_its_own() -> None:
    operator = new_operator()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        metadata = widget.metadata
        metadata.name = "child"
        await ctx.apply(core_v1.ConfigMap(metadata=metadata))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            error = here.said("reconcile failed")[0]["error"]
            assert "this ConfigMap shares its metadata with Widget" in error
            assert "give it an ObjectMeta of its own" in error

    run_in_virtual_time(main)


def test_a_status_of_another_type_is_refused_and_removes_nothing() -> None:
    operator = new_operator()

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
    operator, done = new_operator(), list[str]()

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


def test_one_object_twice_in_a_complete_set_is_refused_before_anything_is_applied() -> None:
    operator = new_operator()

    @operator.controller(Widget, owns=[core_v1.ConfigMap])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        first, second = (core_v1.ConfigMap(metadata=ObjectMeta(name="same"), data={"n": n}) for n in "12")
        await ctx.apply_all(first, second)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(0.1)
            error = here.said("reconcile failed")[0]["error"]
            assert "ConfigMap default/same is there twice: each would set back what the other says" in error
            with pytest.raises(NotFound):
                await here.client.get(core_v1.ConfigMap, "same", namespace="default")

    run_in_virtual_time(main)


def test_a_failure_that_names_a_place_in_memory_is_the_same_each_time() -> None:
    operator = new_operator()

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
