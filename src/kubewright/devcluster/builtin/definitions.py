"""The data files: OpenAPI definitions of the built-in kinds, and what discovery lists for them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import msgspec

__all__ = ["PREFIX", "definition_names", "definitions", "discovered", "merged_definitions"]

PREFIX = "#/definitions/"


def _load(name: str) -> Any:
    return msgspec.json.decode(resources.files(__package__).joinpath(name).read_bytes())


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """Definition name → OpenAPI schema; read once, shared by all, not to be changed."""
    loaded: dict[str, dict[str, Any]] = _load("definitions.json")["definitions"]
    return loaded


@cache
def merged_definitions() -> dict[str, dict[str, Any]]:
    """The definitions as merges see them: a quantity may be written as a number, although OpenAPI calls it a string."""
    return {**definitions(), "io.k8s.apimachinery.pkg.api.resource.Quantity": {"x-kubernetes-int-or-string": True}}


@cache
def discovered() -> dict[str, list[dict[str, Any]]]:
    """Group version → the entries of its discovery document."""
    loaded: dict[str, list[dict[str, Any]]] = _load("resources.json")["resources"]
    return loaded


@cache
def definition_names() -> dict[tuple[str, str, str], str]:
    """(group, version, kind) → definition name."""
    return {
        (each["group"], each["version"], each["kind"]): name
        for name, schema in definitions().items()
        for each in schema.get("x-kubernetes-group-version-kind", ())
    }
