"""Random faults, writes of others and own writes, for minutes of virtual time; then a quiet while."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Literal

import pytest

from kubewright.api import ApiError, ObjectMeta
from kubewright.cache import Event, EventType
from kubewright.client import TransportError

if TYPE_CHECKING:
    from tests.unit.cache.conftest import FakeServer, RunVirtually, Widget, World


class Follower:
    """Knows what it was told, and refuses what makes no sense."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def __call__(self, event: Event[Widget]) -> None:
        name, uid = event.entry.name, event.entry.uid
        match event.type:
            case EventType.ADDED:
                assert name not in self.known
                self.known[name] = uid
            case EventType.MODIFIED:
                assert self.known[name] == uid
            case EventType.DELETED:
                assert self.known.pop(name) == uid


def misbehave(server: FakeServer, rng: random.Random) -> None:
    match rng.choice(
        ["end", "break", "garble", "compact", "unreachable", "sick", "crd", "bookmark", "restart", "", ""]
    ):
        case "end":
            server.end_watches()
        case "break":
            server.end_watches(TransportError("reset", may_be_applied=False))
        case "garble":
            server.say(b"<html>\n")
        case "compact":
            server.compact()
        case "unreachable":
            server.reachable = not server.reachable
        case "sick":
            server.refusal = None if server.refusal else (500, "sick")
        case "crd":
            server.crd = not server.crd
        case "bookmark":
            server.bookmark()
        case "restart" if rng.random() < 0.3:
            server.restart_empty(version=server.version + 10_000)


def write_as_others(server: FakeServer, rng: random.Random, name: str) -> None:
    if rng.random() < 0.7 or ("ns", name) not in server.objects:
        server.put(name, size=rng.randrange(100))
    else:
        server.remove(name)


async def write_and_read(world: World, kind: type[Widget], rng: random.Random, name: str) -> None:
    informer = world.cache.informer(kind)
    obj = kind(metadata=ObjectMeta(name=name, namespace="ns"))
    obj.spec.size = rng.randrange(100)
    try:
        if rng.random() < 0.3 and (known := informer.get("ns", name)) is not None:
            await world.client.delete(known)
            entry = informer.entry("ns", name)
            assert entry is None or entry.uid != known.uid
        else:
            made = await world.client.apply(obj)
            entry = informer.entry("ns", name)
            if entry is None:  # someone deleted it while the answer was on its way
                latest = world.server.objects.get(("ns", name))
                assert latest is None or latest["metadata"]["resourceVersion"] != made.metadata.resource_version
            else:
                assert entry.resource_version >= int(made.metadata.resource_version or 0)
    except (TransportError, ApiError):
        pass  # the server is having one of its moments


@pytest.mark.parametrize("streaming", ["yes", "no"])
@pytest.mark.parametrize("seed", range(12))
def test_whatever_goes_wrong_the_view_ends_as_the_server_is(
    run: RunVirtually, world: World, widget: type[Widget], seed: int, streaming: Literal["yes", "no"]
) -> None:
    async def main() -> None:
        rng = random.Random(seed)
        server, follower, reader = world.server, Follower(), Follower()
        informer = world.cache.informer(widget, indexes={"size": lambda obj: [str(obj.spec.size % 7)]})
        server.streaming = streaming
        informer.subscribe(follower)

        async def read_slowly() -> None:
            with informer.feed() as feed:
                async for event in feed:
                    reader(event)
                    await asyncio.sleep(rng.expovariate(0.3))

        reading = asyncio.create_task(read_slowly())
        server.answer_delay = lambda: rng.choice([0.0, rng.uniform(0.0, 3.0)])
        async with world.running(synced=False), asyncio.TaskGroup() as writers:
            for _ in range(600):
                await asyncio.sleep(rng.expovariate(2))
                if rng.random() < 0.3:
                    misbehave(server, rng)
                name = rng.choice("abcdef")
                if rng.random() < 0.5:
                    writers.create_task(write_and_read(world, widget, rng, name))
                else:
                    write_as_others(server, rng, name)
            server.reachable = server.crd = True
            server.refusal = None
            await asyncio.sleep(60)
            for _ in range(600):  # from then on it stays as it is, through watches that end as they should
                await asyncio.sleep(1)
                assert informer.live
            expected = {key[1]: obj["metadata"]["resourceVersion"] for key, obj in server.objects.items()}
            assert {entry.name: str(entry.resource_version) for entry in informer.entries()} == expected
            assert set(follower.known) == set(reader.known) == set(expected)
            for value in range(7):
                found = [obj.name for obj in informer.list(index=("size", str(value)))]
                assert found == [obj.name for obj in informer.list() if obj.spec.size % 7 == value]
            reading.cancel()
            assert world.messages("error") == []

    run(main())
