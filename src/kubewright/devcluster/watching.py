"""Watches: the changes to a resource as a stream of lines.

Guarantees
    Events come in the order of their revisions, none twice and none left out. A reader that falls behind holds up
    neither writers nor other readers; when what it has yet to read is forgotten, it gets an ERROR event (410) and its
    stream ends.

See "Efficient detection of changes" in https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from kubewright.devcluster.freshness import reached
from kubewright.devcluster.objects import Object, with_metadata
from kubewright.devcluster.reading import FutureRevisionError, parse_revision, selection
from kubewright.devcluster.statuses import StatusError, status_body
from kubewright.devcluster.store import Change, Compacted
from kubewright.devcluster.versions import from_storage, is_as_stored

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.options import ListOptions
    from kubewright.devcluster.presentation import Presenter
    from kubewright.devcluster.store import ChangeType, GroupResource, State, Store

__all__ = ["Watches"]

_BATCH = 200
_CHUNK = 64 * 1024
_BOOKMARK_INTERVAL = 60.0
_LAST_BOOKMARK = 2.0  # seconds before the stream ends
_SHORTEST, _LONGEST = 1800.0, 3600.0  # of a stream for which no time was asked
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"

_encode = msgspec.json.Encoder().encode


@dataclass(eq=False)
class _Stream:
    """One watch: what wakes it, at which revision it was told to end, and whether the moment it waits for has come."""

    woken: asyncio.Event
    ended: int | None = None
    due: bool = False

    def end(self, revision: int) -> None:
        if self.ended is None:
            self.ended = revision
        self.woken.set()

    def wake_at(self, moment: float) -> asyncio.TimerHandle:
        """One timer for all the waiting until then: many watches wait, and each change ends the waiting of all."""
        self.due = False
        return asyncio.get_running_loop().call_at(moment, self._fall_due)

    def _fall_due(self) -> None:
        self.due = True
        self.woken.set()


class Watches:
    """Opens watches on a store, and ends them when a resource is no longer served."""

    def __init__(self, store: Store, *, rng: random.Random) -> None:
        self._store = store
        self._rng = rng
        self._streams: dict[GroupResource, dict[_Stream, None]] = {}
        self._ends: dict[GroupResource, int] = {}
        """The revision at which all watches of a resource ended last."""
        self._lately = _Lately()

    def open(
        self, resource: ServedResource, namespace: str, options: ListOptions, presenter: Presenter
    ) -> AsyncIterator[bytes]:
        """The events from the revision asked for; without one, first what is there now as ADDED.

        Raises `StatusError` for options that make no sense. What can't be served from its revision on begins with an
        ERROR event, as on a real server.
        """
        try:
            revision = parse_revision(options.resource_version)
        except ValueError as error:
            raise StatusError(status_body(500, "", str(error))) from error
        watch = _Watch(self._store, resource, namespace, options, presenter, self._lately)
        timeout = options.timeout_seconds or self._rng.uniform(_SHORTEST, _LONGEST)
        if options.send_initial_events and revision > self._store.revision:
            return self._once_there(watch, revision, timeout)
        initial = watch.initial(revision)
        start = revision if revision and not options.send_initial_events else self._store.revision
        return self._lines(watch, initial, start, timeout)

    async def _once_there(self, watch: _Watch, revision: int, timeout: float) -> AsyncIterator[bytes]:
        """What there is can only be told as of a revision that exists."""
        if not await reached(self._store, revision):
            yield _line("ERROR", FutureRevisionError(revision, self._store.revision).body)
            return
        async with aclosing(self._lines(watch, watch.initial(revision), self._store.revision, timeout)) as lines:
            async for line in lines:
                yield line

    async def _lines(
        self, watch: _Watch, initial: Iterable[bytes], cursor: int, timeout: float
    ) -> AsyncGenerator[bytes]:
        clock = asyncio.get_running_loop().time
        deadline = clock() + timeout
        bookmarks = _bookmark_times(clock(), deadline) if watch.options.bookmarks else iter(())
        next_bookmark = next(bookmarks, deadline)
        stream = _Stream(asyncio.Event())
        streams = self._streams.setdefault(watch.resource.storage, {})
        streams[stream] = None
        if (since := self._ends.get(watch.resource.storage, 0)) > watch.opened:
            stream.end(since)  # before anybody began to read it
        unsubscribe = self._store.subscribe(stream.woken.set, resource=watch.resource.storage)
        timer = stream.wake_at(next_bookmark)
        try:
            for batch in initial:
                yield batch
            while clock() < deadline:
                ended = stream.ended  # what happened before the end is still told
                try:
                    changes = self._store.changes(cursor, resource=watch.resource.storage, limit=_BATCH)
                except Compacted as error:
                    yield _line("ERROR", status_body(410, "Expired", str(error)))
                    return
                # of a revision that does not exist yet the watch waits for the writes to come
                cursor = changes[-1].revision if len(changes) == _BATCH else max(cursor, self._store.revision)
                if ended is not None:  # what came after it may be of a version that this watch does not know
                    changes = [change for change in changes if change.revision <= ended]
                lines = [line for change in changes if (line := watch.line(change))]
                if lines:
                    for part in _batches(lines):
                        yield part
                elif ended is not None:
                    return
                elif stream.due:
                    if next_bookmark >= deadline:
                        return
                    next_bookmark = next(bookmarks, deadline)
                    timer = stream.wake_at(next_bookmark)
                    yield watch.bookmark(cursor)
                elif not changes:
                    await stream.woken.wait()
                    stream.woken.clear()
        finally:
            timer.cancel()
            unsubscribe()
            del streams[stream]

    def end(self, resource: GroupResource) -> None:
        """Ends the watches of a resource whose definition changed or went; their clients will ask anew."""
        self._ends[resource] = self._store.revision
        for stream in self._streams.get(resource, {}):
            stream.end(self._store.revision)


def _bookmark_times(start: float, deadline: float) -> Iterator[float]:
    moment = start + _BOOKMARK_INTERVAL
    while moment < deadline - _LAST_BOOKMARK:
        yield moment
        moment += _BOOKMARK_INTERVAL
    if deadline - _LAST_BOOKMARK > start:
        yield deadline - _LAST_BOOKMARK


def _line(type: str, obj: Object) -> bytes:  # noqa: A002 - the field's own name
    return _encode({"type": type, "object": obj}) + b"\n"


def _stored_line(type: ChangeType, state: State) -> bytes:  # noqa: A002 - as above
    return b'{"type":"%b","object":%b}\n' % (type.encode(), state.data)


def _batches(lines: Iterable[bytes], end: bytes = b"") -> Iterator[bytes]:
    """The lines put together, as many as make a good chunk."""
    waiting, size = [], 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size > _CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting or end:
        yield b"".join([*waiting, end])


class _Lately:
    """The line of the latest change, which is the same for all who watch whole objects."""

    def __init__(self) -> None:
        self._change: Change | None = None
        self._line = b""

    def line(self, change: Change) -> bytes:
        if change is not self._change:
            self._change, self._line = change, _stored_line(change.type, change.after)
        return self._line


class _Watch:
    """What one watch lets through, and in which form."""

    def __init__(
        self,
        store: Store,
        resource: ServedResource,
        namespace: str,
        options: ListOptions,
        presenter: Presenter,
        lately: _Lately,
    ) -> None:
        self.resource = resource
        self.options = options
        self._store = store
        self._namespace = namespace
        matches = selection(resource, options)
        self.opened = store.revision
        self._matches: Callable[[Object], bool] = matches or (lambda _: True)
        self._presenter = presenter
        self._lately = lately
        self._all_as_it_is = matches is None and presenter.as_it_is

    def initial(self, revision: int) -> Iterable[bytes]:
        """The lines to begin with, in batches."""
        asked = self.options.send_initial_events
        if asked is False or (revision and not asked):
            return []
        states = self._store.states(self.resource.storage, self._namespace)
        if self._all_as_it_is and all(is_as_stored(self.resource, state) for state in states):
            return _batches((_stored_line("ADDED", state) for state in states), self._initial_end())
        present = [from_storage(self.resource, state.obj) for state in states]
        lines = [_line("ADDED", self._presenter.event(obj)) for obj in present if self._matches(obj)]
        return _batches(lines, self._initial_end())  # after the lines, the first of which has a Table's columns

    def _initial_end(self) -> bytes:
        """What tells that all there was is told, for those who want it told."""
        if not self.options.bookmarks:
            return b""
        return self.bookmark(self._store.revision, annotations={_INITIAL_EVENTS_END: "true"})

    def line(self, change: Change) -> bytes | None:
        """The event that a change is to this watch; None for nothing."""
        if self._namespace and change.namespace != self._namespace:
            return None
        if self._all_as_it_is and is_as_stored(self.resource, change.after):
            return self._lately.line(change)
        new = from_storage(self.resource, change.new)
        old = from_storage(self.resource, change.old) if change.old is not None else None
        before = old is not None and self._matches(old)
        if change.type == "DELETED":
            return _line("DELETED", self._presenter.event(new)) if before else None
        after = self._matches(new)
        if after:
            return _line("MODIFIED" if before else "ADDED", self._presenter.event(new))
        if before and old is not None:
            gone = with_metadata(old, resourceVersion=str(change.revision))
            return _line("DELETED", self._presenter.event(gone))
        return None

    def bookmark(self, revision: int, *, annotations: dict[str, str] | None = None) -> bytes:
        metadata: Object = {"resourceVersion": str(revision)}
        if annotations:
            metadata["annotations"] = annotations
        return _line("BOOKMARK", self._presenter.bookmark(metadata))
