"""Streaming lists: a watch that begins with all that is there, and says when that is told."""

from __future__ import annotations

from tests.conformance.cases.tables import PARTIAL, TABLE, ageless_events
from tests.conformance.listing import labelled, widgets
from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import World

STREAM = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
SOON = {"timeoutSeconds": "1"}


@case("watch", given="two objects, the first written last", body="sendInitialEvents")
async def stream(w: World) -> None:
    await widgets(w, "b", "a")
    await w.merge(f"{WIDGETS}/b", {"spec": {"size": 2}})
    async with w.watch(WIDGETS, STREAM) as events:
        await events.take(3, label="what is there")
        await w.create(WIDGETS, widget("c"))
        await w.delete(f"{WIDGETS}/a")
        await events.take(2, label="what comes")


@case("watch", given="no objects", body="sendInitialEvents")
async def stream_of_nothing(w: World) -> None:
    async with w.watch(WIDGETS, STREAM) as events:
        await events.take(1, label="what is there")


@case("watch", given="two objects", body="sendInitialEvents, resourceVersion=0")
async def stream_at_any(w: World) -> None:
    await widgets(w, "a", "b")
    async with w.watch(WIDGETS, {**STREAM, "resourceVersion": "0"}) as events:
        await events.take(3, label="what is there")


@case("watch", given="an object came after it", body="sendInitialEvents, resourceVersion of the past")
async def stream_at_past(w: World) -> None:
    old, *_ = await widgets(w, "a", "b")
    async with w.watch(WIDGETS, {**STREAM, "resourceVersion": old.version}) as events:
        await events.take(3, label="what is there")


@case("watch", given="objects that match among others", body="sendInitialEvents, labelSelector")
async def stream_selected(w: World) -> None:
    await w.create(WIDGETS, labelled("a", {"team": "x"}))
    await w.create(WIDGETS, labelled("b", {"team": "y"}))
    async with w.watch(WIDGETS, {**STREAM, "labelSelector": "team=y"}) as events:
        await events.take(2, label="what is there")


@case("watch", given="an object", body="sendInitialEvents, as Table and as metadata")
async def stream_in_forms(w: World) -> None:
    await widgets(w, "a")
    for label, headers in (("table", TABLE), ("metadata", PARTIAL)):
        async with w.watch(WIDGETS, STREAM, headers=headers) as events:
            taken = await events.take(2)
        w.transcript.add(label, events=ageless_events(taken))


@case("watch", given="an object", body="sendInitialEvents without bookmarks")
async def stream_without_bookmarks(w: World) -> None:
    await widgets(w, "a")
    query = {**STREAM, **SOON, "allowWatchBookmarks": "false"}
    async with w.watch(WIDGETS, query) as events:
        await events.rest(label="events")


@case("watch", given="an object came after it", body="sendInitialEvents=false")
async def stream_refused(w: World) -> None:
    old, *_ = await widgets(w, "a", "b")
    start = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan", **SOON}
    for label, version in (("past", old.version), ("any", "0"), ("unset", "")):
        async with w.watch(WIDGETS, {**start, "resourceVersion": version}) as events:
            await events.rest(label=label)


@case("watch", given="an object", body="resourceVersion=0, allowWatchBookmarks")
async def legacy_stream(w: World) -> None:
    await widgets(w, "a")
    for version in ("0", ""):
        query = {"resourceVersion": version, "allowWatchBookmarks": "true"}
        async with w.watch(WIDGETS, query) as events:
            await events.take(2, label=f"resourceVersion={version}")


@case("watch", given="no such version yet", body="sendInitialEvents, resourceVersion of the future")
async def stream_at_future(w: World) -> None:
    await widgets(w, "a")
    query = {"watch": "true", **STREAM, "resourceVersion": w.future(), **SOON}
    await w.get(WIDGETS, query=query, label="watch")


@case("watch", given="an object", body="sendInitialEvents and resourceVersionMatch that don't go together")
async def stream_invalid(w: World) -> None:
    await widgets(w, "a")
    for query in (
        {"sendInitialEvents": "true"},
        {"sendInitialEvents": "false"},
        {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
        {"sendInitialEvents": "true", "resourceVersionMatch": "Newest"},
        {"resourceVersionMatch": "NotOlderThan"},
        {"resourceVersionMatch": "Exact", "resourceVersion": "1"},
        {"resourceVersionMatch": "Newest"},
        {**STREAM, "resourceVersion": "x"},
        {**STREAM, "continue": "x"},
        {**STREAM, "limit": "1"},
    ):
        label = "&".join(f"{key}={value}" for key, value in query.items())
        answer = await w.get(WIDGETS, query={"watch": "true", **SOON, **query})
        body = answer.body if answer.status != 200 else "a stream"
        w.transcript.add_answer(label, answer.status, answer.headers, body)
