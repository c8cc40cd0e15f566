"""Whether a whole CustomResourceDefinition is one that the API server accepts, and what it says if not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from kubewright.schema.crd_schema import schema_errors
from kubewright.schema.errors import FieldError, duplicate, forbidden, invalid, not_supported, required, too_many
from kubewright.schema.go_text import quoted
from kubewright.schema.names import dns1035_label_problems, dns_subdomain_problems

__all__ = ["approval", "completed_definition", "definition_errors", "definition_update_errors"]

Json = dict[str, Any]

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_LONGEST_WARNING = 256
_MOST_SELECTABLE = 8
_APPROVAL = "api-approved.kubernetes.io"
_APPROVAL_RULES = "https://github.com/kubernetes/enhancements/pull/1111"
_PARTS = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def completed_definition(crd: Json) -> Json:
    """The definition with what the server fills in: singular, listKind, conversion."""
    spec = crd.get("spec") or {}
    names = dict(spec.get("names") or {})
    if kind := names.get("kind"):
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    conversion = spec.get("conversion")
    return {
        **crd,
        "spec": {**spec, "names": names, "conversion": {"strategy": "None"} if conversion is None else conversion},
    }


def definition_errors(crd: Json) -> list[FieldError]:
    """What is wrong with a new (completed) definition, in the server's order."""
    spec, metadata = crd.get("spec") or {}, crd.get("metadata") or {}
    errors = [*_name(spec, metadata), *_spec(spec)]
    stored = _storing(spec.get("versions") or [])[:1]
    return [*errors, *_stored(spec, stored or None), *_preserve(spec), *_approval(spec, metadata)]


def definition_update_errors(crd: Json, old: Json) -> list[FieldError]:
    """The same for a change: what objects are stored under may not move."""
    spec = crd.get("spec") or {}
    errors = [*_spec(spec), *_stored(spec, (crd.get("status") or {}).get("storedVersions")), *_preserve(spec)]
    for path in (("scope",), ("names", "kind"), ("group",), ("names", "plural")):
        new_value, old_value = (_at(each.get("spec") or {}, path) for each in (crd, old))
        if new_value != old_value:
            errors.append(invalid(f"spec.{'.'.join(path)}", new_value, "field is immutable"))
    return errors


def _at(value: Any, path: Iterable[str]) -> Any:
    for key in path:
        value = (value or {}).get(key)
    return value


def _schema(version: Json) -> Json | None:
    schema: Json | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema


def _name(spec: Json, metadata: Json) -> Iterator[FieldError]:
    plural = (spec.get("names") or {}).get("plural") or ""
    if metadata.get("name") != f"{plural}.{spec.get('group') or ''}":
        yield invalid("metadata.name", metadata.get("name") or "", 'must be spec.names.plural+"."+spec.group')


def _spec(spec: Json) -> Iterator[FieldError]:
    group, names, versions = spec.get("group") or "", spec.get("names") or {}, spec.get("versions") or []
    yield from _group(group)
    scope = spec.get("scope") or ""
    if not scope:
        yield required("spec.scope")
    elif scope not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", scope, ("Cluster", "Namespaced"))
    yield from _versions(versions, spec)
    first = versions[0].get("name") or "" if versions else ""
    if first and (problems := dns1035_label_problems(first)):
        yield invalid("spec.version", first, ",".join(problems))
    for key in ("plural", "singular", "kind", "listKind"):
        if not names.get(key):
            yield required(f"spec.names.{key}")
    yield from _names(names)
    yield from _shared(versions)
    yield from _conversion(spec.get("conversion") or {})


def _preserve(spec: Json) -> Iterator[FieldError]:
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


