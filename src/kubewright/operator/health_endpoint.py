"""`/healthz` and `/readyz` as handlers of the manager's HTTP server."""

from __future__ import annotations

from collections.abc import Mapping

from kubewright.operator.health import Check, answer
from kubewright.operator.http_server import HttpAnswer, HttpHandler

__all__ = ["health_handler"]


def health_handler(endpoint: str, checks: list[Check]) -> HttpHandler:
    """Takes ``?verbose``, ``?exclude=CHECK`` and a check's own path, as API servers do."""

    def handle(only: str, query: Mapping[str, list[str]]) -> HttpAnswer:
        found = answer(endpoint, checks, only=only, exclude=query.get("exclude", []), verbose="verbose" in query)
        return HttpAnswer(found.status, found.text.encode())

    return handle
