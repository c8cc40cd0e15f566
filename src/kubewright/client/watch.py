"""A watch's bytes as events (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Generic, TypeVar

import msgspec

from kubewright.api import DecodeError, Status, api_error, decode

__all__ = ["LineSplitter", "WatchEvent", "watch_events"]

T = TypeVar("T")


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """One line of a watch: ``type`` is ADDED, MODIFIED, DELETED or BOOKMARK.

    ``object`` is the object's own JSON, or the decoded object where the watch was typed. A bookmark's object has a
    resource version and nothing else.
    """

    type: str
    object: T


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


_line = msgspec.json.Decoder(_Line)


class LineSplitter:
    """Whole lines out of chunks that end anywhere. A last line without an end was cut off and is not given out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        head, newline, tail = chunk.partition(b"\n")
        if not newline:
            self._rest.append(chunk)
            return
        yield b"".join([*self._rest, head])
        lines = tail.split(b"\n")
        self._rest = [lines.pop()]
        yield from lines


async def watch_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[WatchEvent[bytes]]:
    """The events in a watch's body. Raises the `ApiError` that an ERROR event stands for, and `DecodeError`."""
    splitter = LineSplitter()
    async for chunk in chunks:
        for line in splitter.feed(chunk):
            if line.strip():
                yield _event(line)


def _event(line: bytes) -> WatchEvent[bytes]:
    try:
        parsed = _line.decode(line)
    except msgspec.DecodeError as error:
        raise DecodeError(f"not a watch event: {error}: {line[:200]!r}") from error
    if parsed.type == "ERROR":
        raise api_error(decode(parsed.object, Status))
    return WatchEvent(parsed.type, bytes(parsed.object))
