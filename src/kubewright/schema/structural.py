"""`Structural`, a schema that objects are held to: validate, default, prune.

See "Specifying a structural schema" in
https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubewright.schema.defaulting import default_value, drop_nulls
from kubewright.schema.embedded import embedded_errors
from kubewright.schema.errors import NO_FIELD, FieldError, invalid
from kubewright.schema.list_types import duplicates
from kubewright.schema.node import Definitions, Node, Schema
from kubewright.schema.pruning import prune
from kubewright.schema.shortcut import Shortcut
from kubewright.schema.validation import NOTHING, validate

__all__ = ["Structural"]

_BLOCKING = frozenset(
    {"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"}
)


class Structural:
    """The schema of one version of a kind.

    Objects are decoded JSON and never changed; results share what is the same. The server's order for a request body
    is: `default`, `prune`, then (with server-side fields set) `validate`.
    """

    def __init__(self, openapi_v3_schema: Schema, definitions: Mapping[str, Schema] | None = None) -> None:
        self.schema = openapi_v3_schema
        self.root: Node = Definitions(definitions).node(openapi_v3_schema)
        self._has_rules = self.root.uses("x-kubernetes-validations")
        self._embeds = self.root.uses("x-kubernetes-embedded-resource")
        self._has_list_types = self.root.uses("x-kubernetes-list-type")
        self._shortcut = None if definitions or self._embeds else Shortcut(self.root)

    def default(self, obj: dict[str, Any], *, keeps_nulls: bool = False) -> dict[str, Any]:
        """``obj`` with the schema's defaults, and without nulls that no field may hold unless it ``keeps_nulls``."""
        if self._shortcut is not None and (filled := self._shortcut.filled(obj)) is not None:
            return filled
        result: dict[str, Any] = default_value(obj if keeps_nulls else drop_nulls(obj, self.root), self.root)
        return result

    def prune(self, obj: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """``obj`` without fields that the schema does not know, and their paths (``spec.ports[0].nam``).

        The object's own metadata is left as it is; that of embedded resources is cleaned. Raises `MalformedMetadata`
        where that can't be read.
        """
        if self._shortcut is not None and self._shortcut.accepts(obj):
            return obj, []
        return prune(obj, self.root, root=True)

    def validate(self, obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[FieldError]:
        """Everything wrong with ``obj``; parts unchanged since ``old`` are let through (validation ratcheting).

        Covers the schema, embedded resources and list types. The object's own metadata, and the scale subresource, are
        the caller's.
        """
        if self._shortcut is not None and self._shortcut.proves(obj):
            return []
        errors = validate(obj, self.root, old=NOTHING if old is None else old)
        return self._complete(errors, obj, old)

    def validate_status(self, obj: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
        """The same for a write to the status subresource, which looks at ``status`` alone."""
        if self._shortcut is not None and self._shortcut.proves(obj):
            return []
        errors: list[FieldError] = []
        node = self.root.properties.get("status")
        if node is not None and "status" in obj:
            errors = validate(obj["status"], node, old=old.get("status"), prefix="status")
        return self._complete(errors, obj, old)

    def _complete(self, errors: list[FieldError], obj: dict[str, Any], old: dict[str, Any] | None) -> list[FieldError]:
        if self._embeds:
            errors += embedded_errors(obj, self.root)
        if self._has_list_types and (old is None or not any(duplicates(old, self.root))):
            errors += duplicates(obj, self.root)
        if self._has_rules and any(error.reason in _BLOCKING for error in errors):
            errors.append(
                invalid(
                    NO_FIELD,
                    None,
                    "some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation",
                )
            )
        return errors
