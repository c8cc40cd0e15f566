"""Watches: where they begin, what they tell and how they end."""

from __future__ import annotations

from typing import Any

import yaml

from tests.conformance.cases.tables import PARTIAL, TABLE, ageless_events
from tests.conformance.listing import caught_up, labelled, widgets
from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import World

ALL_WIDGETS = f"/apis/{GROUP}/v1/widgets"
CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
SOON = {"timeoutSeconds": "1"}


async def _now(w: World) -> str:
    """The resource version of now."""
    return (await w.get(WIDGETS)).version


@case("watch", given="a resource version of now", body="create, update, status, delete")
async def from_now(w: World) -> None:
    async with w.watch(WIDGETS, {"resourceVersion": await _now(w)}) as events:
        await w.create(WIDGETS, widget("a"))
        await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
        await w.merge(f"{WIDGETS}/a/status", {"status": {"ready": 1}})
        await w.delete(f"{WIDGETS}/a")
        await events.take(4, label="events")


@case("watch", given="a resource version before three writes", body="resourceVersion")
async def from_past(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
    await w.create(WIDGETS, widget("b"))
    await w.delete(f"{WIDGETS}/a")
    async with w.watch(WIDGETS, {"resourceVersion": old.version, **SOON}) as events:
        await events.rest(label="events")


@case("watch", given="two objects, the first written last", body="no resourceVersion")
async def from_unset(w: World) -> None:
    await widgets(w, "b", "a")
    await w.merge(f"{WIDGETS}/b", {"spec": {"size": 2}})
    await caught_up(w)
    async with w.watch(WIDGETS) as events:
        await events.take(2, label="what is there")
        await w.create(WIDGETS, widget("c"))
        await events.take(1, label="what comes")


@case("watch", given="two objects", body="resourceVersion=0")
async def from_any(w: World) -> None:
    await widgets(w, "b", "a")
    async with w.watch(WIDGETS, {"resourceVersion": "0"}) as events:
        await events.take(2, label="what is there")
        await w.delete(f"{WIDGETS}/a")
        await events.take(1, label="what comes")


@case("watch", given="no objects", body="no resourceVersion, timeoutSeconds=1")
async def from_unset_nothing(w: World) -> None:
    async with w.watch(WIDGETS, SOON) as events:
        await events.rest(label="events")


@case("watch", given="that version is not known any more", body="resourceVersion=1")
async def from_expired(w: World) -> None:
    await widgets(w, "a")
    async with w.watch(WIDGETS, {"resourceVersion": "1", **SOON}) as events:
        await events.rest(label="events")


@case("watch", given="no such version yet", body="resourceVersion of the future")
async def from_future(w: World) -> None:
    await widgets(w, "a")
    async with w.watch(WIDGETS, {"resourceVersion": w.future(), **SOON}) as events:
        await w.create(WIDGETS, widget("b"))
        await events.rest(label="events")


@case("watch", given="an object", body="resourceVersions that are none")
async def from_nonsense(w: World) -> None:
    await widgets(w, "a")
    for version in ("x", "-1"):
        await w.get(WIDGETS, query={"watch": "true", "resourceVersion": version, **SOON}, label=version)


@case("watch", given="writes that change nothing", body="a no-op patch, dry runs, a refused create")
async def nothing_happened(w: World) -> None:
    await widgets(w, "a")
    async with w.watch(WIDGETS, {"resourceVersion": await _now(w)}) as events:
        await w.merge(f"{WIDGETS}/a", {"spec": {"size": 1}})
        await w.create(WIDGETS, widget("b"), query={"dryRun": "All"})
        await w.delete(f"{WIDGETS}/a", query={"dryRun": "All"})
        await w.create(WIDGETS, widget("a"))
        await w.create(WIDGETS, widget("c"))
        await events.take(1, label="events")


@case("watch", given="an object with a finalizer", body="delete, then the finalizer's removal")
async def delete_held(w: World) -> None:
    held = widget("a")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    made = await w.create(WIDGETS, held)
    async with w.watch(WIDGETS, {"resourceVersion": made.version}) as events:
        await w.delete(f"{WIDGETS}/a")
        await w.merge(f"{WIDGETS}/a", {"metadata": {"finalizers": None}})
        await events.take(2, label="events")


@case("watch", given="three objects", body="deletecollection")
async def delete_collection(w: World) -> None:
    await widgets(w, "c", "a", "b")
    async with w.watch(WIDGETS, {"resourceVersion": await _now(w)}) as events:
        await w.delete(WIDGETS, query={"fieldSelector": "metadata.name!=b"})
        await events.take(2, label="events")


@case("watch", given="objects in and out of the selector", body="labelSelector: into it, within it, out of it")
async def label_transitions(w: World) -> None:
    await w.create(WIDGETS, labelled("in", {"team": "x"}))
    await w.create(WIDGETS, labelled("out", {"team": "y"}))
    query = {"resourceVersion": await _now(w), "labelSelector": "team=x"}
    async with w.watch(WIDGETS, query) as events:
        await w.merge(f"{WIDGETS}/out", {"metadata": {"labels": {"team": "x"}}})
        await w.merge(f"{WIDGETS}/out", {"spec": {"size": 7}})
        await w.merge(f"{WIDGETS}/in", {"metadata": {"labels": {"team": "z"}}, "spec": {"size": 9}})
        await w.merge(f"{WIDGETS}/in", {"spec": {"size": 10}})
        await w.delete(f"{WIDGETS}/in")
        await w.delete(f"{WIDGETS}/out")
        await events.take(4, label="events")


@case("watch", given="objects in and out of the selector", body="fieldSelector: into it, within it, out of it")
async def field_transitions(w: World) -> None:
    await w.create(WIDGETS, widget("in", colour="blue"))
    await w.create(WIDGETS, widget("out", colour="red"))
    query = {"resourceVersion": await _now(w), "fieldSelector": "spec.colour=blue"}
    async with w.watch(WIDGETS, query) as events:
        await w.merge(f"{WIDGETS}/out", {"spec": {"colour": "blue"}})
        await w.merge(f"{WIDGETS}/in", {"spec": {"colour": "green"}})
        await w.delete(f"{WIDGETS}/out")
        await events.take(3, label="events")


@case("watch", given="objects that match among others", body="no resourceVersion, labelSelector")
async def selected_from_unset(w: World) -> None:
    await w.create(WIDGETS, labelled("a", {"team": "x"}))
    await w.create(WIDGETS, labelled("b", {"team": "y"}))
    async with w.watch(WIDGETS, {"labelSelector": "team=x", **SOON}) as events:
        await events.rest(label="events")


@case("watch", given="two objects", body="fieldSelector: metadata.name")
async def one_name(w: World) -> None:
    await widgets(w, "a", "b")
    query = {"resourceVersion": await _now(w), "fieldSelector": "metadata.name=b"}
    async with w.watch(WIDGETS, query) as events:
        await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
        await w.merge(f"{WIDGETS}/b", {"spec": {"size": 3}})
        await w.delete(f"{WIDGETS}/b")
        await events.take(2, label="events")


@case("watch", given="objects in this namespace and others", body="all namespaces, labelSelector")
async def all_namespaces(w: World) -> None:
    query = {"resourceVersion": await _now(w), "labelSelector": f"case={w.namespace}"}
    async with w.watch(ALL_WIDGETS, query) as events:
        await w.create(WIDGETS, labelled("a", {"case": w.namespace}))
        await w.create(WIDGETS, widget("b"))
        await w.delete(f"{WIDGETS}/a")
        await events.take(2, label="events")


@case("watch", given="an object", body="selectors that can't be")
async def bad_selectors(w: World) -> None:
    for query in ({"labelSelector": "a in b"}, {"fieldSelector": "spec.size=1"}, {"fieldSelector": "x"}):
        label = "&".join(f"{key}={value}" for key, value in query.items())
        await w.get(WIDGETS, query={"watch": "true", **SOON, **query}, label=label)


@case("watch", given="an object", body="timeoutSeconds")
async def timeouts(w: World) -> None:
    made, *_ = await widgets(w, "a")
    start = {"watch": "true", "resourceVersion": made.version}
    for timeout in ("1", "x", "", "1.5"):
        await w.get(WIDGETS, query={**start, "timeoutSeconds": timeout}, label=f"timeoutSeconds={timeout}")


@case("watch", given="an object", body="values of watch")
async def spellings(w: World) -> None:
    made, *_ = await widgets(w, "a")
    for value in ("1", "true", "TRUE", "", "yes", "0", "false", "False"):
        answer = await w.get(WIDGETS, query={"watch": value, "resourceVersion": made.version, **SOON})
        kind = answer.body["kind"] if isinstance(answer.body, dict) else answer.body
        w.transcript.add(f"watch={value}", status=answer.status, type=answer.headers["content-type"], kind=kind)


@case("watch", given="an object", body="options of lists: limit, continue")
async def list_options(w: World) -> None:
    made, *_ = await widgets(w, "a", "b")
    start = {"watch": "true", "resourceVersion": made.version, **SOON}
    await w.get(WIDGETS, query={**start, "limit": "1"}, label="limit")
    await w.get(WIDGETS, query={**start, "continue": "x"}, label="continue")
    await w.get(WIDGETS, query={**start, "pretty": "true"}, label="pretty")


@case("watch", given="an object", body="as Table")
async def as_table(w: World) -> None:
    await widgets(w, "a")
    async with w.watch(WIDGETS, headers=TABLE) as events:
        await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
        await w.delete(f"{WIDGETS}/a")
        taken = await events.take(3)
    w.transcript.add("events", status=events.status, events=ageless_events(taken))


@case("watch", given="an object", body="as Table, includeObject=None and Object")
async def as_table_including(w: World) -> None:
    await widgets(w, "a")
    for include in ("None", "Object"):
        async with w.watch(WIDGETS, {"includeObject": include}, headers=TABLE) as events:
            taken = await events.take(1)
        w.transcript.add(include, status=events.status, events=ageless_events(taken))


@case("watch", given="an object", body="as PartialObjectMetadata")
async def as_metadata(w: World) -> None:
    await widgets(w, "a")
    async with w.watch(WIDGETS, headers=PARTIAL) as events:
        await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}})
        await w.delete(f"{WIDGETS}/a")
        await events.take(3, label="events")


