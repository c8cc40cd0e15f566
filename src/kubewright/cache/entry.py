"""`Entry`: one object in the cache, as bytes plus the few fields that are asked for without decoding it.

Memory is what this module is about: the collector never walks an entry, what is the same in many objects exists once,
and what is asked for rarely (labels, annotations) is read from the bytes each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import msgspec

from kubewright.api import DecodeError
from kubewright.cache.narrow import Values

__all__ = ["UID_LENGTH", "Entry", "Key", "Marks"]

Key: TypeAlias = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name. The cluster is the informer's, and its events'."""

UID_LENGTH = 36
"""Of the UIDs that servers give."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Marks(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What many objects of a kind have in common, so that one is kept for all of them."""

    finalizers: tuple[str, ...] = ()
    deleting: bool = False
    ended: bool = False
    managers: tuple[str, ...] = ()
    applied: tuple[tuple[str, str, bytes], ...] = ()
    start: bytes = b""
    """What comes before the name in the JSON of objects of which only metadata is kept."""


_UNMARKED = Marks()


class Entry(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """One object as the server had it at ``resource_version``.

    Of managedFields stay the managers' names and a digest of what each manager applied, since they are often larger than
    the object.
    """

    namespace: str
    """Empty for cluster-scoped kinds."""
    name: str
    uid_at: int | str
    """Where in `text` the UID is written, or itself, where it has an unusual length."""
    resource_version: int
    text: bytes
    """`raw`, or what is not the same in many objects, nor known already, of one of which only metadata is kept."""
    generation: int | None = None
    marks: Marks = _UNMARKED
    values: tuple[Values, ...] = ((), ())
    """UIDs of all owners, that of the controller, and those of each index that is read along with the metadata."""

    @property
    def key(self) -> Key:
        return self.namespace, self.name

    @property
    def raw(self) -> bytes:
        """The object's JSON without managedFields; with a projection, the part that it keeps."""
        start = self.marks.start
        if not start:
            return self.text
        namespace = b'"namespace":%b,' % _encode(self.namespace) if self.namespace else b""
        return b"%b%b,%b%b}" % (start, _encode(self.name), namespace, self.text)

    @property
    def uid(self) -> str:
        at = self.uid_at
        return at if isinstance(at, str) else self.text[at : at + UID_LENGTH].decode()

    def is_same(self, other: Entry) -> bool:
        """Whether both are states of one object: have one UID."""
        at, its = self.uid_at, other.uid_at
        if isinstance(at, str) or isinstance(its, str):
            return self.uid == other.uid
        return other.text.startswith(self.text[at : at + UID_LENGTH], its)

    @property
    def owners(self) -> tuple[str, ...]:
        """UIDs of all owners."""
        return self.values[0]

    @property
    def controller(self) -> str | None:
        """UID of the owner that is the controller."""
        return self.values[1][0] if self.values[1] else None

    @property
    def labels(self) -> Mapping[str, str]:
        """Read from the object on each access. Raises `DecodeError` where they are no labels."""
        return _read(self).labels or _NOTHING

    @property
    def annotations(self) -> Mapping[str, str]:
        """Read from the object on each access. Raises `DecodeError` where they are no annotations."""
        return _read(self).annotations or _NOTHING

    def is_labelled_as(self, other: Entry) -> bool:
        """Whether both have the same labels and the same annotations. Raises `DecodeError` as those do."""
        try:
            mine, theirs = _text.decode(self.raw).metadata, _text.decode(other.raw).metadata
            return _equal(mine.labels, theirs.labels) and _equal(mine.annotations, theirs.annotations)
        except msgspec.DecodeError as error:
            raise DecodeError(f"{self.namespace}/{self.name}: {error}") from error

    @property
    def finalizers(self) -> tuple[str, ...]:
        return self.marks.finalizers

    @property
    def deleting(self) -> bool:
        return self.marks.deleting

    @property
    def ended(self) -> bool:
        """Whether the object is gone with this state: it was being deleted, and nothing holds it any more."""
        return self.marks.ended

    @property
    def managers(self) -> tuple[str, ...]:
        """Names of all field managers, each once."""
        return self.marks.managers

    @property
    def applied(self) -> tuple[tuple[str, str, bytes], ...]:
        """Manager, subresource and digest of the fields, for each server-side apply."""
        return self.marks.applied

    def owned_by(self, manager: str, *, subresource: str = "") -> bytes | None:
        """Digest of the fields that a manager owns by server-side apply; None when it applied nothing."""
        return next((mark for name, part, mark in self.applied if name == manager and part == subresource), None)


class _Named(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, gc=False):
    metadata: _Named


_object = msgspec.json.Decoder(_Object)
_encode = msgspec.json.Encoder().encode

_ABSENT = msgspec.Raw(b"null")


class _NamedText(msgspec.Struct, gc=False):
    """`_Named` as it is written: servers write it in one order, so that equal ones are mostly equal as text."""

    labels: msgspec.Raw = _ABSENT
    annotations: msgspec.Raw = _ABSENT


class _ObjectText(msgspec.Struct, gc=False):
    metadata: _NamedText


_text = msgspec.json.Decoder(_ObjectText)
_texts = msgspec.json.Decoder(dict[str, str] | None)


def _equal(mine: msgspec.Raw, theirs: msgspec.Raw) -> bool:
    return bytes(mine) == bytes(theirs) or (_texts.decode(mine) or _NOTHING) == (_texts.decode(theirs) or _NOTHING)


def _read(entry: Entry) -> _Named:
    try:
        return _object.decode(entry.raw).metadata
    except msgspec.DecodeError as error:
        raise DecodeError(f"{entry.namespace}/{entry.name}: {error}") from error
