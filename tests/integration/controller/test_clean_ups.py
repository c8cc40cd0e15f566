"""What clean-ups tell of themselves in the object's status, and how they end."""

from __future__ import annotations

import asyncio

import pytest

from kubewright import Backoff, Context, NotFound, ObjectMeta, Operator, Requeue
from kubewright.client import MergePatch
from kubewright.controller import Predicate
from kubewright.controller.predicates import changed, labels_changed, selected
from kubewright.testing import Delay, Match, OpenHarness, run_in_virtual_time
from tests.integration.controller.worlds import Widget, World, world


def new_operator() -> Operator:
    operator = Operator("widgets")

    @operator.controller(Widget, backoff=Backoff(first=1))
    async def reconcile(widget: Widget, ctx: Context) -> None:
        ctx.conditions.set("Available", True, reason="Yes")

    return operator


async def create_and_delete(here: World) -> None:
    await here.create()
    await asyncio.sleep(1)
    await here.client.delete(Widget, "w", namespace="default")
    here.sent.requests.clear()


async def is_gone(here: World) -> bool:
    try:
        await here.widget()
    except NotFound:
        return True
    return False


def written(here: World) -> list[str]:
    return [
        f"{request.method} {request.path.rpartition('/')[2]}"
        for request in here.sent.requests
        if request.method != "GET"
    ]


async def test_an_object_that_goes_before_it_has_its_finalizer_is_no_failure(harness: OpenHarness) -> None:
    operator = new_operator()

    @operator.finalizer(Widget, name="example.com/drain")
    async def drain(widget: Widget, ctx: Context) -> None: ...

    here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w"))])
    added = here.faults.add(Delay(before=10), Match(verbs=("patch",), kind=Widget))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(here.reconcile(Widget(metadata=ObjectMeta(name="w"))))
        await asyncio.sleep(5)
        await here.client.delete(Widget, "w", namespace=here.namespace)
    assert added.struck == 1


