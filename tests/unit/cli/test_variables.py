"""Commands without settings refuse variables that nobody reads, as those with settings do."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kubewright.cli import cluster, manifests
from kubewright.cli.failure import Failure

COMMANDS = {
    "manifests": (manifests.command, ["database_operator.operator:operator"]),
    "cluster status": (cluster.command, ["status"]),
    "cluster down": (cluster.command, ["down"]),
}
each_command = pytest.mark.parametrize(("command", "arguments"), COMMANDS.values(), ids=list(COMMANDS))


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBEWRIGHT_HOME", str(tmp_path))


@each_command
def test_a_misspelt_variable_is_refused_with_the_nearest(
    command: click.Command, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEWRIGHT_HOEM", "/elsewhere")
    with pytest.raises(Failure, match=r"^KUBEWRIGHT_HOEM: .* did you mean KUBEWRIGHT_HOME\?$") as refused:
        CliRunner().invoke(command, arguments, standalone_mode=False, catch_exceptions=False)
    assert refused.value.exit_code == 2


@each_command
def test_what_other_commands_read_and_what_kubelet_tells_is_passed_over(
    command: click.Command, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEWRIGHT_STOP_WITHIN", "5")
    monkeypatch.setenv("KUBEWRIGHT_WEBHOOKS_SERVICE_HOST", "10.0.0.1")
    shown = CliRunner().invoke(command, arguments)
    assert isinstance(shown.exception, SystemExit | None)
    assert shown.output
