"""Whether a whole CustomResourceDefinition is one that the API server accepts, and what it says if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kubewright.schema.crd_schema import schema_errors, unrecognised_formats
from kubewright.schema.errors import FieldError, forbidden, invalid, not_supported, required
from kubewright.schema.names import dns1035_label_problems, dns_subdomain_problems

__all__ = ["completed_definition", "definition_errors", "definition_update_errors", "definition_warnings"]

Json = dict[str, Any]

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_LONGEST_WARNING = 256


def completed_definition(crd: Json) -> Json:
    """The definition with what the server fills in: singular, listKind, conversion."""
    spec = crd.get("spec") or {}
    names = dict(spec.get("names") or {})
    if names.get("kind"):
        names = {"singular": names["kind"].lower(), "listKind": f"{names['kind']}List", **names}
    return {**crd, "spec": {"conversion": {"strategy": "None"}, **spec, "names": names}}


def definition_errors(crd: Json) -> list[FieldError]:
    """What is wrong with the spec of a new (completed) definition, in the server's order."""
    return list(_spec(crd.get("spec") or {}, crd.get("metadata") or {}))


def definition_update_errors(crd: Json, old: Json) -> list[FieldError]:
    """The same for a change: what objects are stored under may not move."""
    errors = list(_spec(crd.get("spec") or {}, None))
    for path in (("scope",), ("names", "kind"), ("group",), ("names", "plural")):
        new_value, old_value = (_at(each.get("spec") or {}, path) for each in (crd, old))
        if new_value != old_value:
            errors.append(invalid(f"spec.{'.'.join(path)}", new_value, "field is immutable"))
    return errors


def definition_warnings(crd: Json) -> list[str]:
    """What to tell the author of a definition that is accepted: formats that nothing checks."""
    versions = (crd.get("spec") or {}).get("versions") or []
    schemas = (schema for version in versions if (schema := _schema(version)) is not None)
    return list(dict.fromkeys(warning for schema in schemas for warning in unrecognised_formats(schema, "")))


def _at(value: Any, path: Iterable[str]) -> Any:
    for key in path:
        value = (value or {}).get(key)
    return value


def _schema(version: Json) -> Json | None:
    schema: Json | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema


def _spec(spec: Json, metadata: Json | None) -> Iterator[FieldError]:
    group, names, versions = spec.get("group") or "", spec.get("names") or {}, spec.get("versions") or []
    plural = names.get("plural") or ""
    if metadata is not None and metadata.get("name") != f"{plural}.{group}":
        yield invalid("metadata.name", metadata.get("name") or "", 'must be spec.names.plural+"."+spec.group')
    yield from _group(group)
    scope = spec.get("scope") or ""
    if not scope:
        yield required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", scope, ("Cluster", "Namespaced"))
    yield from _versions(versions)
    first = versions[0].get("name") or "" if versions else ""
    if first and (problems := dns1035_label_problems(first)):
        yield invalid("spec.version", first, ",".join(problems))
    for key in ("plural", "singular", "kind", "listKind"):
        if not names.get(key):
            yield required(f"spec.names.{key}")
    yield from _names(names)
    yield from _shared(versions)
    yield from _conversion(spec.get("conversion") or {})
    yield from _stored(versions)
    if spec.get("preserveUnknownFields"):
        yield invalid(
            "spec.preserveUnknownFields",
            True,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        )


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif problems := dns_subdomain_problems(group):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _names(names: Json) -> Iterator[FieldError]:
    mixed = "may have mixed case, but should otherwise match: "
    for key, intro in (("plural", ""), ("singular", ""), ("kind", mixed), ("listKind", mixed)):
        name = names.get(key) or ""
        if name and (problems := dns1035_label_problems(name.lower() if intro else name)):
            yield invalid(f"spec.names.{key}", name, intro + ",".join(problems))
    yield from _each_label(names.get("shortNames") or (), "spec.names.shortNames")
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same")
    yield from _each_label(names.get("categories") or (), "spec.names.categories")


