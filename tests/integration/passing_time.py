"""Time that passes at once on a loop with real sockets and processes, which can't be had in virtual time."""

from __future__ import annotations

import asyncio


async def time_passes(seconds: float) -> None:
    """Has every timer of the running loop fire that is due within them."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + seconds  # type: ignore[method-assign]
    try:
        for _ in range(3):  # one turn to find them, one to call them, and one for whom they wake
            await asyncio.sleep(0)
    finally:
        del loop.time
