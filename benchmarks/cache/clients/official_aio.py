"""The official client's asynchronous side."""

from __future__ import annotations

from kubernetes.aio import client, watch

from benchmarks.cache.clients.generated import Generated
from benchmarks.cache.resources import Resource

__all__ = ["OfficialAio"]


class OfficialAio(Generated):
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        super().__init__(client, watch, server, resource)
