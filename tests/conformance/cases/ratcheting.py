"""Validation ratcheting (KEP-4008): what a later schema refuses is let through where an update leaves it as it was."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.definitions import DEFINITIONS, defined, definition, version
from tests.conformance.registry import case
from tests.conformance.world import World

_TEXT = {"type": "string"}
_ITEM = {"type": "object", "required": ["k"], "properties": {"k": _TEXT, "n": _TEXT}}
_KEYED = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
_NUMBER = {"type": "object", "properties": {"x": {"type": "integer"}}}
_LOOSE: dict[str, Any] = {
    "enum": _TEXT,
    "dict": {"type": "object", "additionalProperties": _TEXT},
    "deep": {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": _TEXT, "c": _TEXT}}}},
    "atomic": {"type": "array", "items": _NUMBER},
    "one": {"type": "object", "properties": {"a": _TEXT, "b": _TEXT}},
    "number": {"type": "integer"},
    "date": _TEXT,
    "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
    "map": {"type": "array", **_KEYED, "items": _ITEM},
}
_SPEC: dict[str, Any] = {
    "enum": "y",
    "dict": {"a": "long", "b": "longer"},
    "deep": {"a": {"b": "q", "c": "q"}},
    "atomic": [{"x": 9}, {"x": 8}],
    "one": {"a": "1", "b": "2"},
    "number": 3,
    "date": "zz",
    "sizes": {"a": 1, "b": 2},
    "map": [{"k": "a", "n": "s"}, {"k": "b", "n": "s"}],
}
"""Valid by the loose schema; by the tight one no part of it is."""


def _schema(spec: dict[str, Any], longest: int) -> dict[str, Any]:
    status = {"type": "object", "properties": {"p": {"type": "string", "maxLength": longest}}}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}, "status": status}}


def _tight() -> dict[str, Any]:
    tight: dict[str, Any] = json.loads(json.dumps(_LOOSE))
    tight["enum"]["enum"] = ["x"]
    tight["dict"]["additionalProperties"]["maxLength"] = 1
    tight["deep"]["properties"]["a"]["maxProperties"] = 1
    tight["deep"]["properties"]["a"]["properties"]["b"]["pattern"] = "^x$"
    tight["atomic"]["items"]["properties"]["x"]["maximum"] = 1
    tight["one"]["oneOf"] = [{"required": ["a"]}, {"required": ["b"]}]
    tight["number"]["multipleOf"] = 2
    tight["date"]["format"] = "date"
    tight["sizes"]["maxProperties"] = 1
    tight["map"]["maxItems"] = 1
    tight["map"]["items"]["properties"]["n"]["minLength"] = 5
    return tight


_CHANGES: tuple[dict[str, Any], ...] = (
    {"enum": "z"},
    {"enum": "x"},
    {"dict": {"a": "other"}},
    {"dict": {"c": "other"}},
    {"dict": {"a": None}},
    {"deep": {"a": {"c": "new"}}},
    {"deep": {"a": {"b": "new"}}},
    {"deep": {"a": {"c": None}}},
    {"atomic": [{"x": 9}]},
    {"atomic": [{"x": 8}, {"x": 9}]},
    {"atomic": [{"x": 9}, {"x": 8}, {"x": 1}]},
    {"one": {"a": "9"}},
    {"number": 5},
    {"date": "zzz"},
    {"sizes": {"a": 9}},
    {"sizes": {"c": 9}},
    {"sizes": {"a": None}},
    {"map": [{"k": "a", "n": "s"}]},
    {"map": [{"k": "b", "n": "s"}, {"k": "a", "n": "s"}]},
    {"map": [{"k": "a", "n": "t"}, {"k": "b", "n": "s"}]},
    {"map": [{"k": "a", "n": "s"}, {"k": "b", "n": "s"}, {"k": "c", "n": "s"}]},
)


@case("update", given="an object of which a later schema would refuse every part", body="changes here and there")
async def every_part(w: World) -> None:
    body = definition(w, versions=[version("v1", _schema(_LOOSE, 9), subresources={"status": {}})])
    async with defined(w, body) as path:
        obj = {"apiVersion": f"{body['spec']['group']}/v1", "kind": "Gadget", "spec": _SPEC, "metadata": {"name": "a"}}
        await w.create(path, obj)
        await w.merge(f"{path}/a/status", {"status": {"p": "long"}})
        operation = {"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": _schema(_tight(), 1)}
        await w.json_patch(f"{DEFINITIONS}/{body['metadata']['name']}", [operation])
        other = {**obj, "metadata": {"name": "b"}, "spec": {"number": 3}}
        # a real server takes up the new schema in its own time
        await w.until(lambda: w.create(path, other, query={"dryRun": "All"}), lambda answer: answer.status == 422)
        await w.merge(f"{path}/a", {"metadata": {"labels": {"a": "b"}}}, query={"dryRun": "All"}, label="labels")
        for change in _CHANGES:
            await w.merge(f"{path}/a", {"spec": change}, query={"dryRun": "All"}, label=json.dumps(change))
        await w.merge(f"{path}/a/status", {"status": {"p": "long"}}, label="the same status")
        await w.merge(f"{path}/a/status", {"status": {"p": "lon"}}, label="another status")
