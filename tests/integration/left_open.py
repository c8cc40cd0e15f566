"""What a test leaves open: asked for, and waited for, as loops and other processes close things some turns later."""

from __future__ import annotations

import asyncio
import gc
import os
import threading


def open_files() -> int:
    """Files and sockets of this process, without those that only garbage has."""
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


async def closed_again(files: int) -> None:
    """Waits until no more than ``files`` are open."""
    async with asyncio.timeout(30):
        while len(os.listdir("/proc/self/fd")) > files and open_files() > files:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def ended_again(threads: set[threading.Thread]) -> None:
    """Waits until there are no threads but these."""
    async with asyncio.timeout(30):
        while set(threading.enumerate()) - threads:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
