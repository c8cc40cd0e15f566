"""Running the cases against an embedded server with one deviation planted."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conformance.planted.deviations import Deviation
from tests.conformance.registry import Case, all_cases
from tests.conformance.targets import EMBEDDED, Server, Target, open_server
from tests.conformance.transcript import pretty

__all__ = ["caught_by", "failing"]

_RECORDED = Path(__file__).parents[1] / "recorded"


async def failing() -> list[str]:
    """The cases that do not hold for the embedded server as it is."""
    async with open_server(Target(EMBEDDED)) as server:
        return [f"{case.subject}.{case.name}" for case in all_cases() if not await _holds(case, server)]


async def caught_by(deviation: Deviation) -> str | None:
    """The first case that notices, those of the deviation's subject first; None where none does."""
    cases = sorted(all_cases(), key=lambda case: case.subject != deviation.subject)
    async with open_server(Target(EMBEDDED)) as server:
        with deviation.planted():
            for case in cases:
                if not await _holds(case, server):
                    return f"{case.subject}.{case.name}"
    return None


async def _holds(case: Case, server: Server) -> bool:
    try:
        async with server.world() as world:
            await case.script(world)
            steps = json.loads(pretty(world.transcript.steps()))
    except Exception:  # a script that can't go on has noticed, too
        return False
    recorded = _RECORDED / case.subject / f"{case.name}.json"
    return bool(steps == json.loads(recorded.read_text()))
