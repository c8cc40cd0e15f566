"""Deleting objects: at once, or marked and left to whoever holds a finalizer.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/#cascading-deletion
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from kubewright.devcluster.admission import check_namespace_deletion
from kubewright.devcluster.finalizers import FOREGROUND, ORPHAN
from kubewright.devcluster.objects import Object, metadata_of, name_of, timestamp, with_metadata
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.versions import from_storage, to_storage

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.options import DeleteOptions
    from kubewright.devcluster.registry import Registry

__all__ = ["delete", "delete_all", "deleted_status"]


def delete(
    registry: Registry, resource: ServedResource, namespace: str, name: str, options: DeleteOptions
) -> tuple[Object, bool]:
    """Deletes an object, or begins to. Returns its last or present state, and whether it is gone."""
    old = registry.get(resource, namespace, name)
    check_namespace_deletion(resource.info, name)
    _check_preconditions(resource, old, options)
    marked = _marked(registry, resource, old, options)
    gone = registry.may_go(resource, marked)
    if gone:
        if not options.dry_run:
            if marked != old and resource.strategy.deletion(old, options.grace_period_seconds).graceful:
                registry.store.update(resource.storage, namespace, name, to_storage(resource, marked))
            stored = registry.store.delete(resource.storage, namespace, name)
            marked = from_storage(resource, stored)
    elif marked != old and not options.dry_run:
        stored = registry.store.update(resource.storage, namespace, name, to_storage(resource, marked))
        marked = from_storage(resource, stored)
    return marked, gone


def _marked(registry: Registry, resource: ServedResource, old: Object, options: DeleteOptions) -> Object:
    """The object with deletion time, grace period, and the finalizer that its propagation policy wants."""
    metadata = metadata_of(old)
    obj, grace, _, _, plain = resource.strategy.deletion(old, options.grace_period_seconds)
    held = list(metadata_of(obj).get("finalizers") or [])
    finalizers = _with_policy(held, options)
    began = metadata.get("deletionTimestamp")
    if plain and began is not None and (resource.info.kind == "CustomResourceDefinition"):
        return with_metadata(obj, deletionGracePeriodSeconds=0, finalizers=finalizers or None)
    if began is not None and grace >= (metadata.get("deletionGracePeriodSeconds") or 0):
        return old if finalizers == held else with_metadata(old, finalizers=finalizers or None)
    if plain:
        return with_metadata(obj, deletionTimestamp=registry.now(), finalizers=finalizers or None)
    generation = metadata.get("generation")
    return with_metadata(
        obj,
        deletionTimestamp=timestamp(registry.clock.now() + timedelta(seconds=grace)),
        deletionGracePeriodSeconds=grace,
        generation=generation + 1 if generation and began is None else generation,
        finalizers=finalizers or None,
    )


def _with_policy(finalizers: list[str], options: DeleteOptions) -> list[str]:
    """An explicit policy puts its finalizer in and the other one out; without one both stay as they are."""
    match options.propagation:
        case "Foreground":
            wanted, unwanted = [FOREGROUND], {ORPHAN}
        case "Orphan":
            wanted, unwanted = [ORPHAN], {FOREGROUND}
        case "Background":
            wanted, unwanted = [], {ORPHAN, FOREGROUND}
        case None:
            return finalizers
    kept = [each for each in finalizers if each not in unwanted]
    return kept + [each for each in wanted if each not in kept]


def _check_preconditions(resource: ServedResource, obj: Object, options: DeleteOptions) -> None:
    metadata = metadata_of(obj)
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    if options.uid is not None and options.uid != uid:
        raise _precondition_failed(
            resource,
            obj,
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid}). "
            "The object might have been deleted and then recreated",
        )
    if options.resource_version is not None and options.resource_version != version:
        raise _precondition_failed(
            resource,
            obj,
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion "
            f"in record ({version}). The object might have been modified",
        )


def _precondition_failed(resource: ServedResource, obj: Object, why: str) -> StatusError:
    """A conflict that, unlike others, names the kind rather than the resource."""
    info = resource.info
    name = name_of(obj)
    kind = f"{info.kind}.{info.group}" if info.group else info.kind
    details = {"name": name, "group": info.group, "kind": info.kind}
    message = f'Operation cannot be fulfilled on {kind} "{name}": {why}'
    return StatusError(status_body(409, "Conflict", message, details=details))


def deleted_status(resource: ServedResource, obj: Object) -> Object:
    """The answer to a deletion that is done, where the kind does not answer with the object."""
    info = resource.info
    details = {"name": name_of(obj), "group": info.group, "kind": info.plural, "uid": metadata_of(obj).get("uid")}
    body = status_body(200, "", "", details=details, status="Success")
    del body["code"]
    return body


def delete_all(
    registry: Registry, resource: ServedResource, names: Sequence[tuple[str, str]], options: DeleteOptions
) -> None:
    """Deletes the objects of these namespaces and names, in order."""
    for namespace, name in names:
        delete(registry, resource, namespace, name, options)
