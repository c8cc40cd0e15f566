"""The names of CustomResourceDefinitions: taken, waited for and set free."""

from __future__ import annotations

from typing import Any

from tests.conformance.definitions import DEFINITIONS, defined, definition, path_of, until_condition
from tests.conformance.registry import case
from tests.conformance.world import World


async def _conflicting(w: World, first: dict[str, Any], second: dict[str, Any]) -> None:
    async with defined(w, first):
        await w.create(DEFINITIONS, second)
        found = await until_condition(w, path_of(second), "NamesAccepted", "False")
        w.transcript.add_answer("refused", found.status, found.headers, found.body)
        plural = second["spec"]["names"]["plural"]
        await w.get(f"/apis/{second['spec']['group']}/v1/namespaces/{{ns}}/{plural}", label="its objects")
        await w.delete(path_of(second))


@case("create a definition", given="another of the group with that kind", body="the same kind")
async def kind_taken(w: World) -> None:
    await _conflicting(w, definition(w), definition(w, plural="others", singular="other"))


@case("create a definition", given="another of the group with that list kind", body="the same listKind")
async def list_kind_taken(w: World) -> None:
    second = definition(w, "Other", listKind="GadgetList")
    await _conflicting(w, definition(w), second)


@case("create a definition", given="another of the group with that singular", body="the same singular")
async def singular_taken(w: World) -> None:
    await _conflicting(w, definition(w), definition(w, "Other", singular="gadget"))


@case("create a definition", given="another of the group with those short names", body="the same short names")
async def short_names_taken(w: World) -> None:
    first = definition(w, shortNames=["ga", "gb", "gc"])
    await _conflicting(w, first, definition(w, "Other", shortNames=["gb", "free", "ga"]))


@case("create a definition", given="another of the group", body="a short name that is the other's plural")
async def short_name_is_plural(w: World) -> None:
    await _conflicting(w, definition(w), definition(w, "Other", shortNames=["gadgets"]))


@case("delete a definition", given="another that waits for its names")
async def names_set_free(w: World) -> None:
    first, second = definition(w), definition(w, plural="others", singular="other")
    async with defined(w, first):
        await w.create(DEFINITIONS, second)
        await until_condition(w, path_of(second), "NamesAccepted", "False")
    found = await until_condition(w, path_of(second), "Established", "True")
    w.transcript.add_answer("accepted", found.status, found.headers, found.body)
    await w.delete(path_of(second))


@case("update a definition", given="established", body="names that are taken")
async def rename_to_taken(w: World) -> None:
    first, second = definition(w), definition(w, "Other")
    async with defined(w, first), defined(w, second):
        await w.merge(
            path_of(second), {"spec": {"names": {"listKind": "GadgetList", "shortNames": ["o"]}}}, label="rename"
        )
        found = await until_condition(w, path_of(second), "NamesAccepted", "False")
        w.transcript.add_answer("refused", found.status, found.headers, found.body)
