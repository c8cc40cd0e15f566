"""Patches: JSON, merge, strategic merge, and server-side apply.

See "Types of patch" in https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from kubewright.client.media_types import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC
from kubewright.devcluster.bodies import load_json
from kubewright.devcluster.incoming import object_of_patch, placed
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of, with_metadata
from kubewright.devcluster.patch_refusals import as_converted, encoded_order, shown
from kubewright.devcluster.registry import Registry, Write, written_fields
from kubewright.devcluster.statuses import StatusError, bad_request, conflict, not_found, status_body
from kubewright.devcluster.yaml_bodies import load_yaml
from kubewright.patch import apply as server_side_apply
from kubewright.patch import json_patch, merge_patch, strategic
from kubewright.patch.errors import PatchError
from kubewright.patch.go_text import json_kind, plain
from kubewright.schema.go_text import quoted

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.options import FieldValidation, WriteOptions
    from kubewright.patch.shape import Shape

__all__ = [
    "Patch",
    "applied_object",
    "apply",
    "patch_types",
    "read_patch",
    "refused",
]


def patch_types(*, strategic: bool) -> tuple[str, ...]:
    """The media types of patches; custom resources do without the strategic one."""
    return (JSON_PATCH, MERGE_PATCH, *((STRATEGIC,) if strategic else ()), APPLY)


@dataclass(frozen=True)
class Patch:
    """A patch of any type but apply."""

    media_type: str
    value: Any
    shape: Shape
    problems: Sequence[str] = ()
    """What the body has twice, or has and should not."""

    def __call__(self, obj: Object) -> Any:
        """The object after the patch. Raises `StatusError` where it does not fit."""
        try:
            if self.media_type == JSON_PATCH:
                return json_patch.apply(obj, self.value)
            if self.media_type == MERGE_PATCH:
                return merge_patch.apply(obj, self.value)
            # this one goes into the kind's struct, where what the patch says about its kind has no place
            named = {key: obj[key] for key in ("apiVersion", "kind") if key in obj}
            return {**strategic.apply(obj, self.value, self.shape), **named}
        except PatchError as error:
            raise refused(error) from error

    def refusal(self, resource: ServedResource, old: Object, why: str) -> tuple[str, str]:
        """The value and the reason that a refusal of the patched object gives."""
        if self.media_type == STRATEGIC:
            return plain(self.value), as_converted(why)
        return shown(self(encoded_order(resource, old))), why


def read_patch(media_type: str, body: bytes, shape: Shape, *, checked: bool = False) -> Patch:
    """Reads a patch's body, ``checked`` for what it has twice. Raises `StatusError` where it is no such patch."""
    prefix = "" if media_type == STRATEGIC else "error decoding patch: "
    try:
        value, twice = load_json(body, duplicates=checked)
    except ValueError as error:
        raise bad_request(f"{prefix}{error}") from error
    wants_list = media_type == JSON_PATCH
    if value is None:
        if media_type == MERGE_PATCH:
            raise bad_request("Invalid JSON Patch")
        value = [] if wants_list else {}
    if not isinstance(value, list if wants_list else dict):
        go_type = "[]handlers.jsonPatchOp" if wants_list else "map[string]interface {}"
        raise bad_request(f"{prefix}json: cannot unmarshal {json_kind(value)} into Go value of type {go_type}")
    problems = [f"{'json patch ' if wants_list else ''}duplicate field {quoted(path)}" for path in twice]
    if wants_list and checked:
        problems += [
            f"json patch unknown field {quoted(f'[{index}].{key}')}"
            for index, operation in enumerate(value)
            if isinstance(operation, dict)
            for key in operation
            if key not in _OPERATION
        ]
    return Patch(media_type, value, shape, problems)


_OPERATION = frozenset({"op", "path", "from", "value"})


def refused(error: PatchError) -> StatusError:
    """The answer to a patch that can't be read or does not fit."""
    body = StatusError.of(error.status).body
    if error.code == 422:
        body = {**body, "details": {}}
    return StatusError(body)


def apply(
    registry: Registry,
    resource: ServedResource,
    *,
    namespace: str,
    name: str,
    body: bytes,
    options: WriteOptions,
    write: Write,
) -> tuple[Object, bool, list[str]]:
    """Server-side apply: the object, whether it is new, and warnings."""
    applied, warnings = _applied(body, resource, options, namespace=namespace, name=name)
    ignored, only = written_fields(resource, write.subresource)

    def merged(live: Object | None) -> Object:
        try:
            result = server_side_apply.apply(
                live,
                applied,
                manager=write.manager,
                force=options.force,
                shape=resource.shape,
                api_version=resource.info.api_version,
                subresource=write.subresource,
                now=registry.now(),
                ignored=ignored,
                only=only,
                versions=resource.shapes,
            )
        except PatchError as error:
            raise refused(error) from error
        except server_side_apply.ApplyConflict as error:
            raise StatusError.of(error.status) from error
        refusal = None if resource.custom else _unconverted(applied)
        known, found = object_of_patch(resource, result, options.field_validation, refusal)
        warnings.extend(found)
        return placed(known, namespace=namespace, name=name)

    if registry.store.get(resource.storage, namespace, name) is not None:
        return registry.update(resource, namespace, name, merged, write), False, warnings
    if write.subresource:
        raise not_found(resource.info, name)
    _refuse_uid(resource, applied, name)
    created = registry.create(resource, namespace, with_metadata(merged(None), resourceVersion=None), write)
    return created, True, warnings


def _unconverted(applied: Object) -> Callable[[str], NoReturn]:
    """Refuses what a built-in kind's schema lets through and its struct can't hold, as API servers do: as their own fault."""
    kind = server_side_apply.described_kind(applied)

    def refuse(why: str) -> NoReturn:
        what = f"failed to convert new object ({namespace_of(applied)}/{name_of(applied)}; {kind}) to proper version"
        why = f"unable to convert unstructured object to {kind}: error decoding from json: {why}"
        raise StatusError(status_body(500, "", f"{what}: {why}"))

    return refuse


def _applied(
    body: bytes, resource: ServedResource, options: WriteOptions, *, namespace: str, name: str
) -> tuple[Object, list[str]]:
    """What is applied to an object, and warnings."""
    value, warnings = applied_object(body, resource.info.api_version, resource.info.kind, options.field_validation)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and metadata.get("name"):  # any other is refused by the schema
        placed(value, namespace=namespace, name=name)  # refuses what is for another place
    return value, warnings


def applied_object(body: bytes, api_version: str, kind: str, validation: FieldValidation) -> tuple[Object, list[str]]:
    """The object in the body of an apply, and warnings about fields that are there twice. Raises `StatusError`."""
    try:
        value, twice = load_yaml(body, duplicates=validation != "Ignore")
    except ValueError as error:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from error
    if twice and validation == "Strict":
        text = "\n  ".join(["unmarshal errors:", *twice])
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: yaml: {text}")
    if value is None:
        value = {}  # which Go's decoder makes of null
    if not isinstance(value, dict):
        text = f"json: cannot unmarshal {json_kind(value)} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {text}")
    if value.get("apiVersion") != api_version or value.get("kind") != kind:
        raise bad_request(f"invalid object type: {server_side_apply.described_kind(value)}")
    return value, twice


def _refuse_uid(resource: ServedResource, applied: Object, name: str) -> None:
    """An apply with a uid means one certain object, so it must not create another."""
    uid = metadata_of(applied).get("uid")
    if uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise conflict(resource.info, name, why)
