"""`Delivery`: tells subscribers what changed; `Feed`: a subscriber that may be as slow as it likes.

Guarantees
    Each subscriber hears of each key's steps in order. A few changes are told at once, within the call that brought them;
    many are told in slices between which everything else runs. A feed holds one change per key at most.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

from msgspec import Struct

from kubewright.api import Resource
from kubewright.api.cancellation import ends_us
from kubewright.cache.entry import Key
from kubewright.cache.events import Change, Event
from kubewright.telemetry import Log

__all__ = ["Delivery", "Feed"]

R = TypeVar("R", bound=Resource)

_SLICE = 200
"""Changes told before others get their turn."""


class _Backlog(Struct, Generic[R]):
    """Changes yet to be told, and to whom: those who subscribed when they happened."""

    changes: Iterator[Change]
    initial: bool
    to: tuple[Callable[[Event[R]], None], ...]


class Delivery(Generic[R]):
    """The subscribers of one informer. ``event`` makes what they get."""

    def __init__(self, event: Callable[[Change, bool], Event[R]], log: Log) -> None:
        self._event = event
        self._log = log
        self._subscribers: list[Callable[[Event[R]], None]] = []
        self._backlog: deque[_Backlog[R]] = deque()
        self._waiting = asyncio.Event()
        self._draining = asyncio.Lock()
        self._telling = False
        """Whether changes are being told at once: what a handler causes comes after them."""

    def subscribe(self, handler: Callable[[Event[R]], None], present: Iterable[Change]) -> Callable[[], None]:
        """Tells ``handler`` of ``present`` and then of every change; returns what ends it."""
        shown = list(present)
        self._subscribers.append(handler)
        if self._backlog or len(shown) > _SLICE:
            self._append(_Backlog(iter(shown), initial=True, to=(handler,)))
        else:
            self._tell(shown, True, (handler,))
        return lambda: self._unsubscribe(handler)

    def _unsubscribe(self, handler: Callable[[Event[R]], None]) -> None:
        if handler in self._subscribers:
            self._subscribers.remove(handler)

    def tell(self, changes: list[Change]) -> None:
        """At once, unless others have to be told of first."""
        if not (changes and self._subscribers):
            return
        to = tuple(self._subscribers)
        if self._backlog or self._telling:
            self._append(_Backlog(iter(changes), initial=False, to=to))
            return
        self._telling = True
        try:
            self._tell(changes, False, to)
        finally:
            self._telling = False

    def tell_all(self, changes: Iterator[Change], *, initial: bool) -> Awaitable[None]:
        """In slices. What is told from now on comes after them; await the result to know that all were told."""
        self._append(_Backlog(changes, initial=initial, to=tuple(self._subscribers)))
        return self.drain()

    async def run(self) -> None:
        """Tells what was put off, for ever."""
        while True:
            await self._waiting.wait()
            await self.drain()

    async def drain(self) -> None:
        async with self._draining:  # two at once would take turns, and leave half as many to others
            while self._backlog:
                self._tell_slice(self._backlog[0])
                if self._backlog:
                    await asyncio.sleep(0)
            self._waiting.clear()

    def _tell_slice(self, first: _Backlog[R]) -> None:
        changes = list(islice(first.changes, _SLICE))
        if first.to:
            self._tell(changes, first.initial, first.to)
        if len(changes) < _SLICE:
            self._backlog.popleft()

    def _append(self, backlog: _Backlog[R]) -> None:
        self._backlog.append(backlog)
        self._waiting.set()

    def _tell(self, changes: Iterable[Change], initial: bool, to: tuple[Callable[[Event[R]], None], ...], /) -> None:
        """Tells those that are still subscribed."""
        subscribers, made = self._subscribers, self._event
        for change in changes:
            event = made(change, initial and change.old is None)
            for handler in to:
                if handler in subscribers:
                    try:
                        handler(event)
                    except BaseException as error:  # it must not keep the others from hearing, nor end the watch
                        if ends_us(error):
                            raise
                        self._log.exception("a subscriber failed", name=event.key[1], event_type=event.type.value)


class Feed(AsyncIterator[Event[R]]):
    """Events at the reader's own pace: what happens to a key before it is read becomes one change.

    An object that came and went in between is not told of.
    """

    def __init__(self, event: Callable[[Change, bool], Event[R]]) -> None:
        self._event = event
        self._changes: dict[Key, tuple[Change, bool]] = {}
        self._steps: deque[Event[R]] = deque()
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        """How many keys wait to be read."""
        return len(self._changes)

    def put(self, event: Event[R]) -> None:
        key, change = event.key, event.change
        earlier = self._changes.get(key)
        old = change.old if earlier is None else earlier[0].old
        if old is None and change.new is None:
            self._changes.pop(key, None)
            return
        initial = event.initial if earlier is None else earlier[1] and old is None
        self._changes[key] = (Change(old, change.new), initial)  # in its old place: who changes often waits no longer
        self._filled.set()

    def __aiter__(self) -> Feed[R]:
        return self

    async def __anext__(self) -> Event[R]:
        while not self._steps:
            while not self._changes:
                self._filled.clear()
                await self._filled.wait()
            key = next(iter(self._changes))
            change, initial = self._changes.pop(key)
            self._steps.extend(self._event(step, initial) for step in _steps(change))
        return self._steps.popleft()


def _steps(change: Change) -> list[Change]:
    if change.old is None or change.new is None or change.old.uid == change.new.uid:
        return [change]
    return [Change(change.old, None), Change(None, change.new)]
