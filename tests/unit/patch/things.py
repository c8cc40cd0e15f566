"""Things, applied and updated, for tests of server-side apply and of its books."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubewright.patch.apply import apply, track_update
from kubewright.patch.shape import Shape

__all__ = ["EARLY", "LAST_APPLIED", "LATE", "SCHEMA", "THING", "V1", "applied", "books", "edited", "thing", "updated"]

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parent / "recorded" / "schema.json").read_bytes())
THING = Shape(SCHEMA)
V1 = "t.example.com/v1"
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def thing(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    obj: dict[str, Any] = {"apiVersion": V1, "kind": "Thing", "metadata": {"name": "x", **metadata}}
    return obj if spec is None else {**obj, "spec": spec}


def applied(
    live: dict[str, Any] | None, obj: dict[str, Any], manager: str = "m", *, force: bool = False, now: str = EARLY
) -> dict[str, Any]:
    result: dict[str, Any] = apply(live, obj, manager=manager, force=force, shape=THING, api_version=V1, now=now)
    result["metadata"].setdefault("uid", "u")
    return result


def updated(
    old: dict[str, Any] | None, new: dict[str, Any], manager: str = "u", *, now: str = LATE, subresource: str = ""
) -> dict[str, Any]:
    result: dict[str, Any] = track_update(
        old, new, manager=manager, shape=THING, api_version=V1, now=now, subresource=subresource
    )
    result["metadata"].setdefault("uid", "u")
    return result


def edited(obj: dict[str, Any], manager: str = "u", *, now: str = LATE, **spec: Any) -> dict[str, Any]:
    """The object after an update that sets fields of the spec, or with None removes them."""
    merged = {key: value for key, value in {**obj.get("spec", {}), **spec}.items() if value is not None}
    return updated(obj, {**obj, "spec": merged}, manager, now=now)


def books(obj: dict[str, Any]) -> list[tuple[str, str, str | None, Any]]:
    return [
        (entry["manager"], entry["operation"], entry.get("time"), entry["fieldsV1"])
        for entry in obj["metadata"].get("managedFields", [])
    ]
