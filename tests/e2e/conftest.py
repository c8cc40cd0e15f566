"""Real processes: the embedded cluster, operators and kubectls, old and new."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.processes import KUBEWRIGHT, Cluster, Kubectl, Operator, kubectls, start_cluster

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/database/database_operator/operator.py"
SAMPLE = ROOT / "examples/database/sample.yaml"


class RealServer(NamedTuple):
    """A server that ``--against`` named."""

    kubeconfig: Path

    @property
    def home(self) -> Path:
        return self.kubeconfig.parent

    def token_of(self, user: str) -> str:
        lines = (self.home / "certs/tokens.csv").read_text().splitlines()
        return next(line.split(",")[0] for line in lines if line.split(",")[1] == user)


def real_servers(config: pytest.Config) -> dict[str, RealServer]:
    given = (text.partition("=") for text in config.getoption("--against"))
    return {name: RealServer(Path(file)) for name, _, file in given}


class Place(NamedTuple):
    """A cluster with the Database definition."""

    kubeconfig: Path
    home: Path
    runs_pods: bool


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take a ``place`` run on the embedded cluster, and on the real 1.36 server where it is given."""
    if "place" in metafunc.fixturenames:
        names = ["embedded", *(name for name in real_servers(metafunc.config) if name == "1.36")]
        metafunc.parametrize("place", names, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that are marked with ``servers`` are for real ones only, and are left out where those are not given."""
    given = real_servers(config)
    left_out = [
        item
        for item in items
        if "tests/e2e/" in item.nodeid
        and (mark := item.get_closest_marker("servers"))
        and not set(mark.args) & set(given)
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def real_server(request: pytest.FixtureRequest) -> RealServer:
    """The one that the test's mark ``servers`` names."""
    mark = request.node.get_closest_marker("servers")
    return real_servers(request.config)[mark.args[0]]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "embedded":
        cluster = start_cluster(tmp_path / "home")
        install(cluster, tmp_path)
        yield Place(cluster.kubeconfig, cluster.home, True)
        cluster.kill()
    else:
        server = real_servers(request.config)[request.param]
        install(server, tmp_path)
        yield Place(server.kubeconfig, tmp_path, False)


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--kills"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of the test's own, in the background, whose pods are ready at once."""
    running = start_cluster(tmp_path / "home")
    yield running
    running.kill()


@pytest.fixture
def crd(cluster: Cluster, tmp_path: Path) -> Path:
    """The Database definition in a file, installed in ``cluster``."""
    return install(cluster, tmp_path)


@pytest.fixture
def operator(cluster: Cluster, crd: Path, tmp_path: Path) -> Iterator[Operator]:
    """``kubewright run`` of the example, against ``cluster``."""
    del crd
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log") as running:
        yield running


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster with the Database definition, for tests that keep to a namespace of their own."""
    running = start_cluster(tmp_path_factory.mktemp("shared") / "home")
    install(running, running.home)
    yield running
    running.kill()


@pytest.fixture(scope="session")
def shared_operator(shared_cluster: Cluster) -> Iterator[Operator]:
    """``kubewright run`` of the example, against ``shared_cluster``."""
    with Operator(shared_cluster, EXAMPLE, shared_cluster.home / "operator.log") as running:
        yield running


@pytest.fixture(params=kubectls(), ids=lambda path: path.name)
def kubectl(request: pytest.FixtureRequest, shared_cluster: Cluster) -> Kubectl:
    """Each kubectl that ``tools/get_kubectl.py`` found, in a new namespace of the shared cluster."""
    binary: Path = request.param
    if not binary.exists():
        pytest.fail(f"{binary} is not there: run `make .tools/kubectl`, as `make test` does")
    plain = Kubectl(binary, shared_cluster.kubeconfig, shared_cluster.home)
    namespace = f"t{len(plain.names('namespaces'))}"
    plain.run("create", "namespace", namespace)
    return Kubectl(binary, shared_cluster.kubeconfig, shared_cluster.home, namespace=namespace)


def install(cluster: Cluster | RealServer, folder: Path) -> Path:
    """Writes the Database definition into a file and applies it."""
    file = folder / "crd.yaml"
    shown = subprocess.run([*KUBEWRIGHT, "manifests", str(EXAMPLE)], check=True, capture_output=True, text=True)
    file.write_text(shown.stdout.split("---\n")[1])
    kubectl = Kubectl(newest(), cluster.kubeconfig, cluster.home)
    kubectl.run("apply", "-f", str(file))
    if isinstance(cluster, RealServer):  # which serves it, and says so in it, in its own time
        kubectl.run("wait", "--for=condition=Established", "-f", str(file), "--timeout=50s")
    return file


def newest() -> Path:
    return kubectls()[-1]
