"""The watchdog names what keeps the loop from everything else. In real time: a loop that is blocked has no other."""

from __future__ import annotations

import asyncio
import io
import linecache
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kubewright.controller.request import Request
from kubewright.controller.watchdog import LoopWatchdog, RunningTasks, starved_for
from kubewright.telemetry import Log, new_log


class Lines:
    def __init__(self) -> None:
        self.lines: list[dict[str, object]] = []

    def bind(self, **_values: object) -> Log:
        return self

    def debug(self, event: str, **values: object) -> None: ...

    def warning(self, event: str, **values: object) -> None:
        self.lines.append(values)

    info = error = exception = warning


class Asked(RunningTasks):
    """Knows that the watchdog has looked who runs."""

    def __init__(self, controller: str) -> None:
        super().__init__(controller)
        self.looked = threading.Event()

    def of(self, task: asyncio.Task[Any] | None) -> Any:
        self.looked.set()
        return super().of(task)


def test_a_blocked_loop_is_told_of_with_controller_key_and_stack() -> None:
    tasks, log = Asked("database"), Lines()

    async def main() -> None:
        watching = asyncio.create_task(LoopWatchdog([RunningTasks("other"), tasks], log).run())
        await asyncio.sleep(0.1)
        task = asyncio.current_task()
        tasks.enter(task, Request(None, "default", "db"))
        blocking_call()
        tasks.leave(task)
        async with asyncio.timeout(30):
            while not log.lines:  # noqa: ASYNC110 - a thread adds to it
                await asyncio.sleep(0.01)
        watching.cancel()

    def blocking_call() -> None:
        tasks.looked.clear()
        while not tasks.looked.is_set():
            time.sleep(0.1)
        time.sleep(0.2)  # while it looks at the stack

    linecache.clearcache()
    asyncio.run(main())
    assert linecache.cache == {}  # which would keep the text of every file on the stack
    (line,) = log.lines
    assert (line["controller"], line["namespace"], line["name"]) == ("database", "default", "db")
    assert "in blocking_call" in str(line["at"])
    assert "time.sleep(0." in str(line["stack"])
    assert float(str(line["seconds"])) > 0.2


class Starved(asyncio.SelectorEventLoop):
    """Hears late of what other threads ask it for, as a loop does whose process gets no turn."""

    def call_soon_threadsafe(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]  # any of its forms
        late = threading.Timer(0.3, super().call_soon_threadsafe, args, kwargs)
        late.daemon = True
        late.start()


def test_a_loop_that_waits_for_events_is_not_to_blame_for_a_busy_machine() -> None:
    log = Lines()

    async def main() -> None:
        watching = asyncio.create_task(LoopWatchdog([], log).run())
        await asyncio.sleep(0.8)
        watching.cancel()
        await asyncio.sleep(0.4)

    linecache.clearcache()
    with asyncio.Runner(loop_factory=Starved) as runner:
        runner.run(main())
    assert log.lines == []
    assert linecache.cache == {}


def test_work_that_gets_no_processor_is_not_to_blame_either() -> None:
    log = Lines()

    async def main() -> None:
        watching = asyncio.create_task(LoopWatchdog([], log, starved=lambda _: time.monotonic()).run())
        await asyncio.sleep(0.1)
        time.sleep(0.4)  # noqa: ASYNC251 - in which, so it is told, it was ready to run all the time
        await asyncio.sleep(0.2)
        watching.cancel()

    asyncio.run(main())
    assert log.lines == []


def test_who_writes_the_first_line_of_a_log_is_not_to_blame_for_what_that_loads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Lines()

    def loaded(*_arguments: object, **_options: object) -> Lines:
        time.sleep(0.4)
        return told

    monkeypatch.setattr("structlog.wrap_logger", loaded)
    log = new_log("console", stream=io.StringIO())

    async def main() -> None:
        watching = asyncio.create_task(LoopWatchdog([], log).run())
        await asyncio.sleep(0.1)
        log.warning("a line")
        await asyncio.sleep(0.2)
        watching.cancel()

    asyncio.run(main())
    assert told.lines == [{}]


def test_the_system_tells_what_a_thread_has_waited_for_a_processor() -> None:
    us, waited = threading.get_native_id(), list[float]()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    allowed = os.sched_getaffinity(0)
    try:
        one = {min(allowed)}
        for each in busy:
            os.sched_setaffinity(each.pid, one)
        os.sched_setaffinity(us, one)
        end = time.thread_time() + 0.1
        waited.append(starved_for(us))
        while time.thread_time() < end:
            pass
        waited.append(starved_for(us))
    finally:
        os.sched_setaffinity(us, allowed)
        for each in busy:
            each.kill()
            each.wait()
    tells = Path(f"/proc/self/task/{us}/schedstat").exists()  # not every kernel does
    assert waited[1] > waited[0] if tells else waited == [0, 0]
    assert starved_for(2**22 + 1) == 0  # there is no such thread


def test_what_waits_or_works_in_small_steps_is_not() -> None:
    log = Lines()

    async def main() -> None:
        watching = asyncio.create_task(LoopWatchdog([], log, limit=1.0).run())
        for _ in range(20):
            time.sleep(0.005)  # noqa: ASYNC251 - a step
            await asyncio.sleep(0.005)
        watching.cancel()

    asyncio.run(main())
    assert log.lines == []