def _versions(versions: Sequence[Json], spec: Json) -> Iterator[FieldError]:
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
        yield _invalid_versions(spec, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield _invalid_versions(spec, "must have exactly one version marked as storage version")


def _invalid_versions(spec: Json, message: str) -> FieldError:
    """Shows the versions in the server's inner form, which has what all say alike only once, in the order of its fields."""
    versions = spec.get("versions")
    common = _common(versions or ())
    shown = versions and [
        {
            "Name": version.get("name") or "",
            "Served": bool(version.get("served")),
            "Storage": bool(version.get("storage")),
            "Deprecated": bool(version.get("deprecated")),
            "DeprecationWarning": version.get("deprecationWarning"),
            **{part[0].upper() + part[1:]: None if part in common else version.get(part) for part in _PARTS},
        }
        for version in versions
    ]
    text = json.dumps(shown, separators=(",", ":"), ensure_ascii=False)
    return FieldError("FieldValueInvalid", "spec.versions", f"Invalid value: {text}: {message}")


def _storing(versions: Sequence[Json]) -> list[str]:
    return [version.get("name") or "" for version in versions if version.get("storage")]


def _stored(spec: Json, stored: Sequence[str] | None) -> Iterator[FieldError]:
    """What ``status.storedVersions`` must have; a new definition begins with its first storage version."""
    if not stored:
        yield invalid("status.storedVersions", stored, "must have at least one stored version")
        return
    versions = spec.get("versions") or []
    for index, name in enumerate(stored):
        if all(version.get("name") != name for version in versions):
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
                f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
                "status.storedVersions"
            )
            yield invalid(f"status.storedVersions[{index}]", name, text)
    storing = _storing(versions)
    if storing and storing[-1] not in stored:
        yield invalid("status.storedVersions", list(stored), f"must have the storage version {storing[-1]}")


def _approval(spec: Json, metadata: Json) -> Iterator[FieldError]:
    found = approval({"spec": spec, "metadata": metadata})
    field = f"metadata.annotations[{_APPROVAL}]"
    if found is None:
        return
    if found[1] == "MissingAnnotation":
        yield required(field, found[2])
    elif found[1] == "InvalidAnnotation":
        yield invalid(field, metadata["annotations"][_APPROVAL], found[2])


def approval(crd: Json) -> tuple[str, str, str] | None:
    """Status, reason and message of the approval that groups of Kubernetes' own need; None for other groups."""
    group = (crd.get("spec") or {}).get("group") or ""
    if not group.endswith((".k8s.io", ".kubernetes.io")) and group not in {"k8s.io", "kubernetes.io"}:
        return None
    given = ((crd.get("metadata") or {}).get("annotations") or {}).get(_APPROVAL) or ""
    need = f'protected groups must have approval annotation "{_APPROVAL}"'
    if not given:
        return "False", "MissingAnnotation", f"{need}, see {_APPROVAL_RULES}"
    if given.startswith("unapproved"):
        return "False", "UnapprovedAnnotation", f"not approved: {quoted(given)}"
    if _is_url(given):
        return "True", "ApprovedAnnotation", f"approved in {given}"
    why = f'with either a URL or a reason starting with "unapproved", see {_APPROVAL_RULES}'
    return "False", "InvalidAnnotation", f"{need} {why}"


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)


def _common(versions: Sequence[Json]) -> frozenset[str]:
    """What all versions say alike: the server keeps that once, and names it ``spec.validation`` and the like."""
    if not versions:
        return frozenset()
    return frozenset(key for key in _PARTS if all(each.get(key) == versions[0].get(key) for each in versions))


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
    if "selectableFields" not in except_for:
        fields = version.get("selectableFields") or ()
        yield from _selectable(fields, _schema(version) or {}, f"{path}.selectableFields")


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


def _selectable(fields: Sequence[Json], schema: Json, path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, field in enumerate(fields):
        at, given = f"{path}[{index}].jsonPath", field.get("jsonPath") or ""
        if not given:
            yield required(at)
            continue
        target: Any = schema
        for part in given.removeprefix(".").split("."):
            target = ((target or {}).get("properties") or {}).get(part)
        if target is None:
            yield invalid(at, given, "is an invalid path: does not refer to a valid field")
        elif target.get("type") not in ("string", "boolean", "integer"):
            text = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats "
                "are allowed."
            )
            yield invalid(at, given, text)
        if given in seen:
            yield duplicate(at, given)
        seen.add(given)
    if len(fields) > _MOST_SELECTABLE:
        yield too_many(path, len(fields), _MOST_SELECTABLE)


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
