"""How the view is kept current, whatever the server does. In virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import pytest

from kubewright.cache import InformerState, Phase
from kubewright.cache.plan import Outcome, Pause, Plan, next_plan
from kubewright.client import HttpRequest, HttpResponse, StreamingResponse, TransportError

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World


def names(world: World, kind: type[Widget]) -> list[str]:
    return [entry.name for entry in world.cache.informer(kind).entries()]


def test_a_list_then_a_watch_bring_everything(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a", size=1)
        async with world.running():
            assert informer.state == InformerState(Phase.SYNCED)
            assert informer.live
            world.server.put("b")
            world.server.put("a", size=2)
            await asyncio.sleep(0.01)
            assert [(found.name, found.spec.size) for found in informer.list()] == [("a", 2), ("b", 0)]
            world.server.remove("a")
            await asyncio.sleep(0.01)
            assert names(world, widget) == ["b"]

    run(main())


def test_a_watch_that_ends_goes_on_from_where_it_was(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            world.server.put("a")
            await asyncio.sleep(2)
            world.server.end_watches()
            world.server.put("b")
            await asyncio.sleep(1)
            assert names(world, widget) == ["a", "b"]
            assert len(world.server.calls("list")) == 1
            assert [call["resourceVersion"] for call in world.server.calls("watch")] == ["100", "101"]

    run(main())


def test_bookmarks_move_the_point_to_go_on_from(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            world.server.bookmark(150)
            await asyncio.sleep(1)
            world.server.end_watches()
            await asyncio.sleep(1)
            assert world.server.calls("watch")[-1]["resourceVersion"] == "150"

    run(main())


def test_a_broken_connection_is_watched_again_without_a_list(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            world.server.end_watches(TransportError("connection reset", may_be_applied=False))
            world.server.put("a")
            await asyncio.sleep(1)
            assert names(world, widget) == ["a"]
            assert len(world.server.calls("list")) == 1

    run(main())


def test_a_version_that_is_too_old_means_a_list_with_only_differences_told(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        for name in ("a", "b", "c"):
            world.server.put(name)
        async with world.running():
            seen: list[tuple[str, str]] = []
            informer.subscribe(lambda event: seen.append((event.type.value, event.entry.name)))
            seen.clear()
            world.server.deafen_watches()
            world.server.put("a", size=1)
            world.server.remove("b")
            world.server.put("d")
            world.server.compact()
            await asyncio.sleep(300)  # until the watch's own end
            assert seen == [("Deleted", "b"), ("Modified", "a"), ("Added", "d")]
            assert informer.live

    run(main())


def test_a_silent_connection_is_given_up_after_the_watch_should_have_ended(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            for _ in range(60):
                world.server.deafen_watches()
                await asyncio.sleep(60)
            seconds = [int(call["timeoutSeconds"]) for call in world.server.calls("watch")]
            assert 3600 / 240 < len(seconds) < 3600 / 120
            assert all(120 <= each < 240 for each in seconds)
            assert len(set(seconds)) > 5  # a fleet does not come back in step
            assert world.messages("warning").count("the watch fell silent: opening it anew") == len(seconds) - 1

    run(main())


def test_a_missing_crd_is_said_once_and_waited_for(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        states: list[InformerState] = []
        informer.on_state(states.append)
        world.server.crd = False
        async with world.running(synced=False):
            await asyncio.sleep(30)
            assert not informer.has_synced
            assert informer.state.phase is Phase.MISSING
            assert informer.state.reason == (
                "the server does not know widgets.example.com in version v1: install its CustomResourceDefinition"
            )
            assert 15 <= len(world.server.calls("stream")) <= 60
            assert world.messages("warning") == ["not synced"]
            world.server.crd = True
            await asyncio.wait_for(informer.synced(), 2.1)
            await asyncio.sleep(0.1)
            assert [state.phase for state in states] == [Phase.MISSING, Phase.SYNCED]

    run(main())


def test_a_server_that_restarts_empty_ends_in_a_live_and_correct_view(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        states: list[Phase] = []
        informer.on_state(lambda state: states.append(state.phase))
        for name in ("a", "b", "c"):
            world.server.put(name)
        async with world.running():
            seen: list[tuple[str, str, bool]] = []
            informer.subscribe(lambda event: seen.append((event.type.value, event.entry.uid, event.initial)))
            seen.clear()
            world.server.reachable = False
            world.server.restart_empty(version=5000)
            await asyncio.sleep(20)
            assert informer.state == InformerState(Phase.BROKEN, "connection refused")
            world.server.reachable = True
            await asyncio.sleep(31)
            assert informer.state.phase is Phase.MISSING
            assert seen == []  # unknown is not gone
            world.server.crd = True
            world.server.put("b")
            await asyncio.sleep(3)
            assert informer.live
            assert seen == [
                ("Deleted", "uid-1", False),
                ("Deleted", "uid-3", False),
                ("Deleted", "uid-2", False),
                ("Added", "uid-4", False),
            ]
            world.server.put("c")
            await asyncio.sleep(0.1)
            assert names(world, widget) == ["b", "c"]
            assert states == [Phase.SYNCED, Phase.BROKEN, Phase.MISSING, Phase.SYNCED]

    run(main())


def test_a_server_with_another_history_is_noticed_by_its_lower_versions(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        world.server.put("a")
        async with world.running():
            world.server.objects.clear()
            world.server.log.clear()
            world.server.version = world.server.oldest = 7
            world.server.put("b")
            await asyncio.sleep(1)
            assert names(world, widget) == ["b"]

    run(main())


@pytest.mark.parametrize("code", [401, 403, 500, 503])
def test_a_refusal_is_shown_as_state_until_it_ends(
    run: RunVirtually, world: World, widget: type[Widget], code: int
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.refusal = (code, "not you")
        async with world.running(synced=False):
            await asyncio.sleep(120)
            assert informer.state == InformerState(Phase.BROKEN, "not you")
            assert len(world.server.calls("list")) < 20
            world.server.refusal = None
            await asyncio.sleep(31)
            assert informer.live

    run(main())


def test_a_refused_watch_makes_the_view_no_longer_live(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            world.server.refusal = (403, "no more")
            world.server.end_watches()
            await asyncio.sleep(1)
            assert (informer.has_synced, informer.live) == (True, False)

    run(main())


def test_long_lists_come_in_pages(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        for number in range(2201):
            world.server.put(f"w{number:04}")
        async with world.running():
            assert len(informer) == 2201
            assert [call.get("continue") for call in world.server.calls("list")] == [None, "1000", "2000"]

    run(main())


def test_an_expired_page_means_the_whole_list_at_once(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        for number in range(1200):
            world.server.put(f"w{number:04}")
        world.server.expired_continues = 1
        async with world.running():
            assert len(informer) == 1200
            assert "limit" not in world.server.calls("list")[-1]

    run(main())


def test_a_server_whose_versions_are_no_numbers_is_trouble_not_a_crash(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.put("a")
        world.server.version = "abc"  # type: ignore[assignment]  # that is the point
        async with world.running(synced=False):
            await asyncio.sleep(1)
            assert informer.state.phase is Phase.BROKEN
            assert "resource version 'abc' is no number: this server's objects can't be cached" in informer.state.reason

    run(main())


@pytest.mark.parametrize("streaming", ["no", "yes"])
def test_an_object_whose_metadata_cannot_be_read_hides_no_other(
    run: RunVirtually, world: World, widget: type[Widget], streaming: Literal["no", "yes"]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = streaming
        world.server.put("a")["metadata"]["resourceVersion"] = "abc"
        world.server.put("b")
        async with world.running():
            assert names(world, widget) == ["b"]
            assert informer.live
            assert informer.health.unreadable == 1
            assert world.messages("error") == ["an object's metadata can't be read: it is left out"]

    run(main())


def test_every_outcome_of_every_plan_leads_on() -> None:
    for plan in (Plan(), Plan(list=False), Plan(list=False, failures=3), Plan(pause=Pause.INSTALLATION)):
        for outcome in Outcome:
            after = next_plan(plan, outcome)
            assert 0 <= after.delay(random.Random(0)) <= 30


def test_delays_grow_to_half_a_minute_and_end_with_success() -> None:
    plan, delays = Plan(), []
    for _ in range(12):
        plan = next_plan(plan, Outcome.UNREACHABLE)
        delays.append(plan.delay(random.Random(0)))
    assert delays == sorted(delays)
    assert 0.8 <= delays[0] <= 1.6
    assert 15 <= delays[-1] <= 30
    assert next_plan(plan, Outcome.BROKEN_OFF, lasted=200.0).failures == 1  # it was well for long
    assert next_plan(next_plan(plan, Outcome.LISTED), Outcome.ENDED).delay(random.Random(0)) == 0


def test_a_server_that_ends_each_watch_at_once_is_not_hammered(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            for _ in range(600):
                world.server.end_watches()
                await asyncio.sleep(0.1)
            assert len(world.server.calls("watch")) < 20

    run(main())


def test_what_is_watched_again_only_later_is_not_live_meanwhile(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            for _ in range(5):  # so that the next pause is long
                world.server.end_watches(TransportError("connection reset", may_be_applied=False))
                await asyncio.sleep(35)
            assert informer.live
            world.server.compact()
            world.server.end_watches(TransportError("connection reset", may_be_applied=False))
            await asyncio.sleep(3)
            assert not world.server.watching
            assert not informer.live
            assert "watches keep breaking off" in informer.health.reason
            await asyncio.sleep(40)
            assert informer.live

    run(main())


def test_a_server_that_expires_each_version_at_once_is_not_hammered(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        world.server.oldest = 10**9
        async with world.running(synced=False):
            await asyncio.sleep(60)
            assert len(world.server.calls("list")) < 20

    run(main())


def test_a_cancellation_from_elsewhere_does_not_end_the_watch(
    run: RunVirtually, world: World, widget: type[Widget], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever we wait for with others may be cancelled by one of them."""

    async def main() -> None:
        informer = world.cache.informer(widget)
        async with world.running():
            with monkeypatch.context() as patched:
                patched.setattr(world.server, "request", _cancelled)
                world.server.end_watches(TransportError("connection reset", may_be_applied=False))
                await asyncio.sleep(10)
                assert (informer.live, informer.state.reason) == (False, "CancelledError: not by us")
            world.server.put("a")
            await asyncio.sleep(60)
            assert names(world, widget) == ["a"]
            assert informer.live

    run(main())


