"""`Harness`: one operator under test, with the cluster it works on, its time, its traffic and what goes wrong there.

    async def test_a_widget_gets_its_config_map(harness):
        here = await harness(operator, objects=[Widget(metadata=ObjectMeta(name="w"))])
        await here.settle()
        await here.assert_object((ConfigMap, "w"), {"data": {"size": "1"}})

See docs/testing.md.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from kubewright.api import NotFound, Resource, resource_info
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels
from kubewright.controller import Controller, Request, Result
from kubewright.devcluster.cluster import DevCluster
from kubewright.kinds import core_v1
from kubewright.operator import Manager, Operator
from kubewright.testing.faults import Faults, Injection, Rule
from kubewright.testing.history import History, Observer
from kubewright.testing.installing import install
from kubewright.testing.matching import difference
from kubewright.testing.process import OperatorProcess
from kubewright.testing.reports import Reports
from kubewright.testing.settling import Activity, Settling
from kubewright.testing.targets import Target
from kubewright.testing.trace import Sent, Trace
from kubewright.testing.transport import Traffic
from kubewright.testing.virtual_time import VirtualTimeLoop

__all__ = ["Harness", "NeedsVirtualTime"]

R = TypeVar("R", bound=Resource)

Named: TypeAlias = R | tuple[type[R], str] | tuple[type[R], str, str]
"""An object, or kind and name of one, and its namespace where that is not the test's: ``(StatefulSet, "db", "prod")``."""

_LATENCY = (0.0005, 0.005)


class NeedsVirtualTime(RuntimeError):
    """The test lets time pass, and its cluster's time is the real one."""


class _Which(Struct, Generic[R], frozen=True):
    """Which object is meant."""

    kind: type[R]
    name: str
    namespace: str | None

    def __str__(self) -> str:
        kind, place = resource_info(self.kind).kind, f"{self.namespace}/" if self.namespace else ""
        return f"{kind} {place}{self.name}"


