"""Writing status: once per run, only what the run changed, never over somebody else's change.

The write is a JSON Patch from the object as the server has it to the object as the run left it, guarded by the resource
version. A merge patch would lose fields this model does not know inside list items; server-side apply would remove what
an early return did not set.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, get_args

import msgspec

from kubewright.api import (
    JSON,
    Condition,
    Conflict,
    Model,
    NotFound,
    Resource,
    Unstructured,
    declared_types,
    describe,
    resource_info,
    to_dict,
)
from kubewright.client import Client
from kubewright.client.media_types import JSON_PATCH
from kubewright.controller.replay import replayed
from kubewright.crd import schema_of
from kubewright.patch.json_patch import difference
from kubewright.patch.shape import Shape
from kubewright.telemetry import shown

__all__ = ["StatusWriter", "WrittenStatus", "has_conditions"]

_CONDITIONS: dict[str, Any] = {
    "properties": {"conditions": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}}
}
_PATH = "/status"
_NOTHING = b"null"

_encode = msgspec.json.Encoder().encode


class WrittenStatus(NamedTuple):
    """What a run made of a status, as JSON."""

    before: bytes
    after: bytes
    earlier: int
    """The resource version of the object that it was written to."""
    version: int
    """That which the write brought."""


class _Version(msgspec.Struct, rename="camel", gc=False):
    resource_version: str
    uid: str = ""


class _Live(msgspec.Struct, gc=False):
    """What is asked for of the object as the server has it; decoding the rest would cost as much as the difference."""

    metadata: _Version
    status: Any = None


class _Answer(msgspec.Struct, gc=False):
    metadata: _Version


_live = msgspec.json.Decoder(_Live)
_answer = msgspec.json.Decoder(_Answer)


class StatusWriter:
    """Writes the status of one kind through its ``/status`` subresource.

    Guarantees: no request when the run changed nothing; a re-created object of the same name is never touched; on a
    conflict only the fields (conditions: by type) that this run changed are replayed on the newer object.
    Errors: `Conflict` when three tries were overtaken; other API errors as they come.
    """

    TRIES = 3

    def __init__(self, kind: type[Resource], client: Client, *, field_manager: str) -> None:
        self._kind = kind
        self._client = client
        self._info = resource_info(kind)
        self._query = (("fieldManager", field_manager),)

    def check(self, obj: Resource) -> None:
        """Raises TypeError where a run left something as the status that is none of its kind."""
        model, status = _status_model(self._kind), getattr(obj, "status", None)
        if model is not None and status is not None and not isinstance(status, model):
            raise TypeError(
                f"the status of {describe(obj)} was made {shown(status)}: it must be a {model.__name__}; set its fields, such "
                "as obj.status.phase"
            )

    def snapshot(self, obj: Resource) -> bytes:
        """The status' JSON before the run, to compare with after it."""
        if not self._info.has_status:
            return _NOTHING
        return _encode(obj.content.get("status") if isinstance(obj, Unstructured) else getattr(obj, "status", None))

    async def write(
        self, obj: Resource, *, before: bytes, after: bytes, raw: bytes, failed: bool = False
    ) -> WrittenStatus | None:
        """Writes what differs between two snapshots; ``raw`` is the object as fetched. None when nothing was.

        A run that ``failed`` has not observed its generation: the status' and ``Ready``'s ``observedGeneration`` stay.
        """
        if after == before:
            return None
        old, new = msgspec.json.decode(before), msgspec.json.decode(after)
        if failed:
            _hold_back(old, new)
            after = _encode(new)
        versions = await self._write(obj, old, new, raw)
        return None if versions is None else WrittenStatus(before, after, *versions)

    async def write_condition(
        self, obj: Resource, condition: Condition, *, raw: bytes, instead_of: Callable[[JSON, JSON], bool]
    ) -> WrittenStatus | None:
        """Sets one condition of an object whose status may not be what its class says; ``raw`` is as for `write`.

        It replaces those of which ``instead_of`` says so, by type and reason. Nothing is written where the status has no
        place for it.
        """
        before = msgspec.json.decode(raw).get("status") or {}
        known = before.get("conditions", []) if isinstance(before, dict) else None
        if not isinstance(known, list) or not all(isinstance(item, dict) for item in known):
            return None
        wanted = to_dict(condition)
        present = next((item for item in known if item.get("type") == condition.type), None)
        if present is not None and present.get("status") == condition.status:
            wanted["lastTransitionTime"] = present.get("lastTransitionTime", wanted["lastTransitionTime"])
        others = [
            item for item in known if item is not present and not instead_of(item.get("type"), item.get("reason"))
        ]
        if present == wanted and len(others) == len(known) - 1:
            return None
        after = {**before, "conditions": [*others, wanted]}
        versions = await self._write(obj, before, after, raw)
        return None if versions is None else WrittenStatus(_encode(before), _encode(after), *versions)

    async def _write(self, obj: Resource, before: JSON, after: JSON, raw: bytes) -> tuple[int, int] | None:
        """The object's version before and after, if something was written."""
        shape = status_shape(self._kind)
        live = _live.decode(raw)
        operations = difference(_status_of(live), before or {}, after, shape=shape, path=_PATH)
        if not operations:
            return None
        for attempt in range(1, self.TRIES + 1):
            try:
                answer = await self._send(obj, live, operations)
                return int(live.metadata.resource_version), int(_answer.decode(answer).metadata.resource_version)
            except NotFound:
                break  # gone meanwhile: nobody is left to read it
            except Conflict:
                if attempt == self.TRIES:
                    raise
            try:
                live = _live.decode(await self._client.rest.get(self._info, obj.name, namespace=obj.namespace))
            except NotFound:
                break
            if live.metadata.uid != obj.uid:
                break
            known = _status_of(live)
            operations = difference(known, known, replayed(known, before or {}, after, shape), shape=shape, path=_PATH)
            if not operations:
                break  # somebody wrote the same
        return None

    async def _send(self, obj: Resource, live: _Live, operations: list[dict[str, Any]]) -> bytes:
        version = live.metadata.resource_version
        head: list[dict[str, Any]] = [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}]
        if not isinstance(live.status, dict):
            head.append({"op": "add", "path": _PATH, "value": {}})
        return await self._client.rest.patch(
            self._info,
            obj.name,
            _encode([*head, *operations]),
            content_type=JSON_PATCH,
            namespace=obj.namespace,
            subresource="status",
            query=self._query,
        )


