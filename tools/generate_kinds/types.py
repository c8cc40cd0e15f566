"""Python annotations for OpenAPI schemas."""

from __future__ import annotations

from typing import Any

from tools.generate_kinds.names import FROM_API, class_name, module_name

__all__ = ["Names", "annotation"]

_SPECIAL = {
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "JSON",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": (
        "JSONSchemaProps | list[JSONSchemaProps]"
    ),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "JSONSchemaProps | bool",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": (
        "JSONSchemaProps | list[str]"
    ),
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "dict[str, JSON]",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "dict[str, JSON]",
}
_SCALARS = {
    ("boolean", None): "bool",
    ("integer", None): "int",
    ("integer", "int32"): "Int32",
    ("integer", "int64"): "Int64",
    ("number", "double"): "float",
    ("string", None): "str",
    ("string", "byte"): "str",
}


class Names:
    """Collects what one module has to import."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.api: set[str] = set()
        self.modules: set[str] = set()

    def refer(self, definition: str) -> str:
        """The expression that names a definition's class in this module."""
        if definition in _SPECIAL:
            if "JSON]" in _SPECIAL[definition] or _SPECIAL[definition] == "JSON":
                self.api.add("JSON")
            return _SPECIAL[definition]
        if definition in FROM_API:
            self.api.add(FROM_API[definition])
            return FROM_API[definition]
        home = module_name(definition)
        if home == self.module:
            return class_name(definition)
        self.modules.add(home)
        return f"{home}.{class_name(definition)}"


def has_class(definition: str) -> bool:
    """Whether the generator writes a class for a definition, rather than using a type of `kubewright.api`."""
    return definition not in _SPECIAL and definition not in FROM_API


def annotation(schema: dict[str, Any], names: Names) -> str:
    if "$ref" in schema:
        return names.refer(schema["$ref"].removeprefix("#/definitions/"))
    kind = schema.get("type")
    if kind == "array":
        return f"list[{annotation(schema['items'], names)}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        if values is None:
            names.api.add("JSON")
            return "dict[str, JSON]"
        return f"dict[str, {annotation(values, names)}]"
    scalar = _SCALARS[str(kind), schema.get("format")]
    if scalar in {"Int32", "Int64"}:
        names.api.add(scalar)
    return scalar
