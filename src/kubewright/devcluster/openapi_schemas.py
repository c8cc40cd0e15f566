"""The schemas behind the OpenAPI documents: built-in definitions, custom resources, and lists of both.

`openapi_v2` and `openapi_v3` each turn these into the dialect that they publish. Here a schema is OpenAPI v3 in all but
its references, which point to ``#/definitions/<name>``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import Catalog, ServedResource
    from kubewright.devcluster.objects import Object

__all__ = ["META", "PATCH", "Schemas", "map_schema", "reference", "references"]

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
PATCH = f"{META}.Patch"

API_VERSION: Object = {
    "description": "The group and version of the API that this object is written in, such as apps/v1.",
    "type": "string",
}
KIND: Object = {"description": "The kind of this object in CamelCase, such as StatefulSet.", "type": "string"}
METADATA = "The object's name, labels and other standard metadata."


def reference(name: str, description: str = "") -> Object:
    return (
        {"description": description, "$ref": f"#/definitions/{name}"}
        if description
        else {"$ref": f"#/definitions/{name}"}
    )


class Schemas:
    """All schemas of one state of a catalog, by definition name."""

    def __init__(self, catalog: Catalog) -> None:
        self._definitions: dict[str, Object] = {name: _typed(schema) for name, schema in catalog.definitions.items()}
        self._definitions.setdefault(PATCH, {"description": "The body of a PATCH request.", "type": "object"})
        self._by_kind = {
            (gvk["group"], gvk["version"], gvk["kind"]): name
            for name, schema in self._definitions.items()
            for gvk in schema.get("x-kubernetes-group-version-kind", ())
        }
        for resource in catalog:
            self._add(resource)

    def __iter__(self) -> Iterator[tuple[str, Object]]:
        return iter(self._definitions.items())

    def __getitem__(self, name: str) -> Object:
        return self._definitions[name]

    def name_of(self, group: str, version: str, kind: str) -> str | None:
        """The definition of a kind; None for one that is described nowhere."""
        return self._by_kind.get((group, version, kind))

    def closure(self, names: Iterable[str]) -> list[str]:
        """The named definitions and all that they refer to, sorted."""
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in self._definitions and name not in found:
                found.add(name)
                pending += references(self._definitions[name])
        return sorted(found)

    def _add(self, resource: ServedResource) -> None:
        info = resource.info
        address = (info.group, info.version, info.kind)
        if address not in self._by_kind:
            self._put(resource.definition_name or _custom_name(*address), _custom_schema(resource), *address)
        name = self._by_kind[address]
        if "list" in resource.verbs and (info.group, info.version, resource.listed_kind) not in self._by_kind:
            list_name = f"{name.rpartition('.')[0]}.{resource.listed_kind}"
            self._put(list_name, _list_schema(resource, name), info.group, info.version, resource.listed_kind)

    def _put(self, name: str, schema: Object, group: str, version: str, kind: str) -> None:
        gvk = {"group": group, "kind": kind, "version": version}
        self._definitions[name] = {**schema, "x-kubernetes-group-version-kind": [gvk]}
        self._by_kind[group, version, kind] = name


def _typed(schema: Mapping[str, Any]) -> Object:
    """A built-in definition with apiVersion, kind and metadata described, where it is that of a kind."""
    properties = schema.get("properties")
    if not properties or "x-kubernetes-group-version-kind" not in schema:
        return dict(schema)
    described = dict(properties)
    if "apiVersion" in properties and "kind" in properties:
        described |= {"apiVersion": API_VERSION, "kind": KIND}
    if "metadata" in properties and "$ref" in properties["metadata"]:
        described["metadata"] = {"description": METADATA, **properties["metadata"]}
    return {**schema, "properties": described}


def _custom_name(group: str, version: str, kind: str) -> str:
    """``com.example.apps.v1.Database`` for a Database of apps.example.com/v1."""
    return ".".join([*reversed(group.split(".")), version, kind])


def _custom_schema(resource: ServedResource) -> Object:
    schema = map_schema(resource.schema, _embedded)
    properties = {**(schema.get("properties") or {}), **_identity()}
    return {**schema, "type": "object", "properties": properties, **_selectable(resource)}


def _selectable(resource: ServedResource) -> Object:
    paths = [{"fieldPath": path} for path in resource.selectable_fields]
    return {"x-kubernetes-selectable-fields": paths} if paths else {}


def _identity() -> Object:
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": reference(f"{META}.ObjectMeta", METADATA)}


def _embedded(schema: Object) -> Object:
    """An embedded resource has apiVersion, kind and metadata, whether its schema says so or not."""
    if not schema.get("x-kubernetes-embedded-resource"):
        return schema
    required = [*(schema.get("required") or ()), "kind", "apiVersion"]
    return {
        **schema,
        "required": list(dict.fromkeys(required)),
        "properties": {**(schema.get("properties") or {}), **_identity()},
    }


def _list_schema(resource: ServedResource, item: str) -> Object:
    info = resource.info
    return {
        "description": f"A list of {info.plural}.",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": API_VERSION,
            "items": {"description": f"The {info.plural}.", "type": "array", "items": reference(item)},
            "kind": KIND,
            "metadata": reference(f"{META}.ListMeta", "The list's resource version and where to continue."),
        },
        **(_selectable(resource) if not resource.definition_name else {}),
    }


def map_schema(schema: Mapping[str, Any], change: Callable[[Object], Object]) -> Object:
    """A copy of a schema that went through ``change``, and after it every schema inside what came out."""
    result = dict(change(dict(schema)))
    for key, value in result.items():
        if key == "properties":
            result[key] = {name: map_schema(each, change) for name, each in value.items()}
        elif key in {"items", "additionalProperties", "not"} and isinstance(value, Mapping):
            result[key] = map_schema(value, change)
        elif key in {"allOf", "anyOf", "oneOf"}:
            result[key] = [map_schema(each, change) for each in value]
    return result


def references(value: Any) -> Iterator[str]:
    """The definitions that a schema, or anything with schemas in it, refers to."""
    if isinstance(value, Mapping):
        target = value.get("$ref")
        if isinstance(target, str):
            yield target.rpartition("/")[2]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)
