"""Kinds and namespaces that come and go while the cache runs, and kinds that may not be there. In virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
import pytest

from kubewright.api import ObjectMeta, Resource, resource
from kubewright.cache import Informer, InformerState, Phase

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World


@resource("example.com/v1", scope="Cluster")
class Zone(Resource):
    """A kind without namespaces."""


def seen_by(informer: Informer[Widget]) -> list[tuple[str, str, str]]:
    seen: list[tuple[str, str, str]] = []
    informer.subscribe(lambda event: seen.append((event.type.value, *event.key)))
    return seen


def test_a_kind_that_is_added_starts_at_once_and_ends_with_its_last_user(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.server.put("a")
        async with world.running():
            assert world.server.watching == 0
            first = world.cache.add(widget)
            second = world.cache.add(widget)
            assert first is second
            await first.synced()
            await asyncio.sleep(0.01)
            assert (len(first), world.server.watching) == (1, 1)
            await world.cache.remove(first)
            assert world.server.watching == 1
            await world.cache.remove(second)
            assert world.server.watching == 0
            assert (len(first), first.state) == (0, InformerState(Phase.STOPPED))
            assert list(world.cache) == []
            with pytest.raises(ValueError, match="was not added, or removed already"):
                await world.cache.remove(first)
            again = world.cache.add(widget)
            assert again is not first
            await again.synced()
            assert len(again) == 1

    run(main())


def test_a_declared_kind_stays_when_those_who_added_it_go(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        declared = world.cache.informer(widget)
        async with world.running():
            assert world.cache.add(widget) is declared
            await world.cache.remove(declared)
            assert declared.live
            assert world.server.watching == 1
            with pytest.raises(ValueError, match="was not added"):
                await world.cache.remove(declared)

    run(main())


def test_what_is_added_before_the_cache_runs_runs_with_it(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        added = world.cache.add(widget)
        async with world.running():
            assert added.live

    run(main())


def test_an_added_informer_sees_own_writes_and_a_removed_one_no_longer(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        async with world.running():
            informer = world.cache.add(widget)
            await informer.synced()
            world.server.deafen_watches()
            await world.client.apply(widget(metadata=make("b")))
            assert [entry.name for entry in informer.entries()] == ["b"]
            await world.cache.remove(informer)
            await world.client.apply(widget(metadata=make("c")))
            assert len(informer) == 0

    run(main())


def test_several_namespaces_are_watched_each_for_itself(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, namespaces=["n2", "n1", "n1"])
        assert informer.namespaces == ("n1", "n2")
        for namespace in ("n1", "n2", "n3"):
            world.server.put("a", namespace=namespace)
        async with world.running():
            assert [entry.key for entry in informer.entries()] == [("n1", "a"), ("n2", "a")]
            assert [entry.key for entry in informer.entries("n2")] == [("n2", "a")]
            assert informer.entry("n2", "a") is not None
            assert informer.entry("n3", "a") is None
            assert informer.entries("n3") == []
            assert {request.path for request in world.server.requests} == {
                "/apis/example.com/v1/namespaces/n1/widgets",
                "/apis/example.com/v1/namespaces/n2/widgets",
            }
            world.server.deafen_watches()
            for namespace in ("n1", "n2", "n3"):
                await world.client.apply(widget(metadata=make("b", namespace)))
            assert [entry.key for entry in informer.entries()] == [("n1", "a"), ("n1", "b"), ("n2", "a"), ("n2", "b")]
            b = informer.get("n2", "b")
            assert b is not None
            await world.client.delete(b)
            assert informer.get("n2", "b") is None

    run(main())


def test_one_namespace_in_trouble_is_named(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, namespaces=["n1", "n2"])
        world.server.refused_namespace = "n2"
        async with world.running(synced=False):
            await asyncio.sleep(5)
            assert informer.state == InformerState(Phase.BROKEN, "namespace n2: not here")
            assert not informer.has_synced
            world.server.refused_namespace = ""
            await asyncio.sleep(31)
            assert informer.live
            assert informer.has_synced

    run(main())


def test_namespaces_come_and_go_for_all_that_name_none(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        cache = world.cache = world.new_cache(namespaces=["n1"])
        informer, fixed, zones = cache.informer(widget), cache.informer(widget, namespaces="n9"), cache.informer(Zone)
        for namespace in ("n1", "n2"):
            world.server.put("a", namespace=namespace)
        async with world.running():
            seen = seen_by(informer)
            assert seen == [("Added", "n1", "a")]
            cache.add_namespace("n2")
            cache.add_namespace("n2")
            assert not informer.has_synced
            await informer.synced()
            await asyncio.sleep(0.01)
            assert informer.live
            assert seen[1:] == [("Added", "n2", "a")]
            await cache.remove_namespace("n1")
            assert seen[2:] == [("Deleted", "n1", "a")]
            assert [entry.key for entry in informer.entries()] == [("n2", "a")]
            assert informer.live
            assert (informer.namespaces, fixed.namespaces, zones.namespaces) == (("n2",), ("n9",), None)
            paths = [request.path for request in world.server.requests]
            assert "/apis/example.com/v1/zones" in paths
            world.server.put("b", namespace="n1")
            world.server.put("b", namespace="n2")
            await asyncio.sleep(0.01)
            assert seen[3:] == [("Added", "n2", "b")]
            added = cache.add(widget, labels={"x": "y"})
            assert added.namespaces == ("n2",)

    run(main())


def test_a_namespace_that_comes_back_while_it_goes_stays(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    """Some informers had not let go of it yet when it was added, and did so afterwards."""

    async def main() -> None:
        cache = world.cache = world.new_cache(namespaces=["n1"])
        informers = [cache.informer(widget), cache.informer(widget, labels="!x"), cache.informer(widget, labels="!y")]
        world.server.put("a", namespace="n1")
        async with world.running():
            going = asyncio.create_task(cache.remove_namespace("n1"))
            await asyncio.sleep(0)
            cache.add_namespace("n1")
            await going
            for informer in informers:
                assert informer.namespaces == ("n1",)
                await informer.synced()
                assert informer.get("n1", "a") is not None

    run(main())


def test_what_is_written_while_a_namespace_comes_back_is_told_of_last(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        cache = world.cache = world.new_cache(namespaces=["n1"])
        informer = cache.informer(widget)
        world.server.put("a", namespace="n1")
        async with world.running():
            seen = seen_by(informer)
            going = asyncio.create_task(cache.remove_namespace("n1"))
            await asyncio.sleep(0)
            cache.add_namespace("n1")
            informer.fold(msgspec.json.encode(world.server.put("a", namespace="n1")))
            await going
            await informer.synced()
            assert [kind for kind, *_ in seen] == ["Added", "Deleted", "Added"]

    run(main())


def test_a_cache_of_one_namespace_may_name_it_as_informers_do(world: World, widget: type[Widget]) -> None:
    assert world.new_cache(namespaces="n1").informer(widget).namespaces == ("n1",)


def test_a_cache_of_all_namespaces_has_none_to_add(world: World, widget: type[Widget]) -> None:
    with pytest.raises(ValueError, match="this cache watches all namespaces"):
        world.cache.add_namespace("n1")
    with pytest.raises(ValueError, match="watches all namespaces"):
        world.cache.informer(widget).add_namespace("n1")
    with pytest.raises(ValueError, match="Zone has no namespaces"):
        world.cache.informer(Zone, namespaces="n1")


def test_an_optional_kind_that_is_not_installed_holds_nobody_up(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, optional=True)
        world.server.crd = False
        async with world.running(synced=False):
            await asyncio.wait_for(world.cache.synced(), 5)
            assert (informer.state.phase, informer.in_step, informer.has_synced) == (Phase.MISSING, True, False)
            assert world.cache.in_step
            assert world.messages("warning") == []
            seen = seen_by(informer)
            world.server.crd = True
            world.server.put("a")
            await asyncio.wait_for(informer.synced(), 2.1)
            await asyncio.sleep(0.1)
            assert informer.live
            assert seen == [("Added", "ns", "a")]

    run(main())


def test_when_an_optional_kind_goes_its_objects_go(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, optional=True, indexes={"all": lambda _: ["1"]})
        world.server.put("a")
        world.server.put("b")
        async with world.running():
            seen = seen_by(informer)
            world.server.crd = False
            world.server.end_watches()
            await asyncio.sleep(5)
            assert seen[2:] == [("Deleted", "ns", "a"), ("Deleted", "ns", "b")]
            assert (len(informer), informer.list(index=("all", "1"))) == (0, [])
            assert informer.in_step
            world.server.crd = True
            await asyncio.sleep(5)
            assert seen[4:] == [("Added", "ns", "a"), ("Added", "ns", "b")]

    run(main())


def test_when_a_required_kind_goes_it_says_so_and_keeps_what_it_knew(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, optional=True)
        world.cache.informer(widget)  # who needs it makes it required for all
        world.server.put("a")
        async with world.running():
            world.server.crd = False
            world.server.end_watches()
            await asyncio.sleep(5)
            assert (informer.state.phase, informer.in_step, len(informer)) == (Phase.MISSING, False, 1)
            assert "install its CustomResourceDefinition" in informer.state.reason

    run(main())


def test_events_name_their_cluster(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        world.cache = world.new_cache(cluster="east")
        informer = world.cache.informer(widget)
        clusters: list[str | None] = []
        informer.subscribe(lambda event: clusters.append(event.cluster))
        world.server.put("a")
        async with world.running():
            assert clusters == ["east"]
            assert informer.health.cluster == "east"

    run(main())


def make(name: str, namespace: str = "ns") -> ObjectMeta:
    return ObjectMeta(name=name, namespace=namespace)
