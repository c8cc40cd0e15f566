from __future__ import annotations

import pytest
from click.testing import CliRunner

from kubewright.cli.commands import cli


@pytest.mark.parametrize(("mistyped", "meant"), [("runn", "run"), ("manifest", "manifests"), ("clutser", "cluster")])
def test_a_mistyped_command_is_refused_with_the_nearest(mistyped: str, meant: str) -> None:
    refused = CliRunner().invoke(cli, [mistyped])
    assert refused.exit_code == 2
    assert f"No such command '{mistyped}'. Did you mean '{meant}'?" in refused.output
