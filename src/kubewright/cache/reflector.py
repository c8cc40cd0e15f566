"""`Reflector`: brings the server's state of one resource into a sink, and keeps it coming.

It lists, then watches from the list's version, and lists again only when the server no longer has that version, was
not reachable (another one may answer next), or did not know the resource. What to do after each turn is one total
function, `next_plan`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from enum import Enum
from typing import NoReturn, Protocol

import msgspec
from msgspec import Struct

from kubewright.api import ApiError, Clock, DecodeError, Gone, NotFound, ResourceInfo, split_list
from kubewright.cache.entry import Entry, parse_entry
from kubewright.cache.state import InformerState, Phase
from kubewright.cache.store import ListBegun
from kubewright.client.requests import Fields, Labels, selection
from kubewright.client.rest import RestClient
from kubewright.client.transport import TransportError
from kubewright.client.watch import WatchEvent
from kubewright.telemetry import Log

__all__ = ["Outcome", "Pause", "Plan", "Reflector", "Sink", "next_plan"]

_PAGE = 500
_WATCH_SECONDS = (120, 230)  # below the 240 s after which the commonest load balancers drop a silent connection
_GRACE = 10.0
_SHORT_WATCH = 1.0


class Sink(Protocol):
    """Where a reflector puts what it reads; `Informer` is one."""

    def begin_list(self) -> ListBegun: ...

    def replace(self, entries: Iterable[Entry], version: int, begun: ListBegun) -> None: ...

    def upsert(self, entry: Entry) -> None: ...

    def remove(self, entry: Entry) -> None: ...

    def advance(self, version: int) -> None: ...

    def turn(self, state: InformerState) -> None:
        """The reflector's state, each time it may have changed."""
        ...


class Outcome(Enum):
    """How one list or one watch went."""

    LISTED = "listed"
    ENDED = "ended"
    """The watch ran and ended, as watches do."""
    CUT_SHORT = "cut short"
    """The watch ended at once, without an event."""
    BROKEN_OFF = "broken off"
    """The connection broke during the watch, or fell silent."""
    EXPIRED = "expired"
    """The server no longer has our version, or has another history."""
    UNREACHABLE = "unreachable"
    MISSING = "missing"
    REFUSED = "refused"
    """Any other error the server answers: forbidden, overloaded, broken."""


class Pause(Enum):
    """What to wait for before the next turn."""

    NONE = "none"
    BACK_OFF = "back off"
    """Longer after each failure."""
    INSTALLATION = "installation"
    """A CustomResourceDefinition is on its way, perhaps: someone may be waiting for us."""


class Plan(Struct, frozen=True):
    """What to do next: list or watch, when, and after how many failures since a watch last ran."""

    list: bool = True
    failures: int = 0
    pause: Pause = Pause.NONE

    def delay(self, rng: random.Random) -> float:
        """Seconds to wait first, jittered so that a fleet does not come back in step."""
        match self.pause:
            case Pause.NONE:
                return 0.0
            case Pause.INSTALLATION:
                return rng.uniform(0.5, 2.0)
            case Pause.BACK_OFF:
                ceiling = min(0.2 * 2.0 ** min(self.failures - 1, 10), 30.0)
                return rng.uniform(ceiling / 2, ceiling)


def next_plan(plan: Plan, outcome: Outcome) -> Plan:
    """The one place that decides how a reflector goes on."""
    failed = plan.failures + 1
    match outcome:
        case Outcome.LISTED:
            return Plan(list=False, failures=plan.failures)  # only a watch that runs proves that all is well
        case Outcome.ENDED:
            return Plan(list=False)
        case Outcome.CUT_SHORT | Outcome.BROKEN_OFF:
            return Plan(list=False, failures=failed, pause=Pause.BACK_OFF)
        case Outcome.EXPIRED | Outcome.UNREACHABLE:
            return Plan(list=True, failures=failed, pause=Pause.BACK_OFF)
        case Outcome.MISSING:
            return Plan(list=True, pause=Pause.INSTALLATION)
        case Outcome.REFUSED:
            return Plan(list=plan.list, failures=failed, pause=Pause.BACK_OFF)


class _HistoryChanged(Exception):
    """The server's versions went back: it is not the one we listed from."""


