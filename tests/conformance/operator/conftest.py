"""The servers of the clients' suite: the embedded cluster as a process, and each that is given with ``--against``."""

from __future__ import annotations

from tests.conformance.clients.conftest import namespace, opened, pytest_generate_tests, server

__all__ = ["namespace", "opened", "pytest_generate_tests", "server"]
