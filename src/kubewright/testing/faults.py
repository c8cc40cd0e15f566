"""Faults: what goes wrong between an operator and its API server, by rule, by seed, or as it was recorded.

One mechanism for all of them: a `Rule` says which requests, or which events of a watch, meet which `Fault`. What happened
is an `Injection`, which is data: given to `Faults` as a plan, the same happens again at the same places.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from kubewright.testing.calls import EVERYTHING, WRITES, Call, Match

__all__ = [
    "Coalesce",
    "Crash",
    "Delay",
    "Disconnect",
    "DropEvent",
    "EventFault",
    "Expire",
    "Fault",
    "Faults",
    "HoldEvent",
    "Injection",
    "LoseAnswer",
    "LoseRequest",
    "Refuse",
    "RequestFault",
    "Rule",
    "StaleView",
]


def _check_seconds(fault: Struct) -> None:
    for name in fault.__struct_fields__:
        seconds = getattr(fault, name)
        if name == "revision":
            continue
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise ValueError(f"{type(fault).__name__}({name}={seconds!r}): give 0 or more seconds")


class Refuse(Struct, frozen=True, tag=True):
    """The server answers with this status and does nothing. ``retry_after``: seconds, for 429 and 503."""

    status: int
    message: str = "refused by a test"
    reason: str | None = None
    """The API's word; by default the usual one for the status."""
    retry_after: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.status, int) or not 400 <= self.status <= 599:
            raise ValueError(f"Refuse({self.status!r}): give the status of a failure, from 400 to 599")


class LoseRequest(Struct, frozen=True, tag=True):
    """The request never arrives. ``unsure``: the sender can't know that it did not."""

    unsure: bool = False


class LoseAnswer(Struct, frozen=True, tag=True):
    """The server does what was asked, then the connection breaks: the sender can't know."""


class Delay(Struct, frozen=True, tag=True):
    """Seconds on the way to the server and back, on top of the ordinary latency."""

    before: float = 0.0
    after: float = 0.0

    def __post_init__(self) -> None:
        _check_seconds(self)


class Crash(Struct, frozen=True, tag=True):
    """The operator's process ends before the request leaves, or after the server has acted on it."""

    when: Literal["before", "after"] = "after"

    def __post_init__(self) -> None:
        if self.when not in {"before", "after"}:
            raise ValueError(f"Crash({self.when!r}): say 'before' or 'after' what the server did")


class StaleView(Struct, frozen=True, tag=True):
    """Lists, and watches that begin with a list, show the state at ``revision``; what came since arrives ``lag`` seconds later.

    So does an API server whose watch cache is behind, where an operator that starts anew travels back in time. Reads
    of one object stay live.
    """

    revision: str
    lag: float = 10.0

    def __post_init__(self) -> None:
        _check_seconds(self)


class DropEvent(Struct, frozen=True, tag=True):
    """The event never arrives. No real server does this: what recovers from it is level-triggered indeed."""


class HoldEvent(Struct, frozen=True, tag=True):
    """The event and all after it on the same watch arrive ``seconds`` later."""

    seconds: float

    def __post_init__(self) -> None:
        _check_seconds(self)


class Coalesce(Struct, frozen=True, tag=True):
    """Of what happens within ``seconds`` from the event on, only the last state of each object arrives."""

    seconds: float

    def __post_init__(self) -> None:
        _check_seconds(self)


class Disconnect(Struct, frozen=True, tag=True):
    """The watch ends before the event: as servers end one, or with a broken connection."""

    cleanly: bool = False


class Expire(Struct, frozen=True, tag=True):
    """The watch ends with 410 before the event: everything has to be listed again."""


RequestFault: TypeAlias = Refuse | LoseRequest | LoseAnswer | Delay | Crash | StaleView
EventFault: TypeAlias = DropEvent | HoldEvent | Coalesce | Disconnect | Expire
Fault: TypeAlias = RequestFault | EventFault

_ON_EVENTS = (DropEvent, HoldEvent, Coalesce, Disconnect, Expire)
_FAULTS = (Refuse, LoseRequest, LoseAnswer, Delay, Crash, StaleView, *_ON_EVENTS)


class Injection(Struct, frozen=True):
    """One fault that happened: at the operator's n-th request, and for those of events at the n-th event of that watch."""

    request: int
    fault: Fault
    event: int | None = None


@dataclass
class Rule:
    """One fault and where it strikes. ``times`` None: until it is lifted."""

    fault: Fault
    on: Match
    skip: int
    times: int | None
    chance: float
    struck: int = 0

    def lift(self) -> None:
        """Ends it."""
        self.times = 0


