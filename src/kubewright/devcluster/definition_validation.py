"""What is wrong with a CustomResourceDefinition, in the API server's words.

The server checks an inner form in which what all versions share (schema, subresources, columns) stands at the top, and
names fields as they are there: ``spec.validation.openAPIV3Schema`` rather than ``spec.versions[0].schema…``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kubewright.devcluster.naming import dns_label_1035_errors, dns_subdomain_errors
from kubewright.devcluster.objects import Object, metadata_of, name_of
from kubewright.schema.crd_schema import schema_errors
from kubewright.schema.errors import FieldError, invalid, not_supported, required

__all__ = ["definition_errors", "name_errors", "update_definition_errors"]

_APPROVAL = "api-approved.kubernetes.io"
_APPROVAL_RULES = "https://github.com/kubernetes/enhancements/pull/1111"
_TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SHARED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def definition_errors(obj: Object) -> list[FieldError]:
    """Everything wrong with a new definition, or with an updated one as it is now."""
    spec = obj.get("spec") or {}
    names = spec.get("names") or {}
    errors = _group_errors(spec.get("group") or "")
    scope = spec.get("scope") or ""
    if not scope:
        errors.append(required("spec.scope"))
    elif scope not in {"Cluster", "Namespaced"}:
        errors.append(not_supported("spec.scope", scope, ["Cluster", "Namespaced"]))
    if spec.get("preserveUnknownFields"):
        text = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        errors.append(invalid("spec.preserveUnknownFields", True, text))
    versions = spec.get("versions") or []
    errors += _versions_errors(spec, versions)
    errors += _names_errors(names)
    errors += _parts_errors(versions)
    errors += _conversion_errors(spec.get("conversion") or {})
    errors += _stored_errors(obj, versions)
    return errors + _approval_errors(obj)


def name_errors(obj: Object) -> list[FieldError]:
    """A new definition is named by what it defines."""
    spec = obj.get("spec") or {}
    plural, group = (spec.get("names") or {}).get("plural") or "", spec.get("group") or ""
    if name_of(obj) == f"{plural}.{group}":
        return []
    return [invalid("metadata.name", name_of(obj), 'must be spec.names.plural+"."+spec.group')]


def _group_errors(group: str) -> list[FieldError]:
    if not group:
        return [required("spec.group")]
    if problems := dns_subdomain_errors(group):
        return [invalid("spec.group", group, "; ".join(problems))]
    if "." not in group:
        return [invalid("spec.group", group, "should be a domain with at least one dot")]
    return []


def _versions_errors(spec: Object, versions: Sequence[Object]) -> list[FieldError]:
    errors = []
    for index, version in enumerate(versions):
        name = version.get("name") or ""
        if problems := dns_label_1035_errors(name):
            errors.append(invalid(f"spec.versions[{index}].name", name, "; ".join(problems)))
            if index == 0:  # the inner form repeats the first version
                errors.append(invalid("spec.version", name, "; ".join(problems)))
    shown = [_shown(version, versions) for version in versions] if "versions" in spec else None
    if len({version.get("name") for version in versions}) < len(versions):
        errors.append(invalid("spec.versions", shown, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        errors.append(invalid("spec.versions", shown, "must have exactly one version marked as storage version"))
    return errors


def _shared(versions: Sequence[Object], part: str) -> bool:
    """Whether all versions agree on a part, so that it stands at the top."""
    return all(version.get(part) == versions[0].get(part) for version in versions)


def _shown(version: Object, versions: Sequence[Object]) -> Object:
    """A version as messages print it: with the names of Go's fields."""
    shown = {
        "Name": version.get("name") or "",
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
    }
    for part in _SHARED:
        shown[part[0].upper() + part[1:]] = None if _shared(versions, part) else version.get(part)
    return shown


def _stored_errors(obj: Object, versions: Sequence[Object]) -> list[FieldError]:
    stored = (obj.get("status") or {}).get("storedVersions")
    if not stored:
        return [invalid("status.storedVersions", stored, "must have at least one stored version")]
    errors = []
    for index, name in enumerate(stored):
        if all(version.get("name") != name for version in versions):
            text = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
                f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
                "status.storedVersions"
            )
            errors.append(invalid(f"status.storedVersions[{index}]", name, text))
    storage = [version.get("name") for version in versions if version.get("storage")]
    if storage and storage[-1] not in stored:
        errors.append(invalid("status.storedVersions", stored, f"must have the storage version {storage[-1]}"))
    return errors


