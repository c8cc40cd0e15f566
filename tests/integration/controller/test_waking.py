"""What wakes a controller: other objects, however they are mapped, sources, and what keeps it asleep."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest

from kubewright import Context, NotFound, ObjectMeta, Operator, OwnerReference, Request, Resource, Watch, resource
from kubewright.cache import NotHeld
from kubewright.controller import (
    Backoff,
    Channel,
    SourceContext,
    any_owner,
    changed,
    cron,
    every,
    generation_changed,
    owner,
    owner_label,
)
from kubewright.kinds import core_v1
from kubewright.testing import install, run_in_virtual_time
from tests.integration.controller.worlds import Widget, World, world


@resource("example.com/v1", scope="Cluster")
class Fleet(Resource):
    spec: dict[str, str] | None = None


class Woken:
    """Says when it is reconciled."""

    def __init__(self) -> None:
        self.times: list[float] = []

    async def reconcile(self, obj: Resource, ctx: Context) -> None:
        self.times.append(round(asyncio.get_running_loop().time(), 2))


def config_map(name: str = "c", *, owners: list[OwnerReference] | None = None, **labels: str) -> core_v1.ConfigMap:
    metadata = ObjectMeta(name=name, namespace="default", labels=labels or None, owner_references=owners)
    return core_v1.ConfigMap(metadata=metadata)


def reference(owner: Resource, *, controller: bool) -> OwnerReference:
    return OwnerReference(
        api_version="example.com/v1", kind="Widget", name=owner.name, uid=owner.uid, controller=controller or None
    )


def test_a_mapper_is_asked_for_the_object_as_it_was_and_as_it_is() -> None:
    operator, woken = Operator("widgets"), list[str]()

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=owner_label("widget"))])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            for name in ("a", "b"):
                await here.create(name)
            await here.client.create(config_map(widget="a"))
            await asyncio.sleep(1)
            woken.clear()

            def move(found: core_v1.ConfigMap) -> None:
                found.metadata.labels = {"widget": "b"}

            await here.client.edit(core_v1.ConfigMap, "c", move, namespace="default")
            await asyncio.sleep(1)
            assert sorted(woken) == ["a", "b"]

    run_in_virtual_time(main)


def test_a_mapper_may_take_its_time_and_ask_the_server() -> None:
    operator, woken, asked = Operator("widgets"), Woken(), list[str]()
    worlds: list[World] = []

    async def of_everything(found: core_v1.ConfigMap) -> Iterable[Request]:
        asked.append(found.name)
        await asyncio.sleep(5)
        return [Request.of(widget) for widget in await worlds[0].client.list(Widget)]

    operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=of_everything)])(woken)

    async def main() -> None:
        async with world(operator) as here:
            worlds.append(here)
            await here.create()
            await asyncio.sleep(60)  # the first list has config maps of the cluster itself
            woken.times.clear()
            asked.clear()
            await here.client.create(config_map())
            await asyncio.sleep(0.01)
            assert woken.times == []
            await here.manager.settled()
            assert woken.times == [pytest.approx(65, abs=0.5)]
            assert asked == ["c"]

    run_in_virtual_time(main)


def test_a_mapper_that_takes_its_time_is_tried_again_where_it_fails() -> None:
    operator, woken, tries = Operator("widgets"), Woken(), list[float]()

    async def failing(found: core_v1.ConfigMap) -> Iterable[Request]:
        if found.name != "c":
            return []
        tries.append(asyncio.get_running_loop().time())
        if len(tries) < 3:
            raise OSError("the database is away") if len(tries) == 1 else asyncio.CancelledError
        return [Request(None, "default", "w")]

    operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=failing)])(woken)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            await here.client.create(config_map())
            await asyncio.sleep(10)
            assert len(woken.times) == 2
            assert len(here.said("a mapper failed")) == 2

    run_in_virtual_time(main)


@pytest.mark.parametrize("takes_its_time", [False, True])
def test_a_mapper_that_fails_for_one_state_is_heard_for_the_other(takes_its_time: bool) -> None:
    operator, woken = Operator("widgets"), list[str]()

    def of_its_label(found: Resource) -> list[Request]:
        return [Request(None, "default", (found.metadata.labels or {})["widget"])]

    async def in_time(found: Resource) -> list[Request]:
        return of_its_label(found)

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=in_time if takes_its_time else of_its_label)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            for name in ("a", "b"):
                await here.create(name)
            await here.client.create(config_map())
            await asyncio.sleep(100)

            async def label(labels: dict[str, str]) -> list[str]:
                woken.clear()

                def change(found: core_v1.ConfigMap) -> None:
                    found.metadata.labels = labels

                await here.client.edit(core_v1.ConfigMap, "c", change, namespace="default")
                await asyncio.sleep(100)
                return sorted(set(woken))

            assert await label({"widget": "a"}) == ["a"]
            assert await label({"widget": "b"}) == ["a", "b"]
            assert await label({}) == ["b"]
            assert here.said("a mapper failed" if takes_its_time else "a mapper failed; its event is given up")

    run_in_virtual_time(main)


def test_owners_wake_as_the_controller_or_whoever_they_are() -> None:
    operator, controlling, owning = Operator("widgets"), list[str](), list[str]()

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=owner(Widget))])
    async def as_controller(widget: Widget, ctx: Context) -> None:
        controlling.append(widget.name)

    @operator.controller(Widget, watches=[Watch(core_v1.ConfigMap, to=any_owner(Widget))], name="any")
    async def as_owner(widget: Widget, ctx: Context) -> None:
        owning.append(widget.name)

    async def main() -> None:
        async with world(operator) as here:
            first, second = await here.create("first"), await here.create("second")
            await asyncio.sleep(1)
            controlling.clear()
            owning.clear()
            owners = [reference(first, controller=True), reference(second, controller=False)]
            await here.client.create(config_map(owners=owners))
            await asyncio.sleep(1)
            assert controlling == ["first"]
            assert sorted(owning) == ["first", "second"]

    run_in_virtual_time(main)


def test_of_a_kind_without_namespaces_the_owner_is_found_from_within_one() -> None:
    operator, woken = Operator("fleets"), Woken()
    operator.controller(Fleet, watches=[Watch(core_v1.ConfigMap, to=owner_label("fleet"))])(woken)

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(Fleet(metadata=ObjectMeta(name="f")))
            await asyncio.sleep(1)
            await here.client.create(config_map(fleet="f"))
            await asyncio.sleep(1)
            assert len(woken.times) == 2

    run_in_virtual_time(main)


def test_a_watch_of_metadata_asks_for_no_more_and_shows_no_more() -> None:
    operator, seen = Operator("widgets"), list[str]()

    def of_label(found: Resource) -> Iterable[Request]:
        with pytest.raises(AttributeError, match="metadata_only=False"):
            found.data  # type: ignore[attr-defined]  # noqa: B018 - a watch of metadata shows none
        seen.append(found.name)
        return [Request(None, "default", (found.metadata.labels or {})["widget"])]

    woken = list[str]()

    @operator.controller(Widget, watches=[Watch(core_v1.Secret, to=of_label, metadata_only=True)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append(widget.name)
        with pytest.raises(NotHeld, match="only the metadata of Secret is cached"):
            ctx.list(core_v1.Secret)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            secret = core_v1.Secret(metadata=config_map("s", widget="w").metadata, string_data={"password": "secret"})
            await here.client.create(secret)
            await asyncio.sleep(1)
            assert woken == ["w", "w"]
            assert set(seen) == {"s"}
            asked = [each for each in here.sent.requests if each.path.endswith("/secrets")]
            assert asked
            assert all("PartialObjectMetadata" in str(each.headers) for each in asked)

    run_in_virtual_time(main)


def test_metadata_of_a_kind_that_is_not_installed_is_waited_for_beside_the_work() -> None:
    operator, woken = Operator("widgets"), Woken()
    watch = Watch(Fleet, to=lambda fleet: [Request(None, "default", fleet.name)], metadata_only=True, optional=True)
    operator.controller(Widget, watches=[watch])(woken)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert len(woken.times) == 1
            await install(here.client, Fleet)
            await asyncio.sleep(3)
            await here.client.create(Fleet(metadata=ObjectMeta(name="w")))
            await asyncio.sleep(1)
            assert len(woken.times) == 2

    run_in_virtual_time(main)


def test_a_predicate_keeps_changes_from_the_controller() -> None:
    operator, woken = Operator("widgets"), Woken()
    watch = Watch(core_v1.ConfigMap, to=owner_label("widget"), predicate=changed(".data.size"), metadata_only=False)
    operator.controller(Widget, when=generation_changed, watches=[watch])(woken)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await here.client.create(config_map(widget="w"))
            await asyncio.sleep(1)
            woken.times.clear()

            def label(found: Resource) -> None:
                found.metadata.annotations = {"seen": "yes"}

            await here.client.edit(Widget, "w", label, namespace="default")
            await here.client.edit(core_v1.ConfigMap, "c", label, namespace="default")
            await asyncio.sleep(1)
            assert woken.times == []

            def resize(found: core_v1.ConfigMap) -> None:
                found.data = {"size": "2"}

            await here.client.edit(core_v1.ConfigMap, "c", resize, namespace="default")
            await asyncio.sleep(1)
            assert len(woken.times) == 1

    run_in_virtual_time(main)


def test_a_timer_and_a_schedule_wake_every_object() -> None:
    operator, woken = Operator("widgets"), Woken()
    operator.controller(Widget, watches=[every(600), cron("25,55 * * * *")])(woken)

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(3599)
            assert sorted({round(at / 60) for at in woken.times}) == [0, 10, 20, 25, 30, 40, 50, 55]

    run_in_virtual_time(main)


def test_a_channel_and_an_iterator_wake_what_they_name_and_mistakes_are_told() -> None:
    operator, channel, woken = Operator("widgets"), Channel(), list[tuple[float, str]]()

    async def queue_elsewhere(around: SourceContext) -> AsyncIterator[Request | Resource]:
        await asyncio.sleep(10)
        yield Widget(metadata=ObjectMeta(name="a", namespace="default"))
        yield "default/b"  # type: ignore[misc]  # what is tested
        yield Request(None, None, "b")
        await asyncio.sleep(10)
        yield Request(None, "default", "b")

    @operator.controller(Widget, watches=[channel, queue_elsewhere])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        woken.append((round(asyncio.get_running_loop().time()), widget.name))

    async def main() -> None:
        async with world(operator) as here:
            widgets = [await here.create(name) for name in ("a", "b")]
            await asyncio.sleep(5)
            woken.clear()
            channel.send(widgets[1])
            await asyncio.sleep(50)
            assert woken == [(5, "b"), (10, "a"), (20, "b")]
            said = here.said("a source gave what is no request")
            assert all(line["source"] for line in said)
            errors = [line["error"] for line in said]
            assert errors[0] == "a source gave 'default/b': it must give Requests"
            assert "without a namespace, and Widget has namespaces" in errors[1]

    run_in_virtual_time(main)


def test_a_paused_object_is_left_alone_and_that_is_said_once() -> None:
    operator, woken = Operator("widgets"), Woken()
    operator.controller(Widget, when=generation_changed, watches=[every(60)])(woken)

    @operator.finalizer(Widget, name="example.com/x")
    async def cleanup(widget: Widget, ctx: Context) -> None: ...

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)

            def pause(widget: Widget) -> None:
                widget.metadata.annotations = {"kubewright.dev/paused": "true"}

            await here.client.edit(Widget, "w", pause, namespace="default")
            await asyncio.sleep(1)
            woken.times.clear()
            here.sent.clear()
            await here.resize(5)
            await here.client.delete(Widget, "w", namespace="default")
            await asyncio.sleep(600)
            assert woken.times == []
            assert here.sent.writes == []
            assert len(here.said("paused: left alone while its annotation says so")) == 1

            def resume(widget: Widget) -> None:
                widget.metadata.annotations = {"kubewright.dev/paused": "false"}

            await here.client.edit(Widget, "w", resume, namespace="default")
            await asyncio.sleep(1)
            with pytest.raises(NotFound):
                await here.widget()
            assert len(here.said("no longer paused")) == 1

    run_in_virtual_time(main)


def test_an_edit_forgives_the_failures_before_it_and_other_events_do_not() -> None:
    operator, attempts = Operator("widgets"), list[int]()

    @operator.controller(
        Widget, watches=[Watch(core_v1.ConfigMap, to=owner_label("widget"))], backoff=Backoff(first=100, jitter=0)
    )
    async def reconcile(widget: Widget, ctx: Context) -> None:
        attempts.append(ctx.attempt)
        raise RuntimeError("never")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(350)
            assert attempts == [0, 1, 2]
            await here.client.create(config_map(widget="w"))
            await asyncio.sleep(1)
            assert attempts == [0, 1, 2, 3]
            await here.resize(2)
            await asyncio.sleep(1)
            assert attempts[-1] == 0

    run_in_virtual_time(main)