async def _cancelled(_: HttpRequest) -> HttpResponse:
    raise asyncio.CancelledError("not by us")


def test_a_refused_watch_comes_back_when_the_server_asked_for_it_and_not_before(
    run: RunVirtually, world: World, widget: type[Widget], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        tried: list[float] = []

        @asynccontextmanager
        async def throttled(_: HttpRequest) -> AsyncIterator[StreamingResponse]:
            tried.append(world.clock.monotonic())
            yield StreamingResponse(429, {"retry-after": "20"}, _nothing())

        async with world.running():
            monkeypatch.setattr(world.server, "stream", throttled)
            world.server.end_watches(TransportError("connection reset", may_be_applied=False))
            await asyncio.sleep(60)
            waits = [after - before for before, after in pairwise(tried)]
            assert waits
            assert all(20 <= wait <= 30 for wait in waits)

    run(main())


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


def test_who_fails_when_told_of_the_state_does_not_end_the_watch(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)

        def failing(_: InformerState) -> None:
            raise RuntimeError("a bug")

        async with world.running():
            informer.on_state(failing)
            world.server.refusal = (403, "no more")
            world.server.end_watches(TransportError("connection reset", may_be_applied=False))
            await asyncio.sleep(10)
            world.server.refusal = None
            world.server.put("a")
            await asyncio.sleep(60)
            assert names(world, widget) == ["a"]
            assert "a watcher of the state failed" in world.messages("error")

    run(main())