@case("watch", given="an object", body="Accept: what watches can't be had in")
async def unacceptable(w: World) -> None:
    made, *_ = await widgets(w, "a")
    start = {"watch": "true", "resourceVersion": made.version, **SOON}
    for accept in (
        "application/yaml",
        "text/html",
        "application/json;stream=watch",
        "application/yaml,application/json",
    ):
        answer = await w.get(WIDGETS, query=start, headers={"accept": accept})
        body = yaml.safe_load(answer.text) if answer.headers["content-type"] == "application/yaml" else answer.body
        w.transcript.add(accept, status=answer.status, type=answer.headers["content-type"], body=body)


@case(
    "watch", given="an object, another one written since", body="allowWatchBookmarks, fieldSelector, timeoutSeconds=4"
)
async def bookmarks(w: World) -> None:
    """A server promises no bookmark: the real one sends none of a kind of which it has seen no write since it began."""
    made, *_ = await widgets(w, "a")
    query = {"resourceVersion": made.version, "allowWatchBookmarks": "true", "timeoutSeconds": "4"}
    async with w.watch(WIDGETS, {**query, "fieldSelector": "metadata.name=a"}) as events:
        await widgets(w, "b")
        taken = await events.rest()
    w.transcript.add("the kinds of events", kinds=sorted({event["type"] for event in taken}))
    w.transcript.add("the last bookmark", events=taken[-1:])


