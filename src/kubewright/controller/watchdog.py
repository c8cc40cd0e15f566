"""`LoopWatchdog`: names the reconcile that keeps the event loop from everything else."""

from __future__ import annotations

import asyncio
import selectors
import sys
import threading
import time
import tokenize
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from kubewright.controller.failures import users_frame
from kubewright.controller.request import Request
from kubewright.telemetry import Log
from kubewright.telemetry.logs import loads_what_logs

__all__ = ["LoopWatchdog", "RunningTasks"]

_LIMIT = 0.1
_PAUSE = 0.05
_SOON = 0.01
"""Seconds in which an idle loop has answered, so that nothing more need be asked twenty times a second."""
_LONGEST = 10.0
"""Seconds after which a block is told of although it goes on."""


class _Running(NamedTuple):
    controller: str
    request: Request


class RunningTasks:
    """Which run each task is at, of one controller."""

    def __init__(self, controller: str) -> None:
        self._controller = controller
        self._requests: dict[asyncio.Task[Any] | None, Request] = {}

    def enter(self, task: asyncio.Task[Any] | None, request: Request) -> None:
        self._requests[task] = request

    def leave(self, task: asyncio.Task[Any] | None) -> None:
        self._requests.pop(task, None)

    def of(self, task: asyncio.Task[Any] | None) -> _Running | None:
        request = self._requests.get(task)
        return None if request is None else _Running(self._controller, request)


def starved_for(thread: int) -> float:
    """Seconds in which the system had this thread of ours ready to run and did not run it; 0 where it does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


class LoopWatchdog:
    """A thread that asks the loop for a sign of life, and looks at its stack when none comes.

    Blocks from 0.15 s on are noticed for sure, from 0.1 s on mostly. Not for loops in virtual time, whose clock stands
    still while code runs. Code that holds the interpreter's lock is noticed when it lets go, without its stack.
    A loop that gets no turn is nobody's doing here: the machine is busy, the container used up its share, or was
    suspended. What it waits so, while it waits for events or at work, is no part of a block. Nor does anybody block it
    whose line is the first one of a log.
    """

    def __init__(
        self,
        running: Iterable[RunningTasks],
        log: Log,
        *,
        limit: float = _LIMIT,
        starved: Callable[[int], float] = starved_for,
    ) -> None:
        """``limit`` in seconds."""
        self._running = tuple(running)
        self._log = log
        self._limit = limit
        self._starved = starved

    async def run(self) -> None:
        """Watches the running loop until cancelled."""
        loop = asyncio.get_running_loop()
        ended = threading.Event()
        thread = threading.Thread(
            target=self._watch,
            args=(loop, threading.get_ident(), threading.get_native_id(), ended),
            name="loop watchdog",
            daemon=True,
        )
        thread.start()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def _watch(self, loop: asyncio.AbstractEventLoop, ident: int, thread: int, ended: threading.Event) -> None:
        sign = threading.Event()
        while not ended.wait(_PAUSE):
            sign.clear()
            asked = time.monotonic()
            try:
                loop.call_soon_threadsafe(sign.set)
            except RuntimeError:  # the loop was closed
                return
            if sign.wait(_SOON):
                continue
            starved = self._starved(thread)
            if sign.wait(self._limit - _SOON):
                continue
            frame = sys._current_frames().get(ident)
            task = asyncio.current_task(loop)
            running = next((found for tasks in self._running if (found := tasks.of(task)) is not None), None)
            idle = frame is not None and task is None and frame.f_code.co_filename == selectors.__file__
            excused = idle or (frame is not None and loads_what_logs(frame))
            stack = None if frame is None or excused or sign.is_set() else _Stack.of(frame)
            del frame
            over = sign.wait(_LONGEST)
            if ended.is_set():
                return
            blocked = time.monotonic() - asked - (self._starved(thread) - starved)
            if not excused and blocked >= self._limit:
                self._tell(running, stack, blocked)
            while not over and not ended.is_set():
                over = sign.wait(1.0)

    def _tell(self, running: _Running | None, stack: _Stack | None, seconds: float) -> None:
        who: dict[str, object] = {}
        if running is not None:
            who = {
                "controller": running.controller,
                "namespace": running.request.namespace,
                "name": running.request.name,
            }
        self._log.warning(
            "the event loop was blocked: nothing else ran meanwhile",
            seconds=round(seconds, 3),
            **who,
            at=stack.at if stack else "unknown",
            stack=stack.text if stack else "",
            remedy="await something that does not block, or register a plain function with threads=True",
        )


class _Stack(NamedTuple):
    at: str
    text: str

    @classmethod
    def of(cls, frame: FrameType) -> _Stack:
        """From the user's first frame on, where there is one."""
        stack = [
            (each.f_code.co_filename, number or 0, each.f_code.co_name)  # None amid instructions that no line has
            for each, number in traceback.walk_stack(frame)
        ]
        stack.reverse()
        first = users_frame([file for file, _, _ in stack])
        shown = stack[first:] if first is not None else stack
        file, number, name = shown[-1]
        lines = [(file, number, name, _line(file, number)) for file, number, name in shown]
        return cls(f"{file}:{number} in {name}", "".join(traceback.format_list(lines)))


def _line(file: str, number: int) -> str:
    """One line of a source file, empty where it can't be read; `linecache` would keep all of each file for ever."""
    try:
        with tokenize.open(file) as source:
            return next(islice(source, number - 1, None), "").strip()
    except (OSError, SyntaxError, ValueError):
        return ""
