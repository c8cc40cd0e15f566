"""Whether the schema in a CustomResourceDefinition is one that the API server accepts, and what it says if not.

Three rounds, as in the server: the schema is structural, its defaults are valid, its keywords make sense together.
Rules in ``x-kubernetes-validations`` are kept and not looked at.
"""

from __future__ import annotations

from typing import Any

from kubewright.schema.crd_keywords import UNSUPPORTED, keyword_errors
from kubewright.schema.embedded import MalformedMetadata, embedded_errors
from kubewright.schema.errors import FieldError, forbidden, invalid
from kubewright.schema.formats import recognised
from kubewright.schema.node import Definitions, Node, Schema
from kubewright.schema.pruning import prune
from kubewright.schema.structurality import structural_errors
from kubewright.schema.validation import validate
from kubewright.schema.walk import inner_schemas, keyed

__all__ = ["schema_errors", "unrecognised_formats"]

_AT_ROOT_WITH_STATUS = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems "
    "MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations"
)
_ROOT_KEYWORDS = frozenset(
    name[0].lower() + name[1:] for name in _AT_ROOT_WITH_STATUS.split() if not name.startswith("X")
) | {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"}


def schema_errors(schema: Schema, *, path: str, has_status: bool) -> list[FieldError]:
    """What is wrong with an ``openAPIV3Schema``; ``path`` is its own, ``has_status`` whether status is a subresource."""
    errors = []
    if has_status:
        errors += _root_with_status(schema, path)
    if schema.get("nullable"):
        errors.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    if not _has_unsupported(schema):
        # at the root, and only there, a default would be a whole object
        root = {**schema, "x-kubernetes-embedded-resource": True}
        errors += structural_errors(schema, path) or default_errors(root, path)
    errors += keyword_errors(schema, path)
    if not errors and _mentions(schema, "$schema"):
        errors.append(invalid(path, "", "OpenAPIV3Schema 'schema' is not supported"))
    return errors


def _root_with_status(schema: Schema, path: str) -> list[FieldError]:
    """The status of an object is checked by ``properties.status`` alone, so the root may not say more."""
    if schema.get("type") not in (None, "", "object"):
        message = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(f"{path}.type", schema["type"], message)]
    extra = [key for key, value in schema.items() if key not in _ROOT_KEYWORDS and _says_something(key, value)]
    if not extra:
        return []
    message = (
        f"only [{_AT_ROOT_WITH_STATUS}] fields are allowed at the root of the schema "
        "if the status subresource is enabled"
    )
    return [invalid(path, schema, message)]


def _says_something(keyword: str, value: Any) -> bool:
    return value is not None and (keyword == "default" or value not in (False, "", [], {}))


def _has_unsupported(schema: Schema) -> bool:
    if any(schema.get(keyword) for keyword in UNSUPPORTED) or isinstance(schema.get("items"), list):
        return True
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        return True
    return any(_has_unsupported(inner) for _, inner in inner_schemas(schema, ""))


def _mentions(schema: Schema, keyword: str) -> bool:
    return keyword in schema or any(_mentions(inner, keyword) for _, inner in inner_schemas(schema, ""))


def default_errors(schema: Schema, path: str) -> list[FieldError]:
    """Defaults that the schema itself would refuse, or prune."""
    errors: list[FieldError] = []
    if schema.get("default") is not None:
        errors += _default(schema["default"], Definitions().node(schema), f"{path}.default")
    items, properties = schema.get("items"), schema.get("properties") or {}
    if isinstance(items, dict):
        errors += default_errors(items, f"{path}.items")
    for name in sorted(properties):
        errors += default_errors(properties[name], keyed(f"{path}.properties", name))
    return errors


def _default(value: Any, node: Node, path: str) -> list[FieldError]:
    try:
        pruned, unknown = prune(value, node, root=False)
    except MalformedMetadata as malformed:
        return [FieldError(malformed.error.reason, f"{path}{malformed.error.field}", malformed.error.detail)]
    errors = [invalid(path, value, "must not have unknown fields")] if unknown else []
    return errors + (list(embedded_errors(pruned, node, path)) or validate(value, node, prefix=path))


def unrecognised_formats(schema: Schema) -> list[str]:
    """Warnings for formats that the server does not know and will not check."""
    declared = schema.get("format") or ""
    kind = schema.get("type")
    types = () if not kind or schema.get("x-kubernetes-int-or-string") else (kind,)
    warnings = [f'unrecognized format "{declared}"'] if declared and not recognised(declared, types) else []
    for _, inner in inner_schemas(schema, ""):
        warnings += unrecognised_formats(inner)
    return warnings
