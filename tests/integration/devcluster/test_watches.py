"""Watches: order, resumption, selectors, bookmarks, and readers that fall behind."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

from kubewright.api import LoopClock
from kubewright.client.transport import HttpRequest, StreamingResponse
from kubewright.devcluster.api_server import ApiServer
from kubewright.testing.virtual_time import run_in_virtual_time

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def types_and_names(events: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    return [(type_, obj["metadata"]["name"]) for type_, obj in events]


async def test_a_watch_from_a_list_sees_all_that_follows_in_order(api: Any) -> None:
    api.post(CONFIG_MAPS, config_map("before"))
    version = api.get(CONFIG_MAPS).version
    api.post(CONFIG_MAPS, config_map("a"))
    api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})
    api.delete(f"{CONFIG_MAPS}/before")
    events = await api.events(CONFIG_MAPS, 3, resourceVersion=version)
    assert types_and_names(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "before")]
    revisions = [int(obj["metadata"]["resourceVersion"]) for _, obj in events]
    assert revisions == sorted(set(revisions))
    assert revisions[-1] == api.server.store.revision


async def test_a_watch_without_a_revision_begins_with_what_is_there(api: Any) -> None:
    api.post(CONFIG_MAPS, config_map("a"))
    chunks = api.watch(CONFIG_MAPS)
    assert json.loads(await anext(chunks))["type"] == "ADDED"
    following = asyncio.ensure_future(anext(chunks))
    await asyncio.sleep(0)
    api.post(CONFIG_MAPS, config_map("b"))
    assert json.loads(await following)["object"]["metadata"]["name"] == "b"
    await chunks.aclose()


async def test_an_object_comes_and_goes_as_it_matches_the_selector(api: Any) -> None:
    version = api.get(CONFIG_MAPS).version
    path = f"{CONFIG_MAPS}/a"
    api.post(CONFIG_MAPS, config_map("a", tier="x"))
    api.patch(path, {"metadata": {"labels": {"tier": "y"}}})
    api.patch(path, {"metadata": {"labels": {"tier": "x"}}})
    api.patch(path, {"data": {"k": "v"}})
    api.delete(path)
    events = await api.events(CONFIG_MAPS, 5, resourceVersion=version, labelSelector="tier=x")
    assert [type_ for type_, _ in events] == ["ADDED", "DELETED", "ADDED", "MODIFIED", "DELETED"]
    left = events[1][1]["metadata"]
    assert left["labels"] == {"tier": "x"}, "the state in which it last matched"
    assert left["resourceVersion"] == str(int(version) + 2), "and the revision in which it left"
    others = await api.events(
        CONFIG_MAPS, 2, resourceVersion=version, fieldSelector="metadata.name=a", labelSelector="tier=y"
    )
    assert [type_ for type_, _ in others] == ["ADDED", "DELETED"]


async def test_a_revision_that_is_forgotten_asks_the_client_to_list(make_server: Any) -> None:
    api = make_server(first_revision=100)
    version = api.get(CONFIG_MAPS).version
    api.post(CONFIG_MAPS, config_map("a"))
    api.server.store.compact(api.server.store.revision)
    for revision in (version, "5"):
        ((type_, status),) = await api.events(CONFIG_MAPS, 1, resourceVersion=revision)
        assert (type_, status["code"], status["reason"]) == ("ERROR", 410, "Expired")


async def test_a_revision_of_the_future_is_waited_for(make_server: Any) -> None:
    api = make_server(first_revision=100)
    version = api.server.store.revision + 1
    chunks = api.watch(CONFIG_MAPS, resourceVersion=str(version))
    following = asyncio.ensure_future(anext(chunks))
    await asyncio.sleep(0)
    api.post(CONFIG_MAPS, config_map("a"))
    await asyncio.sleep(0)
    api.post(CONFIG_MAPS, config_map("b"))
    assert json.loads(await following)["object"]["metadata"]["name"] == "b"
    await chunks.aclose()


async def test_a_restarted_server_is_ahead_of_the_revisions_it_gave_before(make_server: Any) -> None:
    first = make_server()
    for name in "abc":
        first.post(CONFIG_MAPS, config_map(name))
    version = first.get(CONFIG_MAPS).version
    first.clock.move(1)
    second = make_server()
    assert int(second.get(CONFIG_MAPS).version) > int(version)
    ((type_, status),) = await second.events(CONFIG_MAPS, 1, resourceVersion=version)
    assert (type_, status["code"]) == ("ERROR", 410)


async def test_a_reader_that_does_not_read_holds_nobody_up(make_server: Any) -> None:
    api = make_server(retained=20)
    slow = api.watch(CONFIG_MAPS, resourceVersion=api.get(CONFIG_MAPS).version)
    api.post(CONFIG_MAPS, config_map("first"))
    assert json.loads(await anext(slow))["object"]["metadata"]["name"] == "first"
    quick = api.watch(CONFIG_MAPS, resourceVersion=api.get(CONFIG_MAPS).version)
    for number in range(60):
        api.post(CONFIG_MAPS, config_map(f"c{number}"))
        assert json.loads(await anext(quick))["object"]["metadata"]["name"] == f"c{number}"
    assert json.loads(await anext(slow))["object"]["code"] == 410
    with pytest.raises(StopAsyncIteration):
        await anext(slow)
    await quick.aclose()


async def test_a_quiet_watch_survives_the_writes_of_others(make_server: Any) -> None:
    api = make_server(retained=20)
    quiet = api.watch("/api/v1/namespaces/default/secrets")
    following = asyncio.ensure_future(anext(quiet))
    await asyncio.sleep(0)
    for number in range(60):
        api.post(CONFIG_MAPS, config_map(f"c{number}"))
    await asyncio.sleep(0)
    api.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}})
    assert json.loads(await following)["type"] == "ADDED"
    await quiet.aclose()


async def test_only_the_first_table_of_a_watch_has_columns(api: Any) -> None:
    api.post(CONFIG_MAPS, config_map("a"))
    api.post(CONFIG_MAPS, config_map("b"))
    chunks = api.watch(CONFIG_MAPS, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    tables = [json.loads(line)["object"] for line in (await anext(chunks)).splitlines()]
    assert tables[0]["columnDefinitions"]
    assert tables[1]["columnDefinitions"] is None
    assert [table["rows"][0]["cells"][0] for table in tables] == ["a", "b"]
    await chunks.aclose()


async def test_initial_events_end_with_a_bookmark_when_asked(api: Any) -> None:
    api.post(CONFIG_MAPS, config_map("a"))
    events = await api.events(
        CONFIG_MAPS, 2, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true"
    )
    assert [type_ for type_, _ in events] == ["ADDED", "BOOKMARK"]
    assert events[1][1]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert events[1][1]["metadata"]["resourceVersion"] == str(api.server.store.revision)


async def test_the_watches_of_a_kind_end_with_its_definition(databases: Any, samples: Any) -> None:
    chunks = databases.watch(samples.databases)
    following = asyncio.ensure_future(anext(chunks, None))
    await asyncio.sleep(0)
    databases.delete(f"{samples.definitions}/databases.apps.example.com")
    assert await following is None


def test_bookmarks_and_time_outs_follow_the_loops_clock() -> None:
    async def main() -> list[tuple[float, str]]:
        server = ApiServer(clock=LoopClock(), rng=random.Random(1))
        loop = asyncio.get_running_loop()
        query = (("watch", "1"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", "300"))
        answer = server.answer(HttpRequest("GET", CONFIG_MAPS, query))
        assert isinstance(answer, StreamingResponse)

        async def write() -> None:
            await asyncio.sleep(100)
            server.answer(HttpRequest("POST", "/api/v1/namespaces", (), {}, b'{"metadata":{"name":"x"}}'))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(write())
            start = loop.time()
            seen = [(loop.time() - start, json.loads(chunk)["type"]) async for chunk in answer.chunks]
        return [*seen, (loop.time() - start, "end")]

    # one a minute, and one just before the end
    bookmarks = [(moment, "BOOKMARK") for moment in (0.0, 60.0, 120.0, 180.0, 240.0, 298.0)]
    assert run_in_virtual_time(main) == [*bookmarks, (300.0, "end")]
