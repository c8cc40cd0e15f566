"""Whole objects of kinds of which only metadata is cached: what is read, what is kept, and what is let go of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from kubewright.api import ObjectMeta
from kubewright.cache import METADATA, Entry
from kubewright.cache.bodies import RecentBodies
from kubewright.client import TransportError

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World


def body(uid: str, version: int = 1, size: int = 10) -> Entry:
    return Entry(namespace="ns", name=uid, uid_at=uid, resource_version=version, text=b"x" * size)


def test_those_used_last_are_kept_as_far_as_they_fit() -> None:
    recent = RecentBodies(limit=30)
    for uid in "abc":
        recent.keep("v1", body(uid))
    assert recent.at("v1", body("a")) is not None  # and so it is used later than b
    recent.keep("v1", body("d"))
    assert [uid for uid in "abcd" if recent.at("v1", body(uid)) is not None] == ["a", "c", "d"]
    assert (len(recent), recent.bytes) == (3, 30)
    recent.keep("v1", body("e", size=31))
    assert (len(recent), recent.bytes) == (0, 0)


def test_of_an_object_one_version_is_kept_and_never_an_older_one_in_place_of_a_newer() -> None:
    recent = RecentBodies(limit=100)
    recent.keep("v1", body("a", version=2))
    recent.keep("v1", body("a", version=1))
    assert recent.at("v1", body("a", version=1)) is None
    recent.keep("v1", body("a", version=3, size=20))
    assert recent.at("v1", body("a", version=2)) is None
    assert recent.at("v1", body("a", version=3)) is not None
    assert recent.bytes == 20
    recent.drop("v1", "a", before=3)
    assert len(recent) == 1
    recent.drop("v1", "a", before=4)
    recent.drop("v1", "a")
    assert (len(recent), recent.bytes) == (0, 0)


def test_an_object_is_read_once_for_each_version_and_let_go_of_when_it_goes(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, projection=METADATA)
        world.server.put("a", size=1)

        async def sizes() -> tuple[object, int]:
            """What is read, and with how many requests."""
            before = len(world.server.requests)
            entry = informer.entry("ns", "a")
            assert entry is not None
            whole = await informer.bodies.of(entry)
            size = None if whole is None else msgspec.json.decode(whole.raw)["spec"]["size"]
            return size, len(world.server.requests) - before

        async with world.running():
            assert await sizes() == (1, 1)
            assert await sizes() == (1, 0)
            world.server.put("a", size=2)
            await asyncio.sleep(0.01)
            assert await sizes() == (2, 1)
            entry = informer.entry("ns", "a")
            assert entry is not None
            world.server.remove("a")
            await asyncio.sleep(0.01)
            assert informer.bodies.in_memory(entry) is None
            assert await informer.bodies.of(entry) is None

    run(main())


def test_what_was_just_written_need_not_be_read(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget, projection=METADATA)
        async with world.running():
            obj = widget(metadata=ObjectMeta(name="a", namespace="ns"))
            obj.spec.size = 3
            await world.client.apply(obj)
            await asyncio.sleep(0.01)  # its own event says nothing new
            entry = informer.entry("ns", "a")
            assert entry is not None
            whole = informer.bodies.in_memory(entry)
            assert whole is not None
            assert msgspec.json.decode(whole.raw)["spec"] == {"size": 3}
            assert b"spec" not in entry.raw

    run(main())


def test_an_informer_that_is_no_longer_needed_leaves_nothing_behind(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.server.put("a", size=1)
        async with world.running():
            informer = world.cache.add(widget, projection=METADATA)
            await informer.synced()
            entry = informer.entry("ns", "a")
            assert entry is not None
            assert await informer.bodies.of(entry) is not None
            await world.cache.remove(informer)
            assert informer.bodies.in_memory(entry) is None

    run(main())


def test_informers_of_one_cache_share_what_they_keep(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        all_, some = (world.cache.informer(widget, projection=METADATA, labels=labels) for labels in (None, "app=x"))
        world.server.put("a", labels={"app": "x"})
        async with world.running():
            entry = some.entry("ns", "a")
            assert entry is not None
            assert await some.bodies.of(entry) is all_.bodies.in_memory(entry)

    run(main())


def test_after_a_restore_from_a_backup_an_object_is_read_once_again(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    """Its versions are lower then; what was kept of a higher one kept them from being kept."""

    async def main() -> None:
        informer = world.cache.informer(widget, projection=METADATA)
        server = world.server
        old = server.put("a", size=1)

        async def read() -> object:
            entry = informer.entry("ns", "a")
            assert entry is not None
            whole = await informer.bodies.of(entry)
            return None if whole is None else msgspec.json.decode(whole.raw)["spec"]["size"]

        async with world.running():
            server.put("a", size=2)
            await asyncio.sleep(0.01)
            assert await read() == 2
            server.objects["ns", "a"], server.version = old, int(old["metadata"]["resourceVersion"])
            server.log.clear()
            server.end_watches(TransportError("connection reset", may_be_applied=False))
            await asyncio.sleep(60)
            assert await read() == 1
            requests = len(server.requests)
            assert await read() == 1
            assert len(server.requests) == requests

    run(main())
