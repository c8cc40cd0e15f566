"""Which server each case runs against, and the open servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conformance.registry import Case, all_cases
from tests.conformance.targets import EMBEDDED, Server, Target, open_server

_BY_CONTROLLERS = frozenset({"garbage", "deleting", "namespaces"})
"""Subjects in which a real server's controllers act. They stand still while definitions come and go, so these go first."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case against the embedded cluster, and against each given server that knows its truth and can do it."""
    if "target" not in metafunc.fixturenames:
        return
    given: list[str] = metafunc.config.getoption("--against")
    etcd = dict(text.split("=", 1) for text in metafunc.config.getoption("--etcd"))
    targets = [*(_target(text, etcd) for text in given), Target(EMBEDDED)]  # what is recorded is then compared at once
    pairs = [
        (case, target)
        for target in targets
        for case in sorted(all_cases(), key=_order)
        if target.name == EMBEDDED or (target.name in case.truths and (target.etcd or not case.forgets))
    ]
    ids = [f"{target.name}-{case.subject}-{case.name}" for case, target in pairs]
    metafunc.parametrize(("case", "target"), pairs, ids=ids)


def _order(case: Case) -> bool:
    return case.subject not in _BY_CONTROLLERS


def _target(text: str, etcd: dict[str, str]) -> Target:
    name, equals, file = text.partition("=")
    if name not in {"1.20", "1.36"} or not equals or not Path(file).is_file():
        raise pytest.UsageError(
            f"--against {text}: give NAME=KUBECONFIG, with NAME 1.20 or 1.36 and a file that exists"
        )
    return Target(name, Path(file), etcd.get(name, ""))


class Servers:
    """Opens each target when the first case needs it."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._open: dict[str, Server] = {}

    async def get(self, target: Target) -> Server:
        if target.name not in self._open:
            self._open[target.name] = await self._stack.enter_async_context(open_server(target))
        return self._open[target.name]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers() -> AsyncIterator[Servers]:
    async with AsyncExitStack() as stack:
        yield Servers(stack)
