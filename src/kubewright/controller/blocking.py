"""`BlockingContext`: what a plain function may do in its run, with methods that return when it is done."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, TypeVarTuple

import msgspec

from kubewright.api import Conditions, Resource
from kubewright.client import Client
from kubewright.client.requests import Fields, Labels
from kubewright.controller.context import Context
from kubewright.controller.events import EventType
from kubewright.controller.request import Request
from kubewright.controller.spec import ControllerSpec
from kubewright.controller.threads import Conversation, Threads
from kubewright.telemetry import Log, shown

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault  # of the type checkers' own; nothing needs it to run

    S_co = TypeVarWithDefault("S_co", covariant=True, default=object)
else:
    S_co = TypeVar("S_co", covariant=True)

__all__ = ["BlockingContext", "in_threads"]

R = TypeVar("R", bound=Resource)
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class BlockingContext(Generic[S_co]):
    """`Context` for a controller with ``threads=True``: its methods do the same, and block.

    It serves only the thread that it was given to. Once the run's time is up, each method raises `RunEnded`.
    """

    def __init__(self, ctx: Context[S_co], talk: Conversation) -> None:
        self._ctx = ctx
        self._talk = talk

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What a coroutine returns; the event loop runs it: ``ctx.wait(ctx.client.get(Node, name))``."""
        if not isinstance(coroutine, Coroutine):
            raise TypeError(f"wait({shown(coroutine)}): give a coroutine, such as ctx.client.get(Node, name)")
        return self._talk.ask(coroutine, theirs=True)

    def _on_loop(self, function: Callable[[], T]) -> T:
        async def call() -> T:
            return function()

        return self._talk.ask(call())

    @property
    def request(self) -> Request:
        return self._ctx.request

    @property
    def log(self) -> Log:
        return self._ctx.log

    @property
    def reconcile_id(self) -> str:
        return self._ctx.reconcile_id

    @property
    def attempt(self) -> int:
        """See `Context.attempt`."""
        return self._ctx.attempt

    @property
    def deadline(self) -> float:
        """When the run's time is up, in the event loop's seconds, which are those of ``time.monotonic()``."""
        return self._ctx.deadline

    @property
    def reason(self) -> str:
        """See `Context.reason`."""
        return self._ctx.reason

    @property
    def state(self) -> S_co:
        """See `Context.state`. Threads share it: it must bear being used by several at once."""
        return self._ctx.state

    @property
    def client(self) -> Client:
        """The live client, whose methods are coroutines: pass them to `wait`."""
        return self._ctx.client

    @property
    def conditions(self) -> Conditions:
        """See `Context.conditions`."""
        return self._ctx.conditions.by_clock(_LoopsClock(self._ctx, self._talk))

    def now(self) -> datetime:
        return self._on_loop(self._ctx.now)

    def apply(self, obj: R) -> R:
        """See `Context.apply`."""
        return self._talk.ask(self._ctx.apply(obj))

    def apply_all(self, *objects: *Ts) -> tuple[*Ts]:
        """See `Context.apply_all`."""
        return self._talk.ask(self._ctx.apply_all(*objects))

    @contextmanager
    def owned(self) -> Iterator[None]:
        """See `Context.owned`."""
        block = self._ctx.owned()

        async def enter() -> None:
            await block.__aenter__()

        async def leave(error: BaseException | None) -> None:
            await block.__aexit__(type(error) if error else None, error, error.__traceback__ if error else None)

        self._talk.ask(enter())
        try:
            yield
        except BaseException as error:
            self._talk.ask(leave(error))
            raise
        self._talk.ask(leave(None))

    def ensure(self, obj: R) -> R:
        """See `Context.ensure`."""
        return self._talk.ask(self._ctx.ensure(obj))

    def create(self, obj: R) -> R:
        """See `Context.create`."""
        return self._talk.ask(self._ctx.create(obj))

    def edit(self, obj: R, change: Callable[[R], None], *, subresource: Literal["status"] | None = None) -> R:
        """See `Context.edit`. ``change`` is called by the event loop, and must not block."""
        return self._talk.ask(self._ctx.edit(obj, change, subresource=subresource))

    def adopt(self, obj: R) -> R:
        """See `Context.adopt`."""
        return self._talk.ask(self._ctx.adopt(obj))

    def event(
        self,
        type: EventType,  # noqa: A002 - the field's own name
        reason: str,
        message: str,
        *,
        action: str = "Reconcile",
        regarding: Resource | None = None,
        related: Resource | None = None,
    ) -> None:
        """See `Context.event`."""
        self._talk.ask(
            self._ctx.event(type, reason, message, action=action, regarding=regarding, related=related),
        )

    @contextmanager
    def span(self, name: str, **attributes: object) -> Iterator[None]:
        """See `Context.span`."""
        block = self._ctx.span(name, **attributes)
        self._on_loop(block.__enter__)
        try:
            yield
        except BaseException as error:
            self._on_loop(partial(block.__exit__, type(error), error, error.__traceback__))
            raise
        self._on_loop(partial(block.__exit__, None, None, None))

    def get_live(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """See `LiveReads.get`."""
        return self._talk.ask(self._ctx.live.get(kind, name, namespace=namespace))

    def list_live(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        fields: Fields | None = None,
    ) -> builtins.list[R]:
        """See `LiveReads.list`."""
        return self._talk.ask(self._ctx.live.list(kind, namespace=namespace, labels=labels, fields=fields))

    def get(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """See `Context.get`."""
        return self._on_loop(lambda: self._ctx.get(kind, name, namespace=namespace))

    def read(self, kind: type[R], name: str, *, namespace: str | None = None) -> R | None:
        """See `Context.read`."""
        return self._talk.ask(self._ctx.read(kind, name, namespace=namespace))

    def list(
        self,
        kind: type[R],
        *,
        namespace: str | None = None,
        labels: Labels | None = None,
        index: tuple[str, str] | None = None,
    ) -> builtins.list[R]:
        """See `Context.list`."""
        return self._on_loop(lambda: self._ctx.list(kind, namespace=namespace, labels=labels, index=index))

    def delete(self, obj: Resource) -> None:
        """See `Context.delete`."""
        self._talk.ask(self._ctx.delete(obj))


class _LoopsClock:
    """A run's clock, asked by the event loop: not every clock can be asked by a thread."""

    def __init__(self, ctx: Context[Any], talk: Conversation) -> None:
        self._ctx = ctx
        self._talk = talk

    def now(self) -> datetime:
        return self._asked(self._ctx.now)

    def monotonic(self) -> float:
        return self._asked(lambda: asyncio.get_running_loop().time())

    def _asked(self, time: Callable[[], T]) -> T:
        async def ask() -> T:
            return time()

        return self._talk.ask(ask())


def in_threads(spec: ControllerSpec[R], threads: Threads) -> ControllerSpec[R]:
    """The same controller, with coroutine functions where it has plain ones."""
    finalizers = tuple(
        msgspec.structs.replace(finalizer, cleanup=partial(_in_thread, threads, finalizer.cleanup))
        if finalizer.threads
        else finalizer
        for finalizer in spec.finalizers
    )
    reconcile = partial(_in_thread, threads, spec.reconcile) if spec.threads else spec.reconcile
    return msgspec.structs.replace(spec, reconcile=reconcile, finalizers=finalizers)


async def _in_thread(threads: Threads, function: Callable[[Any, Any], T], what: object, ctx: Context) -> T:
    return await threads.run(lambda talk: function(what, BlockingContext(ctx, talk)))