class Harness:
    """An operator and a cluster. Open it with `Harness.opened`; the fixture ``harness`` does.

    Guarantees: with the embedded cluster, in virtual time, the same seed gives the same `trace`. What `client` does is
    somebody else's doing: it meets no faults and is not among `writes`.
    """

    def __init__(
        self, operator: Operator[Any], cluster: Target, *, namespace: str, seed: int, plan: Iterable[Injection]
    ) -> None:
        self.operator = operator
        self.namespace = namespace
        """Where objects without a namespace are taken to be."""
        self.seed = seed
        self.trace = Trace()
        self.faults = Faults(seed, plan=plan)
        self.log = Reports()
        """What the operator said."""
        self.virtual = isinstance(asyncio.get_running_loop(), VirtualTimeLoop)
        self.client = Client(cluster.transport(), field_manager="somebody", clock=cluster.clock, rng=cluster.rng)
        self._cluster = cluster
        self._traffic = Traffic(self.trace, self.faults, latency=_LATENCY if self.virtual else (0.0, 0.0))
        self._activity = Activity(cluster, self._traffic)
        self._process: OperatorProcess | None = None
        self._starts = self._crashes = 0
        self._watching = Client(cluster.transport(), clock=cluster.clock, rng=cluster.rng)
        kinds = {resource_info(kind).gvk: kind for spec in operator.controllers for kind in spec.kinds}
        self._scope = None if isinstance(cluster, DevCluster) else (namespace,)
        self._observer = Observer(
            self._watching, kinds.values(), clock=cluster.clock, rng=cluster.rng, namespaces=self._scope
        )
        self.restart_after = 1.0
        """Seconds between a crash and the next start."""

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        operator: Operator[Any],
        cluster: Target,
        *,
        objects: Iterable[Resource] = (),
        namespace: str = "default",
        seed: int = 0,
        plan: Iterable[Injection] = (),
    ) -> AsyncIterator[Harness]:
        """Installs the operator's kinds, creates ``objects`` in their order, and on leaving ends what it has started.

        ``plan`` is `Faults.injections` of an earlier run, to happen again.
        """
        if not isinstance(operator, Operator):
            raise TypeError(f"{operator!r} is no operator: give the Operator that the controllers are registered at")
        async with AsyncExitStack() as stack:
            self = cls(operator, cluster, namespace=namespace, seed=seed, plan=plan)
            stack.push_async_callback(self._watching.close)
            stack.push_async_callback(self.client.close)
            await install(self.client, operator)
            stack.enter_context(self._activity.watched())
            observing = asyncio.create_task(self._observer.run(), name="observer")
            stack.push_async_callback(_ended, observing)
            stack.push_async_callback(self._kill)
            await self._observer.synced()
            for obj in objects:
                await self.create(obj)
            yield self

    # the operator

    async def reconcile(self, obj: Named[Any], *, controller: str | None = None) -> Result | None:
        """One run for an object, without the queue: its result, or what it raised.

        Before `settle` or `start` nothing else of the operator runs. Afterwards its workers do, too. ``controller``
        names one where several have the kind.
        """
        if self._process is None:
            await self._begin(working=False)
        which = self._which(obj)
        manager = await self._manager()
        found = self._controller(manager, which.kind, controller)
        async with asyncio.timeout(60):
            await manager.cache.synced()
            await self._activity.caught_up(manager.cache)
        return await found.reconcile(Request(None, which.namespace, which.name))

    async def start(self) -> None:
        """Has the operator work, if it does not yet."""
        if self._process is None or not self._process.working:
            await self._end()
            await self._begin(working=True)

    async def stop(self) -> None:
        """Stops the operator well, runs in flight are finished."""
        await self._end()

    async def restart(self) -> None:
        """Stops the operator well and starts it anew, with empty caches and no memory."""
        await self._end()
        await self.start()

    async def kill(self) -> None:
        """Ends the operator at once, wherever it is; `start` or `settle` start it anew."""
        await self._kill()

    async def settle(self, *, quiet: float | None = None, within: float | None = None) -> None:
        """Has the operator work until nothing is left to do, and everything it sees is current.

        That is: no request waits, runs or is about to be tried again, no event is on its way, and ``quiet`` seconds
        passed without anything being written (5, or 3 in real time: pods that take longer are waited for with more).
        Runs that a reconciler asked for at a later time are not waited for: see `advance`. Raises `NotSettled` after
        ``within`` seconds (1 h, or 60 s in real time).
        """
        await self.start()
        process = self._process
        assert process is not None  # noqa: S101 - `start` has just set it
        quiet = quiet if quiet is not None else 5.0 if self.virtual else 3.0
        within = within if within is not None else 3600.0 if self.virtual else 60.0
        await Settling(process, self._activity, self._traffic, self.log, self.trace).settle(quiet=quiet, within=within)

    async def advance(self, **parts: float) -> None:
        """Lets time pass: ``await here.advance(hours=10)``, with the words of `timedelta`.

        An operator that neither `settle` nor `start` has put to work stays idle. Raises `NeedsVirtualTime`.
        """
        if not self.virtual:
            raise NeedsVirtualTime(
                "this test lets time pass, and this cluster's time is the real one: mark it @pytest.mark.virtual_time, "
                "so that it is left out when tests run against a kubeconfig's cluster"
            )
        try:
            seconds = timedelta(**parts).total_seconds()
        except TypeError:
            raise TypeError(
                f"advance({_words(parts)}): say weeks, days, hours, minutes or seconds, as numbers"
            ) from None
        if not parts or seconds < 0:
            raise ValueError(f"advance({_words(parts)}): time goes on; give how much, such as hours=1")
        await asyncio.sleep(seconds)
        if self._process is not None:
            self._process.check()

    def crash_at(self, *, write: int, when: Literal["before", "after"] = "after") -> Rule:
        """Has the operator crash at its ``write``-th write from now (from 1), before it leaves or after it was done.

        It starts anew `restart_after` seconds later.
        """
        return self.faults.crash_at(write=write, when=when)

    @property
    def crashes(self) -> int:
        """How often it has crashed."""
        return self._crashes + (self._process.crashes if self._process else 0)

    @property
    def writes(self) -> builtins.list[Sent]:
        """What the operator sent that may change something, since the start or the last `forget`."""
        return [sent for sent in self.requests if sent.call.writes]

    @property
    def requests(self) -> builtins.list[Sent]:
        """Everything that the operator sent, since the start or the last `forget`."""
        return self.trace.sent

    def forget(self) -> None:
        """Counts `requests` and `writes` from now on; the trace's text stays whole."""
        self.trace.sent.clear()

    # the cluster

    @property
    def cluster(self) -> DevCluster:
        """The embedded cluster. Raises RuntimeError where the test runs against another."""
        embedded = self._cluster if isinstance(self._cluster, DevCluster) else None
        if embedded is None:
            raise RuntimeError("this test runs against a kubeconfig's cluster: there is no embedded one")
        return embedded

    async def create(self, obj: R) -> R:
        """Creates an object, in the test's namespace unless it names one."""
        self._placed(obj)
        return await self.client.create(obj)

    async def get(self, kind: type[R], name: str, *, namespace: str | None = None) -> R:
        """The object as the server has it. Raises `NotFound`."""
        namespaced = resource_info(kind).namespaced
        return await self.client.get(kind, name, namespace=(namespace or self.namespace) if namespaced else None)

    async def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> builtins.list[R]:
        """The objects of the namespace as the server has them."""
        where = (namespace or self.namespace) if resource_info(kind).namespaced else None
        return await self.client.list(kind, namespace=where, labels=labels, fields=fields)

    async def revision(self) -> str:
        """The cluster's resource version now, for `StaleView`."""
        listed = await self.client.rest.list(resource_info(core_v1.Namespace), query=[("limit", "1")])
        version: str = msgspec.json.decode(listed)["metadata"]["resourceVersion"]
        return version

    # what should be

    async def assert_object(self, obj: Named[Any], expected: Mapping[str, Any]) -> None:
        """The object of that kind and name has what ``expected`` says, in the words of its YAML; see `matching`."""
        which = self._which(obj)
        try:
            raw = await self.client.rest.get(resource_info(which.kind), which.name, namespace=which.namespace)
        except NotFound as error:
            raise AssertionError(f"{which} is not there: {error}") from error
        diff = difference(expected, msgspec.json.decode(raw))
        if diff:
            raise AssertionError(f"{which} is not as expected:\n{diff}")

    async def assert_absent(self, obj: Named[Any]) -> None:
        """There is no object of that kind and name."""
        which = self._which(obj)
        try:
            live = await self.client.get(which.kind, which.name, namespace=which.namespace)
        except NotFound:
            return
        going = f", being deleted since {live.metadata.deletion_timestamp}" if live.metadata.deletion_timestamp else ""
        raise AssertionError(f"{which} is still there{going}; finalizers: {live.metadata.finalizers or 'none'}")

    async def events(self, obj: Named[Any]) -> builtins.list[core_v1.Event]:
        """The Events about an object."""
        which = self._which(obj)
        found = await self.client.list(core_v1.Event, namespace=which.namespace or "default")
        wanted = (resource_info(which.kind).kind, which.name)
        return [each for each in found if (each.involved_object.kind, each.involved_object.name) == wanted]

    async def assert_event(self, obj: Named[Any], expected: Mapping[str, Any]) -> None:
        """One of the Events about an object has what ``expected`` says, such as ``{"reason": "Scaled"}``."""
        found = [msgspec.json.decode(msgspec.json.encode(event)) for event in await self.events(obj)]
        if any(not difference(expected, event) for event in found):
            return
        shown = "\n".join(f"  {each.get('type')} {each.get('reason')}: {each.get('message')}" for each in found)
        raise AssertionError(f"no event about {self._which(obj)} has {dict(expected)}; there are:\n{shown or '  none'}")

    def history(self, obj: Named[R]) -> History[R]:
        """Every state of an object, of a kind that the operator declares, since the harness was opened."""
        which = self._which(obj)
        kinds = {resource_info(kind).gvk for kind in self._observer.kinds}
        if resource_info(which.kind).gvk not in kinds:
            raise ValueError(
                f"{which.kind.__name__} is none of the kinds that the operator declares: nobody watched it"
            )
        return self._observer.history(which.kind, which.namespace or "", which.name)

    # within

    def _placed(self, obj: Resource) -> None:
        if resource_info(type(obj)).namespaced and obj.metadata.namespace is None:
            obj.metadata.namespace = self.namespace

    def _which(self, obj: Named[R]) -> _Which[R]:
        if isinstance(obj, Resource):
            kind, name, namespace = type(obj), obj.name, obj.namespace
        elif (
            isinstance(obj, tuple)
            and len(obj) in {2, 3}
            and isinstance(obj[0], type)
            and all(isinstance(part, str) for part in obj[1:])
        ):
            kind, name, namespace = obj if len(obj) == 3 else (*obj, None)
        else:
            raise TypeError(
                f"{obj!r} names no object: give one, or its kind and name, such as (Deployment, 'web'), "
                "with a namespace that is not the test's as a third"
            )
        return _Which(kind, name, (namespace or self.namespace) if resource_info(kind).namespaced else None)

    async def _begin(self, *, working: bool) -> None:
        self._process = OperatorProcess(
            self.operator,
            self._cluster.transport,
            self._traffic,
            clock=self._cluster.clock,
            seed=self.seed,
            log=self.log,
            restart_after=self.restart_after,
            working=working,
            namespaces=self._scope,
        )
        self._process.start(self._starts)

    async def _end(self) -> None:
        if self._process is not None:
            await self._process.stop()
            self._count()

    async def _kill(self) -> None:
        if self._process is not None:
            await self._process.kill()
            self._count()

    def _count(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            self._starts, self._crashes = process.starts, self._crashes + process.crashes
            process.check()

    async def _manager(self) -> Manager:
        """The running one, once it has begun."""
        async with asyncio.timeout(600):
            while True:
                process = self._process
                if process is None:
                    raise RuntimeError("the operator is stopped")
                process.check()
                if process.manager is not None:
                    return process.manager
                await asyncio.sleep(0.001)

    def _controller(self, manager: Manager, kind: type[Resource], name: str | None) -> Controller[Any]:
        gvk = resource_info(kind).gvk
        found = [each for each in manager.controllers if resource_info(each.spec.kind).gvk == gvk]
        if name is not None:
            found = [each for each in found if each.spec.name == name]
        if len(found) == 1:
            return found[0]
        there = ", ".join(each.spec.name for each in manager.controllers) or "none"
        what = f"controller={name!r}" if name else f"the kind {kind.__name__}"
        raise ValueError(f"{len(found)} controllers of operator {self.operator.name} fit {what}; it has: {there}")


def _words(parts: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parts.items())


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
