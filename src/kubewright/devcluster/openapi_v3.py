"""``/openapi/v3``: an index of group versions, and one OpenAPI 3.0 document for each, for today's clients.

The index names each document with a hash of its content, so clients keep what they have until it changes
(https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/2896-openapi-v3).
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from kubewright.devcluster.openapi_operations import paths_of
from kubewright.devcluster.openapi_schemas import Schemas, map_schema, references

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import Catalog, ServedResource
    from kubewright.devcluster.objects import Object

__all__ = ["OpenApiV3"]

_SPECIAL: dict[str, Object] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
}
"""Definitions that v2 could only call strings."""


class OpenApiV3:
    """The documents of one state of a catalog."""

    def __init__(self, catalog: Catalog, *, version: str) -> None:
        self._catalog = catalog
        self._version = version

    @cached_property
    def _schemas(self) -> Schemas:
        return Schemas(self._catalog)

    @cached_property
    def _definitions_digest(self) -> str:
        return _digest_of(self._catalog.definitions)

    def names(self) -> list[str]:
        """``api/v1``, ``apis/apps/v1``, …: what the index lists, and the path below ``/openapi/v3/``."""
        return [
            f"apis/{group.name}/{version}" if group.name else f"api/{version}"
            for group in self._catalog.groups()
            for version in group.versions
        ]

    def digest(self, name: str) -> str:
        """A hash that differs when the document does; taken of what the document is made from, which is far smaller."""
        made_from = [self._version, self._definitions_digest]
        for resource in self._resources(name):
            schema = {} if resource.definition_name else resource.schema
            parts = [resource.info, resource.verbs, resource.subresources, resource.listed_kind]
            made_from += [msgspec.json.encode(parts).decode(), _digest_of(schema), *resource.selectable_fields]
        return _digest_of(made_from)

    def _resources(self, name: str) -> list[ServedResource]:
        group, _, version = name.partition("/")[2].rpartition("/")
        return self._catalog.in_version(group, version)

    def document(self, name: str) -> Object | None:
        """One document by its name in the index: the paths of that group version and all schemas they refer to."""
        if name not in self.names():
            return None
        paths: Object = {}
        for resource in self._resources(name):
            paths |= paths_of(resource, self._schemas)
        schemas = self._schemas.closure(references(paths))
        return {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": self._version},
            "paths": {path: _path_item(item) for path, item in sorted(paths.items())},
            "components": {"schemas": {name: _SPECIAL.get(name) or _schema(self._schemas[name]) for name in schemas}},
        }


def _digest_of(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest().upper()


def _schema(schema: Object) -> Object:
    return map_schema(schema, _upgrade)


def _upgrade(schema: Object) -> Object:
    """A reference points to the components, and where it has siblings (which v3 forbids) is wrapped in ``allOf``."""
    target = schema.get("$ref")
    if target is None:
        return schema
    pointer = {"$ref": f"#/components/schemas/{target.rpartition('/')[2]}"}
    siblings = {key: value for key, value in schema.items() if key != "$ref"}
    return {**siblings, "allOf": [pointer]} if siblings else pointer


def _path_item(item: Object) -> Object:
    return {
        key: [_parameter(each) for each in value] if key == "parameters" else _operation(value)
        for key, value in item.items()
    }


def _operation(operation: Object) -> Object:
    produces, consumes = operation["produces"], operation["consumes"]
    result: Object = {key: value for key, value in operation.items() if key.startswith("x-")}
    result["parameters"] = [_parameter(each) for each in operation["parameters"] if each["in"] != "body"]
    for body in (each for each in operation["parameters"] if each["in"] == "body"):
        result["requestBody"] = {"content": _content(body["schema"], consumes), "required": body["required"]}
    result["responses"] = {
        code: {
            "description": response["description"],
            **({"content": _content(response["schema"], produces)} if "schema" in response else {}),
        }
        for code, response in operation["responses"].items()
    }
    return result


def _content(schema: Object, media_types: list[str]) -> Object:
    return {media_type: {"schema": _schema(schema)} for media_type in media_types}


def _parameter(parameter: Object) -> Object:
    outside = {"name", "in", "description", "required"}
    result: dict[str, Any] = {key: value for key, value in parameter.items() if key in outside}
    result["schema"] = {key: value for key, value in parameter.items() if key not in outside}
    return result
