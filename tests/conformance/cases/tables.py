"""Objects as Tables and as their metadata alone, and what else can be accepted."""

from __future__ import annotations

from typing import Any

import yaml

from tests.conformance.listing import labelled, widgets
from tests.conformance.registry import case
from tests.conformance.resources import GROUP, WIDGETS, widget
from tests.conformance.world import Answer, World

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
META = "g=meta.k8s.io"
TABLE = {"accept": f"application/json;as=Table;v=v1;{META}"}
PARTIAL = {"accept": f"application/json;as=PartialObjectMetadata;v=v1;{META}"}
PARTIAL_LIST = {"accept": f"application/json;as=PartialObjectMetadataList;v=v1;{META}"}


def table(w: World, label: str, answer: Answer) -> None:
    """Takes a Table down; its ages, which depend on how fast the server is, only as being there."""
    w.transcript.add_answer(label, answer.status, answer.headers, ageless(answer.body))


def ageless(body: Any, declared: list[dict[str, Any]] | None = None) -> Any:
    """``declared``: the columns, where they were told before, as in a watch."""
    if not isinstance(body, dict) or body.get("kind") != "Table":
        return body
    ages = [
        index for index, each in enumerate(body.get("columnDefinitions") or declared or []) if each["name"] == "Age"
    ]
    rows = [
        {
            **row,
            "cells": [
                "<age>" if index in ages and cell is not None else cell for index, cell in enumerate(row["cells"])
            ],
        }
        for row in body.get("rows") or []
    ]
    columns = [{**each, "description": _told(each)} for each in body.get("columnDefinitions") or []]
    return {**body, "columnDefinitions": columns, "rows": rows if body.get("rows") is not None else None}


