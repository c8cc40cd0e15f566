"""Watches of custom resources whose definition changes under them."""

from __future__ import annotations

import json
from typing import Any

NAME = "databases.apps.example.com"


def _with_version(definition: dict[str, Any], name: str) -> dict[str, Any]:
    """The definition with one more version, which objects are kept in from now on."""
    versions = [{**each, "storage": False} for each in definition["spec"]["versions"]]
    more = {**versions[0], "name": name, "storage": True}
    return {"spec": {"versions": [*versions, more]}}


async def test_a_watch_that_ends_with_a_change_of_versions_tells_nothing_written_after_it(
    databases: Any, samples: Any
) -> None:
    databases.post(samples.databases, samples.database("before"))
    chunks = databases.watch(samples.databases)
    assert json.loads(await anext(chunks))["object"]["metadata"]["name"] == "before"
    databases.patch(f"{samples.databases}/before", {"spec": {"replicas": 2}})
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
    databases.patch(path, _with_version(databases.get(path).body, "v1"))
    databases.patch(f"{samples.databases}/before", {"spec": {"replicas": 3}})
    events = [json.loads(line) for chunk in [chunk async for chunk in chunks] for line in chunk.splitlines()]
    assert [(event["type"], event["object"]["spec"]["replicas"]) for event in events] == [("MODIFIED", 2)]


async def test_a_watch_that_nobody_has_begun_to_read_ends_as_well(databases: Any, samples: Any) -> None:
    databases.post(samples.databases, samples.database("a"))
    chunks = databases.watch(samples.databases, resourceVersion=str(databases.server.store.revision))
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
    databases.patch(path, _with_version(databases.get(path).body, "v1"))
    assert [chunk async for chunk in chunks] == []
