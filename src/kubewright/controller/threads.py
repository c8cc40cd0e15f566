"""Plain functions as reconcilers: each run is a conversation between a thread, which may block, and the event loop.

Guarantees
    The function runs in one thread from its beginning to its end. What it asks of the cluster is done by the event loop,
    in the run's own task, and only while the thread waits for it: nothing that the loop owns is touched from elsewhere.
    A run whose time is up is not over before its function has returned, so its object is not reconciled by two at once.
    There are never more threads than workers; they are kept, so that what a library remembers by thread serves again.

Caveats
    No thread can be made to stop. One that is told to (time-out, shutdown) finds out at the next call of its context,
    which raises `RunEnded`. When the process stops for good, those that do not return are left behind.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from kubewright.api.cancellation import called_apart, ends_us

__all__ = ["Conversation", "RunEnded", "Threads"]

T = TypeVar("T")


class RunEnded(RuntimeError):
    """The run this thread works for is over: its time was up, or the operator stops. Let it pass through."""


class _Asked(Struct, frozen=True):
    """What the thread waits for."""

    coroutine: Coroutine[Any, Any, Any]
    theirs: bool
    """Whether it may be the operator's own code."""


class _Returned(Struct, frozen=True):
    result: Any


_Step: TypeAlias = _Asked | _Returned
_Job: TypeAlias = Callable[[], None]


class _Answer(Struct, frozen=True):
    value: Any = None
    error: BaseException | None = None


_WHY = "the run is over: its time was up, or the operator stops"


def _over() -> _Answer:
    return _Answer(error=RunEnded(_WHY))


class Conversation(Executor):
    """One run's function in its thread, as a series of calls that the loop makes with ``run_in_executor``.

    Each such call lets the thread go on until it asks for something or returns. So a loop knows at any time whether a
    thread is at work for it, which is what a loop in virtual time goes by.
    """

    def __init__(self, start: Callable[[], None]) -> None:
        """``start`` has a thread call `hold`."""
        self._start: Callable[[], None] | None = start
        self._turns: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._segment: Future[Any] = Future()
        self._thread: int | None = None
        self.returned = False
        self._ended = False

    # on the loop

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has the thread go on with what ``fn`` returns there. The future is of what it asks for next, or returns."""
        segment: Future[Any] = Future()
        segment.set_running_or_notify_cancel()  # the loop may stop to listen; the thread can't be called off
        self._turns.put((segment, partial(fn, *args, **kwargs)))
        if self._start is not None:
            self._start()
            self._start = None
        return segment

    def end(self) -> None:
        """Has whatever the thread asks for from now on raise `RunEnded`."""
        self._ended = True

    # in the thread

    def hold(self, function: Callable[[Conversation], object]) -> None:
        """Calls the function and tells the loop how it went."""
        self._thread = threading.get_ident()
        try:
            self._next_turn()
            result = function(self)
        except BaseException as error:  # SystemExit included: it is the run's failure, as it is in an async function
            self.returned = True
            if isinstance(error, StopIteration):  # no future can hold one
                error = RuntimeError("the reconciler raised StopIteration")
            self._segment.set_exception(error)
        else:
            self.returned = True
            self._segment.set_result(_Returned(result))

    def ask(self, coroutine: Coroutine[Any, Any, T], *, theirs: bool = False) -> T:
        """Waits for what ``coroutine`` returns or raises; it runs on the loop. ``theirs``: it may be the operator's code."""
        if threading.get_ident() != self._thread:
            coroutine.close()
            raise RuntimeError("a BlockingContext serves only the thread that it was given to")
        if self._ended:
            coroutine.close()
            raise RunEnded(_WHY)
        self._segment.set_result(_Asked(coroutine, theirs))
        answer = self._next_turn()
        if answer.error is not None:
            raise answer.error
        result: T = answer.value
        return result

    def _next_turn(self) -> _Answer:
        self._segment, call = self._turns.get()
        answer: _Answer = call()
        return answer


class Threads:
    """The threads of one controller."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: list[SimpleQueue[_Job | None]] = []
        self._started = 0
        self._closed = asyncio.Event()

    async def run(self, function: Callable[[Conversation], T]) -> T:
        """Calls ``function`` in a thread and does what it asks for meanwhile."""
        context = copy_context()
        thread = self._idle.pop() if self._idle else None

        def start() -> None:
            nonlocal thread
            thread = thread or self._start()
            thread.put(lambda: context.run(talk.hold, function))

        talk = Conversation(start)
        job: asyncio.Future[_Step] | None = self._going_on(talk, _Answer())
        try:
            while job is not None:
                step = await asyncio.shield(job)
                if isinstance(step, _Returned):
                    result: T = step.result
                    return result
                job = None
                job = self._going_on(talk, await _answered(step))
            raise AssertionError("a thread that was answered goes on")
        except asyncio.CancelledError:
            talk.end()
            await self._end_of(talk, job or self._going_on(talk, _over()))
            raise
        finally:
            if thread is not None:
                self._give_back(thread, talk)

    def _going_on(self, talk: Conversation, answer: _Answer) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(talk, lambda: answer)

    async def _end_of(self, talk: Conversation, job: asyncio.Future[_Step]) -> None:
        """Waits until the thread has returned, unless everything ends."""
        closed: asyncio.Future[Any] = asyncio.ensure_future(self._closed.wait())
        try:
            while True:
                await asyncio.wait([job, closed], return_when=asyncio.FIRST_COMPLETED)
                if not job.done() or job.exception() is not None:
                    return
                step = job.result()
                if isinstance(step, _Returned):
                    return
                step.coroutine.close()  # asked for just before it could know
                job = self._going_on(talk, _over())
        finally:
            closed.cancel()
            if not job.done():
                job.cancel()
                talk.submit(_over)  # it may be waiting by the time this is read

    def _start(self) -> SimpleQueue[_Job | None]:
        jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._started += 1
        threading.Thread(target=_work, args=(jobs,), name=f"{self._name}-{self._started}", daemon=True).start()
        return jobs

    def _give_back(self, thread: SimpleQueue[_Job | None], talk: Conversation) -> None:
        if talk.returned and not self._closed.is_set():
            self._idle.append(thread)
        else:
            thread.put(None)

    def close(self) -> None:
        """Ends the threads that are idle; the others end when they return. Nobody waits for them any more."""
        self._closed.set()
        for thread in self._idle:
            thread.put(None)
        self._idle.clear()


async def _answered(asked: _Asked) -> _Answer:
    coroutine = asked.coroutine
    try:
        return _Answer(value=await (called_apart(lambda: coroutine) if asked.theirs else coroutine))
    except BaseException as error:
        if ends_us(error):
            raise
        return _Answer(error=error)
    finally:
        coroutine.close()  # one that was cancelled before it began


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