def _names_errors(names: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for key in ("plural", "singular", "kind", "listKind"):
        value = names.get(key) or ""
        mixed = key in {"kind", "listKind"}
        if not value:
            errors.append(required(f"spec.names.{key}"))
        elif problems := dns_label_1035_errors(value.lower() if mixed else value):
            prefix = "may have mixed case, but should otherwise match: " if mixed else ""
            errors.append(invalid(f"spec.names.{key}", value, prefix + "; ".join(problems)))
    for key in ("shortNames", "categories"):
        for index, value in enumerate(names.get(key) or []):
            if problems := dns_label_1035_errors(value):
                errors.append(invalid(f"spec.names.{key}[{index}]", value, "; ".join(problems)))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        errors.append(invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same"))
    return errors


def _parts_errors(versions: Sequence[Object]) -> list[FieldError]:
    """Schema, subresources and columns: once where the versions agree, else for each of them."""
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") or {} for version in versions]
    has_status = any("status" in (version.get("subresources") or {}) for version in versions)
    checks: tuple[tuple[str, str, Callable[[Any, str], list[FieldError]]], ...] = (
        ("schema", "validation", partial(_schema_errors, has_status=has_status)),
        ("subresources", "subresources", _subresources_errors),
        ("additionalPrinterColumns", "additionalPrinterColumns", _columns_errors),
        ("selectableFields", "selectableFields", partial(_selectable_errors, schemas=schemas)),
    )
    errors: list[FieldError] = []
    for part, inner, check in checks:
        if versions and _shared(versions, part) and versions[0].get(part) is not None:
            errors += check(versions[0][part], f"spec.{inner}")
            continue
        for index, version in enumerate(versions):
            errors += check(version.get(part), f"spec.versions[{index}].{part}")
    return errors


def _schema_errors(schema: Any, where: str, *, has_status: bool) -> list[FieldError]:
    found = (schema or {}).get("openAPIV3Schema")
    if found is None:
        return [required(f"{where}.openAPIV3Schema")]
    return schema_errors(found, path=f"{where}.openAPIV3Schema", has_status=has_status)


def _subresources_errors(subresources: Any, where: str) -> list[FieldError]:
    scale = (subresources or {}).get("scale")
    if scale is None:
        return []
    errors = []
    for key, roots in (("specReplicasPath", ("spec",)), ("statusReplicasPath", ("status",))):
        errors += _path_errors(scale.get(key) or "", f"{where}.scale.{key}", roots, needed=True)
    selector = scale.get("labelSelectorPath") or ""
    return errors + _path_errors(selector, f"{where}.scale.labelSelectorPath", ("spec", "status"), needed=False)


def _path_errors(path: str, field: str, roots: Sequence[str], *, needed: bool) -> list[FieldError]:
    if not path:
        return [required(field)] if needed else []
    if not path.startswith("."):
        return [invalid(field, path, "must be a simple json path starting with .")]
    if not path.startswith(tuple(f".{root}." for root in roots)):
        under = " or ".join(f".{root}" for root in roots)
        return [invalid(field, path, f"should be a json path under {'either ' if len(roots) > 1 else ''}{under}")]
    if any(char in path for char in "[]{}*"):
        return [invalid(field, path, "must be a dot notation JSON path, array notation is not supported")]
    return []


def _columns_errors(columns: Any, where: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, column in enumerate(columns or []):
        at = f"{where}[{index}]"
        if not column.get("name"):
            errors.append(required(f"{at}.name"))
        for key, known in (("type", _TYPES), ("format", _FORMATS)):
            value = column.get(key) or ""
            if not value and key == "type":
                errors.append(required(f"{at}.type", f"must be one of {','.join(known)}"))
            elif value and value not in known:
                errors.append(invalid(f"{at}.{key}", value, f"must be one of {','.join(known)}"))
        if not column.get("jsonPath"):
            errors.append(required(f"{at}.JSONPath"))
    return errors


def _selectable_errors(fields: Any, where: str, *, schemas: Sequence[Object]) -> list[FieldError]:
    errors = []
    for index, field in enumerate(fields or []):
        path = field.get("jsonPath") or ""
        if not path:
            errors.append(required(f"{where}[{index}].jsonPath"))
        elif not all(_is_scalar(schema, path) for schema in schemas):
            text = "is an invalid path: does not refer to a valid field"
            errors.append(invalid(f"{where}[{index}].jsonPath", path, text))
    return errors


def _is_scalar(schema: Any, path: str) -> bool:
    """Whether a path leads to a string, number or boolean of the schema."""
    for part in path.removeprefix(".").split("."):
        schema = ((schema or {}).get("properties") or {}).get(part)
    return (schema or {}).get("type") in {"string", "integer", "boolean"}


def _conversion_errors(conversion: Object) -> list[FieldError]:
    strategy = conversion.get("strategy") or ""
    if strategy not in {"None", "Webhook"}:
        return [not_supported("spec.conversion.strategy", strategy, ["None", "Webhook"])]
    errors = []
    webhook = conversion.get("webhook") or {}
    if strategy == "Webhook":
        if not webhook.get("clientConfig"):
            text = "required when strategy is set to Webhook"
            errors.append(required("spec.conversion.webhookClientConfig", text))
        if not webhook.get("conversionReviewVersions"):
            errors.append(required("spec.conversion.conversionReviewVersions"))
    return errors


def _approval_errors(obj: Object) -> list[FieldError]:
    group = (obj.get("spec") or {}).get("group") or ""
    if not group.endswith((".k8s.io", ".kubernetes.io")) and group not in {"k8s.io", "kubernetes.io"}:
        return []
    if (metadata_of(obj).get("annotations") or {}).get(_APPROVAL):
        return []
    text = f'protected groups must have approval annotation "{_APPROVAL}", see {_APPROVAL_RULES}'
    return [required(f"metadata.annotations[{_APPROVAL}]", text)]


def update_definition_errors(obj: Object, old: Object) -> list[FieldError]:
    """What may not be changed of a definition that is, or was, served."""
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    errors = [
        invalid(f"spec.{key}", new_spec.get(key), "field is immutable")
        for key in ("group", "scope")
        if new_spec.get(key) != old_spec.get(key)
    ]
    new_names, old_names = new_spec.get("names") or {}, old_spec.get("names") or {}
    errors += [
        invalid(f"spec.names.{key}", new_names.get(key), "field is immutable")
        for key in ("kind", "plural")
        if new_names.get(key) != old_names.get(key)
    ]
    return errors
