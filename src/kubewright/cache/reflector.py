"""`Reflector`: brings the server's state of one resource into a sink, and keeps it coming.

It lists, then watches from the list's version, and lists again only when the server no longer has that version, was
not reachable (another one may answer next), or did not know the resource. What to do after each turn is one total
function, `next_plan`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import NoReturn

import msgspec

from kubewright.api import (
    ApiError,
    BadRequest,
    Clock,
    DecodeError,
    Gone,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ResourceInfo,
    split_list,
)
from kubewright.api.cancellation import ends_us
from kubewright.cache.liveness import Liveness
from kubewright.cache.pages import pages
from kubewright.cache.parsing import EntryParser
from kubewright.cache.plan import Outcome, Plan, next_plan
from kubewright.cache.sink import Sink
from kubewright.cache.state import Phase
from kubewright.cache.store import Incoming
from kubewright.cache.streaming_lists import StreamingLists
from kubewright.cache.versions import read_bookmark, version_number
from kubewright.client.requests import Query
from kubewright.client.rest import RestClient
from kubewright.client.transport import TransportError
from kubewright.client.watch import WatchEvent
from kubewright.telemetry import Log

__all__ = ["Reflector"]

_PAGE = 1000
"""Objects of a list that are asked for at once.

For each page a server counts all that follow, so that with pages of 500, as kubectl has them, a real one spends a third more
on a list of 50,000.
"""
_WATCH_SECONDS = (120, 230)  # below the 240 s after which the commonest load balancers drop a silent connection
_GRACE = 10.0
_SHORT_WATCH = 1.0
_UNWATCHED = 2.0
"""Seconds for which a watch may be put off by a view that counts as live: the first pause after good times is shorter."""
_OPENING = 30.0
"""Seconds within which a server answers at all: those that are busy let requests wait for some 15."""
_LONGEST_WAIT = 30.0
"""Seconds for which it stays away at most, however long the server asks for."""
_INITIAL_SILENCE = 10.0
"""Seconds without a word after which a streaming list is taken for one whose end will not be told."""
_INCOMPLETE = 2
"""Streaming lists in a row that broke off before pages are tried."""
_SLICE = 256
"""Objects taken before others get their turn: some 2 ms of work, 7 ms of pods."""
_APART = frozenset({"BOOKMARK", "DELETED"})
"""Events of a streaming list that are taken one by one, and so are those around them."""
_INITIAL_END = "k8s.io/initial-events-end"


class _HistoryChanged(Exception):
    """The server's versions went back: it is not the one we listed from, or was restored from a backup."""


class _NoEnd(Exception):
    """A streaming list was accepted, and its end is not told."""


