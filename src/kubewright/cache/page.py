"""`Page`: the objects in one answer to a LIST, told apart without decoding them twice."""

from __future__ import annotations

from collections.abc import Iterator

from kubewright.api import DecodeError, split_list

__all__ = ["Page"]

_ITEMS = b'"items":['
_METADATA = b'"metadata":{'
_LONGEST_START = 500
_NEAR = 20_000
"""Bytes within which an item mostly ends: for what may be far, Python first prepares a search that is made for it."""


class Page:
    """One answer to a LIST. What it gives is to be decoded at once, and doubted (`doubt`) where that fails.

    Items of one kind begin alike, so where one ends and the next begins is looked for in the text. That is wrong where an
    item holds another of its kind; but then some piece is no JSON, and up to the first that is none the pieces are the
    items, as there is but one way to read JSON. From there on it is left to the decoder, which reads all twice.
    """

    def __init__(self, text: bytes) -> None:
        """Raises `DecodeError` for what is no list."""
        self._text = text
        self._doubted = False
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

    def __iter__(self) -> Iterator[bytes]:
        text, between = self._text, self._between
        at = self._first
        while at < self._last:
            after = (text.find(between, at, at + _NEAR) + 1 or text.find(between, at) + 1) + 1
            self._doubted = False
            yield text[at : after - 1]
            if self._doubted:
                self._rest = split_list(text[: self._first] + text[at:])[1]
                break
            at = after
        self._first = self._last
        yield from self._rest

    def doubt(self) -> bool:
        """To be called when what was given last can't be decoded. Whether it may have been no item: then it comes again."""
        self._doubted = self._first < self._last
        return self._doubted
