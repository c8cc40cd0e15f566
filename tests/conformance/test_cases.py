"""Every case against every server that it is given, held to what the server that knows the truth answered."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest

from tests.conformance.conftest import Servers
from tests.conformance.registry import Case
from tests.conformance.targets import Target
from tests.conformance.transcript import pretty

RECORDED = Path(__file__).parent / "recorded"

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_case(case: Case, target: Target, servers: Servers, request: pytest.FixtureRequest) -> None:
    server = await servers.get(target)
    async with server.world() as world:
        await case.script(world)
    steps = json.loads(pretty(world.transcript.steps()))
    assert steps, f"{case.name} takes nothing down: give at least one step a label"
    file = RECORDED / case.subject / f"{case.name}.json"
    if request.config.getoption("--record") and target.name == case.truths[0]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(pretty(steps))
    if not file.exists():
        pytest.fail(f"{case.name} is not recorded: `make conformance-record` asks the server that knows")
    wanted = json.loads(file.read_text())
    if steps != wanted:
        difference = difflib.unified_diff(
            pretty(wanted).splitlines(), pretty(steps).splitlines(), "recorded", target.name, lineterm="", n=6
        )
        pytest.fail("\n".join(difference), pytrace=False)
