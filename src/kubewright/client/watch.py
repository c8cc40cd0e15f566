"""A watch's bytes as events (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
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

_HEADS = {
    kind[:3].encode(): (kind, b'{"type":"%s","object":{' % kind.encode())
    for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}


class LineSplitter:
    """Whole lines out of chunks that end anywhere. A last line without an end was cut off and is not given out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            self._rest.append(chunk)
            return []
        if self._rest:
            lines[0] = b"".join([*self._rest, lines[0]])
        self._rest = [lines.pop()]
        return lines


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
                for line in splitter.feed(chunk):
                    if line and not line.isspace():
                        batch.append(_event(line))  # noqa: PERF401 - at a failure the batch keeps what it has so far
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
    known = _HEADS.get(line[9:12])
    if known is not None and line.startswith(known[1]) and line.endswith(b"}}"):
        # as servers write it, with these two members in this order; whether the object is one, who decodes it will see
        kind, obj = known[0], line[len(known[1]) - 1 : -1]
    else:
        kind, obj = _parsed(line)
    if kind == "ERROR":
        raise api_error(decode(obj, Status))
    return WatchEvent(kind, obj)


def _parsed(line: bytes) -> tuple[str, bytes]:
    try:
        parsed = _line.decode(line)
    except msgspec.DecodeError as error:
        raise DecodeError(f"not a watch event: {error}: {line[:200]!r}") from error
    return parsed.type, bytes(parsed.object)
