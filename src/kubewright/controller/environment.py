"""`RunEnvironment`: what all runs of a controller share; `Start`: what one of them starts with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from platform import node
from typing import Any, TypeVar, cast

from msgspec import Struct, field

from kubewright.api import Clock, Resource, resource_info
from kubewright.cache import Cache, Entry, Informer, Projection
from kubewright.client import Client
from kubewright.controller.adoption import Releases
from kubewright.controller.causes import Cause, Causes, OwnWrites
from kubewright.controller.events import EventRecorder
from kubewright.controller.instruments import ControllerInstruments
from kubewright.controller.repetition import WITHIN, Repetition
from kubewright.controller.request import Request
from kubewright.controller.steps import Steps
from kubewright.controller.watchdog import RunningTasks
from kubewright.controller.writes import AppliedIntents
from kubewright.telemetry import Log

__all__ = ["NotDeclared", "RunEnvironment", "Start", "Write"]

R = TypeVar("R", bound=Resource)


class NotDeclared(LookupError):
    """A kind was read that the controller did not declare."""


class Write(Struct, frozen=True, gc=False):
    """What one write of a run changed: ``status``, or the kind and name of an object, as it was and as it is."""

    what: str
    before: bytes
    after: bytes


class Start(Struct):
    """What a run knows before it looks at its object, and what it writes."""

    request: Request
    entry: Entry | None
    """The object as it is cached when the run starts."""
    log: Log
    reconcile_id: str
    attempt: int
    steps: Steps | None = None
    causes: tuple[Cause, ...] = ()
    writes: list[Write] = field(default_factory=list)


class RunEnvironment:
    """What the runs of one controller share: its client, cache, clock and memory of applied intents."""

    def __init__(
        self,
        *,
        name: str,
        kinds: Mapping[type[Resource], Projection],
        client: Client,
        cache: Cache,
        clock: Clock,
        applied: AppliedIntents,
        instruments: ControllerInstruments,
        ends_us: Callable[[BaseException], bool],
        optional: Iterable[type[Resource]] = (),
        may_be_deleted: Iterable[type[Resource]] = (),
    ) -> None:
        """``kinds``, and how much is cached of each. ``optional`` are those of them that may not be installed;
        ``may_be_deleted`` as in `Children`. ``ends_us``: whether an error is to end the worker, and not just its run.
        """
        self.name = name
        self.client = client
        self.cache = cache
        self.clock = clock
        self.applied = applied
        self.may_be_deleted = tuple(may_be_deleted)
        self.state: object = None
        """What the operator's ``lifespan`` gave."""
        self.causes = Causes()
        self.own_writes = OwnWrites(clock, seconds=WITHIN)
        self.repetition = Repetition(clock)
        self.releases = Releases()
        self.running = RunningTasks(name)
        self.ends_us = ends_us
        self.instruments = instruments
        self.events = EventRecorder(client, controller=applied.manager, instance=node(), clock=clock)
        dispensable = set(optional)
        self._informers = {
            resource_info(kind).gvk: cache.informer(kind, projection=projection, optional=kind in dispensable)
            for kind, projection in kinds.items()
        }
        self._by_kind: dict[type[Resource], Informer[Any]] = {}

    def informer(self, kind: type[R]) -> Informer[R]:
        """The cache of a declared kind. Raises `NotDeclared` for any other."""
        found = self._by_kind.get(kind)
        if found is None:
            found = self._informers.get(resource_info(kind).gvk)
            if found is None:
                raise self._not_declared(kind)
            self._by_kind[kind] = found
        return cast("Informer[R]", found)

    def check_declared(self, kind: type[Resource]) -> None:
        """Raises `NotDeclared`."""
        if resource_info(kind).gvk not in self._informers:
            raise self._not_declared(kind)

    def _not_declared(self, kind: type[Resource]) -> NotDeclared:
        return NotDeclared(
            f"controller {self.name} uses {resource_info(kind).kind} but does not declare it: add "
            f"reads=[{kind.__name__}], or owns=[{kind.__name__}] if it applies it, to @operator.controller; or read live "
            "with ctx.client.get"
        )