def ageless_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a watch, whose first event alone tells the columns."""
    declared = events[0]["object"].get("columnDefinitions")
    return [{**event, "object": ageless(event["object"], declared)} for event in events]


def _told(column: dict[str, Any]) -> str:
    """Real servers tell what is in a column of theirs in the words of their documentation."""
    told: str = column["description"]
    return told if told.startswith("Custom resource") else "<prose>"


@case("list", given="two objects", body="as Table")
async def table_of_list(w: World) -> None:
    await widgets(w, "a", "b")
    table(w, "list", await w.get(WIDGETS, headers=TABLE))


@case("list", given="no objects", body="as Table")
async def table_of_nothing(w: World) -> None:
    table(w, "list", await w.get(WIDGETS, headers=TABLE))


@case("get", given="an object", body="as Table")
async def table_of_one(w: World) -> None:
    await widgets(w, "a")
    table(w, "get", await w.get(f"{WIDGETS}/a", headers=TABLE))


@case("list", given="an object", body="as Table, includeObject")
async def table_includes(w: World) -> None:
    await widgets(w, "a")
    for include in ("None", "Metadata", "Object", "", "none", "All"):
        table(w, include or "empty", await w.get(WIDGETS, headers=TABLE, query={"includeObject": include}))


@case("get", given="an object", body="as Table, includeObject")
async def table_of_one_includes(w: World) -> None:
    await widgets(w, "a")
    for include in ("None", "Object", "All"):
        table(w, include, await w.get(f"{WIDGETS}/a", headers=TABLE, query={"includeObject": include}))


@case("list", given="an object", body="as Table v1beta1")
async def table_older(w: World) -> None:
    await widgets(w, "a")
    older = {"accept": f"application/json;as=Table;v=v1beta1;{META}"}
    table(w, "list", await w.get(WIDGETS, headers=older))
    older = {"accept": f"application/json;as=PartialObjectMetadataList;v=v1beta1;{META}"}
    await w.get(WIDGETS, headers=older, label="metadata")


@case("create, update, patch, delete", given="nothing", body="as Table")
async def table_of_writes(w: World) -> None:
    created = await w.create(WIDGETS, widget("a"), headers=TABLE)
    table(w, "create", created)
    now = await w.get(f"{WIDGETS}/a")
    table(w, "update", await w.put(f"{WIDGETS}/a", {**now.body, "spec": {"size": 3}}, headers=TABLE))
    table(w, "patch", await w.merge(f"{WIDGETS}/a", {"spec": {"size": 4}}, headers=TABLE))
    table(w, "delete", await w.delete(f"{WIDGETS}/a", headers=TABLE))


@case("create, patch, delete", given="nothing", body="as PartialObjectMetadata")
async def metadata_of_writes(w: World) -> None:
    await w.create(WIDGETS, widget("a"), headers=PARTIAL, label="create")
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 4}}, headers=PARTIAL, label="patch")
    await w.delete(f"{WIDGETS}/a", headers=PARTIAL, label="delete")


@case("list", given="two objects", body="as PartialObjectMetadataList")
async def metadata_of_list(w: World) -> None:
    await w.create(WIDGETS, labelled("a", {"team": "x"}))
    await w.create(WIDGETS, labelled("b", {"team": "y"}))
    await w.get(WIDGETS, headers=PARTIAL_LIST, label="list")
    await w.get(WIDGETS, headers=PARTIAL_LIST, query={"limit": "1"}, label="a page")
    await w.get(WIDGETS, headers=PARTIAL_LIST, query={"labelSelector": "team=z"}, label="nothing")


@case("get", given="an object", body="as PartialObjectMetadata")
async def metadata_of_one(w: World) -> None:
    await widgets(w, "a")
    await w.get(f"{WIDGETS}/a", headers=PARTIAL, label="get")
    await w.get(f"{WIDGETS}/z", headers=PARTIAL, label="missing")


@case("get, list", given="an object", body="metadata in the form of the other")
async def metadata_mismatched(w: World) -> None:
    await widgets(w, "a")
    await w.get(f"{WIDGETS}/a", headers=PARTIAL_LIST, label="get as a list")
    await w.get(WIDGETS, headers=PARTIAL, label="list as an object")


@case("get", given="no such object", body="as Table")
async def table_of_missing(w: World) -> None:
    await w.get(f"{WIDGETS}/z", headers=TABLE, label="get")
    await w.create(WIDGETS, {**widget("a"), "spec": {}}, headers=TABLE, label="invalid")


@case("get", given="an object", body="Accept: what can't be had")
async def unacceptable(w: World) -> None:
    await widgets(w, "a")
    for accept in (
        "text/html",
        f"application/json;as=Table;v=v2;{META}",
        "application/json;as=Table;v=v1;g=example.com",
        "application/json;as=Table",
        f"application/json;as=Chair;v=v1;{META}",
        "application/xml, text/plain",
        "nonsense",
    ):
        await w.get(f"{WIDGETS}/a", headers={"accept": accept}, label=accept)
    await w.get(WIDGETS, headers={"accept": "text/html"}, label="list")
    await w.create(WIDGETS, widget("b"), headers={"accept": "text/html"}, label="create")
    await w.get(f"{WIDGETS}/b", label="not created")


@case("get", given="an object", body="Accept: the first that can be had")
async def acceptable(w: World) -> None:
    await widgets(w, "a")
    for accept in (
        "*/*",
        "application/*",
        "text/html,application/json",
        f"application/json;as=Chair;v=v1;{META},application/json",
        f"{PARTIAL['accept']},application/json",
        f"application/json,{PARTIAL['accept']}",
        f"application/json;q=0.1,{PARTIAL['accept']};q=0.9",
        "application/vnd.kubernetes.protobuf,application/json",
        "application/json;pretty=1",
        "application/json;charset=utf-8",
        "APPLICATION/JSON",
    ):
        answer = await w.get(f"{WIDGETS}/a", headers={"accept": accept})
        w.transcript.add(accept, status=answer.status, type=answer.headers["content-type"], kind=answer["kind"])


@case("get", given="an object", body="Accept: application/yaml")
async def as_yaml(w: World) -> None:
    invalid = await w.create(WIDGETS, {**widget("z"), "spec": {}}, headers={"accept": "application/yaml"})
    kind = invalid.headers["content-type"]
    w.transcript.add("invalid", status=invalid.status, type=kind, body=yaml.safe_load(invalid.text))
    await widgets(w, "a")
    answer = await w.get(f"{WIDGETS}/a", headers={"accept": "application/yaml"})
    w.transcript.add("get", type=answer.headers["content-type"], begins=str(answer.body)[:40])
    answer = await w.get(WIDGETS, headers={"accept": f"application/yaml;as=Table;v=v1;{META}"})
    w.transcript.add("table", type=answer.headers["content-type"], kind="kind: Table" in str(answer.body))


@case("list", given="config maps", body="as Table", truth="1.20")
async def table_built_in(w: World) -> None:
    for name, data in (("a", {"x": "1"}), ("b", {})):
        await w.create(CONFIG_MAPS, {"metadata": {"name": name, "labels": {"own": "yes"}}, "data": data})
    own = {"labelSelector": "own=yes", "includeObject": "None"}
    table(w, "list", await w.get(CONFIG_MAPS, query=own, headers=TABLE))
    table(w, "get", await w.get(f"{CONFIG_MAPS}/a", query={"includeObject": "None"}, headers=TABLE))


@case("list", given="config maps", body="as PartialObjectMetadataList", truth=("1.36", "1.20"))
async def metadata_built_in(w: World) -> None:
    await w.create(CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"own": "yes"}}})
    await w.get(CONFIG_MAPS, query={"labelSelector": "own=yes"}, headers=PARTIAL_LIST, label="list")
    await w.get(f"{CONFIG_MAPS}/a", headers=PARTIAL, label="get")


@case("get", given="an object", body="its scale and status, as Table and as metadata")
async def subresources_in_forms(w: World) -> None:
    await widgets(w, "a")
    table(w, "status", await w.get(f"{WIDGETS}/a/status", headers=TABLE))
    await w.get(f"{WIDGETS}/a/status", headers=PARTIAL, label="status metadata")
    await w.get(f"{WIDGETS}/a/scale", headers=PARTIAL, label="scale metadata")
    scale = await w.get(f"{WIDGETS}/a/scale", headers=TABLE)
    table(w, "scale", scale)


@case("list", given="objects of a kind without columns", body="as Table")
async def table_without_columns(w: World) -> None:
    path, name = f"/apis/{GROUP}/v1/sites", w.unique("site")
    await w.create(path, {"apiVersion": f"{GROUP}/v1", "kind": "Site", "metadata": {"name": name}, "spec": {}})
    table(w, "list", await w.get(path, query={"fieldSelector": f"metadata.name={name}"}, headers=TABLE))
    await w.delete(f"{path}/{name}")
