"""`Page`: the objects in one answer to a LIST, told apart by a decoder, and not all at once."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from kubewright.api import DecodeError, split_list

__all__ = ["Page"]

_ITEMS = b'"items":['
_METADATA = b'"metadata":{'
_LONGEST_START = 500
_GROUP = 128 * 1024
"""Bytes of items that are decoded together: their text is still near when they are looked at."""
_MANY = 256
"""How many items are given out together at most."""

_items = msgspec.json.Decoder(list[Raw])


class Page:
    """One answer to a LIST, whose items come in groups, as views of JSON that was found to be valid.

    Items of one kind begin alike, so where a group may end is looked for in the text. It is wrong where an item holds
    another of its kind; but then the group is no JSON, as something is open at its end, and is made longer.
    """

    def __init__(self, text: bytes, group: int = _GROUP) -> None:
        """``group`` is how many bytes of items are decoded together. Raises `DecodeError` for what is no list."""
        self._text = text
        self._size = group
        self._first = self._last = 0
        self._between = b""
        if not self._divides():
            self._first = self._last
            self.meta, self._rest = split_list(text)

    def _divides(self) -> bool:
        """Looks for where items begin; what comes before them, after them, and the last one are decoded to be sure."""
        text = self._text
        first = text.find(_ITEMS) + len(_ITEMS)
        usual = text.find(_METADATA, first, first + _LONGEST_START)
        if first < len(_ITEMS) or usual < 0:
            return False
        self._between = b"}," + text[first : usual + len(_METADATA)]
        last = text.rfind(self._between, first) + 2
        if last < 2:
            return False
        try:
            split_list(text[:first] + b"]}")
            self.meta, self._rest = split_list(text[:first] + text[last:])
        except DecodeError:
            return False
        self._first, self._last = first, last
        return len(self._rest) == 1

    def __iter__(self) -> Iterator[list[Raw]]:
        """Raises `DecodeError` where it is no list after all."""
        at = self._first
        while at < self._last:
            at, items = self._group(at)
            yield from _few(items)
        yield from _few([Raw(item) for item in self._rest])

    def _group(self, start: int) -> tuple[int, list[Raw]]:
        """The items from there on, and where those after them begin."""
        size = self._size
        while True:
            end = self._text.find(self._between, start + size, self._last) + 1 or self._last - 1
            try:
                return end + 1, _items.decode(b"".join((b"[", memoryview(self._text)[start:end], b"]")))
            except msgspec.DecodeError as error:
                if end == self._last - 1:
                    raise DecodeError(f"not a list of objects: {error}") from error
            size *= 2


def _few(items: list[Raw]) -> Iterator[list[Raw]]:
    for start in range(0, len(items), _MANY):
        yield items[start : start + _MANY]