@pytest.mark.parametrize("when", [labels_changed, changed(".spec.size"), selected("size=small")], ids=repr)
def test_the_deletion_of_an_object_with_a_clean_up_is_seen_whatever_filter_the_controller_has(when: Predicate) -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, when=when)
    async def reconcile(widget: Widget, ctx: Context) -> None: ...

    @operator.finalizer(Widget, name="example.com/drain")
    async def drain(widget: Widget, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            metadata = ObjectMeta(name="w", namespace="default", labels={"size": "small"})
            await here.client.create(Widget(metadata=metadata))
            await asyncio.sleep(1)
            relabelled = MergePatch({"metadata": {"labels": {"size": "large"}}})
            await here.client.patch(Widget, "w", relabelled, namespace="default")
            await asyncio.sleep(1)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(1)
            assert await is_gone(here)

    run_in_virtual_time(main)


def test_what_a_clean_up_that_comes_again_says_in_the_status_is_written_once() -> None:
    operator = new_operator()

    @operator.finalizer(Widget, name="example.com/drain")
    async def drain(widget: Widget, ctx: Context) -> None:
        widget.status.note = "draining"
        ctx.conditions.set("Deleting", True, reason="Draining")
        if not ready:
            raise Requeue(10)

    ready = list[bool]()

    async def main() -> None:
        async with world(operator) as here:
            await create_and_delete(here)
            await asyncio.sleep(95)
            widget = await here.widget()
            assert widget.status.note == "draining"
            assert {each.type for each in widget.status.conditions} == {"Available", "Deleting"}
            assert written(here) == ["PATCH status"]
            ready.append(True)
            await asyncio.sleep(10)
            assert await is_gone(here)
            assert written(here) == ["PATCH status", "PATCH w"]  # the last clean-up's status nobody could read

    run_in_virtual_time(main)


def test_each_of_several_clean_ups_finds_and_writes_the_status_of_the_moment() -> None:
    operator, found = new_operator(), list[str | None]()

    @operator.finalizer(Widget, name="example.com/first")
    async def first(widget: Widget, ctx: Context) -> None:
        widget.status.note = "first is done"

    @operator.finalizer(Widget, name="example.com/second")
    async def second(widget: Widget, ctx: Context) -> None:
        found.append(widget.status.note)
        ctx.conditions.set("Deleting", True, reason="Second")
        raise Requeue(10)

    async def main() -> None:
        async with world(operator) as here:
            await create_and_delete(here)
            await asyncio.sleep(5)
            widget = await here.widget()
            assert set(found) == {"first is done"}
            assert widget.metadata.finalizers == ["example.com/second"]
            assert [each.type for each in widget.status.conditions] == ["Available", "Deleting"]

    run_in_virtual_time(main)


def test_a_clean_up_that_fails_keeps_what_it_learnt_and_one_that_goes_on_clears_the_failure() -> None:
    operator = new_operator()

    @operator.finalizer(Widget, name="example.com/drain")
    async def drain(widget: Widget, ctx: Context) -> None:
        widget.status.seen = (widget.status.seen or 0) + 1
        if widget.status.seen == 1:
            raise OSError("the store is away")
        raise Requeue(1000)

    async def main() -> None:
        async with world(operator) as here:
            await create_and_delete(here)
            await asyncio.sleep(0.5)
            widget = await here.widget()
            assert (widget.status.seen, [each.reason for each in widget.status.conditions][-1]) == (
                1,
                "FinalizerFailed",
            )
            await asyncio.sleep(5)
            widget = await here.widget()
            assert widget.status.seen == 2
            assert [each.type for each in widget.status.conditions] == ["Available"]

    run_in_virtual_time(main)


def test_a_status_that_is_refused_does_not_have_a_clean_up_done_again() -> None:
    operator, done = new_operator(), list[str]()

    @operator.finalizer(Widget, name="example.com/first")
    async def first(widget: Widget, ctx: Context) -> None:
        done.append("first")
        widget.status.note = 1  # type: ignore[assignment]  # the mistake

    @operator.finalizer(Widget, name="example.com/second")
    async def second(widget: Widget, ctx: Context) -> None:
        done.append("second")

    async def main() -> None:
        async with world(operator) as here:
            await create_and_delete(here)
            await asyncio.sleep(5)
            assert done == ["first", "second"]
            assert await is_gone(here)
            assert here.said("status of the clean-up was not written")

    run_in_virtual_time(main)


def test_a_clean_up_that_returns_something_is_not_taken_for_done() -> None:
    operator = new_operator()

    @operator.finalizer(Widget, name="example.com/drain")  # type: ignore[arg-type]  # the mistake
    async def drain(widget: Widget, ctx: Context) -> float:
        return 10.0

    async def main() -> None:
        async with world(operator) as here:
            await create_and_delete(here)
            await asyncio.sleep(5)
            assert not await is_gone(here)
            assert "must raise Requeue" in here.said("reconcile failed")[0]["error"]

    run_in_virtual_time(main)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_clean_up_may_take_its_finalizer_off_the_object_it_was_given(terminal: bool) -> None:
    """As elsewhere it must; here that is done anyway, and must not be thought done because of it."""
    operator = new_operator()

    @operator.finalizer(Widget, name="example.com/drain")
    async def drain(widget: Widget, ctx: Context) -> None:
        widget.metadata.finalizers = []
        if terminal and not ctx.attempt:
            raise OSError("the store is away")

    async def main() -> None:
        async with world(operator) as here:
            await create_and_delete(here)
            await asyncio.sleep(5)
            assert await is_gone(here)

    run_in_virtual_time(main)


def test_who_also_reconciles_what_is_being_deleted_gets_it_as_it_is_after_the_clean_ups() -> None:
    operator, found = Operator("widgets"), list[tuple[str | None, list[str] | None]]()

    @operator.controller(Widget, while_deleting=True)
    async def reconcile(widget: Widget, ctx: Context) -> None:
        found.append((widget.status.note, widget.metadata.finalizers))
        widget.status.seen = len(found)

    @operator.finalizer(Widget, name="example.com/drain")
    async def drain(widget: Widget, ctx: Context) -> None:
        widget.status.note = "drained"

    async def main() -> None:
        async with world(operator) as here:
            await here.create()

            def add(widget: Widget) -> None:
                widget.metadata.finalizers = [*(widget.metadata.finalizers or []), "other.com/theirs"]

            await asyncio.sleep(1)
            await here.client.edit(Widget, "w", add, namespace="default")
            await asyncio.sleep(1)
            found.clear()
            here.sent.requests.clear()
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(5)
            assert found
            assert all(each == ("drained", ["other.com/theirs"]) for each in found)
            assert (await here.widget()).status.seen == len(found)
            assert not [request for request in here.sent.requests if request.method == "GET"]  # no write was overtaken

    run_in_virtual_time(main)