class Faults:
    """The rules of one test. ``plan`` is what happened in an earlier run with the same seed and is to happen again."""

    def __init__(self, seed: int = 0, *, plan: Iterable[Injection] = ()) -> None:
        self._seed = seed
        self._rules: list[Rule] = []
        self._plan: dict[tuple[int, int | None], list[Fault]] = {}
        for injection in plan:
            self._plan.setdefault((injection.request, injection.event), []).append(injection.fault)
        self.injections: list[Injection] = []
        """What happened so far."""

    def add(
        self, fault: Fault, on: Match = EVERYTHING, *, skip: int = 0, times: int | None = 1, chance: float = 1.0
    ) -> Rule:
        """Has ``fault`` happen to what matches ``on``: after the first ``skip`` of them, ``times`` times, with ``chance``.

        `Rule.struck` tells how often it did. Raises TypeError or ValueError for what can never happen.
        """
        if not isinstance(fault, _FAULTS):
            remedy = f"give {fault.__name__}(…)" if isinstance(fault, type) else "give one, such as Refuse(503)"
            raise TypeError(f"{fault!r} is no fault: {remedy}")
        if isinstance(fault, _ON_EVENTS) and on.verbs and "watch" not in on.verbs:
            raise ValueError(f"{fault} happens to events of watches: leave {on.verbs} out, or add 'watch'")
        if not 0 <= chance <= 1:
            raise ValueError(f"chance={chance}: give a probability between 0 and 1")
        if skip < 0 or (times is not None and times < 0):
            raise ValueError(f"skip={skip}, times={times}: give numbers of at least 0")
        rule = Rule(fault, on, skip, times, chance)
        self._rules.append(rule)
        return rule

    def crash_at(self, *, write: int, when: Literal["before", "after"] = "after") -> Rule:
        """Has the operator's process end at its ``write``-th write from now, counted from 1."""
        if write < 1:
            raise ValueError(f"write={write}: writes are counted from 1")
        return self.add(Crash(when), Match(verbs=WRITES), skip=write - 1)

    def clear(self) -> None:
        """Nothing goes wrong from now on."""
        self._rules.clear()
        self._plan.clear()

    @property
    def on_events(self) -> bool:
        """Whether events have to be looked at."""
        return bool(self._plan) or any(isinstance(rule.fault, _ON_EVENTS) and rule.times != 0 for rule in self._rules)

    def of_request(self, number: int, call: Call) -> list[RequestFault]:
        """What happens to the operator's ``number``-th request."""
        found = self._found(number, None, call)
        return [fault for fault in found if not isinstance(fault, _ON_EVENTS)]

    def of_event(self, number: int, event: int, call: Call) -> list[EventFault]:
        """What happens to the ``event``-th event of the watch that the ``number``-th request opened."""
        found = self._found(number, event, call)
        return [fault for fault in found if isinstance(fault, _ON_EVENTS)]

    def _found(self, number: int, event: int | None, call: Call) -> list[Fault]:
        struck = list(self._plan.get((number, event), ()))
        for index, rule in enumerate(self._rules):
            if isinstance(rule.fault, _ON_EVENTS) == (event is not None) and rule.on.takes(call):
                if rule.times == 0:
                    continue
                if rule.chance < 1 and self._draw(f"{index}/{number}/{event}") >= rule.chance:
                    continue
                if rule.skip > 0:
                    rule.skip -= 1
                    continue
                if rule.times is not None:
                    rule.times -= 1
                rule.struck += 1
                struck.append(rule.fault)
        self.injections.extend(Injection(number, fault, event) for fault in struck)
        return struck

    def _draw(self, what: str) -> float:
        """By place, not in sequence: what happens here does not depend on how often was asked elsewhere."""
        return random.Random(f"{self._seed}/{what}").random()

    def latency(self, number: int, between: tuple[float, float]) -> tuple[float, float]:
        """Seconds on the way to the server and back for the ``number``-th request."""
        draw = random.Random(f"{self._seed}/latency/{number}")
        return draw.uniform(*between), draw.uniform(*between)

    def encoded(self) -> bytes:
        """`injections` as JSON, to keep with a failure; see `decoded`."""
        return msgspec.json.encode(self.injections)

    @staticmethod
    def decoded(data: bytes) -> list[Injection]:
        """The plan that `encoded` gave."""
        return msgspec.json.decode(data, type=list[Injection])