class Reflector:
    """Lists and watches one resource for ever.

    Guarantees
        The sink sees a list first, then every change in order, each at most once. Whatever goes wrong on the way to
        the server is shown as state and tried again; only a bug ends `run`.
    """

    def __init__(
        self,
        rest: RestClient,
        info: ResourceInfo,
        sink: Sink,
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
        clock: Clock,
        rng: random.Random,
        log: Log,
    ) -> None:
        self._rest = rest
        self._info = info
        self._sink = sink
        self._namespace = namespace
        self._selection = selection(labels, fields)
        self._clock = clock
        self._rng = rng
        self._log = log
        self._version = 0

    async def run(self) -> NoReturn:
        plan = Plan()
        while True:
            await asyncio.sleep(plan.delay(self._rng))
            outcome = await self._turn(plan)
            plan = next_plan(plan, outcome)

    async def _turn(self, plan: Plan) -> Outcome:
        try:
            if plan.list:
                await self._list()
                return Outcome.LISTED
            return await self._watch()
        except (Gone, _HistoryChanged) as error:
            self._log.info("the server no longer has our version of the resource: listing again", reason=str(error))
            return Outcome.EXPIRED
        except NotFound:
            self._trouble(Phase.MISSING, self._missing())
            return Outcome.MISSING
        except TransportError as error:
            self._trouble(Phase.BROKEN, str(error))
            return Outcome.UNREACHABLE
        except (ApiError, DecodeError) as error:
            self._trouble(Phase.BROKEN, str(error))
            return Outcome.REFUSED

    def _missing(self) -> str:
        info = self._info
        what = f"{info.qualified_plural} in version {info.version}"
        remedy = "install its CustomResourceDefinition" if "." in info.group else "this server is too old for it"
        return f"the server does not know {what}: {remedy}"

    def _trouble(self, phase: Phase, reason: str) -> None:
        self._sink.turn(InformerState(phase, reason))

    async def _list(self) -> None:
        begun = self._sink.begin_list()
        try:
            entries, version = await self._pages([*self._selection, ("limit", str(_PAGE))])
        except Gone:  # the snapshot of the first page went while we read the others: all in one answer, then
            begun = self._sink.begin_list()
            entries, version = await self._pages(self._selection)
        self._version = version
        self._sink.replace(entries, version, begun)

    async def _pages(self, query: list[tuple[str, str]]) -> tuple[list[Entry], int]:
        entries: list[Entry] = []
        token: str | None = None
        while True:
            page = query if token is None else [*query, ("continue", token)]
            meta, items = split_list(await self._rest.list(self._info, namespace=self._namespace, query=page))
            entries.extend(parse_entry(item, self._info) for item in items)
            token = meta.continue_
            if not token:
                return entries, _number(meta.resource_version)

    async def _watch(self) -> Outcome:
        seconds = self._rng.randint(*_WATCH_SECONDS)
        query = [
            *self._selection,
            ("resourceVersion", str(self._version)),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(seconds)),
        ]
        began = self._clock.monotonic()
        opened = heard = False
        try:
            # the server's own time-out does not help where the connection died without a word
            async with asyncio.timeout(seconds + _GRACE):
                async with self._rest.watch(self._info, namespace=self._namespace, query=query) as events:
                    opened = True
                    self._sink.turn(InformerState(Phase.SYNCED))
                    async for event in events:
                        heard = True
                        self._take(event)
        except TimeoutError:
            self._log.warning("the watch fell silent: opening it anew", seconds=seconds)
            return Outcome.BROKEN_OFF
        except TransportError as error:
            if not opened:
                raise
            self._log.info("the watch broke off: opening it anew", reason=str(error))
            return Outcome.BROKEN_OFF
        if heard or self._clock.monotonic() - began >= _SHORT_WATCH:
            return Outcome.ENDED
        return Outcome.CUT_SHORT

    def _take(self, event: WatchEvent[bytes]) -> None:
        if event.type == "BOOKMARK":
            version = _bookmark_version(event.object)
            self._move_to(version)
            self._sink.advance(version)
            return
        entry = parse_entry(event.object, self._info)
        self._move_to(entry.resource_version)
        if event.type == "DELETED":
            self._sink.remove(entry)
        else:
            self._sink.upsert(entry)

    def _move_to(self, version: int) -> None:
        if version < self._version:
            raise _HistoryChanged(f"version {version} came after {self._version}")
        self._version = version


class _Versioned(msgspec.Struct, rename="camel"):
    resource_version: str


class _Bookmark(msgspec.Struct):
    metadata: _Versioned


_bookmark = msgspec.json.Decoder(_Bookmark)


def _bookmark_version(raw: bytes) -> int:
    try:
        return _number(_bookmark.decode(raw).metadata.resource_version)
    except msgspec.DecodeError as error:
        raise DecodeError(f"not a bookmark: {error}: {raw[:120]!r}") from error


def _number(version: str | None) -> int:
    try:
        return int(version or "")
    except ValueError as error:
        raise DecodeError(
            f"resource version {version!r} is no number: this server's objects can't be cached"
        ) from error
