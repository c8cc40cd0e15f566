"""`CustomStrategy`: how objects of a CustomResourceDefinition are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kubewright.devcluster.finalizers import STANDARD_FINALIZERS
from kubewright.devcluster.naming import dns_subdomain_errors
from kubewright.devcluster.objects import Object, metadata_of, with_metadata
from kubewright.devcluster.strategy import Deletion, Surroundings
from kubewright.schema import Structural
from kubewright.schema.errors import FieldError, invalid
from kubewright.schema.go_text import quoted, value_text

if TYPE_CHECKING:
    from kubewright.api import Scale

__all__ = ["CustomStrategy"]

_PREFER_A_DOMAIN = "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
_LARGEST = 2**31 - 1
_GO_TYPES = {bool: "bool", int: "int64", float: "float64", list: "[]interface {}", dict: "map[string]interface {}"}


class CustomStrategy:
    """One version of a custom resource: its schema, and whether it has status and scale."""

    def __init__(self, structural: Structural, *, has_status: bool, scale: Scale | None) -> None:
        self._structural = structural
        self._has_status = has_status
        self._scale = scale

    def read(self, obj: Object) -> tuple[Object, list[str]]:
        return self._structural.prune(obj)

    def default(self, obj: Object, *, applied: bool = False) -> Object:
        return self._structural.default(obj, keeps_nulls=applied)

    def prepare_create(self, obj: Object, around: Surroundings) -> Object:  # noqa: ARG002 - the protocol's
        return with_metadata(_without(obj, "status") if self._has_status else obj, generation=1)

    def prepare_update(
        self,
        new: Object,
        old: Object,
        *,
        subresource: str,
        around: Surroundings,  # noqa: ARG002 - the protocol's
    ) -> Object:
        if subresource == "status":
            kept = with_metadata(old, managedFields=metadata_of(new).get("managedFields"))
            return {**kept, "status": new["status"]} if "status" in new else _without(kept, "status")
        if self._has_status:
            new = {**new, "status": old["status"]} if "status" in old else _without(new, "status")
        if _without(new, "metadata") == _without(old, "metadata"):
            return new
        return with_metadata(new, generation=(metadata_of(old).get("generation") or 0) + 1)

    def validate(self, obj: Object, old: Object | None, *, subresource: str) -> list[FieldError]:
        if subresource == "status" and old is not None:
            errors = self._structural.validate_status(obj, old)
        else:
            errors = self._structural.validate(obj, old)
        return errors + self._scale_errors(obj)

    def _scale_errors(self, obj: Object) -> list[FieldError]:
        if self._scale is None:
            return []
        errors = _replicas_errors(obj, self._scale.spec) + _replicas_errors(obj, self._scale.status)
        if self._scale.selector:
            errors += _text_errors(obj, self._scale.selector)
        return errors

    def name_errors(self, name: str, *, prefix: bool) -> list[str]:
        return dns_subdomain_errors(name, prefix=prefix)

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        before = metadata_of(old or {}).get("finalizers") or []
        return [
            f"metadata.finalizers: {quoted(finalizer)}: {_PREFER_A_DOMAIN}"
            for finalizer in metadata_of(obj).get("finalizers") or []
            if "/" not in finalizer and finalizer not in before and finalizer not in STANDARD_FINALIZERS
        ]

    def deletion(self, obj: Object, requested_grace: int | None) -> Deletion:  # noqa: ARG002 - the protocol's
        return Deletion(obj)

    def selectable(self, obj: Object, path: str) -> str:
        try:
            value = _nested(obj, path)
        except TypeError:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)


def _without(obj: Mapping[str, Any], key: str) -> Object:
    return {name: value for name, value in obj.items() if name != key}


def _nested(obj: Any, path: str) -> Any:
    """The value at ``.spec.replicas``, None where there is none. Raises TypeError where something else is in the way."""
    for part in path.removeprefix(".").split("."):
        if not isinstance(obj, dict):
            raise TypeError(_accessor_error(path, obj, "map[string]interface{}"))
        obj = obj.get(part)
        if obj is None:
            return None
    return obj


def _accessor_error(path: str, value: Any, expected: str) -> str:
    found = _GO_TYPES.get(type(value), "string")
    shown = value_text(value) if isinstance(value, bool | float) else value
    return f"{path} accessor error: {shown} is of the type {found}, expected {expected}"


def _replicas_errors(obj: Object, path: str) -> list[FieldError]:
    try:
        value = _nested(obj, path)
    except TypeError as error:
        return [invalid(path, 0, str(error))]
    if value is None:
        return []
    if not isinstance(value, int) or isinstance(value, bool):
        return [invalid(path, 0, _accessor_error(path, value, "int64"))]
    if value < 0:
        return [invalid(path, value, "should be a non-negative integer")]
    return [invalid(path, value, f"should be less than or equal to {_LARGEST}")] if value > _LARGEST else []


def _text_errors(obj: Object, path: str) -> list[FieldError]:
    try:
        value = _nested(obj, path)
    except TypeError as error:
        return [invalid(path, "", str(error))]
    return (
        [] if value is None or isinstance(value, str) else [invalid(path, "", _accessor_error(path, value, "string"))]
    )
