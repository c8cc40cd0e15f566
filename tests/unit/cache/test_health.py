"""What an informer says of itself, and that nothing that goes wrong passes in silence. In virtual time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kubewright.cache import Cache, Informer, InformerState, Phase, part
from kubewright.client import Client, TransportError

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World

WENT_BACK = "the server's resource versions went back, as after a restore from a backup: reading everything anew"


def test_health_before_it_ran(world: World, widget: type[Widget]) -> None:
    health = world.cache.informer(widget).health
    assert (health.resource, health.phase, health.in_step) == ("widgets.example.com", Phase.STARTING, False)
    assert (health.since, health.last_event_age, health.objects) == (None, None, 0)


def test_health_of_a_live_informer(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a")
        world.server.put("b")
        async with world.running():
            began = world.clock.now()
            await asyncio.sleep(50)
            world.server.put("c")
            await asyncio.sleep(7)
            (health,) = world.cache.health()
            assert health == informer.health
            assert (health.phase, health.reason, health.in_step) == (Phase.SYNCED, "", True)
            assert health.since is not None
            assert abs(health.since - began) < timedelta(seconds=1)
            assert health.objects == 3
            assert health.bytes == sum(len(entry.raw) for entry in informer.entries())
            assert health.resource_version == 103
            assert health.last_event_age == pytest.approx(7, abs=0.1)
            assert (health.relists, health.reconnects, health.unreadable) == (0, 0, 0)

    run(main())


def test_bookmarks_are_signs_of_life(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            await asyncio.sleep(60)
            world.server.bookmark(150)
            await asyncio.sleep(1)
            assert informer.health.last_event_age == pytest.approx(1, abs=0.1)
            assert informer.health.resource_version == 150

    run(main())


def test_restarts_are_counted(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            world.server.end_watches(TransportError("reset", may_be_applied=False))
            await asyncio.sleep(5)
            assert (informer.health.reconnects, informer.health.relists) == (1, 0)
            world.server.put("a")
            world.server.compact()
            world.server.end_watches()
            world.server.version += 1
            world.server.oldest = world.server.version
            await asyncio.sleep(60)
            assert informer.health.relists == 1

    run(main())


def test_a_view_that_grew_silent_is_not_live_until_a_watch_runs_again(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        states: list[InformerState] = []
        async with world.running():
            informer.on_state(states.append)
            world.server.deafen_watches()
            await asyncio.sleep(245)
            assert [state.phase for state in states] == [Phase.BROKEN, Phase.SYNCED]
            assert "the watch was silent for longer than" in states[0].reason
            assert informer.live

    run(main())


def test_a_view_is_not_live_while_the_server_does_not_answer_the_next_watch(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        states: list[InformerState] = []
        async with world.running():
            await asyncio.sleep(1)
            informer.on_state(states.append)
            world.server.opening_delay = 9.0
            world.server.end_watches()
            await asyncio.sleep(12)
            assert states == [], "a busy server may take some time"
            world.server.opening_delay = 10_000.0
            world.server.put("a")
            world.server.end_watches()
            await asyncio.sleep(9)
            assert informer.live
            await asyncio.sleep(2)
            assert not informer.live
            assert "nothing is watched, since the server is slow to answer" in informer.health.reason
            await asyncio.sleep(25)
            assert informer.health.reason == "the server does not answer"
            world.server.opening_delay = 0.001
            world.server.put("b")
            await asyncio.sleep(40)
            assert (informer.live, len(informer)) == (True, 2)

    run(main())


def test_a_reflector_that_was_stopped_says_nothing_more(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            await asyncio.sleep(1)
            world.server.opening_delay = 10_000.0
            world.server.end_watches()
            await asyncio.sleep(5)
        states: list[InformerState] = []
        informer.on_state(states.append)
        await asyncio.sleep(60)
        assert states == []

    run(main())


def test_a_role_that_was_taken_away_is_seen_with_its_reason_and_its_return_too(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            await asyncio.sleep(10)
            world.server.refusal = (403, 'widgets.example.com is forbidden: User "x" cannot watch')
            world.server.end_watches()
            await asyncio.sleep(20)
            health = informer.health
            assert (health.phase, health.in_step, world.cache.in_step) == (Phase.BROKEN, False, False)
            assert health.reason == 'widgets.example.com is forbidden: User "x" cannot watch'
            assert health.since is not None
            assert 15 < (world.clock.now() - health.since).total_seconds() < 20
            world.server.refusal = None
            world.server.put("a")
            await asyncio.sleep(31)
            assert world.cache.in_step
            assert len(informer) == 1

    run(main())


@pytest.mark.parametrize("line", [b"<html>\n", b'{"type":"ADDED","object":{"kind":"Widget"}}\n'])
def test_what_is_no_event_or_no_object_means_reading_everything_anew(
    run: RunVirtually, world: World, widget: type[Widget], line: bytes
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        states: list[Phase] = []
        async with world.running():
            informer.on_state(lambda state: states.append(state.phase))
            world.server.put("a")
            world.server.say(line)
            await asyncio.sleep(5)
            assert states == [Phase.BROKEN, Phase.SYNCED]
            assert informer.health.relists == 1
            assert len(informer) == 1

    run(main())


def test_an_error_of_our_own_is_logged_and_the_watch_goes_on(
    run: RunVirtually, world: World, widget: type[Widget], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            (held,) = informer._parts.values()
            monkeypatch.setattr(held, "upsert", lambda _: 1 / 0)
            world.server.put("a")
            await asyncio.sleep(0.1)
            assert informer.state == InformerState(Phase.BROKEN, "ZeroDivisionError: division by zero")
            assert world.messages("error") == ["watching failed"]
            monkeypatch.undo()
            await asyncio.sleep(5)
            assert informer.live
            assert len(informer) == 1

    run(main())


@pytest.mark.parametrize("how", ["event", "bookmark", "list", "refusal", "silence", "break"])
def test_a_server_that_was_restored_from_a_backup_is_named_and_read_anew(
    run: RunVirtually, world: World, widget: type[Widget], how: str
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a")
        async with world.running():
            world.server.objects.clear()
            world.server.log.clear()
            world.server.version = world.server.oldest = 7
            match how:
                case "event":
                    world.server.put("b")
                case "bookmark":
                    world.server.put_silently("b")
                    world.server.bookmark(8)
                case "list":
                    world.server.put_silently("b")
                    world.server.reachable = False
                    world.server.end_watches()
                    await asyncio.sleep(5)
                    world.server.reachable = True
                case "silence":
                    world.server.put_silently("b")
                    await asyncio.sleep(250)
                    assert len(world.server.calls("probe")) >= 1
                case "break":
                    world.server.put_silently("b")
                    world.server.end_watches(TransportError("reset", may_be_applied=False))
                case "refusal":
                    world.server.put_silently("b")
                    world.server.refuse_the_future = True
                    world.server.end_watches()
            await asyncio.sleep(40)
            assert [entry.name for entry in informer.entries()] == ["b"]
            assert WENT_BACK in world.messages("warning")
            assert informer.live

    run(main())


def test_an_unusually_large_kind_is_warned_of_once_with_what_to_do(
    run: RunVirtually, world: World, widget: type[Widget], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "_MANY", 10)

    async def main() -> None:
        world.cache.informer(widget)
        for number in range(9):
            world.server.put(f"w{number}")
        async with world.running():
            assert world.messages("warning") == []
            world.server.put("w9")
            world.server.bookmark()
            world.server.bookmark()
            await asyncio.sleep(0.1)
            assert world.messages("warning") == ["many objects are held in memory"]
            entry: dict[str, Any] = dict(world.logged.entries[-1])
            assert (entry["objects"], entry["resource"]) == (10, "widgets.example.com")
            assert "label selector" in entry["remedy"]

    run(main())


def test_a_cache_without_a_log_writes_to_that_of_its_client(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    client = Client(world.server, clock=world.clock, log=world.log)
    cache, alone = Cache(client), Informer(client, widget)
    cache.informer(widget)
    world.server.refusal = (403, "forbidden")

    async def main() -> None:
        tasks = [asyncio.create_task(each.run()) for each in (cache, alone)]
        await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert world.messages("warning") == ["not synced"] * 2

    run(main())
