"""`Entry`: one object in the cache, as bytes plus the few fields that are asked for without decoding it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from kubewright.api import JSON, DecodeError, ResourceInfo
from kubewright.patch.fields import digest

__all__ = ["Entry", "Key", "parse_entry"]

Key: TypeAlias = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Entry(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One object as the server had it at ``resource_version``.

    ``raw`` is its JSON, apiVersion and kind first, without managedFields: of those stay the managers' names and a
    digest of what each manager applied, since they are often larger than the object.
    """

    key: Key
    uid: str
    resource_version: int
    raw: bytes
    generation: int | None = None
    labels: Mapping[str, str] = _NOTHING
    annotations: Mapping[str, str] = _NOTHING
    finalizers: tuple[str, ...] = ()
    deleting: bool = False
    ended: bool = False
    """Whether the object is gone with this state: it was being deleted, and nothing holds it any more."""
    owners: tuple[str, ...] = ()
    """UIDs of all owners."""
    controller: str | None = None
    """UID of the owner that is the controller."""
    managers: tuple[str, ...] = ()
    """Names of all field managers, each once."""
    applied: tuple[tuple[str, str, bytes], ...] = ()
    """Manager, subresource and digest of the fields, for each server-side apply."""

    @property
    def namespace(self) -> str:
        return self.key[0]

    @property
    def name(self) -> str:
        return self.key[1]

    def owned_by(self, manager: str, *, subresource: str = "") -> bytes | None:
        """Digest of the fields that a manager owns by server-side apply; None when it applied nothing."""
        return next((mark for name, part, mark in self.applied if name == manager and part == subresource), None)


class _Owner(msgspec.Struct):
    uid: str = ""
    controller: bool | None = None


class _Managed(msgspec.Struct):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    fields: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))


class _Meta(msgspec.Struct, rename="camel"):
    name: str
    resource_version: str
    uid: str = ""
    namespace: str | None = None
    generation: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    owner_references: list[_Owner] | None = None
    managed_fields: list[_Managed] | None = None


_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_meta = msgspec.json.Decoder(_Meta)
_fields = msgspec.json.Decoder(dict[str, JSON])
_encoder = msgspec.json.Encoder()


def parse_entry(raw: bytes, info: ResourceInfo) -> Entry:
    """Reads an object's JSON. Raises `DecodeError` for what is no object with a numeric resource version."""
    try:
        parts = _parts.decode(raw)
        meta = _meta.decode(parts.get("metadata", b"{}"))
        applied = tuple(_applied(meta.managed_fields or ()))
        version = int(meta.resource_version)
    except (msgspec.DecodeError, ValueError) as error:
        raise DecodeError(f"not a {info.kind} that can be cached: {error}: {raw[:120]!r}") from error
    owners = meta.owner_references or ()
    deleting = meta.deletion_timestamp is not None
    held = bool(meta.finalizers or meta.deletion_grace_period_seconds) or _waits_by_its_own_rules(info)
    return Entry(
        key=(meta.namespace or "", meta.name),
        uid=meta.uid,
        resource_version=version,
        raw=_without_managed_fields(parts, info),
        generation=meta.generation,
        labels=meta.labels or _NOTHING,
        annotations=meta.annotations or _NOTHING,
        finalizers=tuple(meta.finalizers or ()),
        deleting=deleting,
        ended=deleting and not held,
        owners=tuple(owner.uid for owner in owners),
        controller=next((owner.uid for owner in owners if owner.controller), None),
        managers=tuple(dict.fromkeys(entry.manager for entry in meta.managed_fields or ())),
        applied=applied,
    )


def _waits_by_its_own_rules(info: ResourceInfo) -> bool:
    """A namespace being deleted is held by a list of finalizers in its spec."""
    return info.group == "" and info.kind == "Namespace"


def _applied(entries: list[_Managed] | tuple[()]) -> list[tuple[str, str, bytes]]:
    return [
        (entry.manager, entry.subresource, digest(_fields.decode(entry.fields)))
        for entry in entries
        if entry.operation == "Apply"
    ]


def _without_managed_fields(parts: dict[str, msgspec.Raw], info: ResourceInfo) -> bytes:
    metadata = _parts.decode(parts["metadata"])
    metadata.pop("managedFields", None)
    # items of a built-in list lack apiVersion and kind
    whole: dict[str, object] = {"apiVersion": info.api_version, "kind": info.kind, **parts, "metadata": metadata}
    return _encoder.encode(whole)
