"""``python -m benchmarks.controllers.queue``: the work queue alone, as a line of JSON."""

from __future__ import annotations

import asyncio
import json
import random
import time
from statistics import median

from kubewright.controller import Request, WorkQueue

__all__ = ["main"]

_KEYS, _ROUNDS = 100_000, 5


async def _cycles(keys: list[Request]) -> float:
    """Seconds of processor time in which each key is added, handed out, forgotten and done, one after the other."""
    queue = WorkQueue(random.Random(1))
    begin = time.process_time()
    for key in keys:
        queue.add(key)
        queue.forget(await queue.get())
        queue.done(key)
    return time.process_time() - begin


async def _filled(keys: list[Request]) -> float:
    """As `_cycles`, all added before the first is handed out."""
    queue = WorkQueue(random.Random(1))
    begin = time.process_time()
    for key in keys:
        queue.add(key)
    for _ in keys:
        key = await queue.get()
        queue.forget(key)
        queue.done(key)
    return time.process_time() - begin


async def _measured() -> dict[str, float]:
    keys = [Request(None, f"team-{number % 20:02}", f"w-{number:06}") for number in range(_KEYS)]
    cycles = median([await _cycles(keys) for _ in range(_ROUNDS)])
    filled = median([await _filled(keys) for _ in range(_ROUNDS)])
    return {"cycle_s": _KEYS / cycles, "filled_s": _KEYS / filled}


def main() -> None:
    print(json.dumps(asyncio.run(_measured())))


if __name__ == "__main__":
    main()
