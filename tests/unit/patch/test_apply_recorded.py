"""Sequences of writes as a real API server (1.36) answered them: the object, the books, the conflicts.

What the server does around patches is done here by hand: it fills in the default protocol of ports, drops empty
metadata, and keeps status and the rest apart.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kubewright.patch import apply as server_side_apply
from kubewright.patch import merge_patch
from kubewright.patch.fields import NOTHING, FieldSet
from kubewright.patch.shape import Shape

RECORDED = Path(__file__).parent / "recorded"
WRITES: list[list[dict[str, Any]]] = json.loads((RECORDED / "writes.json").read_bytes())
THING = Shape(json.loads((RECORDED / "schema.json").read_bytes()))
API_VERSION = "t.example.com/v1"
NOW = "2026-01-01T00:00:00Z"
STATUS = FieldSet.of_names("status")


def stored(obj: dict[str, Any]) -> dict[str, Any]:
    """What the server makes of an object before it stores it."""
    obj = copy.deepcopy(obj)
    spec = obj.get("spec") or {}
    for port in spec.get("ports") or []:
        port.setdefault("protocol", "TCP")
    if spec.get("any", "") is None:
        del spec["any"]  # not nullable
    obj["metadata"] = {key: value for key, value in obj["metadata"].items() if value}
    return obj


def write(live: dict[str, Any] | None, step: dict[str, Any]) -> dict[str, Any]:
    body, subresource = step["body"], step["subresource"]
    options = {
        "manager": step["manager"],
        "shape": THING,
        "api_version": API_VERSION,
        "now": NOW,
        "subresource": subresource,
        "ignored": NOTHING if subresource else STATUS,
        "only": STATUS if subresource else None,
    }
    if step["request"] == "apply":
        written = stored(server_side_apply.apply(live, body, force=step["force"], **options))
    elif step["request"] == "create":
        new = {key: value for key, value in body.items() if key != "status"}
        written = server_side_apply.track_update(None, stored(new), **options)
    elif step["request"] == "merge":
        assert live is not None
        written = server_side_apply.track_update(live, stored(merge_patch.apply(live, body)), **options)
    else:
        assert live is not None
        new = {**body, "metadata": {**body["metadata"], "uid": live["metadata"]["uid"]}}
        new |= {"status": live["status"]} if "status" in live else {}
        written = server_side_apply.track_update(live, stored(new), **options)
    return apart(live, written, subresource)


def apart(live: dict[str, Any] | None, written: dict[str, Any], subresource: str) -> dict[str, Any]:
    """The main resource leaves the status as it is, and the status everything else."""
    kept, changed = (written, live or {}) if not subresource else (live or {}, written)
    result = {key: value for key, value in kept.items() if key != "status"}
    result |= {"status": changed["status"]} if "status" in changed else {}
    books = {"managedFields": written["metadata"].get("managedFields", [])}
    result["metadata"] = {**result["metadata"], **books, "uid": "u"}
    return result


def comparable(obj: dict[str, Any]) -> dict[str, Any]:
    """Writes of one second stand in an order that the record does not tell."""
    books = sorted(obj["metadata"].get("managedFields", []), key=lambda entry: json.dumps(entry, sort_keys=True))
    return {**obj, "metadata": {**obj["metadata"], "managedFields": books}}


@pytest.mark.parametrize("steps", WRITES, ids=range(len(WRITES)))
def test_writes_go_as_they_went_on_a_real_server(steps: list[dict[str, Any]]) -> None:
    live: dict[str, Any] | None = None
    for number, step in enumerate(steps):
        if step["code"] == 409:
            with pytest.raises(server_side_apply.ApplyConflict) as refused:
                write(live, step)
            status = refused.value.status
            assert status.message == step["message"], number
            assert status.details is not None
            assert [
                {"reason": cause.reason, "message": cause.message, "field": cause.field}
                for cause in status.details.causes or []
            ] == sorted(step["causes"], key=lambda cause: str(cause["message"])), number
        else:
            before = copy.deepcopy(live)
            written = write(live, step)
            assert live == before, "a write does not change the object it starts from"
            assert comparable(written) == comparable(step["object"]), number
            live = step["object"]
