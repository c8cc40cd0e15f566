"""``kubewright manifests`` as a command."""

from __future__ import annotations

import pytest
import yaml
from click.testing import CliRunner

from kubewright.cli import manifests
from kubewright.cli.failure import Failure

TARGET = "database_operator.operator:operator"


def test_metrics_may_be_asked_for_where_the_operator_serves_none() -> None:
    shown = CliRunner().invoke(manifests.command, [TARGET, "--metrics-bind-address", ":9090"], catch_exceptions=False)
    (service,) = (each for each in yaml.safe_load_all(shown.output) if each["kind"] == "Service")
    assert service["spec"]["ports"] == [{"name": "metrics", "port": 9090, "targetPort": "metrics"}]


def test_the_deployment_may_be_left_out() -> None:
    shown = CliRunner().invoke(manifests.command, [TARGET, "--no-deployment"], catch_exceptions=False)
    assert "Deployment" not in {each["kind"] for each in yaml.safe_load_all(shown.output)}


def test_an_address_that_is_none_is_refused_by_its_flag() -> None:
    with pytest.raises(Failure, match="^--metrics-bind-address: '9090' is no address: use HOST:PORT") as refused:
        CliRunner().invoke(
            manifests.command, [TARGET, "--metrics-bind-address", "9090"], standalone_mode=False, catch_exceptions=False
        )
    assert refused.value.exit_code == 2
