"""The same object in the version it is kept in and in the one it is asked for.

Built-in kinds are converted by their apiVersion, and Events by other names of the same fields. Versions of a custom
resource differ in what their schemas let through: each prunes what it does not know, the one an object is kept in fills in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubewright.devcluster.statuses import StatusError, status_body

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.objects import Object
    from kubewright.devcluster.store import State

__all__ = ["from_storage", "is_as_stored", "to_storage"]


def is_as_stored(resource: ServedResource, state: State) -> bool:
    """Whether ``resource`` serves an object just as it is kept."""
    return state.api_version == resource.api_version and not resource.renamed and not resource.read_again


def from_storage(resource: ServedResource, obj: Object) -> Object:
    """A stored object as ``resource`` serves it; raises `StatusError` (500) where nothing knows its version any more."""
    if resource.kept_as:
        return _from_kept(resource, obj)
    if resource.renamed:
        obj = {resource.renamed.get(key, key): value for key, value in obj.items()}
    if resource.storage_api_version:
        obj = {**obj, "apiVersion": resource.api_version}
    return obj


def _from_kept(resource: ServedResource, obj: Object) -> Object:
    kept, wanted = obj["apiVersion"], resource.api_version
    if kept == wanted and not resource.read_again:
        return obj
    strategy = resource.kept_as.get(kept)
    if strategy is None:
        raise StatusError(status_body(500, "", f"request to convert CR from an invalid group/version: {kept}"))
    if resource.read_again:
        obj = strategy.default(strategy.read(obj)[0])
    return obj if kept == wanted else resource.strategy.read({**obj, "apiVersion": wanted})[0]


def to_storage(resource: ServedResource, obj: Object) -> Object:
    """An object of ``resource`` as it is kept."""
    if resource.renamed:
        names = {name: stored for stored, name in resource.renamed.items()}
        obj = {names.get(key, key): value for key, value in obj.items()}
    if resource.storage_api_version:
        obj = {**obj, "apiVersion": resource.storage_api_version}
        strategy = resource.kept_as.get(resource.storage_api_version)
        if strategy is not None:
            obj = strategy.default(strategy.read(obj)[0])
    return obj
