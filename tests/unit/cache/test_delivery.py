"""How subscribers are told: in order, at once where it is little, in slices where it is much, coalesced where they are slow."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from kubewright.cache import Change, Entry, Event, EventType
from kubewright.cache.delivery import Delivery, Feed
from kubewright.telemetry import null_log
from tests.unit.cache.conftest import Widget

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, World


def entry(name: str, version: int, uid: str = "1") -> Entry:
    return Entry(namespace="ns", name=name, uid_at=uid, resource_version=version, text=b"{}")


def event(change: Change, initial: bool) -> Event[Widget]:
    return Event(Widget, change, initial)


def added(count: int, version: int = 1) -> list[Change]:
    return [Change(None, entry(f"w{number:04}", version)) for number in range(count)]


async def waited(told: Awaitable[None]) -> None:
    await told


class Follower:
    """Knows what it was told, and refuses what makes no sense."""

    def __init__(self) -> None:
        self.known: dict[str, Entry] = {}
        self.told = 0

    def __call__(self, heard: Event[Widget]) -> None:
        self.told += 1
        old, new = heard.change.old, heard.change.new
        assert self.known.get(heard.entry.name) is old
        assert old is None or new is None or old.uid == new.uid
        if new is None:
            del self.known[heard.entry.name]
        else:
            self.known[heard.entry.name] = new


def test_a_few_changes_are_told_within_the_call(run: RunVirtually) -> None:
    async def main() -> None:
        delivery, follower = Delivery(event, null_log()), Follower()
        delivery.subscribe(follower, added(2))
        assert follower.told == 2
        delivery.tell([Change(None, entry("x", 5))])
        assert follower.told == 3

    run(main())


def test_what_a_handler_brings_about_is_told_after_what_it_was_told_of(run: RunVirtually) -> None:
    async def main() -> None:
        delivery, follower = Delivery(event, null_log()), Follower()
        x, y = entry("x", 5), entry("y", 6)

        def meddles(heard: Event[Widget]) -> None:
            if heard.change.new is x:
                delivery.tell([Change(y, entry("y", 7))])

        delivery.subscribe(meddles, [])
        delivery.subscribe(follower, [])
        delivery.tell([Change(None, x), Change(None, y)])
        assert follower.told == 2
        await delivery.drain()
        assert follower.known["y"].resource_version == 7

    run(main())


def test_many_changes_are_told_in_slices_and_later_ones_after_them(run: RunVirtually) -> None:
    async def main() -> None:
        delivery, follower = Delivery(event, null_log()), Follower()
        delivery.subscribe(follower, [])
        changes = added(1000)
        telling = asyncio.create_task(waited(delivery.tell_all(iter(changes), initial=True)))
        await asyncio.sleep(0)
        assert 0 < follower.told < 1000
        newer = entry("w0999", 2)
        delivery.tell([Change(changes[999].new, newer)])
        rounds = 0
        while not telling.done():
            rounds += 1
            await asyncio.sleep(0)
        assert rounds > 3
        assert follower.told == 1001
        assert follower.known["w0999"] is newer

    run(main())


def test_who_subscribes_while_much_is_told_hears_of_each_object_once(run: RunVirtually) -> None:
    async def main() -> None:
        delivery, early, late = Delivery(event, null_log()), Follower(), Follower()
        changes = added(500)
        delivery.subscribe(early, [])
        telling = asyncio.create_task(waited(delivery.tell_all(iter(changes), initial=True)))
        await asyncio.sleep(0)
        delivery.subscribe(late, changes)
        assert late.told == 0
        stop = delivery.subscribe(Follower(), [])
        stop()
        stop()
        await telling
        assert (early.told, late.told) == (500, 500)

    run(main())


def test_a_late_subscriber_of_much_is_told_by_the_running_informer(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        for number in range(450):
            world.server.put(f"w{number:03}")
        async with world.running():
            seen: list[tuple[str, bool]] = []
            informer.subscribe(lambda heard: seen.append((heard.entry.name, heard.initial)))
            assert seen == []
            world.server.put("z")
            await asyncio.sleep(0.1)
            assert len(seen) == 451
            assert seen[-1] == ("z", False)
            assert all(initial for _, initial in seen[:-1])

    run(main())


def test_a_handler_that_fails_keeps_nothing_from_the_others(run: RunVirtually) -> None:
    async def main() -> None:
        delivery, follower = Delivery(event, null_log()), Follower()
        delivery.subscribe(lambda _: 1 // 0, [])  # type: ignore[arg-type]  # it never returns
        delivery.subscribe(follower, [])
        await delivery.tell_all(iter(added(300)), initial=True)
        assert follower.told == 300

    run(main())


async def take(feed: Feed[Widget], count: int) -> list[tuple[str, str, int, bool]]:
    heard = [await asyncio.wait_for(anext(feed), 1) for _ in range(count)]
    return [(each.type.value, each.entry.name, each.entry.resource_version, each.initial) for each in heard]


def test_a_feed_makes_one_change_of_several(run: RunVirtually) -> None:
    async def main() -> None:
        feed: Feed[Widget] = Feed(event)
        states = [entry("a", version) for version in range(5)]
        feed.put(event(Change(None, states[0]), True))
        feed.put(event(Change(None, entry("b", 1)), False))
        for old, new in pairwise(states):
            feed.put(event(Change(old, new), False))
        assert len(feed) == 2
        assert await take(feed, 2) == [("Added", "a", 4, True), ("Added", "b", 1, False)]
        assert len(feed) == 0
        feed.put(event(Change(states[4], None), False))
        assert await take(feed, 1) == [("Deleted", "a", 4, False)]

    run(main())


def test_a_feed_says_nothing_of_what_came_and_went(run: RunVirtually) -> None:
    async def main() -> None:
        feed: Feed[Widget] = Feed(event)
        a = entry("a", 1)
        feed.put(event(Change(None, a), False))
        feed.put(event(Change(a, None), False))
        assert len(feed) == 0
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(feed), 1)

    run(main())


def test_a_feed_tells_another_object_of_the_same_name_apart(run: RunVirtually) -> None:
    async def main() -> None:
        feed: Feed[Widget] = Feed(event)
        old, new = entry("a", 1), entry("a", 3, uid="2")
        feed.put(event(Change(old, None), False))
        feed.put(event(Change(None, new), False))
        assert await take(feed, 2) == [("Deleted", "a", 1, False), ("Added", "a", 3, False)]

    run(main())


def test_a_slow_reader_holds_up_nobody_and_ends_up_with_the_truth(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        for name in "abc":
            world.server.put(name)
        async with world.running():
            follower = Follower()
            most = 0

            async def read() -> None:
                with informer.feed() as feed:
                    async for heard in feed:
                        nonlocal most
                        most = max(most, len(feed))
                        follower(heard)
                        await asyncio.sleep(60)

            reading = asyncio.create_task(read())
            rng = random.Random(3)
            for size in range(500):
                name = rng.choice("abcdef")
                if ("ns", name) in world.server.objects and rng.random() < 0.3:
                    world.server.remove(name)
                else:
                    world.server.put(name, size=size)
                await asyncio.sleep(0.1)
                assert {found.name for found in informer.entries()} == {key[1] for key in world.server.objects}
            await asyncio.sleep(1000)
            assert {name: held.resource_version for name, held in follower.known.items()} == {
                found.name: found.resource_version for found in informer.entries()
            }
            assert most <= 6
            assert follower.told < 30
            reading.cancel()
            await asyncio.wait([reading])
            assert informer._shared.delivery._subscribers == []

    run(main())


class Objects:
    """What there is, changing at random."""

    def __init__(self, rng: random.Random) -> None:
        self.known: dict[str, Entry] = {}
        self._rng = rng
        self._version = 0

    def present(self) -> list[Change]:
        return [Change(None, each) for each in self.known.values()]

    def steps(self, count: int) -> list[Change]:
        return [self._step(f"w{self._rng.randrange(300)}") for _ in range(count)]

    def _step(self, name: str) -> Change:
        self._version += 1
        old = self.known.get(name)
        if old is not None and self._rng.random() < 0.4:
            del self.known[name]
            return Change(old, None)
        new = self.known[name] = entry(name, self._version, old.uid if old is not None else str(self._version))
        return Change(old, new)


@pytest.mark.parametrize("seed", range(20))
def test_everybody_is_told_the_truth_whatever_the_order(run: RunVirtually, seed: int) -> None:
    """Random changes, told at once or in slices, to subscribers and feeds that come and go."""
    rng = random.Random(seed)
    world = Objects(rng)
    known = world.known

    async def main() -> None:
        delivery = Delivery(event, null_log())
        followers = [Follower()]
        delivery.subscribe(followers[0], [])
        feeds: list[tuple[Feed[Widget], Follower]] = []

        async def follow(feed: Feed[Widget], follower: Follower) -> None:
            async for heard in feed:
                follower(heard)
                await asyncio.sleep(rng.choice([0, 0, 0.1]))

        async with asyncio.TaskGroup() as tasks:
            endless = [tasks.create_task(delivery.run())]
            for _ in range(60):
                match rng.randrange(4):
                    case 0:
                        told = delivery.tell_all(iter(world.steps(rng.randrange(900))), initial=False)
                        tasks.create_task(waited(told))
                    case 1:
                        delivery.tell(world.steps(rng.randrange(3)))
                    case 2 if len(followers) < 6:
                        followers.append(Follower())
                        delivery.subscribe(followers[-1], world.present())
                    case 3 if len(feeds) < 3:
                        feed: Feed[Widget] = Feed(event)
                        delivery.subscribe(feed.put, world.present())
                        feeds.append((feed, Follower()))
                        endless.append(tasks.create_task(follow(*feeds[-1])))
                if rng.random() < 0.5:
                    await asyncio.sleep(0)
            await asyncio.sleep(1000)
            for task in endless:
                task.cancel()
        for follower in [*followers, *(follower for _, follower in feeds)]:
            assert follower.known == known

    run(main())


def test_types_of_changes() -> None:
    a, b = entry("a", 1), entry("a", 2)
    assert [Change(None, a).type, Change(a, b).type, Change(b, None).type] == list(EventType)
