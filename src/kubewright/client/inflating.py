"""`Inflating`: a body that comes compressed by gzip, inflated in steps of bounded size."""

from __future__ import annotations

import zlib

__all__ = ["Inflating"]

_STEP = 1024 * 1024
"""Bytes that come out at once: a few milliseconds, in which nothing else runs. One that goes in can stand for 1000."""
_PIECE = 64 * 1024
"""Bytes that go in at once: what is not needed of them is copied."""
_GZIP = 16 + zlib.MAX_WBITS


class Inflating:
    """Give it what came whenever it has nothing `left`. Raises ``zlib.error`` for what is not gzip."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._compressed = memoryview(b"")
        self._full = self._begun = False

    @property
    def left(self) -> bool:
        """Whether `step` may bring more by itself."""
        return self._full or bool(self._compressed)

    def step(self, compressed: bytes = b"") -> bytes:
        """What is next, a step at most; empty where more has to come first."""
        if compressed:
            self._compressed, self._begun = memoryview(compressed), True
        inflated = b""
        while not inflated and self.left:
            if self._member.eof:  # and another one follows
                self._member = zlib.decompressobj(_GZIP)
            piece = self._compressed[:_PIECE]
            inflated = self._member.decompress(piece, _STEP)
            unused = len(self._member.unused_data) or len(self._member.unconsumed_tail)
            self._compressed = self._compressed[len(piece) - unused :]
            self._full = len(inflated) == _STEP and not self._member.eof  # and some of it may still be inside
        return inflated

    def end(self) -> None:
        """Says that nothing more comes, which is an error where it should. Nothing at all is an empty body, too."""
        if self._begun and not self._member.eof:
            raise zlib.error("the compressed body breaks off")
