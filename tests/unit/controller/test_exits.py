"""A task that a run starts and that asks for the process to exit."""

from __future__ import annotations

import asyncio
import io
import random
import sys
import warnings
from collections.abc import AsyncIterator

import pytest

from kubewright.api import SystemClock
from kubewright.controller import Request, SourceContext
from kubewright.controller.exits import contain_exits
from kubewright.controller.sources import follow
from kubewright.telemetry import new_log, null_log
from kubewright.telemetry.standard_logging import RUN_LOG


async def leaves() -> None:
    await asyncio.sleep(0)
    sys.exit(7)


async def leaves_when_cancelled() -> None:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        sys.exit(7)


def test_it_fails_as_any_task_of_a_run_may() -> None:
    async def main() -> None:
        contain_exits(asyncio.get_running_loop())
        RUN_LOG.set(null_log())
        found = await asyncio.gather(leaves(), asyncio.sleep(0.001, "done"), return_exceptions=True)
        assert repr(found) == "[RuntimeError('it asked for the process to exit: 7'), 'done']"
        cancelled = asyncio.create_task(leaves_when_cancelled())
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(RuntimeError, match="exit"):
            await cancelled

    asyncio.run(main())


def test_outside_of_runs_it_ends_the_loop() -> None:
    async def main() -> None:
        contain_exits(asyncio.get_running_loop())
        await asyncio.gather(leaves())

    with pytest.raises(SystemExit):
        asyncio.run(main())


def test_tasks_of_a_run_are_shown_and_called_off_as_others_are() -> None:
    async def main() -> None:
        contain_exits(asyncio.get_running_loop())
        RUN_LOG.set(null_log())
        task = asyncio.create_task(leaves(), name="mine")
        assert "mine" in repr(task)
        assert "leaves() running at" in repr(task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(main())


def test_a_source_that_starts_one_is_as_a_run() -> None:
    text = io.StringIO()
    log = new_log("json", stream=text)

    async def source(around: SourceContext) -> AsyncIterator[Request]:
        await asyncio.gather(leaves())
        yield Request(None, "default", "never")

    async def main() -> None:
        contain_exits(asyncio.get_running_loop())
        around = SourceContext(clock=SystemClock(), log=log, requests=list)
        following = asyncio.create_task(follow(source, around, lambda _: None, rng=random.Random(1)))
        while not text.getvalue():  # noqa: ASYNC110 - what is awaited is a line
            await asyncio.sleep(0)
        following.cancel()

    asyncio.run(main())
    assert "it asked for the process to exit: 7" in text.getvalue()
