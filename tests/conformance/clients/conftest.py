"""One server of each kind for the whole run, and a namespace for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conformance.clients.servers import Server, open_server
from tests.conformance.targets import EMBEDDED, Target
from tests.e2e.processes import Kubectl, kubectls


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test against the embedded cluster, and against each given server that its mark ``servers`` does not leave out."""
    if "server" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("servers")
    targets = [Target(EMBEDDED)]
    for text in metafunc.config.getoption("--against"):
        name, _, file = text.partition("=")
        if mark is None or name in mark.args:
            targets.append(Target(name, Path(file)))
    metafunc.parametrize("server", targets, indirect=True, scope="session", ids=lambda target: target.name)


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ExitStack, dict[str, Server], Path]]:
    with ExitStack() as stack:
        yield stack, {}, tmp_path_factory.mktemp("clients")


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, opened: tuple[ExitStack, dict[str, Server], Path]) -> Server:
    """Opened when first wanted."""
    target: Target = request.param
    stack, servers, folder = opened
    if target.name not in servers:
        home = folder / target.name
        home.mkdir()
        servers[target.name] = stack.enter_context(open_server(target, home))
    return servers[target.name]


@pytest.fixture
def namespace(server: Server) -> str:
    """The test's own."""
    return server.new_namespace()


@pytest.fixture(params=kubectls(), ids=lambda path: f"kubectl-{path.name}")
def kubectl(request: pytest.FixtureRequest, server: Server, namespace: str) -> Kubectl:
    """Each kubectl that ``tools/get_kubectl.py`` found."""
    binary: Path = request.param
    if not binary.exists():
        pytest.fail(f"{binary} is not there: run `make .tools/kubectl`, as `make test` does")
    return server.kubectl(namespace, binary)
