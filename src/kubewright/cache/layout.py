"""`Layout`: how the objects of a kind were written lately, so that others that are written alike are taken apart by it.

Of such an object only the metadata is decoded, without its managedFields, which are compared with those seen before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from kubewright.api import ResourceInfo
from kubewright.cache.entry import UID_LENGTH, Entry, Marks
from kubewright.cache.index_by import IndexBy
from kubewright.cache.narrow import Narrow, Values
from kubewright.cache.owners import Owner, owner_values
from kubewright.cache.recent import Once, Recent

__all__ = ["Layout", "Timeless"]

_TIME = re.compile(rb'(?<="time":")[^"]*')
_MANAGED = b',"managedFields":'
_UNTYPED = b'{"metadata":{'
_MANY = 8
"""Of how many sets of managedFields the text is compared with an object's."""
_QUOTE = b'"'
_CLOSED = 0x7D
_UNOWNED: tuple[Values, ...] = ((), ())


class Timeless:
    """Some managedFields, whatever their times are."""

    def __init__(self, managed: bytes) -> None:
        first, *others = _TIME.split(managed)
        self.pieces = (first, *others)
        self.first = _MANAGED + first
        self.others: list[tuple[int, int, bytes]] = []
        """What follows each time: where the time begins and ends, counted from `first`, and the text."""
        end = len(first)
        for other in others:
            start = managed.index(b'"', end)
            self.others.append((len(_MANAGED) + end, len(_MANAGED) + start, other))
            end = start + len(other)
        self.length = len(_MANAGED) + len(managed)
        self.marks: dict[tuple[str, ...], Marks] = {}
        """By the finalizers of an object that has such managedFields and is not being deleted."""

    def matches(self, managed: bytes) -> bool:
        """Whether those are the same, with times that are as long."""
        return len(_MANAGED) + len(managed) == self.length and self.begins(_MANAGED + managed, 0)

    def begins(self, raw: bytes, at: int) -> bool:
        """Whether such as `matches` would take begin there in the text, with the comma before them."""
        if not raw.startswith(self.first, at):
            return False
        for begin, close, other in self.others:
            if raw.find(_QUOTE, at + begin) != at + close or not raw.startswith(other, at + close):
                return False
        return True


class _Meta(Struct, rename="camel", gc=False):
    name: str
    resource_version: str
    uid: str
    namespace: str = ""
    generation: int | None = None
    finalizers: list[str] | None = None
    owner_references: list[Owner] | None = None
    deletion_timestamp: None = None  # an object that has one is none of ours


class _Untyped(Struct, forbid_unknown_fields=True, gc=False):
    metadata: _Meta


