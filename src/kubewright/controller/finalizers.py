"""Finalizers: added before the first side effect, removed after their clean-up succeeded.

See https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from kubewright.api import Conflict, NotFound, Resource, resource_info
from kubewright.client import Client
from kubewright.client.media_types import JSON_PATCH

__all__ = ["add_finalizers", "remove_finalizer"]

_ATTEMPTS = 5


async def add_finalizers(client: Client, obj: Resource, names: list[str], *, field_manager: str | None = None) -> None:
    """Adds the missing ones in one request; ``field_manager`` is the client's unless given.

    An object that is gone is fine: nothing was done for it that is to be cleaned up. Raises `Conflict` when it changed since
    it was read.
    """
    present = obj.metadata.finalizers
    operations: list[dict[str, Any]]
    if present:
        operations = [{"op": "add", "path": "/metadata/finalizers/-", "value": name} for name in names]
    else:
        operations = [{"op": "add", "path": "/metadata/finalizers", "value": names}]
    with suppress(NotFound):
        await _patch(client, obj, str(obj.metadata.resource_version), operations, field_manager)


async def remove_finalizer(client: Client, obj: Resource, name: str, *, field_manager: str | None = None) -> None:
    """Removes one, wherever it is in the list by now: its clean-up is done, and is not to be done again.

    The resource version makes sure that the index still is this finalizer's. An object that is gone, or another one by
    now, is fine. Raises `Conflict` where others were faster each time.
    """
    present, version = obj.metadata.finalizers or [], str(obj.metadata.resource_version)
    for attempt in range(1, _ATTEMPTS + 1):
        if name not in present:
            return
        remove = {"op": "remove", "path": f"/metadata/finalizers/{present.index(name)}"}
        try:
            await _patch(client, obj, version, [remove], field_manager)
        except NotFound:
            return
        except Conflict:
            if attempt == _ATTEMPTS:
                raise
        else:
            return
        try:
            raw = await client.rest.get(resource_info(type(obj)), obj.name, namespace=obj.namespace)
        except NotFound:
            return
        metadata = msgspec.json.decode(raw)["metadata"]
        if metadata["uid"] != obj.uid:
            return
        present, version = metadata.get("finalizers") or [], metadata["resourceVersion"]


async def _patch(
    client: Client, obj: Resource, version: str, operations: list[dict[str, Any]], field_manager: str | None
) -> None:
    guard = {"op": "replace", "path": "/metadata/resourceVersion", "value": version}
    await client.rest.patch(
        resource_info(type(obj)),
        obj.name,
        msgspec.json.encode([guard, *operations]),
        content_type=JSON_PATCH,
        namespace=obj.namespace,
        query=(("fieldManager", field_manager or client.field_manager),),
    )
