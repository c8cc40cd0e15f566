"""create, update and delete of custom resources."""

from __future__ import annotations

from tests.conformance.registry import case
from tests.conformance.resources import WIDGETS, widget
from tests.conformance.world import World


@case("create", given="nothing", body="a valid object")
async def create_valid(w: World) -> None:
    await w.create(WIDGETS, widget("a", size=3), label="create")
    await w.get(f"{WIDGETS}/a", label="get")


@case("create", given="an object of that name", body="a valid object")
async def create_existing(w: World) -> None:
    await w.create(WIDGETS, widget("a"))
    await w.create(WIDGETS, widget("a"), label="create again")


@case("update", given="the object changed since it was read", body="the old resource version")
async def update_stale(w: World) -> None:
    old = await w.create(WIDGETS, widget("a"))
    await w.merge(f"{WIDGETS}/a", {"spec": {"size": 2}}, label="somebody else")
    await w.put(f"{WIDGETS}/a", old.body, label="update")
