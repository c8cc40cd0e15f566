"""Writes to the scale of an object: updates and patches of any type, and server-side apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.patching import applied_object, refused
from kubewright.devcluster.scale_ownership import SCALE_VERSION, owned_by_object, owned_by_scale, scale_shape
from kubewright.devcluster.statuses import StatusError, conflict, status_body
from kubewright.devcluster.subresources import scale_of, scaled
from kubewright.devcluster.verbs.call import Answer, Call
from kubewright.patch import apply as server_side_apply
from kubewright.patch.apply import track_update
from kubewright.patch.errors import PatchError
from kubewright.patch.managed import managed_fields, without_managed_fields

if TYPE_CHECKING:
    from kubewright.devcluster.options import WriteOptions

__all__ = ["apply_scale", "rescale"]


def rescale(call: Call, change: Callable[[Object], Any], options: WriteOptions) -> Answer:
    """Sets the replicas to those of the Scale that ``change`` makes of the present one."""
    manager, now = call.manager(options), call.registry.now()

    def tracked(scale: Object) -> Object:
        new = change(without_managed_fields(scale))
        scaled(call.resource, scale, new)  # refuses what is no Scale
        shape = scale_shape()
        return track_update(
            scale, new, manager=manager, shape=shape, api_version=SCALE_VERSION, now=now, subresource="scale"
        )

    return _written(call, tracked, options)


def apply_scale(call: Call, options: WriteOptions) -> Answer:
    """Server-side apply of a Scale."""
    applied, warnings = applied_object(call.request.body, SCALE_VERSION, "Scale", options.field_validation)
    call.warnings += warnings
    manager, now = call.manager(options), call.registry.now()

    def merged(scale: Object) -> Object:
        if call.resource.custom and not managed_fields(scale):
            raise _unconverted("failed to create manager for existing fields: failed to convert live object (/")
        try:
            result = server_side_apply.apply(
                scale,
                applied,
                manager=manager,
                force=options.force,
                shape=scale_shape(),
                api_version=SCALE_VERSION,
                now=now,
                subresource="scale",
            )
        except PatchError as error:
            raise refused(error) from error
        except server_side_apply.ApplyConflict as error:
            raise StatusError.of(error.status) from error
        if call.resource.custom:
            # an API server can't convert the Scale that it makes of a custom resource's, and so takes no other
            if without_managed_fields(result) != without_managed_fields(scale):
                raise _unconverted(f"failed to convert new object ({namespace_of(applied)}/{name_of(applied)}")
        else:
            _check_uid(call, scale, result)
        return result

    return _written(call, merged, options)


def _unconverted(what: str) -> StatusError:
    why = "request to convert CR to an invalid group/version: autoscaling/v1"
    return StatusError(status_body(500, "", f"{what}; autoscaling/v1, Kind=Scale) to proper version: {why}"))


def _check_uid(call: Call, scale: Object, applied: Object) -> None:
    wanted, found = metadata_of(applied).get("uid"), metadata_of(scale).get("uid")
    if wanted != found:
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        raise conflict(call.resource.info, call.name, why, subresource="scale")


def _written(call: Call, change: Callable[[Object], Object], options: WriteOptions) -> Answer:
    """``change`` gets the Scale with the managedFields that concern it, and returns the new one with its own."""
    resource, version = call.resource, call.resource.info.api_version
    paths = {
        each.info.api_version: each.info.scale.spec
        for each in call.catalog
        if each.storage == resource.storage and each.info.scale is not None
    }

    def rescaled(old: Object) -> Object:
        scale = change(owned_by_scale(scale_of(resource, old), old, paths))
        return owned_by_object(scaled(resource, old, scale), scale, paths, api_version=version)

    write = call.write(options, tracked=True)
    new = call.registry.update(resource, call.namespace, call.name, rescaled, write, whole=not resource.custom)
    return call.plain(scale_of(resource, new))
