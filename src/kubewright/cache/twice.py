"""`Twice`: what an own write brings comes twice and nearly at once, in its answer and from the watch, and is parsed once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Raw

from kubewright.cache.entry import Entry

__all__ = ["Twice"]

_VERSION = re.compile(rb'"resourceVersion":\s*"[^"]*')
_MANY = 64
_SHORT = 16 * 1024
"""How many objects, and up to which length, are kept until they come a second time: at most 2 MB with their entries."""


class Twice:
    """Parses what comes from a watch and in the answers to own writes. As long as there are none of these, nothing is kept."""

    def __init__(
        self, parse_all: Callable[[Sequence[Raw | bytes]], list[Entry]], parse: Callable[[bytes], Entry]
    ) -> None:
        self._parse_all = parse_all
        self._parse = parse
        self._writing = False
        self._once: dict[bytes, tuple[bytes, Entry]] = {}
        """What came once, by its version's text."""

    def answered(self, raw: bytes) -> Entry:
        """The object in the answer to an own write. Raises `DecodeError`."""
        self._writing = True
        version = _version(raw)
        entry = self._taken(version, raw)
        if entry is None:
            entry = self._parse(raw)
            self._keep(version, raw, entry)
        return entry

    def watched(self, objects: Sequence[Raw]) -> list[Entry]:
        """Objects that a watch brought. Raises `DecodeError` where one of them is none."""
        if not self._writing:
            return self._parse_all(objects)
        texts = [(_version(text), text) for text in map(bytes, objects)]
        taken = [self._taken(*text) for text in texts]
        new = [text for (_, text), known in zip(texts, taken, strict=True) if known is None]
        if not new:
            return [entry for entry in taken if entry is not None]
        parsed = iter(self._parse_all(new))
        entries = []
        for (version, text), known in zip(texts, taken, strict=True):
            entry = known
            if entry is None:
                entry = next(parsed)
                self._keep(version, text, entry)
            entries.append(entry)
        return entries

    def _taken(self, version: bytes, raw: bytes) -> Entry | None:
        """The entry of what came before, which is forgotten."""
        came = self._once.get(version)
        if came is None or came[0] != raw:
            return None
        del self._once[version]
        return came[1]

    def _keep(self, version: bytes, raw: bytes, entry: Entry) -> None:
        if len(raw) > _SHORT:
            return
        if len(self._once) >= _MANY:
            del self._once[next(iter(self._once))]
        self._once[version] = raw, entry


def _version(raw: bytes) -> bytes:
    """Something that few objects have in common, mostly its resource version."""
    found = _VERSION.search(raw)
    return found[0] if found else b""
