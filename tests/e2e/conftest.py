"""Real processes: the embedded cluster, operators and kubectls, old and new."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import Cluster, Kubectl, Operator, kubectls, start_cluster

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/database/database_operator/operator.py"
SAMPLE = ROOT / "examples/database/sample.yaml"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster of the test's own, in the background, whose pods are ready at once."""
    running = start_cluster(tmp_path / "home")
    yield running
    running.kill()


@pytest.fixture(params=kubectls(), ids=lambda path: path.name)
def kubectl(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Kubectl:
    """Each kubectl that ``tools/get_kubectl.py`` found."""
    binary: Path = request.param
    if not binary.exists():
        pytest.fail(f"{binary} is not there: run `make .tools/kubectl`, as `make test` does")
    return Kubectl(binary, cluster.kubeconfig, tmp_path)


@pytest.fixture
def crd(cluster: Cluster, tmp_path: Path) -> Path:
    """The Database definition in a file, installed."""
    file = tmp_path / "manifests.yaml"
    shown = subprocess.run([*cluster.command, "manifests", str(EXAMPLE)], check=True, capture_output=True, text=True)
    file.write_text(shown.stdout.split("---\n")[1])
    Kubectl(newest(), cluster.kubeconfig, tmp_path).run("apply", "-f", str(file))
    return file


@pytest.fixture
def operator(cluster: Cluster, crd: Path, tmp_path: Path) -> Iterator[Operator]:
    """``kubewright run`` of the example, against ``cluster``."""
    del crd
    with Operator(cluster, EXAMPLE, tmp_path / "operator.log") as running:
        yield running


def newest() -> Path:
    return kubectls()[-1]
