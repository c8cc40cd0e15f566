"""A watch's bytes as events (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Generic, TypeVar

import msgspec

from kubewright.api import DecodeError, Status, api_error, decode

__all__ = ["LineSplitter", "WatchEvent", "WatchEvents"]

T = TypeVar("T")


class WatchEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """One line of a watch: ``type`` is ADDED, MODIFIED, DELETED or BOOKMARK.

    ``object`` is the object's own JSON, or the decoded object where the watch was typed. A bookmark's object has a
    resource version and nothing else.
    """

    type: str
    object: T


_lines = msgspec.json.Decoder(WatchEvent[msgspec.Raw])


class LineSplitter:
    """Whole lines out of chunks that end anywhere. A last line without an end was cut off and is not given out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        return self.text(chunk).split(b"\n")[:-1]

    def text(self, chunk: bytes) -> bytes:
        """The lines as one text, each with its end."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._rest.append(chunk)
            return b""
        whole = b"".join([*self._rest, memoryview(chunk)[:end]]) if self._rest else chunk[:end]
        self._rest = [chunk[end:]] if end < len(chunk) else []
        return whole


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

    async def batches(self) -> AsyncGenerator[list[WatchEvent[msgspec.Raw]], None]:
        """The events as the network brings them, never none. Their objects are views of JSON that was found to be valid."""
        splitter = LineSplitter()
        async for chunk in self._chunks:
            text = splitter.text(chunk)
            batch: list[WatchEvent[msgspec.Raw]] = []
            failure: Exception | None = None
            try:
                batch = _lines.decode_lines(text)
                if "ERROR" in [event.type for event in batch]:
                    batch, failure = _until_failure(text)
            except msgspec.DecodeError:
                batch, failure = _until_failure(text)
            if batch:
                yield batch
            if failure is not None:
                raise failure

    async def _one_by_one(self) -> AsyncIterator[WatchEvent[bytes]]:
        async for batch in self.batches():
            for event in batch:
                yield WatchEvent(event.type, bytes(event.object))


def _until_failure(text: bytes) -> tuple[list[WatchEvent[msgspec.Raw]], Exception | None]:
    """The events before the first line that is none, or tells of an error, and which one that is."""
    events: list[WatchEvent[msgspec.Raw]] = []
    for line in text.split(b"\n"):
        if not line or line.isspace():
            continue
        try:
            event = _lines.decode(line)
            if event.type == "ERROR":
                return events, api_error(decode(bytes(event.object), Status))
        except msgspec.DecodeError as error:
            return events, DecodeError(f"not a watch event: {error}: {line[:200]!r}")
        except DecodeError as error:
            return events, error
        events.append(event)
    return events, None
