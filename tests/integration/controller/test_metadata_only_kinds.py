"""Secrets and ConfigMaps: their metadata is cached, they themselves are read when a run asks for them. In virtual time."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable

import pytest

from kubewright import BlockingContext, Context, ObjectMeta, Operator, Watch, Whole, owner_label
from kubewright.cache import NotHeld
from kubewright.cli.progress import Progress
from kubewright.controller import changed
from kubewright.kinds import core_v1
from kubewright.testing import Harness, OpenHarness, run_in_virtual_time
from tests.integration.controller.worlds import Widget, World, world

LARGE = "eHh4" * 128_000
"""Some 500 KB."""


def secret(name: str = "s", **data: str) -> core_v1.Secret:
    return core_v1.Secret(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def config_map(name: str = "c", **data: str) -> core_v1.ConfigMap:
    return core_v1.ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def reads(here: World, plural: str) -> list[str]:
    """Which objects of a kind the operator has read, one by one."""
    found = [request.path for request in here.sent.requests if request.method == "GET"]
    return [path.rpartition("/")[2] for path in found if f"/{plural}/" in path]


def cached_bytes(here: World) -> int:
    return sum(health.bytes for health in here.manager.cache.health() if health.resource in {"secrets", "configmaps"})


def test_a_large_secret_does_not_stay_in_memory() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, reads=[core_v1.Secret])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        small = await ctx.read(core_v1.Secret, "small")
        widget.status.note = (small.data or {})["a"] if small else None
        assert await ctx.read(core_v1.Secret, "none") is None

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(secret("large", a=LARGE))
            await here.client.create(secret("small", a="Yg=="))
            await here.create()
            await asyncio.sleep(1)
            assert (await here.widget()).status.note == "Yg=="
            assert reads(here, "secrets") == ["small"]
            assert cached_bytes(here) < 5_000
            (informer,) = (each for each in here.manager.cache if each.info.plural == "secrets")
            entry = informer.entry("default", "large")
            assert entry is not None
            assert informer.bodies.in_memory(entry) is None

    run_in_virtual_time(main)


def test_a_secret_is_read_once_for_each_of_its_versions() -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, reads=[core_v1.Secret])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        found = await ctx.read(core_v1.Secret, "s")
        widget.status.note = (found.data or {})["a"] if found else None

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(secret(a="MQ=="))
            await here.create()
            for size in range(2, 5):
                await here.resize(size)
                await asyncio.sleep(1)
            assert reads(here, "secrets") == ["s"]

            def change(found: core_v1.Secret) -> None:
                found.data = {"a": "Mg=="}

            await here.client.edit(core_v1.Secret, "s", change, namespace="default")
            await here.resize(5)
            await asyncio.sleep(1)
            assert (await here.widget()).status.note == "Mg=="
            assert reads(here, "secrets") == ["s", "s"]

    run_in_virtual_time(main)


@pytest.mark.parametrize("threads", [False, True])
def test_reading_what_is_not_cached_is_refused_with_the_remedy(*, threads: bool) -> None:
    operator, errors = Operator("widgets"), list[str]()

    def refused(*calls: Callable[[], object]) -> None:
        for call in calls:
            with pytest.raises(NotHeld) as caught:
                call()
            errors.append(str(caught.value))

    if threads:

        @operator.controller(Widget, reads=[core_v1.Secret], owns=[core_v1.ConfigMap], threads=True)
        def blocking(widget: Widget, ctx: BlockingContext) -> None:
            refused(lambda: ctx.list(core_v1.Secret), lambda: ctx.get(core_v1.ConfigMap, "none"))
            assert ctx.read(core_v1.Secret, "none") is None
    else:

        @operator.controller(Widget, reads=[core_v1.Secret], owns=[core_v1.ConfigMap])
        async def reconcile(widget: Widget, ctx: Context) -> None:
            refused(lambda: ctx.list(core_v1.Secret), lambda: ctx.get(core_v1.ConfigMap, "none"))

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            await asyncio.sleep(1)
            assert errors[0] == (
                "only the metadata of Secret is cached: read one with `await ctx.read(Secret, …)`, all with "
                "`await ctx.live.list(Secret)`; or have them cached whole with reads=[Whole(Secret)]"
            )
            assert "reads=[Whole(ConfigMap)]" in errors[1]

    run_in_virtual_time(main)


def test_a_kind_declared_whole_is_cached_whole() -> None:
    operator, found = Operator("widgets"), list[object]()

    @operator.controller(Widget, reads=[Whole(core_v1.Secret)], owns=[Whole(core_v1.ConfigMap)])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        await ctx.apply(config_map(a="b"))
        made = ctx.get(core_v1.ConfigMap, "c")
        found.append((made and made.data, [each.data for each in ctx.list(core_v1.Secret)]))

    async def main() -> None:
        async with world(operator) as here:
            await here.client.create(secret(a="MQ=="))
            await here.create()
            await asyncio.sleep(1)
            assert found[-1] == ({"a": "b"}, [{"a": "MQ=="}])
            assert reads(here, "secrets") == []

    run_in_virtual_time(main)


def test_a_watch_of_config_maps_wakes_by_metadata_and_does_not_miss_what_it_can_not_see() -> None:
    operator, woken = Operator("widgets"), list[str]()
    watch = Watch(core_v1.ConfigMap, to=owner_label("widget"), predicate=changed(".data.size"))

    @operator.controller(Widget, watches=[watch])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        found = await ctx.read(core_v1.ConfigMap, "c")
        woken.append((found.data or {})["size"] if found else "")

    async def main() -> None:
        async with world(operator) as here:
            await here.create()
            watched = config_map(size="1")
            watched.metadata.labels = {"widget": "w"}
            await here.client.create(watched)
            await asyncio.sleep(1)

            def resize(found: core_v1.ConfigMap) -> None:
                found.data = {"size": "2"}

            await here.client.edit(core_v1.ConfigMap, "c", resize, namespace="default")
            await asyncio.sleep(1)
            assert woken[-1] == "2"
            asked = [each for each in here.sent.requests if each.path.endswith("/configmaps")]
            assert all("PartialObjectMetadata" in str(each.headers) for each in asked)

    run_in_virtual_time(main)


def test_a_config_map_that_is_owned_is_shown_while_it_comes_up() -> None:
    async def main() -> None:
        async with world(owner_of_both()) as here:
            lines = io.StringIO()
            Progress(here.manager, gone=lambda _: None, stream=lines)
            await here.client.create(config_map("somebody"))
            await here.create()
            await asyncio.sleep(1)
            assert "ConfigMap default/c: created\n" in lines.getvalue()
            assert "somebody" not in lines.getvalue()

    run_in_virtual_time(main)


# what is applied


def owner_of_both() -> Operator:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.ConfigMap, core_v1.Secret], prune=[core_v1.Secret])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        size = str(widget.spec.size)
        async with ctx.owned():
            applied = await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="c"), data={"size": size}))
            await ctx.apply(core_v1.ConfigMap(metadata=ObjectMeta(name="d"), data={"size": "any"}))
            if widget.spec.size < 10:
                await ctx.apply(core_v1.Secret(metadata=ObjectMeta(name="s"), data={"a": "MQ=="}))
        widget.status.note = (applied.data or {}).get("size")

    return operator


WIDGET = (Widget, "w")


async def opened(harness: OpenHarness) -> Harness:
    here = await harness(owner_of_both(), objects=[Widget(metadata=ObjectMeta(name="w"))])
    await here.settle()
    here.forget()
    return here


async def test_changed_data_of_an_owned_config_map_is_set_back(harness: OpenHarness) -> None:
    here = await opened(harness)

    def change(found: core_v1.ConfigMap) -> None:
        found.data = {"size": "7", "other": "kept"}

    await here.client.edit(core_v1.ConfigMap, "c", change, namespace=here.namespace)
    await here.settle()
    await here.assert_object((core_v1.ConfigMap, "c"), {"data": {"size": "1", "other": "kept"}})
    assert [str(sent.call) for sent in here.writes] == ["apply configmaps default/c"]
    await here.assert_object(WIDGET, {"status": {"note": "1"}})


async def test_drift_that_metadata_does_not_tell_is_found_by_reading(harness: OpenHarness) -> None:
    here = await opened(harness)
    present = await here.get(core_v1.ConfigMap, "c")
    twin = config_map(size="7")
    twin.metadata.owner_references = present.metadata.owner_references
    await here.client.apply(twin, field_manager="widgets/widget", force=True)  # so we own what we owned before
    await here.settle()
    await here.assert_object((core_v1.ConfigMap, "c"), {"data": {"size": "1"}})
    sent = [str(sent.call) for sent in here.requests if "configmaps" in str(sent.call)]
    assert sent == ["get configmaps default/c", "apply configmaps default/c"]


async def test_a_secret_given_as_text_is_set_back_too(harness: OpenHarness) -> None:
    operator = Operator("widgets")

    @operator.controller(Widget, owns=[core_v1.Secret])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        text = core_v1.Secret(metadata=ObjectMeta(name="s"), data={"b": "MQ==", "a": "Mg=="}, string_data={"a": "1"})
        assert (await ctx.apply(text)).data == {"a": "MQ==", "b": "MQ=="}

    here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w"))])
    await here.settle()
    here.forget()

    def change(found: core_v1.Secret) -> None:
        found.data = {"a": "Mw==", "b": "MQ=="}

    await here.client.edit(core_v1.Secret, "s", change, namespace=here.namespace)
    await here.settle()
    await here.assert_object((core_v1.Secret, "s"), {"data": {"a": "MQ==", "b": "MQ=="}})
    here.forget()
    await here.restart()
    await here.settle()
    assert here.writes == []


async def test_what_others_add_to_an_owned_config_map_costs_a_read_and_no_write(harness: OpenHarness) -> None:
    here = await opened(harness)

    def label(found: core_v1.ConfigMap) -> None:
        found.metadata.labels = {"team": "a"}

    await here.client.edit(core_v1.ConfigMap, "c", label, namespace=here.namespace)
    await here.settle()
    assert here.writes == []
    assert [str(sent.call) for sent in here.requests if sent.call.verb == "get"] == ["get configmaps default/c"]
    here.forget()
    await here.reconcile(WIDGET)
    assert here.requests == []


async def test_a_restart_over_what_is_as_it_should_be_reads_each_once_and_writes_nothing(harness: OpenHarness) -> None:
    here = await opened(harness)
    await here.restart()
    await here.settle()
    assert here.writes == []
    gets = sorted(str(sent.call) for sent in here.requests if sent.call.verb == "get")
    assert [each for each in gets if "configmaps" in each or "secrets" in each] == [
        "get configmaps default/c",
        "get configmaps default/d",
        "get secrets default/s",
    ]


async def test_what_is_no_longer_wanted_is_pruned(harness: OpenHarness) -> None:
    here = await opened(harness)

    def grow(widget: Widget) -> None:
        widget.spec.size = 10

    await here.client.edit(Widget, "w", grow, namespace=here.namespace)
    await here.settle()
    await here.assert_absent((core_v1.Secret, "s"))
    await here.assert_object((core_v1.ConfigMap, "c"), {"data": {"size": "10"}})


async def test_ensure_finds_what_is_there_with_its_data(harness: OpenHarness) -> None:
    operator, found = Operator("widgets"), list[object]()

    @operator.controller(Widget, owns=[core_v1.Secret])
    async def reconcile(widget: Widget, ctx: Context) -> None:
        made = await ctx.ensure(core_v1.Secret(metadata=ObjectMeta(name="s"), data={"a": "MQ=="}))
        found.append(made.data)

    here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w")), secret(a="Mg==")])
    await here.settle()
    assert found[-1] == {"a": "Mg=="}
    assert here.writes == []
