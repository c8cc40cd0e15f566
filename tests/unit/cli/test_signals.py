from __future__ import annotations

import asyncio
import os
import signal

from kubewright.cli.signals import stop_on_signals
from kubewright.telemetry import null_log


async def test_sighup_has_what_may_have_changed_read_again_at_once() -> None:
    asked, stop = asyncio.Event(), asyncio.Event()
    with stop_on_signals(stop.set, log=null_log(), reload=asked.set):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)
            await asked.wait()
            asked.clear()
    assert not stop.is_set()
