"""A watch's bytes as events (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Generic, TypeVar

import msgspec

from kubewright.api import ApiError, DecodeError, Status, api_error, decode

__all__ = ["LineSplitter", "WatchEvent", "WatchEvents"]

T = TypeVar("T")


class WatchEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
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

_START, _MIDDLE = b'{"type":"', b'","object":{'
_TYPES = {name.encode(): name for name in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")}
_LONGEST_HEAD = len(_START) + max(map(len, _TYPES)) + len(_MIDDLE)


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


class WatchEvents(AsyncIterator[WatchEvent[bytes]]):
    """The events in a watch's body, one by one, or in `batches`, which costs less where many come at once.

    Raises the `ApiError` that an ERROR event stands for, and `DecodeError` for a line that is no event; what came before
    it is given out first.
    """

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._events = self._one_by_one()

    def __aiter__(self) -> WatchEvents:
        return self

    async def __anext__(self) -> WatchEvent[bytes]:
        return await anext(self._events)

    async def batches(self) -> AsyncGenerator[list[WatchEvent[bytes]], None]:
        """The events as the network brings them, never none."""
        splitter = LineSplitter()
        async for chunk in self._chunks:
            batch: list[WatchEvent[bytes]] = []
            failure: Exception | None = None
            try:
                # at a failure the batch keeps what it has so far
                batch.extend(_event(line) for line in splitter.feed(chunk) if line and not line.isspace())
            except (ApiError, DecodeError) as error:
                failure = error
            if batch:
                yield batch
            if failure is not None:
                raise failure

    async def _one_by_one(self) -> AsyncIterator[WatchEvent[bytes]]:
        async for batch in self.batches():
            for event in batch:
                yield event


def _event(line: bytes) -> WatchEvent[bytes]:
    kind, obj = _as_servers_write_it(line) or _parsed(line)
    if kind == "ERROR":
        raise api_error(decode(obj, Status))
    return WatchEvent(kind, obj)


def _as_servers_write_it(line: bytes) -> tuple[str, bytes] | None:
    """Type and object of a line whose first and only members they are, without reading the object.

    Whether the object is one, who decodes it will see.
    """
    if not (line.startswith(_START) and line.endswith(b"}}")):
        return None
    end = line.find(_MIDDLE, len(_START), _LONGEST_HEAD)
    kind = _TYPES.get(line[len(_START) : end])
    return None if end < 0 or kind is None else (kind, line[end + len(_MIDDLE) - 1 : -1])


def _parsed(line: bytes) -> tuple[str, bytes]:
    try:
        parsed = _line.decode(line)
    except msgspec.DecodeError as error:
        raise DecodeError(f"not a watch event: {error}: {line[:200]!r}") from error
    return parsed.type, bytes(parsed.object)