def _each_label(names: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, name in enumerate(names):
        if problems := dns1035_label_problems(name):
            yield invalid(f"{path}[{index}]", name, ",".join(problems))


# versions -----------------------------------------------------------------------------------------------------------


def _versions(versions: Sequence[Json]) -> Iterator[FieldError]:
    missing = "spec.versions[{}].schema.openAPIV3Schema"
    for index, version in enumerate(versions):
        if _schema(version) is None:
            yield required(missing.format(index))
    for index, version in enumerate(versions):
        path, name = f"spec.versions[{index}]", version.get("name") or ""
        if problems := dns1035_label_problems(name):
            yield invalid(f"{path}.name", name, ",".join(problems))
        yield from _deprecation(version, f"{path}.deprecationWarning")
        yield from _parts(version, f"{path}.schema", path, except_for=_common(versions))
    names = [version.get("name") for version in versions]
    if len(set(names)) < len(names):
        yield invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield invalid("spec.versions", versions, "must have exactly one version marked as storage version")


def _stored(versions: Sequence[Json]) -> Iterator[FieldError]:
    """The server notes the first storage version as stored, and expects the last one there."""
    storing = [version.get("name") or "" for version in versions if version.get("storage")]
    if not storing:
        yield invalid("status.storedVersions", None, "must have at least one stored version")
    elif storing[-1] != storing[0]:
        yield invalid("status.storedVersions", storing[:1], f"must have the storage version {storing[-1]}")


def _common(versions: Sequence[Json]) -> frozenset[str]:
    """What all versions say alike: the server keeps that once, and names it ``spec.validation`` and the like."""
    if not versions:
        return frozenset()
    keys = ("schema", "subresources", "additionalPrinterColumns")
    return frozenset(key for key in keys if all(each.get(key) == versions[0].get(key) for each in versions))


def _shared(versions: Sequence[Json]) -> Iterator[FieldError]:
    common = _common(versions)
    if versions:
        yield from _parts(versions[0], "spec.validation", "spec", except_for=frozenset(versions[0]) - common)


def _parts(version: Json, schema_path: str, path: str, *, except_for: frozenset[str]) -> Iterator[FieldError]:
    subresources = version.get("subresources") or {}
    if "schema" not in except_for and (schema := _schema(version)) is not None:
        has_status = subresources.get("status") is not None
        yield from schema_errors(schema, path=f"{schema_path}.openAPIV3Schema", has_status=has_status)
    if "subresources" not in except_for:
        yield from _scale(subresources.get("scale"), f"{path}.subresources.scale")
    if "additionalPrinterColumns" not in except_for:
        for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
            yield from _column(column, f"{path}.additionalPrinterColumns[{index}]")


def _deprecation(version: Json, path: str) -> Iterator[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        yield invalid(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > _LONGEST_WARNING:
        yield invalid(path, warning, f"must be <= {_LONGEST_WARNING} characters long")
    if not warning:
        yield invalid(path, warning, "must not be an empty string")
    unprintable = next((index for index, char in enumerate(warning) if not char.isprintable()), None)
    if unprintable is not None:
        at = len(warning[:unprintable].encode())
        message = f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
        yield invalid(path, warning, message)


def _scale(scale: Json | None, path: str) -> Iterator[FieldError]:
    if scale is None:
        return
    for key, starts, where in (
        ("specReplicasPath", (".spec.",), "under .spec"),
        ("statusReplicasPath", (".status.",), "under .status"),
        ("labelSelectorPath", (".spec.", ".status."), "under either .spec or .status"),
    ):
        value = scale.get(key) or ""
        if not value:
            if key != "labelSelectorPath":
                yield required(f"{path}.{key}")
        elif not value.startswith("."):
            yield invalid(f"{path}.{key}", value, "must be a simple json path starting with .")
        elif not value.startswith(starts):
            yield invalid(f"{path}.{key}", value, f"should be a json path {where}")


def _column(column: Json, path: str) -> Iterator[FieldError]:
    kind, form, json_path = (column.get(key) or "" for key in ("type", "format", "jsonPath"))
    if not column.get("name"):
        yield required(f"{path}.name")
    allowed = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{path}.type", allowed)
    elif kind not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", kind, allowed)
    if form and form not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not json_path:
        yield required(f"{path}.JSONPath")
    elif not json_path.startswith("."):
        yield invalid(f"{path}.JSONPath", json_path, "must be a simple json path starting with .")


def _conversion(conversion: Json) -> Iterator[FieldError]:
    path, strategy = "spec.conversion", conversion.get("strategy") or ""
    if not strategy:
        yield required(f"{path}.strategy")
    elif strategy not in ("None", "Webhook"):
        yield not_supported(f"{path}.strategy", strategy, ("None", "Webhook"))
    webhook = conversion.get("webhook") or {}
    reviews, client = webhook.get("conversionReviewVersions") or [], webhook.get("clientConfig")
    if strategy == "Webhook":
        if client is None:
            yield required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook")
        if not reviews:
            yield required(f"{path}.conversionReviewVersions")
    elif strategy == "None":
        message = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(f"{path}.webhookClientConfig", message)
        if reviews:
            yield forbidden(f"{path}.conversionReviewVersions", message)
