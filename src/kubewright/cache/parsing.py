"""`EntryParser`: from an object's JSON to what is kept of it.

This is what a large list spends its time in, so what is common is done by cutting bytes, and only the rest by decoding and
encoding.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TypeVar

import msgspec

from kubewright.api import JSON, DecodeError, ResourceInfo
from kubewright.cache.entry import Entry, Marks
from kubewright.cache.projection import WHOLE, Projection
from kubewright.patch.fields import digest

__all__ = ["EntryParser"]

V = TypeVar("V", bound=Hashable)

_TIME = re.compile(rb'"time":"[^"]*",?')
_KNOWN = 500
"""How many sets of managers are remembered."""
_SHARED = 10_000
"""How many values are remembered so that equal ones exist once."""


class _Owner(msgspec.Struct, gc=False):
    uid: str = ""
    controller: bool | None = None


class _Managed(msgspec.Struct, gc=False):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    fields: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))


class _Meta(msgspec.Struct, rename="camel", gc=False):
    name: str
    resource_version: str
    uid: str = ""
    namespace: str | None = None
    generation: int | None = None
    finalizers: list[str] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    owner_references: list[_Owner] | None = None
    managed_fields: msgspec.Raw = msgspec.Raw(b"")


class _Head(msgspec.Struct, rename="camel", gc=False):
    metadata: _Meta
    api_version: str = ""
    kind: str = ""


_head = msgspec.json.Decoder(_Head)
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_managed = msgspec.json.Decoder(list[_Managed] | None)
_fields = msgspec.json.Decoder(dict[str, JSON])
_encode = msgspec.json.Encoder().encode

_MANAGED = b'"managedFields":'
_METADATA_STARTS = (
    b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",',
    b'{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",',
)
"""How servers begin an object of which only metadata was asked for; its own type is the one we know."""


class EntryParser:
    """Parses objects of one kind as a server sends them: whole, as items of a list, or as their metadata."""

    def __init__(self, info: ResourceInfo, projection: Projection = WHOLE) -> None:
        self._info = info
        self.projection = projection
        self._type = (info.api_version, info.kind)
        self._start = _encode({"apiVersion": info.api_version, "kind": info.kind})[:-1] + b","
        self._waits_by_its_own_rules = info.group == "" and info.kind == "Namespace"
        """A namespace being deleted is held by a list of finalizers in its spec."""
        self._shared: dict[Hashable, Hashable] = {}
        self._known: dict[bytes, Marks] = {}

    def parse(self, raw: bytes) -> Entry:
        """Raises `DecodeError` for what is no object with a numeric resource version."""
        try:
            head = _head.decode(raw)
            meta = head.metadata
            managed = bytes(meta.managed_fields)
            owners = meta.owner_references
            return Entry(
                namespace=self._once(meta.namespace) if meta.namespace else "",
                name=meta.name,
                uid=meta.uid,
                resource_version=int(meta.resource_version),
                raw=self._kept(raw, head, managed),
                generation=meta.generation,
                owners=self._once(tuple([owner.uid for owner in owners])) if owners else (),
                controller=next((owner.uid for owner in owners if owner.controller), None) if owners else None,
                marks=self._marks(meta, managed),
            )
        except (msgspec.DecodeError, ValueError) as error:
            raise DecodeError(f"not a {self._info.kind} that can be cached: {error}: {raw[:120]!r}") from error

    def _marks(self, meta: _Meta, managed: bytes) -> Marks:
        if meta.finalizers or meta.deletion_timestamp is not None:
            return self._once(self._read_marks(meta, managed))
        # most objects of a kind have the same managers of the same fields, at other times
        timeless = _TIME.sub(b"", managed)
        known = self._known.get(timeless)
        if known is None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            known = self._known[timeless] = self._once(self._read_marks(meta, managed))
        return known

    def _read_marks(self, meta: _Meta, managed: bytes) -> Marks:
        entries = (_managed.decode(managed) if managed else None) or ()
        deleting = meta.deletion_timestamp is not None
        held = bool(meta.finalizers or meta.deletion_grace_period_seconds) or self._waits_by_its_own_rules
        return Marks(
            finalizers=tuple(meta.finalizers or ()),
            deleting=deleting,
            ended=deleting and not held,
            managers=tuple(dict.fromkeys(entry.manager for entry in entries)),
            applied=tuple(
                (entry.manager, entry.subresource, digest(_fields.decode(entry.fields)))
                for entry in entries
                if entry.operation == "Apply"
            ),
        )

    def _kept(self, raw: bytes, head: _Head, managed: bytes) -> bytes:
        bare = _cut(raw, managed) if managed else raw
        if self.projection.metadata_only and bare is not None:
            for start in _METADATA_STARTS:
                if bare.startswith(start):
                    return self._start + bare[len(start) :]
        if self.projection.fields is None and bare is not None:
            if (head.api_version, head.kind) == self._type:
                return bare
            if not head.api_version and not head.kind and bare.startswith(b'{"'):
                return self._start + bare[1:]  # items of a built-in list lack apiVersion and kind
        parts = _parts.decode(raw)
        metadata = _parts.decode(parts["metadata"])
        metadata.pop("managedFields", None)
        kept = self.projection.cut(parts)
        kept.update(apiVersion=self._info.api_version, kind=self._info.kind, metadata=metadata)
        return _encode({"apiVersion": None, "kind": None, "metadata": None, **kept})

    def _once(self, value: V) -> V:
        """The value as it was seen first, so that equal ones share their memory."""
        if len(self._shared) >= _SHARED:
            self._shared.clear()
        return self._shared.setdefault(value, value)  # type: ignore[return-value]  # equal values have one type here


def _cut(raw: bytes, managed: bytes) -> bytes | None:
    """The object without its managedFields, where they are without doubt the only ones in the text; else None."""
    at = raw.find(_MANAGED)
    start = at + len(_MANAGED)
    end = start + len(managed)
    if at <= 0 or not raw.startswith(managed, start) or raw.find(_MANAGED, end) >= 0:
        return None
    if raw[at - 1] == 0x2C:  # a comma
        return raw[: at - 1] + raw[end:]
    if raw[end] == 0x2C:
        return raw[:at] + raw[end + 1 :]
    return None
