"""Several classes of one kind: each reads its own objects, of one watch and one store."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from msgspec.structs import replace

from kubewright.api import Model, Resource, Unstructured, field, resource, resource_info, unstructured
from kubewright.cache import METADATA, IndexBy
from tests.unit.cache.conftest import RunVirtually, Widget, World
from tests.unit.cache.test_informer import made


class Size(Model):
    size: int | None = None


@resource("example.com/v1", kind="Widget")
class Small(Resource):
    """Somebody's own class of widgets, which knows less of them."""

    spec: Size = field(default_factory=Size)


@pytest.fixture
def plain(widget: type[Widget]) -> type[Unstructured]:
    return Unstructured.of(resource_info(widget))


def test_one_watch_serves_all_classes(
    run: RunVirtually, world: World, widget: type[Widget], plain: type[Unstructured]
) -> None:
    async def main() -> None:
        typed, small, untyped = world.cache.informer(widget), world.cache.informer(Small), world.cache.informer(plain)
        world.server.put("a", size=3)
        async with world.running():
            await world.cache.synced()
            await asyncio.sleep(1)
            assert (world.server.watching, len(list(world.cache)), len(world.cache.health())) == (1, 1, 1)
            for informer in (typed, small, untyped):
                assert (len(informer), informer.live) == (1, True)
            one, two, three = typed.get("ns", "a"), small.get("ns", "a"), untyped.get("ns", "a")
            assert (type(one), type(two), type(three)) == (widget, Small, plain)
            assert two is not None
            assert two.spec.size == 3
            assert three is not None
            assert three["spec", "size"] == 3
            await world.client.create(made(widget, "b", 4))
            assert [obj.spec.size for obj in small.list()] == [3, 4]
            assert typed.entry("ns", "b") is small.entry("ns", "b")
            assert world.cache.informer(Small) is small

    run(main())


def test_each_class_hears_of_its_own_objects(
    run: RunVirtually, world: World, widget: type[Widget], plain: type[Unstructured]
) -> None:
    async def main() -> None:
        heard: list[tuple[str, type[Resource], type[Resource], bool]] = []
        for kind in (widget, Small, plain):
            world.cache.informer(kind).subscribe(
                lambda event: heard.append((event.type.value, event.kind, type(event.obj), event.initial))
            )
        world.server.put("a")
        small = world.cache.informer(Small)
        async with world.running():
            await world.cache.synced()
            assert heard == [("Added", kind, kind, True) for kind in (widget, Small, plain)]
            stop = small.subscribe(lambda event: heard.append(("late", event.kind, type(event.obj), event.initial)))
            stop()
            assert heard.pop() == ("late", Small, Small, True)
            with small.feed() as feed:
                await world.client.create(made(widget, "b"))
                assert [type((await anext(feed)).obj) for _ in range(2)] == [Small, Small]
            assert heard[3:] == [("Added", kind, kind, False) for kind in (widget, Small, plain)]

    run(main())


def test_an_index_by_a_function_is_its_class_own_and_one_by_a_path_is_kept_once(
    run: RunVirtually, world: World, widget: type[Widget], plain: type[Unstructured]
) -> None:
    by_size = IndexBy.path(".spec.size")
    typed = world.cache.informer(widget, indexes={"size": lambda obj: [str(obj.spec.size)], "path": by_size})
    untyped = world.cache.informer(
        plain, indexes={"size": lambda obj: [f"{obj['spec', 'size']} untyped"], "way": by_size}
    )

    async def main() -> None:
        world.server.put("a", size=3)
        async with world.running():
            await world.cache.synced()
            assert [entry.name for entry in typed.entries(index=("size", "3"))] == ["a"]
            assert [entry.name for entry in untyped.entries(index=("size", "3 untyped"))] == ["a"]
            assert [entry.name for entry in untyped.entries(index=("way", "3"))] == ["a"]
            with pytest.raises(KeyError, match="has no index 'path'; declared: size, way"):
                untyped.entries(index=("path", "3"))

    run(main())
    (shared,) = {id(informer._shared): informer._shared for informer in (typed, untyped)}.values()
    assert len(shared.indexes) == 4, "by owner, by path, and a function of each class"


def test_what_is_watched_ends_with_the_last_class_that_needs_it(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        async with world.running():
            typed, small = world.cache.add(widget), world.cache.add(Small)
            await small.synced()
            await world.cache.remove(typed)
            with pytest.raises(ValueError, match="was not added, or removed already"):
                await world.cache.remove(typed)
            await asyncio.sleep(1)
            assert world.server.watching == 1
            await world.cache.remove(small)
            assert world.server.watching == 0
            assert world.cache.add(widget) is not typed

    run(main())


def test_a_write_in_another_version_stands_where_it_can_not_be_read_back(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    newer = replace(resource_info(widget), version="v2")

    async def written(metadata: object) -> None:
        waiting = world.cache._written(newer, msgspec.json.encode({"metadata": metadata}))
        assert waiting is not None
        await waiting

    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            uid = world.server.put("a")["metadata"]["uid"]
            await asyncio.sleep(1)
            identity = {"name": "a", "namespace": "ns", "uid": uid}
            world.server.reachable = False
            await written(identity)
            world.server.reachable, world.server.refusal = True, (500, "sick")
            await written(identity)
            await written("nonsense")
            assert len(informer) == 1
            world.server.refusal = None
            world.server.deafen_watches()
            world.server.remove("a")
            await written(identity)
            assert len(informer) == 0
            assert world.messages("warning")[:3] == [
                "what was written can't be read",
                "what was written can't be read",
                "the answer to a write can't be cached",
            ]

    run(main())


def test_a_class_of_another_kind_is_refused(world: World, widget: type[Widget]) -> None:
    another = unstructured("example.com/v2", "Widget", plural="widgets")
    with pytest.raises(ValueError, match=r"Widget is a class of Widget\.v2\.example\.com, not of Widget\.v1\.ex"):
        world.cache.informer(widget).of_class(another)


def test_projections_and_places_still_tell_informers_apart(world: World, widget: type[Widget]) -> None:
    world.cache.informer(widget)
    world.cache.informer(Small, projection=METADATA)
    world.cache.informer(Small, namespaces="ns")
    assert len(list(world.cache)) == 3