@case("watch", given="an object", body="bookmarks not asked for, timeoutSeconds=4")
async def no_bookmarks(w: World) -> None:
    made, *_ = await widgets(w, "a")
    query = {"resourceVersion": made.version, "allowWatchBookmarks": "false", "timeoutSeconds": "4"}
    async with w.watch(WIDGETS, query) as events:
        await events.rest(label="events")


@case("watch", given="a config map", body="the older paths", truth=("1.20", "1.36"))
async def older_paths(w: World) -> None:
    made = await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"own": w.namespace}}, "data": {"x": "1"}})
    await w.create(CONFIG_MAPS, {"metadata": {"name": "b", "labels": {"own": w.namespace}}, "data": {"x": "1"}})
    start = {"resourceVersion": made.version, **SOON}
    for path in (
        "namespaces/{ns}/configmaps",
        "namespaces/{ns}/configmaps/b",
        "namespaces/{ns}/configmaps/a",
        "configmaps",
    ):
        answer = await w.get(f"/api/v1/watch/{path}", query={**start, "labelSelector": f"own={w.namespace}"})
        found = (
            [(answer["type"], answer["object"]["metadata"]["name"])] if isinstance(answer.body, dict) else answer.body
        )
        w.transcript.add(path, status=answer.status, found=found)


