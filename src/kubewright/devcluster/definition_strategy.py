"""`DefinitionStrategy`: how CustomResourceDefinitions themselves are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubewright.devcluster.conditions import with_condition
from kubewright.devcluster.naming import dns_subdomain_errors
from kubewright.devcluster.objects import Object, metadata_of, timestamp, with_metadata
from kubewright.devcluster.strategy import Deletion
from kubewright.schema.crd_definition import completed_definition, definition_errors, definition_update_errors
from kubewright.schema.crd_schema import unrecognised_formats

if TYPE_CHECKING:
    from kubewright.api import Clock
    from kubewright.devcluster.strategy import Strategy, Surroundings
    from kubewright.schema.errors import FieldError

__all__ = ["CLEANUP", "DefinitionStrategy", "storage_version"]

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that keeps a definition until its objects are gone."""


def storage_version(definition: Object) -> str:
    """The version that objects are kept in; empty while no version says so."""
    versions = (definition.get("spec") or {}).get("versions") or []
    return next((version.get("name") or "" for version in versions if version.get("storage")), "")


class DefinitionStrategy:
    """``inner`` is the built-in kind's strategy, which reads the wire format."""

    def __init__(self, inner: Strategy, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock

    def read(self, obj: Object) -> tuple[Object, list[str]]:
        return self._inner.read(obj)

    def default(self, obj: Object, *, applied: bool = False) -> Object:
        obj = completed_definition(self._inner.default(obj, applied=applied))
        status = obj.get("status") or {}
        if status and not status.get("storedVersions") and (stored := storage_version(obj)):
            obj = {**obj, "status": {**status, "storedVersions": [stored]}}
        return obj

    def prepare_create(self, obj: Object, around: Surroundings) -> Object:  # noqa: ARG002 - the protocol's
        stored = storage_version(obj)
        status: Object = {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": [stored] if stored else None,
        }
        return {**with_metadata(obj, generation=1), "status": status}

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
            return {**kept, "status": new.get("status") or {}}
        status = dict(old.get("status") or {})
        stored = storage_version(new)
        known = status.get("storedVersions") or []
        if stored and stored not in known:
            status["storedVersions"] = [*known, stored]
        if new.get("spec") != old.get("spec"):
            new = with_metadata(new, generation=(metadata_of(old).get("generation") or 0) + 1)
        return {**new, "status": status}

    def validate(self, obj: Object, old: Object | None, *, subresource: str) -> list[FieldError]:
        if subresource == "status":
            return []
        return definition_errors(obj) if old is None else definition_update_errors(obj, old)

    def name_errors(self, name: str, *, prefix: bool) -> list[str]:
        return dns_subdomain_errors(name, prefix=prefix)

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        known = [version.get("schema") for version in ((old or {}).get("spec") or {}).get("versions") or []]
        schemas = [version.get("schema") or {} for version in (obj.get("spec") or {}).get("versions") or []]
        formats = [
            warning
            for schema in schemas
            if schema not in known
            for warning in unrecognised_formats(schema.get("openAPIV3Schema") or {})
        ]
        return [*self._inner.warnings(obj, old), *formats]

    def deletion(self, obj: Object, requested_grace: int | None) -> Deletion:  # noqa: ARG002 - the protocol's
        """Marks the definition as terminating; what it defined goes first."""
        if metadata_of(obj).get("deletionTimestamp"):
            return Deletion(obj, plain=True)
        finalizers: list[Any] = list(metadata_of(obj).get("finalizers") or [])
        if CLEANUP not in finalizers:
            finalizers.append(CLEANUP)
        marked = with_condition(
            with_metadata(obj, finalizers=finalizers),
            "Terminating",
            "True",
            reason="InstanceDeletionPending",
            message="CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
            now=timestamp(self._clock.now()),
        )
        return Deletion(marked, plain=True)

    def selectable(self, obj: Object, path: str) -> str:
        return self._inner.selectable(obj, path)
