"""`EntryParser`: from an object's JSON to what is kept of it.

This is what a large list spends its time in, so what is common is done by cutting bytes after one narrow decoding, and only
the rest by decoding and encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from kubewright.api import JSON, DecodeError, ResourceInfo
from kubewright.cache.entry import UID_LENGTH, Entry, Marks
from kubewright.cache.index_by import IndexBy
from kubewright.cache.layout import Layout, Timeless
from kubewright.cache.narrow import Narrow, Steps, Values, fits
from kubewright.cache.owners import Owner, owner_values
from kubewright.cache.projection import WHOLE, Projection
from kubewright.cache.recent import Once, Recent
from kubewright.cache.twice import Twice
from kubewright.patch.fields import digest

__all__ = ["EntryParser"]

_MOST_KNOWN = 64
"""How many sets of managers are remembered, or as many as other values where that is less. Objects of a kind mostly have
few; where each has its own, as pods have with their addresses, no number would do.
"""
_SHARED_BY = 8
_LEAST_SHARED, _MOST_SHARED = 16, 8191
"""Values that are remembered so that equal ones exist once: about as many as an eighth of the objects, within these bounds.
What fewer objects have in common costs more to remember than to keep with each, and more than there are would only gather
as objects come and go.
"""


class _Managed(msgspec.Struct, gc=False):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    fields: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))


_NOTHING = msgspec.Raw(b"")


class _Meta(msgspec.Struct, rename="camel", gc=False):
    """What is read of metadata, whatever else is there."""

    name: str
    resource_version: str
    namespace: str | None = None
    uid: str = ""
    generation: int | None = None
    finalizers: list[str] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    owner_references: list[Owner] | None = None
    managed_fields: msgspec.Raw = _NOTHING


class _Head(msgspec.Struct, rename="camel", gc=False):
    metadata: _Meta
    api_version: str = ""
    kind: str = ""


class _MetadataText(msgspec.Struct, gc=False):
    metadata: msgspec.Raw


_head = msgspec.json.Decoder(_Head)
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_metadata = msgspec.json.Decoder(_MetadataText)
_managed = msgspec.json.Decoder(list[_Managed] | None)
_fields = msgspec.json.Decoder(dict[str, JSON])
_encode = msgspec.json.Encoder().encode

_MANAGED = b'"managedFields":'
_METADATA = b'"metadata":{'
_HEAD = {"apiVersion", "kind", "metadata"}
_UNTYPED = b"{" + _METADATA
_METADATA_STARTS = (
    b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",' + _METADATA,
    b'{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",' + _METADATA,
)
"""How servers begin an object of which only metadata was asked for; its own type is the one we know."""


class EntryParser:
    """Parses objects of one kind as a server sends them: whole, as items of a list, or as their metadata."""

    def __init__(
        self, info: ResourceInfo, projection: Projection = WHOLE, *, objects: Callable[[], int] = lambda: 0
    ) -> None:
        """``objects``: how many are held of those that were parsed."""
        self._info = info
        self.projection = projection
        self._start = _encode({"apiVersion": info.api_version, "kind": info.kind})[:-1] + b","
        self._typed: tuple[bytes, ...] = (
            self._start + _METADATA,
            _encode({"kind": info.kind, "apiVersion": info.api_version})[:-1] + b"," + _METADATA,
        )
        self._whole = projection.fields is None
        self._metadata_only = projection.metadata_only
        if self._metadata_only:
            self._typed += _METADATA_STARTS
        self._bare = Marks(start=self._start + _METADATA + b'"name":' if self._metadata_only else b"")
        self._waits_by_its_own_rules = info.group == "" and info.kind == "Namespace"
        """A namespace being deleted is held by a list of finalizers in its spec."""
        self._along: list[IndexBy] = []
        self._narrow: Narrow | None = None

        def shared() -> int:
            wanted = min(_MOST_SHARED, objects() // _SHARED_BY)
            return max(_LEAST_SHARED, 1 << wanted.bit_length())  # in large steps, as it is asked with each

        self._namespaces: Once[str] = Once(shared)
        self._shared: Once[Marks] = Once(shared)
        self._together: Once[tuple[Values, ...]] = Once(shared)
        self._apart: Once[Values] = Once(shared)
        self._known: Recent[tuple[tuple[str, ...], tuple[bytes, ...]], Marks] = Recent(
            lambda: min(_MOST_KNOWN, shared())
        )
        self._latest: tuple[Timeless, Marks] | None = None
        self._layout: Layout | None = None
        self._least_shared = shared
        twice = Twice(self.parse_all, self.parse)
        self.answered = twice.answered
        self.watched = twice.watched

    def read_along(self, index: IndexBy) -> int | None:
        """Has each entry hold the values of one more index; returns their place in `Entry.values`.

        None where it is too late, or where they can't be decoded together with what is read already.
        """
        if index in self._along:
            return self._along.index(index) + 2
        steps = index.steps
        known = steps[0] != "metadata" or (len(steps) > 2 and steps[1] in {"labels", "annotations"})
        if self._narrow is not None or not known or not fits([each.steps for each in self._along], steps):
            return None
        self._along.append(index)
        return len(self._along) + 1

    def parse_all(self, objects: Sequence[msgspec.Raw | bytes]) -> list[Entry]:
        """As `parse`, for objects of which it is known that they are JSON."""
        if self._narrow is None:
            self._begun()
        if self._layout is None:
            return [self.parse(bytes(each)) for each in objects]
        return self._layout.parse(objects)

    def parse_readable(self, objects: Sequence[msgspec.Raw], left_out: Callable[[DecodeError], None]) -> list[Entry]:
        """As `parse_all`, without those that can't be read: one object must not hide all others."""
        try:
            return self.parse_all(objects)
        except DecodeError:
            entries = []
            for each in objects:
                try:
                    entries += self.parse_all([each])
                except DecodeError as error:
                    left_out(error)
            return entries

    def parse(self, raw: bytes) -> Entry:
        """Raises `DecodeError` for what is no object with a numeric resource version."""
        narrow = self._narrow or self._begun()
        kept = marks = None
        try:
            try:
                head = narrow.decode(raw)
            except msgspec.ValidationError:  # which says nothing yet of what is to be kept
                head = _head.decode(raw)
                read = [index.values(raw) for index in self._along]
            else:
                read = [values_of(head) for values_of in narrow.readers]
                if self._whole or self._metadata_only:
                    kept, marks = self._cut(raw, head)
            meta = head.metadata
            namespace, owners = meta.namespace or "", meta.owner_references
            finalizers = tuple(meta.finalizers) if meta.finalizers else ()
            if marks is None or meta.deletion_timestamp is not None or marks.finalizers != finalizers:
                marks = self._marks(meta, finalizers)
            if kept is None:
                kept = self._kept(raw, head)
            if self._metadata_only:
                kept = _members(kept, meta)
            uid = meta.uid
            at = kept.find(uid.encode()) if len(uid) == UID_LENGTH and uid.isascii() else -1
            values = self._values((*owner_values(owners), *read) if owners else ((), (), *read))
            return Entry(
                namespace=self._namespaces[namespace],
                name=meta.name,
                uid_at=meta.uid if at < 0 else at,
                resource_version=int(meta.resource_version),
                text=kept,
                generation=meta.generation,
                marks=marks,
                values=values,
            )
        except (msgspec.DecodeError, ValueError) as error:
            raise DecodeError(f"not a {self._info.kind} that can be cached: {error} ({len(raw)} bytes)") from error

    def _begun(self) -> Narrow:
        over: dict[Steps, type[msgspec.Struct]] = {(): _Head, ("metadata",): _Meta}
        narrow = self._narrow = Narrow([index.steps for index in self._along], over)
        if self._whole:
            self._layout = Layout(
                self._info, self._along, self._start, self.parse, self._values, self._namespaces, self._least_shared
            )
        return narrow

    def _cut(self, raw: bytes, head: _Head) -> tuple[bytes | None, Marks | None]:
        """What is kept of an object, and what its managedFields say, if that was seen lately.

        None where it is not laid out as servers do it.
        """
        start = b""
        if not raw.startswith(self._typed):
            if head.kind or head.api_version or not raw.startswith(_UNTYPED):
                return None, None
            start = self._start  # items of a built-in list lack apiVersion and kind
        managed = bytes(head.metadata.managed_fields)
        if not managed:
            return start + raw[1:] if start else raw, self._bare
        bare = _without(raw, managed)
        if bare is None:
            return None, None
        latest = self._latest
        known = latest is not None and latest[0].matches(managed)
        return start + bare[1:] if start else bare, latest[1] if latest is not None and known else None

    def _marks(self, meta: _Meta, finalizers: tuple[str, ...]) -> Marks:
        managed = bytes(meta.managed_fields)
        if meta.deletion_timestamp is not None:
            return self._shared[self._read_marks(meta, managed)]
        # most objects of a kind have the same managers of the same fields, at other times
        timeless = Timeless(managed)
        key = finalizers, timeless.pieces
        known = self._known.get(key)
        if known is None:
            known = self._known.recall(key, lambda: self._shared[self._read_marks(meta, managed)])
        self._latest = timeless, known
        if self._layout is not None and managed.startswith(b"["):
            self._layout.learn(timeless, finalizers, known)
        return known

    def _read_marks(self, meta: _Meta, managed: bytes) -> Marks:
        entries = (_managed.decode(managed) if managed else None) or ()
        deleting = meta.deletion_timestamp is not None
        held = bool(meta.finalizers or meta.deletion_grace_period_seconds) or self._waits_by_its_own_rules
        return Marks(
            start=self._bare.start,
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

    def _kept(self, raw: bytes, head: _Head) -> bytes:
        """What is kept of any object, however it is laid out."""
        bare = _without(raw, bytes(head.metadata.managed_fields))
        if bare is not None and self._whole:
            if head.kind == self._info.kind and head.api_version == self._info.api_version:
                return bare
            if not head.api_version and not head.kind and bare.startswith(b'{"'):
                return self._start + bare[1:]
        return self._rebuilt(raw)

    def _rebuilt(self, raw: bytes) -> bytes:
        parts = _parts.decode(raw)
        metadata = _parts.decode(parts["metadata"])
        metadata.pop("managedFields", None)
        kept: dict[str, object] = {"metadata": metadata}
        kept |= {name: part for name, part in self.projection.cut(parts).items() if name not in _HEAD}
        return self._start + _encode(kept)[1:]  # put together anew, as what the encoder gives has room to spare

    def _values(self, values: tuple[Values, ...]) -> tuple[Values, ...]:
        """Those as they were seen first; where not all of them were seen together before, at least each by itself."""
        known = self._together.get(values)
        if known is None:
            known = self._together[tuple([self._apart[each] for each in values])]
        return known


def _members(raw: bytes, meta: _Meta) -> bytes:
    """What follows name and namespace in an object's metadata, which are put before all else.

    The text is an exact copy, whichever way it is made.
    """
    text = bytes(_metadata.decode(raw).metadata)
    name = b'{"name":"%b",' % meta.name.encode()
    if text.startswith(name):
        if not meta.namespace:
            return text[len(name) :]
        namespace = b'"namespace":"%b",' % meta.namespace.encode()
        at = text.find(namespace, len(name), text.find(b"{", 1))  # further on it may be another object's
        if at >= 0:
            return text[len(name) : at] + text[at + len(namespace) :]
    members = _parts.decode(text)
    return _encode({key: value for key, value in members.items() if key not in {"name", "namespace"}})[1:]


def _without(raw: bytes, managed: bytes) -> bytes | None:
    """The object without its managedFields, where they are without doubt the only ones in the text; else None."""
    if not managed:
        return raw
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