@case("watch", given="a widget", body="the older paths")
async def older_paths_custom(w: World) -> None:
    made, *_ = await widgets(w, "a", "b")
    start = {"resourceVersion": made.version, **SOON}
    for path in ("namespaces/{ns}/widgets", "namespaces/{ns}/widgets/b", "namespaces/{ns}/widgets/a"):
        await w.get(f"/apis/{GROUP}/v1/watch/{path}", query=start, label=path)


@case("watch", given="a widget", body="get of a name with watch=true")
async def watch_of_get(w: World) -> None:
    made, *_ = await widgets(w, "a", "b")
    query = {"watch": "true", "resourceVersion": made.version, **SOON}
    await w.get(f"{WIDGETS}/b", query=query, label="get")


@case("watch", given="a resource that is not there", body="watch=true")
async def missing_kind(w: World) -> None:
    await w.get(f"/apis/{GROUP}/v1/namespaces/{{ns}}/nothings", query={"watch": "true"}, label="watch")
    async with w.watch(f"/apis/{GROUP}/v1/namespaces/none/widgets", SOON) as events:
        await events.rest(label="missing namespace")


@case("watch", given="config maps", body="a built-in kind", truth=("1.36", "1.20"))
async def built_in(w: World) -> None:
    own = {"labelSelector": "own=yes"}
    body: dict[str, Any] = {"metadata": {"name": "a", "labels": {"own": "yes"}}, "data": {"x": "1"}}
    async with w.watch(CONFIG_MAPS, own) as events:
        await w.create(CONFIG_MAPS, body)
        await w.merge(f"{CONFIG_MAPS}/a", {"data": {"x": "2"}})
        await w.delete(f"{CONFIG_MAPS}/a")
        taken = await events.take(3)
    for event in taken:
        event["object"]["metadata"].pop("managedFields", None)
    w.transcript.add("events", events=taken)


@case("watch", given="the definition is deleted", body="of its objects")
async def definition_deleted(w: World) -> None:
    group = f"{w.unique('group')}.example.com"
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "gears", "kind": "Gear"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    await w.create(definitions, {**kind, "metadata": {"name": f"gears.{group}"}, "spec": spec})
    path = f"/apis/{group}/v1/namespaces/{{ns}}/gears"
    await w.eventually(path, status=200)
    for name in ("a", "b"):
        await w.create(path, {"apiVersion": f"{group}/v1", "kind": "Gear", "metadata": {"name": name}})
    await caught_up(w, path)
    async with w.watch(path) as events:
        await events.take(2, label="what is there")
        await w.delete(f"{definitions}/gears.{group}")
        await events.rest(label="what comes")
    await w.eventually(path, status=404)
