"""CustomResourceDefinitions that a case makes for itself, and objects of theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.conformance.world import World

__all__ = ["DEFINITIONS", "condition_of", "defined", "definition", "instance", "path_of", "until_condition", "version"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def version(
    name: str = "v1", schema: dict[str, Any] | None = None, *, storage: bool = True, **more: Any
) -> dict[str, Any]:
    """One version of a definition, with a schema that allows anything unless given."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = anything if schema is None else schema
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def definition(
    w: World, kind: str = "Gadget", *, versions: list[dict[str, Any]] | None = None, **names: Any
) -> dict[str, Any]:
    """A namespaced definition in a group that only this case has."""
    group = f"{w.namespace}.example.dev"
    named = {"kind": kind, "plural": f"{kind.lower()}s", **names}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{named['plural']}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": named, "versions": versions or [version()]},
    }


@asynccontextmanager
async def defined(w: World, body: dict[str, Any]) -> AsyncIterator[str]:
    """Serves a definition for the block; gives the path of its objects, of the first version."""
    spec = body["spec"]
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/namespaces/{{ns}}/{spec['names']['plural']}"
    created = await w.create(DEFINITIONS, body)
    assert created.status == 201, created.body
    try:
        await w.eventually(path, status=200)
        yield path
    finally:
        await w.delete(path_of(body))


def path_of(body: dict[str, Any]) -> str:
    """Where a definition is."""
    return f"{DEFINITIONS}/{body['metadata']['name']}"


def instance(w: World, name: str, at: str = "v1", kind: str = "Gadget", **more: Any) -> dict[str, Any]:
    """An object of a definition, in the version ``at``."""
    return {"apiVersion": f"{w.namespace}.example.dev/{at}", "kind": kind, "metadata": {"name": name}, **more}


def condition_of(answer: Any, kind: str) -> dict[str, Any]:
    found = [each for each in answer["status"].get("conditions") or [] if each["type"] == kind]
    return {key: value for key, value in found[0].items() if key != "lastTransitionTime"} if found else {}


async def until_condition(w: World, path: str, kind: str, status: str) -> Any:
    """Reads a definition until a condition has a status."""
    for _ in range(200):
        found = await w.get(path)
        if condition_of(found, kind).get("status") == status:
            return found
        await w.pause()
    raise AssertionError(f"{kind} never became {status}")
