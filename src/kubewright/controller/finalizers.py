"""Finalizers: added before the first side effect, removed after their clean-up succeeded.

See https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
"""

from __future__ import annotations

from typing import Any

from kubewright.api import Resource
from kubewright.client import Client, JsonPatch

__all__ = ["add_finalizers", "remove_finalizer"]


async def add_finalizers(client: Client, obj: Resource, names: list[str]) -> None:
    """Adds the missing ones in one request. Raises `Conflict` when the object changed since it was read."""
    present = obj.metadata.finalizers
    operations: list[dict[str, Any]]
    if present:
        operations = [{"op": "add", "path": "/metadata/finalizers/-", "value": name} for name in names]
    else:
        operations = [{"op": "add", "path": "/metadata/finalizers", "value": names}]
    await _patch(client, obj, operations)


async def remove_finalizer(client: Client, obj: Resource, name: str) -> None:
    """Removes one. The resource version makes sure that the index still is this finalizer's; else raises `Conflict`."""
    index = (obj.metadata.finalizers or []).index(name)
    await _patch(client, obj, [{"op": "remove", "path": f"/metadata/finalizers/{index}"}])


async def _patch(client: Client, obj: Resource, operations: list[dict[str, Any]]) -> None:
    version = {"op": "replace", "path": "/metadata/resourceVersion", "value": obj.metadata.resource_version}
    await client.patch(type(obj), obj.name, JsonPatch([version, *operations]), namespace=obj.namespace)