class Layout:
    """Takes apart objects of one kind that are written like those before them; the rest is left to who can read any.

    How it knows that what it cuts out is the metadata's own managedFields: what comes before them is a whole object as soon
    as two braces are closed, and one that has no members but its type and its metadata.
    """

    def __init__(
        self,
        info: ResourceInfo,
        along: Sequence[IndexBy],
        start: bytes,
        otherwise: Callable[[bytes], Entry],
        values: Callable[[tuple[Values, ...]], tuple[Values, ...]],
        namespaces: Once[str],
        shared: Callable[[], int],
    ) -> None:
        """``start`` is what is put before objects without a type, ``along`` the indexes whose values are read.

        ``otherwise`` parses what is written in another way. ``shared`` is how many values are remembered at least.
        """
        typed: type[Struct] = msgspec.defstruct(
            "Typed",
            [("apiVersion", Literal[info.api_version]), ("kind", Literal[info.kind]), ("metadata", _Meta)],
            forbid_unknown_fields=True,
            gc=False,
        )
        inside = [index.steps for index in along if index.steps[0] == "metadata"]
        typed_head, untyped_head = (
            Narrow(inside, {(): base, ("metadata",): _Meta}, leaf=str | None) for base in (typed, _Untyped)
        )
        body = Narrow([index.steps for index in along if index.steps[0] != "metadata"])
        self._decode_typed = typed_head.decode
        self._decode_untyped = untyped_head.decode
        self._decode_body = body.decode if body.readers else None
        readers = iter(typed_head.readers), iter(body.readers)
        self._readers = [(index.steps[0] != "metadata", next(readers[index.steps[0] != "metadata"])) for index in along]
        """For each index whether it is the body that is read, and how."""
        self._ends = typed_head.ends if len(inside) == len(along) else None
        self._seen: Recent[object, tuple[Values, ...]] = Recent(shared)
        """The values of objects without owners, by what `_ends` finds: text."""
        self._start = start
        self._otherwise = otherwise
        self._values = values
        self._namespaces = namespaces
        self._known: list[Timeless] = []
        """The latest first."""
        self._latest: Timeless | None = None
        self._at = self._uid_at = 0
        """What managedFields the last object had, where they began, and its UID: the next one mostly has them there, too."""

    def learn(self, managed: Timeless, finalizers: tuple[str, ...], marks: Marks) -> None:
        """What is to be said of objects with such managedFields and finalizers, unless they are being deleted."""
        known = next((each for each in self._known if each.pieces == managed.pieces), None)
        if known is None:
            self._known = [managed, *self._known[: _MANY - 1]]
        elif len(known.marks) >= _MANY:
            known.marks.clear()
        (known or managed).marks[finalizers] = marks

    def parse(self, objects: Sequence[Raw | bytes]) -> list[Entry]:
        """The objects' entries, of JSON that was found to be valid. Raises what ``otherwise`` raises."""
        texts = [bytes(each) for each in objects]  # all of them first: what goes soon lies apart from what stays
        return [self._entry(raw) or self._otherwise(raw) for raw in texts]

    def _entry(self, raw: bytes) -> Entry | None:
        at = self._at
        managed = self._latest
        if managed is None or not managed.begins(raw, at):
            self._at = at = raw.find(_MANAGED)
            managed = next((known for known in self._known if known.begins(raw, at)), None)
            if managed is None:
                return None
            self._latest = managed
        end = at + managed.length
        head = raw[:at] + (b"}}" if raw[end] == _CLOSED else raw[end : raw.find(b'},"', end)] + b"}}")
        try:
            if raw.startswith(_UNTYPED):
                meta = (decoded := self._decode_untyped(head)).metadata
                text = self._start + raw[1:at] + raw[end:]
            else:
                meta = (decoded := self._decode_typed(head)).metadata
                text = raw[:at] + raw[end:]
            uid = meta.uid.encode()
            uid_at = self._uid_at
            if not text.startswith(uid, uid_at):
                self._uid_at = uid_at = text.find(uid)
            marks = managed.marks.get(tuple(meta.finalizers) if meta.finalizers else ())
            if marks is None or len(uid) != UID_LENGTH or uid_at < 0:
                return None
            return Entry(
                namespace=self._namespaces[meta.namespace],
                name=meta.name,
                uid_at=uid_at,
                resource_version=int(meta.resource_version),
                text=text,
                generation=meta.generation,
                marks=marks,
                values=self._read(decoded, text),
            )
        except (msgspec.DecodeError, ValueError):
            return None

    def _read(self, head: Any, text: bytes) -> tuple[Values, ...]:
        owners = head.metadata.owner_references
        if not owners and not self._readers:
            return _UNOWNED
        if owners or self._ends is None:
            return self._read_each(head, text)
        try:
            ends = self._ends(head)
        except AttributeError:
            return self._read_each(head, text)
        values = self._seen.get(ends)
        return values or self._seen.recall(ends, lambda: self._read_each(head, text))

    def _read_each(self, head: Any, text: bytes) -> tuple[Values, ...]:
        owners = head.metadata.owner_references
        body = None if self._decode_body is None else self._decode_body(text)
        read = [values_of(body if in_body else head) for in_body, values_of in self._readers]
        return self._values((*(owner_values(owners) if owners else _UNOWNED), *read))
