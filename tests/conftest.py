"""Options of the suite."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# how long an example takes says how busy the machine is, and nothing of what is tested
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption(
        "--against",
        action="append",
        default=[],
        metavar="NAME=KUBECONFIG",
        help="run the conformance cases against this server too; NAME is 1.20 or 1.36 and says what it knows",
    )
    group.addoption(
        "--etcd",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="the etcd of that server; without it the cases in which a server forgets its history skip it",
    )
    group.addoption(
        "--record", action="store_true", help="take down what the given servers answer as what every server must answer"
    )
    parser.addoption(
        "--kills",
        type=int,
        default=2,
        metavar="N",
        help="how often each end-to-end test that kills leaders does",
    )