class Reflector:
    """Lists and watches one resource for ever.

    Guarantees
        The sink sees a list first, then every change in order, each at most once. Whatever goes wrong is shown as state
        and tried again, an error of our own included.
    """

    def __init__(
        self,
        rest: RestClient,
        info: ResourceInfo,
        sink: Sink,
        *,
        namespace: str | None,
        selection: list[tuple[str, str]],
        parser: EntryParser,
        streaming: StreamingLists,
        clock: Clock,
        rng: random.Random,
        log: Log,
    ) -> None:
        self._rest = rest
        self._info = info
        self._sink = sink
        self._namespace = namespace
        self._selection = selection
        self._parser = parser
        self._streaming = streaming
        self._clock = clock
        self._rng = rng
        self._log = log
        self._current = False
        self._incomplete = 0
        self._asked_to_wait = 0.0
        self._live_since: float | None = None
        self._doubtful = False
        self._liveness = Liveness(sink.turn)
        self.version = 0
        """How far we have come."""
        self.heard_at: float | None = None
        """When the server last said anything, on the clock's monotonic time."""
        self.lists = self.watches = self.unreadable = 0

    async def run(self) -> NoReturn:
        plan = Plan()
        try:
            while True:
                plan = await self._go_on(plan)
        finally:
            self._liveness.stop()

    async def _go_on(self, plan: Plan) -> Plan:
        delay = plan.delay(self._rng)
        if self._asked_to_wait:
            delay = max(delay, self._asked_to_wait * self._rng.uniform(1.0, 1.25))
            self._asked_to_wait = 0.0
        if delay > _UNWATCHED and self._liveness.claimed:
            self._liveness.trouble(Phase.BROKEN, f"watches keep breaking off: the next one is opened in {delay:.0f} s")
        await asyncio.sleep(delay)
        self._current = not plan.list
        self._live_since = None
        outcome = await self._turn(plan)
        self._liveness.unwatched()
        self._incomplete = self._incomplete + 1 if outcome is Outcome.INCOMPLETE else 0
        lasted = 0.0 if self._live_since is None else self._clock.monotonic() - self._live_since
        return next_plan(msgspec.structs.replace(plan, list=not self._current), outcome, lasted)

    async def _turn(self, plan: Plan) -> Outcome:
        try:
            if not plan.list:
                return await self._watch()
            if self._streaming.available(self._info) and self._incomplete < _INCOMPLETE:
                return await self._stream()
            await self._list()
        except (Gone, _HistoryChanged) as error:
            self._log.info("the server no longer has our version of the resource: listing again", reason=str(error))
            return Outcome.EXPIRED
        except NotFound:
            self._liveness.trouble(Phase.MISSING, self._missing())
            return Outcome.MISSING
        except TransportError as error:
            self._liveness.trouble(Phase.BROKEN, str(error))
            return Outcome.UNREACHABLE
        except DecodeError as error:
            self._liveness.trouble(Phase.BROKEN, str(error))
            return Outcome.GARBLED
        except ApiError as error:
            if _is_ahead(error):
                self._log.warning(_WENT_BACK, had=self.version, reason=str(error))
                return Outcome.EXPIRED
            self._asked_to_wait = min(error.retry_after or 0.0, _LONGEST_WAIT)
            self._liveness.trouble(Phase.BROKEN, str(error))
            return Outcome.REFUSED
        except BaseException as error:  # one that ends leaves a view that grows old in silence
            if ends_us(error):
                raise
            self._log.exception("watching failed", resource=self._info.qualified_plural)
            self._liveness.trouble(Phase.BROKEN, f"{type(error).__name__}: {error}")
            return Outcome.FAILED
        return Outcome.LISTED

    def _missing(self) -> str:
        info = self._info
        what = f"{info.qualified_plural} in version {info.version}"
        remedy = "install its CustomResourceDefinition" if "." in info.group else "this server is too old for it"
        return f"the server does not know {what}: {remedy}"

    # lists in pages

    async def _list(self) -> None:
        try:
            incoming, version = await self._pages([*self._selection, ("limit", str(_PAGE))])
        except Gone:  # the snapshot of the first page went while we read the others: all in one answer, then
            incoming, version = await self._pages(self._selection)
        await self._replace(incoming, version)

    async def _pages(self, query: Query) -> tuple[Incoming, int]:
        incoming = self._sink.begin_list()
        self.unreadable = 0
        async with aclosing(pages(self._fetch, query)) as listed:
            async for page in listed:
                for items in page:
                    incoming.add_all(self._parser.parse_readable(items, self._leave_out))
                    await asyncio.sleep(0)
        return incoming, version_number(page.meta.resource_version)

    async def _fetch(self, query: Query) -> bytes:
        of_list = self._parser.projection.of_list
        return await self._rest.list(self._info, namespace=self._namespace, query=query, accept=of_list)

    def _leave_out(self, error: DecodeError) -> None:
        """One object must not hide all others."""
        self.unreadable += 1
        self._log.error("an object's metadata can't be read: it is left out", error=str(error))

    async def _replace(self, incoming: Incoming, version: int) -> None:
        if version < self.version:
            self._log.warning(_WENT_BACK, had=self.version, now=version)
        self.version = version
        self.lists += 1
        self._heard()
        await self._sink.replace(incoming, version)
        self._current = True

    # watches, and lists that come as one

    async def _stream(self) -> Outcome:
        try:
            return await self._follow(self._sink.begin_list())
        except _NoEnd:
            self._log.warning(
                "the server accepts streaming lists and does not tell their end: listing in pages from now on",
                api_version=self._info.api_version,
            )
        except (BadRequest, Invalid, MethodNotAllowed):
            if self._current:
                raise
        self._streaming.rule_out(self._info)
        return Outcome.UNSUPPORTED

    async def _watch(self) -> Outcome:
        if self._doubtful:
            await self._check_history()
        self._doubtful = True
        outcome = await self._follow(None)
        self._doubtful = (
            outcome is not Outcome.ENDED or self.heard_at is None or self.heard_at < (self._live_since or 0.0)
        )
        return outcome

    async def _check_history(self) -> None:
        """A watch from a version that is yet to come is not refused, it is silent, and so hides a restored backup."""
        answer = await self._rest.list(
            self._info, namespace=self._namespace, query=[("limit", "1")], accept=self._parser.projection.of_list
        )
        now = version_number(split_list(answer)[0].resource_version)
        if now < self.version:
            self._log.warning(_WENT_BACK, had=self.version, now=now)
            raise _HistoryChanged(f"the server is at version {now}, we are at {self.version}")

    async def _follow(self, incoming: Incoming | None) -> Outcome:
        """Opens a watch and takes what it says until it ends; with ``incoming``, what there is comes first."""
        seconds = self._rng.randint(*_WATCH_SECONDS)
        began = self._clock.monotonic()
        opened = heard = False
        try:
            async with self._opened(seconds, initial=incoming is not None) as (batches, limit):
                opened = True
                if incoming is None:
                    self._live()
                async for batch in batches:
                    heard = True
                    self._heard()
                    if incoming is not None:
                        limit.reschedule(None)  # it is the server's silence that counts, not what we do with its words
                        end = await self._fill(incoming, batch)
                        if end is None:
                            limit.reschedule(_at(min(_INITIAL_SILENCE, began + seconds - self._clock.monotonic())))
                            continue
                        incoming = None
                        limit.reschedule(_at(began + seconds + _GRACE - self._clock.monotonic()))
                        batch = batch[end:]  # noqa: PLW2901
                    await self._take_all(batch)
        except TimeoutError:
            if not opened:
                raise TransportError("the server does not answer", may_be_applied=False) from None
            if incoming is not None:
                raise _NoEnd from None
            self._log.warning("the watch fell silent: opening it anew", seconds=seconds)
            self._liveness.trouble(Phase.BROKEN, f"the watch was silent for longer than the {seconds} s it was to last")
            return Outcome.BROKEN_OFF
        except TransportError as error:
            if not opened or incoming is not None:
                raise
            self._log.info("the watch broke off: opening it anew", reason=str(error))
            return Outcome.BROKEN_OFF
        if incoming is not None:
            return Outcome.INCOMPLETE
        if heard or self._clock.monotonic() - began >= _SHORT_WATCH:
            return Outcome.ENDED
        return Outcome.CUT_SHORT

    @asynccontextmanager
    async def _opened(
        self, seconds: int, *, initial: bool
    ) -> AsyncIterator[tuple[AsyncIterator[list[WatchEvent[msgspec.Raw]]], asyncio.Timeout]]:
        query = [*self._selection]
        if initial:
            query += [("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan")]
            self.unreadable = 0
        else:
            query.append(("resourceVersion", str(self.version)))
            self.watches += 1
        query += [("allowWatchBookmarks", "true"), ("timeoutSeconds", str(seconds))]
        # the server's own time-out does not help where the connection died without a word
        async with asyncio.timeout(_OPENING) as limit:
            async with (
                self._rest.watch(
                    self._info, namespace=self._namespace, query=query, accept=self._parser.projection.of_one
                ) as events,
                aclosing(events.batches()) as batches,
            ):
                limit.reschedule(_at(_INITIAL_SILENCE if initial else seconds + _GRACE))
                yield batches, limit

    async def _fill(self, incoming: Incoming, events: list[WatchEvent[msgspec.Raw]]) -> int | None:
        """Takes events of a streaming list, up to its end; returns how many these are if it has come."""
        for start in range(0, len(events), _SLICE):
            some = events[start : start + _SLICE]
            step = len(some) if _APART.isdisjoint([event.type for event in some]) else 1
            for at in range(0, len(some), step):
                event = some[at]
                if event.type == "DELETED":
                    incoming.discard(self._parser.parse(bytes(event.object)))
                elif event.type == "BOOKMARK":
                    bookmark = read_bookmark(event.object)
                    if _INITIAL_END in (bookmark.annotations or {}):
                        self.watches += 1
                        await self._replace(incoming, version_number(bookmark.resource_version))
                        self._live()
                        return start + at + 1
                else:
                    objects = [each.object for each in some[at : at + step]]
                    incoming.add_all(self._parser.parse_readable(objects, self._leave_out))
            await asyncio.sleep(0)  # the next batch may be here already, and the one after
        return None

    async def _take_all(self, events: list[WatchEvent[msgspec.Raw]]) -> None:
        for start in range(0, len(events), _SLICE):
            if start:
                await asyncio.sleep(0)
            some = events[start : start + _SLICE]
            if self._taken_at_once(some):
                continue
            for event in some:
                if event.type == "BOOKMARK":
                    version = version_number(read_bookmark(event.object).resource_version)
                    self._move_to(version)
                    self._sink.advance(version)
                else:
                    self._take([event])

    def _taken_at_once(self, events: list[WatchEvent[msgspec.Raw]]) -> bool:
        """Takes them, unless there is a bookmark among them, or an object that can't be read."""
        if "BOOKMARK" in [event.type for event in events]:
            return False
        try:
            self._take(events)
        except DecodeError:
            return False
        return True

    def _take(self, events: list[WatchEvent[msgspec.Raw]]) -> None:
        """Raises `DecodeError` before anything is taken."""
        entries = self._parser.watched([event.object for event in events])
        versions = [self.version, *[entry.resource_version for entry in entries]]
        in_order = versions[0] <= versions[1] if len(versions) == 2 else versions == sorted(versions)
        if not in_order or "DELETED" in [event.type for event in events]:
            for event, entry in zip(events, entries, strict=True):
                self._move_to(entry.resource_version)
                (self._sink.remove if event.type == "DELETED" else self._sink.upsert)(entry)
            return
        self.version = versions[-1]
        self._sink.upsert(*entries)

    def _move_to(self, version: int) -> None:
        if version < self.version:
            self._log.warning(_WENT_BACK, had=self.version, now=version)
            raise _HistoryChanged(f"version {version} came after {self.version}")
        self.version = version

    def _live(self) -> None:
        self._live_since = self._clock.monotonic()
        self._liveness.live()

    def _heard(self) -> None:
        self.heard_at = self._clock.monotonic()


_WENT_BACK = "the server's resource versions went back, as after a restore from a backup: reading everything anew"


def _at(seconds: float) -> float:
    """A moment on the running loop's own clock, which is what its timers go by."""
    return asyncio.get_running_loop().time() + seconds


def _is_ahead(error: ApiError) -> bool:
    """Whether the server says that it has not come as far as we have."""
    return any(cause.reason == "ResourceVersionTooLarge" for cause in error.causes)
