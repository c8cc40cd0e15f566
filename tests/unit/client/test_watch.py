"""A watch's bytes as events."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubewright.api import DecodeError, Gone
from kubewright.client.watch import LineSplitter, WatchEvent, WatchEvents


async def read(*chunks: bytes) -> list[WatchEvent[bytes]]:
    async def arriving() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [event async for event in WatchEvents(arriving())]


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.data())
def test_lines_come_out_whole_wherever_chunks_end(lines: list[bytes], data: st.DataObject) -> None:
    body = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)))))
    splitter = LineSplitter()
    got: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        got.extend(splitter.feed(body[start:end]))
    assert got == lines


async def test_events_hold_the_objects_own_json() -> None:
    events = await read(b'{"type":"ADDED","object":{"a": 1}}\n{"type":"BOOKMARK","obj', b'ect":{}}\n')
    assert events == [WatchEvent("ADDED", b'{"a": 1}'), WatchEvent("BOOKMARK", b"{}")]


async def test_a_line_that_was_cut_off_is_no_event() -> None:
    assert await read(b'{"type":"ADDED","object":{"a"') == []


async def test_an_error_event_is_raised_as_what_it_says() -> None:
    status = b'{"kind":"Status","message":"too old resource version: 1 (9)","reason":"Expired","code":410}'
    with pytest.raises(Gone, match="too old resource version"):
        await read(b'{"type":"ERROR","object":' + status + b"}\n")


async def test_what_is_no_event_is_quoted() -> None:
    with pytest.raises(DecodeError, match="not a watch event.*<html>"):
        await read(b"<html>\n")


async def test_what_came_before_a_failure_is_given_out() -> None:
    async def arriving() -> AsyncIterator[bytes]:
        yield b'{"type":"ADDED","object":{"a":1}}\n{"type":"ADDED","object":{"a":2}}\n<html>\n'

    seen: list[WatchEvent[bytes]] = []
    with pytest.raises(DecodeError):
        async for batch in WatchEvents(arriving()).batches():
            seen += [WatchEvent(event.type, bytes(event.object)) for event in batch]
    assert seen == [WatchEvent("ADDED", b'{"a":1}'), WatchEvent("ADDED", b'{"a":2}')]


async def test_other_spellings_of_a_line_are_read_too() -> None:
    events = await read(b'{"object":{"a":{}},"type":"ADDED"}\n{"type":"NEWER","object":{"a":{}}}\n')
    assert events == [WatchEvent("ADDED", b'{"a":{}}'), WatchEvent("NEWER", b'{"a":{}}')]
