"""``/openapi/v2``: one Swagger 2.0 document of all kinds, for old kubectl (1.20) and other old clients.

OpenAPI v2 can't say all that a custom resource's schema says, and old clients choke on some of it; what has to go is
left out the way a real server does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubewright.devcluster.openapi_operations import paths_of
from kubewright.devcluster.openapi_schemas import Schemas, map_schema

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import Catalog
    from kubewright.devcluster.objects import Object

__all__ = ["document"]

_NOT_IN_V2 = frozenset({"default", "nullable", "oneOf", "anyOf", "allOf", "not"})


def document(catalog: Catalog, *, version: str) -> Object:
    """The whole document; ``version`` is that of the server, such as 1.36."""
    schemas = Schemas(catalog)
    paths: Object = {}
    for resource in catalog:
        paths |= paths_of(resource, schemas)
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": version},
        "paths": dict(sorted(paths.items())),
        "definitions": {name: _definition(schema) for name, schema in sorted(schemas)},
    }


def _definition(schema: Object) -> Object:
    """A definition; one that takes any fields is just an object, as old clients would refuse all but its known ones."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        kept = {"description", "x-kubernetes-group-version-kind", "x-kubernetes-selectable-fields"}
        return {"type": "object", **{key: value for key, value in schema.items() if key in kept}}
    return map_schema(schema, _downgrade)


def _downgrade(schema: Object) -> Object:
    """One schema without what v2 lacks; those inside it follow."""
    nullable = {name for name, each in (schema.get("properties") or {}).items() if each.get("nullable")}
    result = {key: value for key, value in schema.items() if key not in _NOT_IN_V2}
    if schema.get("nullable") or schema.get("x-kubernetes-preserve-unknown-fields"):
        for key in ("type", "items", "properties"):
            result.pop(key, None)
    if schema.get("x-kubernetes-int-or-string"):
        result.pop("type", None)
    if nullable and "required" in result:
        result["required"] = [name for name in result["required"] if name not in nullable]
        if not result["required"]:
            del result["required"]
    return result
