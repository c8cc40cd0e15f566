"""Writing status: once per run, only what the run changed, never over somebody else's change.

The write is a JSON Patch from the object as the server has it to the object as the run left it, guarded by the resource
version. A merge patch would lose fields this model does not know inside list items; server-side apply would remove what
an early return did not set.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import msgspec

from kubewright.api import JSON, Conflict, Model, NotFound, Resource, declared_types, resource_info, to_dict
from kubewright.client import Client, JsonPatch
from kubewright.crd import schema_of
from kubewright.patch.json_patch import difference
from kubewright.patch.shape import Shape

__all__ = ["StatusWriter"]

_CONDITIONS: dict[str, Any] = {
    "properties": {"conditions": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}}
}


class StatusWriter:
    """Writes the status of one kind through its ``/status`` subresource.

    Guarantees: no request when the run changed nothing; a re-created object of the same name is never touched; on a
    conflict only the fields (conditions: by type) that this run changed are replayed on the newer object.
    Errors: `Conflict` when three tries were overtaken; other API errors as they come.
    """

    TRIES = 3

    def __init__(self, kind: type[Resource], client: Client) -> None:
        self._kind = kind
        self._client = client
        self._info = resource_info(kind)

    def snapshot(self, obj: Resource) -> JSON:
        """The status before the run, to compare with after it."""
        return to_dict(obj).get("status") if self._info.has_status else None

    async def write(self, obj: Resource, *, before: JSON, raw: bytes) -> bool:
        """Writes what differs from ``before``; ``raw`` is the object as fetched. True when a request was sent."""
        after = self.snapshot(obj)
        if after == before:
            return False
        live: dict[str, Any] = msgspec.json.decode(raw)
        for attempt in range(self.TRIES):
            operations = self._operations(live, before, after)
            if not operations:
                return attempt > 0
            try:
                await self._client.patch(
                    self._kind,
                    obj.name,
                    JsonPatch(operations),
                    namespace=obj.namespace,
                    subresource="status",
                )
            except NotFound:
                return True  # gone meanwhile: nobody is left to read it
            except Conflict:
                if attempt == self.TRIES - 1:
                    raise
                try:
                    live = msgspec.json.decode(
                        await self._client.rest.get(self._info, obj.name, namespace=obj.namespace)
                    )
                except NotFound:
                    return True
                if live["metadata"]["uid"] != obj.uid:
                    return True
            else:
                return True
        return True

    def _operations(self, live: dict[str, Any], before: JSON, after: JSON) -> list[dict[str, Any]]:
        base: JSON = live.get("status")
        head: list[dict[str, Any]] = []
        if not isinstance(base, dict):
            base = {}
            head = [{"op": "add", "path": "/status", "value": {}}]
        operations = difference(base, before or {}, after, shape=_status_shape(self._kind), path="/status")
        if not operations:
            return []
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]}
        return [version, *head, *operations]


@cache
def _status_shape(kind: type[Resource]) -> Shape:
    """The status' schema, with conditions as a list map by type also where the model does not say so.

    Made when a status is first written, then kept for every controller of the kind: making it takes milliseconds.
    """
    hint = declared_types(kind).get("status")  # a kind without a class has a status, and says nothing of it
    model = next((part for part in (hint, *get_args(hint)) if isinstance(part, type) and issubclass(part, Model)), None)
    if model is None:
        return Shape(_CONDITIONS)
    schema = schema_of(model)
    conditions = schema.get("properties", {}).get("conditions")
    if conditions is not None:
        conditions.setdefault("x-kubernetes-list-type", "map")
        conditions.setdefault("x-kubernetes-list-map-keys", ["type"])
    return Shape(schema)
