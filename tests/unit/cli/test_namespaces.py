"""Where an operator works, as the commands are told."""

from __future__ import annotations

import pytest
import yaml
from click import Command
from click.testing import CliRunner

from kubewright.cli import manifests, run
from kubewright.cli.failure import Failure

TARGET = "database_operator.operator:operator"


def test_manifests_for_certain_namespaces_have_roles_there() -> None:
    options = [TARGET, "--watch-namespace", "red", "--watch-namespace", "blue"]
    shown = CliRunner().invoke(manifests.command, options, catch_exceptions=False)
    found = list(yaml.safe_load_all(shown.output))
    roles = [each["metadata"] for each in found if each["kind"] == "Role"]
    assert [each["namespace"] for each in roles if each["name"] == "database-operator"] == ["blue", "red"]
    assert not any(each["kind"] == "ClusterRole" for each in found)


def test_what_is_no_namespace_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCH_NAMESPACE", "red,No_Name")
    with pytest.raises(Failure, match="a namespace of WATCH_NAMESPACE is 'No_Name'"):
        CliRunner().invoke(run.command, [TARGET], standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize("command", [run.command, manifests.command], ids=["run", "manifests"])
def test_what_is_no_namespace_is_refused_by_its_flag(command: Command) -> None:
    with pytest.raises(Failure, match="^a namespace of --watch-namespace is 'red,blue'") as refused:
        CliRunner().invoke(
            command, [TARGET, "--watch-namespace=red,blue"], standalone_mode=False, catch_exceptions=False
        )
    assert refused.value.exit_code == 2


def test_a_namespace_that_the_operator_can_not_have_is_refused_by_its_flag() -> None:
    with pytest.raises(Failure, match="^--namespace is 'Red'") as refused:
        CliRunner().invoke(
            manifests.command, [TARGET, "--namespace=Red"], standalone_mode=False, catch_exceptions=False
        )
    assert refused.value.exit_code == 2
