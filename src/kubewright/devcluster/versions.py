"""The same object in the version it is kept in and in the one it is asked for.

All conversions are of one kind: another apiVersion, and for Events other names of the same fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.objects import Object

__all__ = ["from_storage", "to_storage"]


def from_storage(resource: ServedResource, obj: Object) -> Object:
    """A stored object as ``resource`` serves it."""
    if resource.renamed:
        obj = {resource.renamed.get(key, key): value for key, value in obj.items()}
    if resource.storage_api_version:
        obj = {**obj, "apiVersion": resource.info.api_version}
    if resource.read_again:
        known, _ = resource.strategy.read(obj)
        obj = resource.strategy.default(known)
    return obj


def to_storage(resource: ServedResource, obj: Object) -> Object:
    """An object of ``resource`` as it is kept."""
    if resource.renamed:
        names = {name: stored for stored, name in resource.renamed.items()}
        obj = {names.get(key, key): value for key, value in obj.items()}
    if resource.storage_api_version:
        obj = {**obj, "apiVersion": resource.storage_api_version}
    return obj
