"""What holds for any body that fits a kind's types, however little sense it makes."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from kubewright.devcluster.builtin.catalog import builtin_resources
from kubewright.devcluster.builtin.definitions import definitions
from kubewright.devcluster.catalog import ServedResource
from kubewright.devcluster.objects import Object
from kubewright.devcluster.tables import table

from .recorded import Around

WORDS = (
    "",
    "a",
    "A b",
    "Always",
    "ClusterIP",
    "NodePort",
    "LoadBalancer",
    "ExternalName",
    "RollingUpdate",
    "a.b/c",
    "-",
)
DEEPEST = 9
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)


def body(resource: ServedResource, rng: random.Random) -> Object:
    obj: Object = _value({"$ref": resource.schema["$ref"]}, rng, 0)
    obj |= {"apiVersion": resource.info.api_version, "kind": resource.info.kind}
    obj["metadata"] = {"name": "x", "uid": "u", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return obj


def _value(schema: Any, rng: random.Random, depth: int) -> Any:
    name = schema.get("$ref", "").rpartition("/")[2]
    if name.endswith(("Quantity", "IntOrString")):
        return rng.choice(["1", "500m", "0", "10Gi"] if name.endswith("Quantity") else ["x", "50%", 3, 0])
    if name.endswith("MicroTime"):
        return "2026-01-01T00:00:00.000000Z"
    if name:
        return _value(definitions()[name], rng, depth)
    match schema.get("type"):
        case "object" if "additionalProperties" in schema:
            values = schema["additionalProperties"]
            return {rng.choice("abc"): _value(values, rng, depth + 1) for _ in range(rng.randrange(3))}
        case "object":
            share = 0.9 if depth < 3 else 0.3
            found = schema.get("properties", {})
            wanted = [each for each in found if depth < DEEPEST and rng.random() < share]
            return {each: _value(found[each], rng, depth + 1) for each in wanted}
        case "array":
            return [_value(schema["items"], rng, depth + 1) for _ in range(rng.randrange(3))]
        case "integer":
            return rng.choice([-1, 0, 1, 80, 70000])
        case "number":
            return 1.5
        case "boolean":
            return rng.random() < 0.5
        case "string" if schema.get("format") == "date-time":
            return "2026-01-01T00:00:00Z"
        case "string" if schema.get("format") == "byte":
            return "YQ=="
        case "string":
            return rng.choice(WORDS)
    return {}


@pytest.mark.parametrize("resource", builtin_resources(), ids=lambda each: each.info.qualified_plural)
def test_any_body_is_read_defaulted_checked_and_printed(resource: ServedResource) -> None:
    rng = random.Random(resource.info.qualified_plural)
    strategy, around = resource.strategy, Around()
    for _ in range(15):
        sent = body(resource, rng)
        before = json.dumps(sent)
        known, unknown = strategy.read(sent)
        assert unknown == []
        filled = strategy.default(known)
        assert strategy.default(filled) == filled, "defaulting what is defaulted changes nothing"
        created = strategy.prepare_create(filled, around)
        strategy.validate(created, None, subresource="")
        again, unknown = strategy.read(created)
        assert unknown == []
        assert strategy.default(again) == created, "the server reads what it writes"
        kept = json.dumps(created)
        other = strategy.default(strategy.read(body(resource, rng))[0])
        for subresource in ("", "status"):
            updated = strategy.prepare_update(other, created, subresource=subresource, around=around)
            strategy.validate(updated, created, subresource=subresource)
            same = strategy.prepare_update(created, created, subresource=subresource, around=around)
            assert same == created, "an update without a change changes nothing"
        rows = table(resource, [created], include="None", now=MOMENT, list_meta={})["rows"]
        columns = table(resource, [], include="None", now=MOMENT, list_meta={})["columnDefinitions"]
        assert len(rows[0]["cells"]) == len(columns)
        assert json.dumps(sent) == before
        assert json.dumps(created) == kept