def _hold_back(before: JSON, after: JSON) -> None:
    if not isinstance(after, dict):
        return
    _keep(before if isinstance(before, dict) else {}, after)
    ready, was_ready = _ready(after), _ready(before)
    if ready is not None:
        _keep(was_ready or {}, ready)


def _keep(before: dict[str, JSON], after: dict[str, JSON]) -> None:
    name = "observedGeneration"
    if name in before:
        after[name] = before[name]
    else:
        after.pop(name, None)


def _ready(status: JSON) -> dict[str, JSON] | None:
    conditions = status.get("conditions") if isinstance(status, dict) else None
    items = conditions if isinstance(conditions, list) else []
    return next((item for item in items if isinstance(item, dict) and item.get("type") == "Ready"), None)


def _status_of(live: _Live) -> dict[str, Any]:
    return live.status if isinstance(live.status, dict) else {}


@cache
def _status_model(kind: type[Resource]) -> type[Model] | None:
    hint = declared_types(kind).get("status")  # a kind without a class has a status, and says nothing of it
    return next((part for part in (hint, *get_args(hint)) if isinstance(part, type) and issubclass(part, Model)), None)


@cache
def has_conditions(kind: type[Resource]) -> bool:
    """Whether the class has a ``status.conditions``."""
    if not resource_info(kind).has_status:
        return False
    model = _status_model(kind)
    return model is not None and "conditions" in model.__struct_fields__


@cache
def status_shape(kind: type[Resource]) -> Shape:
    """The status' schema, with conditions as a list map by type also where the model does not say so.

    Made when a status is first written, then kept for every controller of the kind: making it takes milliseconds.
    """
    model = _status_model(kind)
    if model is None:
        return Shape(_CONDITIONS)
    schema = schema_of(model)
    conditions = schema.get("properties", {}).get("conditions")
    if conditions is not None:
        conditions.setdefault("x-kubernetes-list-type", "map")
        conditions.setdefault("x-kubernetes-list-map-keys", ["type"])
    return Shape(schema)
