"""Plants each deviation in turn; the last line counts those that were caught."""

from __future__ import annotations

import asyncio
import sys

from tests.conformance.planted.deviations import DEVIATIONS
from tests.conformance.planted.runner import caught_by, failing


async def main() -> int:
    if broken := await failing():
        say(f"without any deviation these cases fail already: {', '.join(broken)}")
        return 2
    passed = 0
    for deviation in DEVIATIONS:
        case = await caught_by(deviation)
        passed += case is not None
        say(f"{'caught by ' + case if case else 'NOT CAUGHT':60} {deviation.name}")
    failed = len(DEVIATIONS) - passed
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


sys.exit(asyncio.run(main()))
