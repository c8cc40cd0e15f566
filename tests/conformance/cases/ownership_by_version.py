"""managedFields of objects whose definition changes: other versions, fields that a schema lost, versions that are gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.conformance.definitions import DEFINITIONS, defined, definition, version
from tests.conformance.registry import case
from tests.conformance.world import Answer, World


def _schema(*names: str) -> dict[str, Any]:
    """A schema in which spec has these texts."""
    spec = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return {"type": "object", "properties": {"spec": spec}}


@asynccontextmanager
async def _gadgets(w: World, *versions: dict[str, Any]) -> AsyncIterator[str]:
    async with defined(w, definition(w, versions=list(versions))) as path:
        for each in versions:
            await w.eventually(_in(path, each["name"]), status=200)
        yield path


def _in(path: str, name: str) -> str:
    return path.replace("/v1/", f"/{name}/")


async def _redefine(w: World, path: str, number: int, *versions: dict[str, Any]) -> None:
    """Other versions, and an empty one by which it shows when they are served."""
    group = path.split("/")[2]
    marker = version(f"v9{number}", storage=False)
    answer = await w.merge(f"{DEFINITIONS}/gadgets.{group}", {"spec": {"versions": [*versions, marker]}})
    assert answer.status == 200, answer.body
    await w.eventually(_in(path, marker["name"]), status=200)


def _gadget(path: str, api_version: str, **spec: str) -> dict[str, Any]:
    group = path.split("/")[2]
    return {"apiVersion": f"{group}/{api_version}", "kind": "Gadget", "metadata": {"name": "a"}, "spec": spec}


def _owners(w: World, label: str, answer: Answer) -> None:
    """Who owns what, without the group, which no two runs share."""
    taken: dict[str, Any] = {"status": answer.status}
    if answer.status >= 400:
        taken["message"] = answer["message"]
    else:
        entries = answer["metadata"].get("managedFields", [])
        taken["spec"] = answer.body.get("spec")
        taken["owners"] = sorted(
            [entry["manager"], entry["operation"], entry["apiVersion"].rpartition("/")[2], entry["fieldsV1"]]
            for entry in entries
        )
    w.transcript.add(label, **taken)


@case("apply", given="a version that lost a field", body="of one manager and of another")
async def lost_field(w: World) -> None:
    async with _gadgets(w, version("v1", _schema("a", "b"))) as path:
        one = f"{path}/a"
        await w.apply(one, _gadget(path, "v1", a="1", b="2"), manager="ann")
        await w.create(path, {**_gadget(path, "v1", a="1", b="2"), "metadata": {"name": "b"}})
        await _redefine(w, path, 1, version("v1", _schema("a", "c")))
        _owners(w, "get", await w.get(one))
        _owners(w, "another applies", await w.apply(one, _gadget(path, "v1", c="3"), manager="bob"))
        _owners(w, "the same applies less", await w.apply(one, _gadget(path, "v1", a="1"), manager="ann"))
        _owners(w, "patch of what was created", await w.merge(f"{path}/b", {"spec": {"c": "3"}}))
        _owners(w, "patch of the same field", await w.merge(f"{path}/b", {"spec": {"a": "9"}}))


@case("apply", given="an object of another version, stored in one of two", body="each version's own fields")
async def two_versions(w: World) -> None:
    for stored in ("v1", "v2"):
        versions = (
            version("v1", _schema("a", "b"), storage=stored == "v1"),
            version("v2", _schema("a", "c"), storage=stored == "v2"),
        )
        async with _gadgets(w, *versions) as path:
            one, two = f"{path}/a", f"{_in(path, 'v2')}/a"
            _owners(w, f"{stored}: v1", await w.apply(one, _gadget(path, "v1", a="1", b="2"), manager="ann"))
            _owners(w, f"{stored}: v2", await w.apply(two, _gadget(path, "v2", a="1", c="3"), manager="bob"))
            _owners(w, f"{stored}: get as v1", await w.get(one))
            _owners(w, f"{stored}: refused", await w.apply(two, _gadget(path, "v2", a="9"), manager="cid"))
            _owners(w, f"{stored}: forced", await w.apply(two, _gadget(path, "v2", a="9"), manager="cid", force=True))
            _owners(w, f"{stored}: v1 again", await w.apply(one, _gadget(path, "v1", b="2"), manager="ann"))
            _owners(w, f"{stored}: in the other", await w.apply(two, _gadget(path, "v2", c="4"), manager="ann"))
            _owners(w, f"{stored}: patch", await w.merge(two, {"spec": {"c": "5"}}))
            _owners(w, f"{stored}: patch v1", await w.merge(one, {"spec": {"b": "5"}}))
            _owners(w, f"{stored}: get", await w.get(two))
            await w.delete(one)
            group = path.split("/")[2]
        await w.eventually(f"{DEFINITIONS}/gadgets.{group}", status=404)


@case("apply and patch", given="an object of a version that is gone", body="a version that is there")
async def gone_version(w: World) -> None:
    both = (version("v1", _schema("a", "c"), storage=False), version("v2", _schema("a", "c")))
    async with _gadgets(w, *both) as path:
        one, two = f"{path}/a", f"{_in(path, 'v2')}/a"
        await w.apply(one, _gadget(path, "v1", a="1"), manager="ann")
        await w.merge(one, {"metadata": {"labels": {"x": "y"}}}, query={"fieldManager": "dan"})
        other = {**_gadget(path, "v1", a="1"), "metadata": {"name": "b"}}
        await w.apply(f"{path}/b", other, manager="ann")
        await _redefine(w, path, 1, version("v1", _schema("a", "c"), storage=False, served=False), both[1])
        _owners(w, "get, not served", await w.get(two))
        _owners(w, "patch, not served", await w.merge(two, {"spec": {"c": "1"}}))
        await _redefine(w, path, 2, both[1])
        _owners(w, "get", await w.get(two))
        _owners(w, "patch", await w.merge(two, {"spec": {"c": "2"}}))
        _owners(w, "apply", await w.apply(two, _gadget(path, "v2", a="9"), manager="bob"))
        _owners(w, "get again", await w.get(two))
        two = f"{_in(path, 'v2')}/b"
        for manager in ("bob", "ann"):
            body = {**other, "apiVersion": other["apiVersion"].replace("/v1", "/v2"), "spec": {"c": "9"}}
            _owners(w, f"apply b by {manager}", await w.apply(two, body, manager=manager))
        _owners(w, "get b", await w.get(two))
