"""Lists that come as the beginning of a watch, and what is done where they don't. In virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from kubewright.api import Resource, resource
from kubewright.cache import InformerState, Phase
from kubewright.client import HttpRequest, StreamingResponse, TransportError

if TYPE_CHECKING:
    from tests.unit.cache.conftest import RunVirtually, Widget, World


@resource("example.com/v1")
class Gadget(Resource):
    """Another kind of the same group."""


def names(world: World, kind: type[Widget]) -> list[str]:
    return [entry.name for entry in world.cache.informer(kind).entries()]


def test_one_request_brings_the_list_and_what_comes_after(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "yes"
        world.server.put("a")
        world.server.put("b")
        async with world.running():
            assert informer.state == InformerState(Phase.SYNCED)
            world.server.put("c")
            world.server.remove("a")
            await asyncio.sleep(0.01)
            assert names(world, widget) == ["b", "c"]
            assert [len(world.server.calls(kind)) for kind in ("stream", "list", "watch")] == [1, 0, 0]
            asked = world.server.calls("stream")[0]
            assert (asked["sendInitialEvents"], asked["resourceVersionMatch"]) == ("true", "NotOlderThan")
            assert asked["allowWatchBookmarks"] == "true"
            assert "resourceVersion" not in asked

    run(main())


def test_a_streaming_list_that_ends_is_watched_on_from_where_it_was(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        world.server.streaming = "yes"
        world.server.put("a")
        async with world.running():
            await asyncio.sleep(2)
            world.server.end_watches()
            world.server.put("b")
            await asyncio.sleep(1)
            assert names(world, widget) == ["a", "b"]
            assert len(world.server.calls("stream")) == 1
            assert [call["resourceVersion"] for call in world.server.calls("watch")] == ["101"]

    run(main())


def test_what_changes_while_the_list_comes_is_in_it(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "yes"
        world.server.answer_delay = lambda: 1.0
        for name in ("a", "b", "c"):
            world.server.put(name)
        async with world.running(synced=False):
            await asyncio.sleep(1.5)
            assert (len(informer), informer.has_synced) == (0, False)  # half a list is none
            world.server.put("a", size=7)
            world.server.remove("b")
            await asyncio.sleep(5)
            assert [(obj.name, obj.spec.size) for obj in informer.list()] == [("a", 7), ("c", 0)]

    run(main())


def test_changes_between_the_first_event_and_the_end_of_the_list_are_taken(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "endless"
        a, b = world.server.put("a"), world.server.put("b")
        async with world.running(synced=False):
            await asyncio.sleep(0.1)
            world.server.send("MODIFIED", {**a, "spec": {"size": 3}})
            world.server.send("DELETED", b)
            world.server.send(
                "BOOKMARK",
                {"metadata": {"resourceVersion": "200", "annotations": {"k8s.io/initial-events-end": "true"}}},
            )
            await asyncio.sleep(0.1)
            assert [(obj.name, obj.spec.size) for obj in informer.list()] == [("a", 3)]
            assert informer.live

    run(main())


def test_a_list_that_is_read_anew_changes_the_view_at_once_and_tells_only_differences(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "yes"
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
            await asyncio.sleep(300)
            assert seen == [("Deleted", "b"), ("Modified", "a"), ("Added", "d")]
            assert informer.live
            assert informer.health.relists == 1

    run(main())


def test_a_server_without_them_is_asked_once_for_all_kinds_of_a_group(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        world.cache.informer(widget)
        async with world.running():
            assert [len(world.server.calls(kind)) for kind in ("stream", "list", "watch")] == [1, 1, 1]
            world.cache.add(Gadget)
            await asyncio.sleep(1)
            assert [len(world.server.calls(kind)) for kind in ("stream", "list", "watch")] == [1, 2, 2]

    run(main())


def test_a_list_whose_end_is_not_told_is_given_up_and_never_tried_again(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "endless"
        world.server.put("a")
        async with world.running(synced=False):
            await asyncio.sleep(9)
            assert not informer.has_synced
            await asyncio.sleep(2)
            assert informer.live
            assert names(world, widget) == ["a"]
            assert world.messages("warning") == [
                "the server accepts streaming lists and does not tell their end: listing in pages from now on"
            ]
            world.server.compact()
            world.server.end_watches(TransportError("reset", may_be_applied=False))
            await asyncio.sleep(60)
            assert informer.live
            assert len(world.server.calls("stream")) == 1

    run(main())


def test_a_slow_list_is_not_taken_for_one_without_an_end(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "yes"
        world.server.answer_delay = lambda: 8.0
        for name in "abcdef":
            world.server.put(name)
        async with world.running(synced=False):
            await asyncio.sleep(60)
            assert informer.live
            assert len(world.server.calls("list")) == 0

    run(main())


def test_a_server_that_is_slow_to_answer_has_streaming_lists_all_the_same(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming, world.server.opening_delay = "yes", 12.0
        world.server.put("a")
        async with world.running(synced=False):
            await asyncio.sleep(20)
            assert (informer.live, world.messages("warning"), world.server.calls("list")) == (True, [], [])

    run(main())


def test_a_list_that_breaks_off_is_begun_anew_and_after_some_in_pages(
    run: RunVirtually, world: World, widget: type[Widget]
) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "endless"
        world.server.put("a")
        async with world.running(synced=False):
            for _ in range(20):
                await asyncio.sleep(0.2)
                world.server.end_watches()
            await asyncio.sleep(40)
            assert informer.live
            assert len(world.server.calls("stream")) == 2
            assert len(world.server.calls("list")) == 1

    run(main())


def test_a_large_list_lets_others_run_in_between(run: RunVirtually, world: World, widget: type[Widget]) -> None:
    async def main() -> None:
        informer = world.cache.informer(widget)
        world.server.streaming = "yes"
        for number in range(3000):
            world.server.put(f"w{number:04}")
        rounds, arrived = 0, asyncio.Event()

        async def others() -> None:
            nonlocal rounds
            await arrived.wait()  # from here on no time passes, only turns
            while not informer.has_synced:
                rounds += 1
                await asyncio.sleep(0)

        told = 0

        def count(_: object) -> None:
            nonlocal told
            told += 1

        informer.subscribe(count)
        stream = world.server.stream
        world.server.stream = in_one_chunk(stream, arrived)  # type: ignore[method-assign]  # as a fast network brings it
        async with world.running(synced=False):
            await asyncio.gather(others(), informer.synced())
            assert told == 3000
            assert rounds > 3000 // 256 + 3000 // 200 - 2

    run(main())


def in_one_chunk(stream: Any, arrived: asyncio.Event) -> Any:
    @asynccontextmanager
    async def joined(request: HttpRequest) -> AsyncIterator[StreamingResponse]:
        async with stream(request) as response:

            async def chunks() -> AsyncIterator[bytes]:
                whole = b""
                async for chunk in response.chunks:
                    whole += chunk
                    if b"initial-events-end" in whole:
                        break
                arrived.set()
                yield whole
                await asyncio.sleep(1000)

            yield StreamingResponse(response.status, response.headers, chunks())

    return joined
